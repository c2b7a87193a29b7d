//! The examples of the SDK: on directories of files, as a program, and under other orchestrators.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "tests may panic")]
#![allow(clippy::print_stdout, reason = "skipped tests say so")]

#[cfg(feature = "templates")]
#[path = "../../examples/cache/main.rs"]
#[expect(dead_code, reason = "`main` is that of the example")]
mod cache;
#[path = "../../examples/functions/composed.rs"]
mod composed;
#[path = "../../examples/container_limits.rs"]
#[expect(dead_code, reason = "`main` is that of the example")]
mod container_limits;
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
#[path = "../../examples/sidecar.rs"]
#[expect(dead_code, reason = "`main` is that of the example")]
mod sidecar;
#[path = "../../examples/functions/t_shirt.rs"]
mod t_shirt;
#[path = "../../examples/functions/tweak.rs"]
mod tweak;
#[path = "../../examples/web_app.rs"]
#[expect(dead_code, reason = "`main` is that of the example")]
mod web_app;
