//! Whether two nodes mean the same, and which resources or list elements of several versions belong together.
//!
//! Diff, merge and function output share this code, so that they agree about what is a change.

pub(crate) mod fingerprint;
pub mod pairing;
