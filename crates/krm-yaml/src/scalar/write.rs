//! From a value to the text of a scalar.
