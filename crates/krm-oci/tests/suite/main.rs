//! The client and the store against a made-up registry that misbehaves, and against a real one.
#![allow(clippy::unwrap_used, reason = "a test that cannot continue fails")]
#![allow(clippy::print_stderr, reason = "a test that is skipped says so")]

mod action_cache;
mod authentication;
mod downloads;
mod examples;
mod fake_registry;
mod real_registry;
