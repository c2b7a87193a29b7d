//! The examples of the SDK: on directories of files, as a program, and under other orchestrators.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "tests may panic")]
#![allow(clippy::print_stdout, reason = "skipped tests say so")]

#[path = "../../examples/functions/composed.rs"]
mod composed;
mod examples;
#[path = "../../examples/functions/inject.rs"]
mod inject;
mod invariants;
#[path = "../../examples/functions/limits.rs"]
mod limits;
#[path = "../../examples/functions/nginx.rs"]
mod nginx;
mod peers;
#[path = "../../examples/functions/pod_security.rs"]
mod pod_security;
mod program;
#[path = "../../examples/functions/selectors.rs"]
mod selectors;
#[path = "../../examples/functions/t_shirt.rs"]
mod t_shirt;
#[path = "../../examples/functions/tweak.rs"]
mod tweak;
