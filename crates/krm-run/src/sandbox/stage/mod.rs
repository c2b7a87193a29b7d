//! The stages: what a process does that was started to build a sandbox.

mod bubblewrap;
mod confine;
mod enter;
mod group;
mod identity;
mod init;
mod mounts;
mod root;
mod system_calls;

use std::ffi::OsString;
use std::fmt::Display;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use super::spec::Spec;

/// The first argument of a stage.
pub(super) const ARGUMENT: &str = "__sandbox";
/// The names of the stages, which are the third argument.
pub(super) const ENTER: &str = "enter";
pub(super) const BUBBLEWRAP: &str = "bubblewrap";
const INIT: &str = "init";
const MAP: &str = "map";

/// The file that is running, even if it was replaced or deleted since.
const RUNNING_FILE: &str = "/proc/self/exe";

/// Stages must agree on the description.
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The exit code of a stage that failed. The token in the message tells it from a function that exits with the same code.
pub(super) const FAILED: u8 = 125;

/// Why a stage failed.
#[derive(Debug)]
pub(super) struct Failure {
    /// Whether the sandbox was built, and only the program of the image did not start.
    is_program: bool,
    message: String,
}

/// The marks of the two kinds of failures, after the token.
pub(super) const SANDBOX_FAILED: &str = "sandbox";
pub(super) const PROGRAM_FAILED: &str = "program";

impl Failure {
    fn new(message: impl Display) -> Self {
        Self { is_program: false, message: message.to_string() }
    }
}

/// An error with what was tried.
fn failed<E: Display>(attempt: &str) -> impl Fn(E) -> Failure {
    move |error| Failure::new(format!("cannot {attempt}: {error}"))
}

/// Runs a stage, if the program was started for that.
pub(crate) fn serve(arguments: &[OsString]) -> Option<u8> {
    let arguments: Vec<&str> = arguments.iter().skip(1).map_while(|it| it.to_str()).collect();
    let [ARGUMENT, version, stage, rest @ ..] = &arguments[..] else { return None };
    if *version != VERSION {
        return Some(FAILED);
    }
    if *stage == MAP {
        return Some(identity::serve_map(rest));
    }
    let Some(spec) = Spec::from_environment(|name| std::env::var_os(name)) else {
        return Some(FAILED);
    };
    let result = match (*stage, rest) {
        (ENTER, []) => enter::enter(&spec),
        (INIT, [parent, pipe]) => init::init(&spec, parent, pipe),
        (BUBBLEWRAP, []) => bubblewrap::run(&spec),
        _ => Err(Failure::new("unknown stage")),
    };
    Some(result.unwrap_or_else(|failure| {
        let kind = if failure.is_program { PROGRAM_FAILED } else { SANDBOX_FAILED };
        let message = failure.message.replace('\n', " ");
        // One write, and nobody reads it if this fails.
        let line = format!("{} {kind} {message}\n", spec.token);
        let _ = std::io::stderr().write_all(line.as_bytes());
        FAILED
    }))
}

/// The exit code of a program, as shells and container engines report it.
fn exit_code(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(FAILED)
}
