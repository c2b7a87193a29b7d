//! One test binary for the command line: cases, the pages' examples, and what needs a process in hand.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![allow(clippy::print_stdout, reason = "a test that is skipped says so")]

mod cases;
mod containers;
mod corpora;
mod functions;
mod git;
mod ignoring;
mod images;
mod kills;
mod laws;
mod modules;
mod pages;
mod peak;
mod pipes;
mod projects;
mod sandbox;
mod shells;
mod storage;
mod terminal;
