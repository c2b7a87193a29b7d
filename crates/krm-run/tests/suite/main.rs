//! One test binary: every runtime with real processes, real modules and, where there is one, a real container engine.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod ahead;
mod container;
mod engine;
mod exec;
mod heard;
mod programs;
mod stopping;
mod streams;
mod told;
mod wasi;
mod wasi_wrongs;
