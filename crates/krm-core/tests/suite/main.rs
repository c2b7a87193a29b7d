//! The one test binary of `krm-core`: the laws of merging as properties.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod laws;
mod properties;
