//! What configuration means, and what it should become.
