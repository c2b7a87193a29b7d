//! The one case format of this repository's tests.
