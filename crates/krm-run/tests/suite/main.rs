//! One test binary: every runtime with real processes, real modules and, if there is one, a real container engine.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod container;
mod engine;
mod exec;
mod faulty_modules;
mod messages;
mod observer;
mod programs;
mod start_ahead;
mod stopping;
mod streams;
mod wasi;
