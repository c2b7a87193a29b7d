//! The `krm` program: runs what was asked, and turns the outcome into an exit code.

mod cli;
mod commands;
mod console;
mod disk;
mod explanations;
mod loader;
mod parallel;
mod walk;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use krm_core::Diagnostic;

/// How a run ends; other programs rely on the numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// Done, also with warnings.
    #[default]
    Success = 0,
    /// Something was found: a difference under `--check`, a path that is not there.
    Findings = 1,
    /// The command line is wrong.
    Usage = 2,
    /// A file is wrong, or cannot be read or written.
    Input = 3,
    /// A function failed, or was refused.
    Function = 4,
    /// A bug of ours.
    Bug = 70,
}

/// Why a command gave up.
#[derive(Debug)]
pub(crate) enum Failure {
    /// With these words.
    Diagnostics(Exit, Vec<Diagnostic>),
    /// Nobody reads our output any more, which is no error: `krm … | head -1`.
    ClosedPipe,
}

impl Failure {
    pub(crate) fn input(diagnostic: Diagnostic) -> Self {
        Self::Diagnostics(Exit::Input, vec![diagnostic])
    }

    pub(crate) fn usage(diagnostic: Diagnostic) -> Self {
        Self::Diagnostics(Exit::Usage, vec![diagnostic])
    }

    pub(crate) fn function(diagnostic: Diagnostic) -> Self {
        Self::Diagnostics(Exit::Function, vec![diagnostic])
    }
}

/// What a command gives back.
pub(crate) type CommandResult = Result<Exit, Failure>;

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|panic| console::bug(&panic.to_string())));
    ExitCode::from(guarded(commands::main) as u8)
}

/// Runs `work`; a panic has been told by the hook, and what it staged is for the next run to remove.
fn guarded(work: impl FnOnce() -> Exit) -> Exit {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or(Exit::Bug)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_our_bug() {
        assert_eq!(guarded(|| panic!("on purpose")), Exit::Bug);
        assert_eq!(guarded(|| Exit::Findings), Exit::Findings);
    }
}
