//! A server and clients in one process: limits, deadlines, several servers, and the end of a server.
#![allow(clippy::unwrap_used, reason = "a test that cannot continue fails")]
#![allow(clippy::print_stderr, reason = "a test that is skipped says so")]

mod examples;
mod health;
mod limits;
mod shutdown;
mod support;
mod transfer;
