//! The `krm` program: runs a command and turns its result into an exit code.

mod cache_directory;
mod cli;
mod commands;
mod consistent_read;
mod console;
mod disk;
mod duplicate_keys;
mod explanations;
#[cfg(test)]
mod generated_docs;
mod git;
mod interrupt;
mod loader;
mod lock_file;
mod package_source;
mod parallel;
mod reports;
mod result_cache;
mod tasks;
mod walk;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use krm_core::Diagnostic;

/// Faster than the allocator of musl, mostly because it asks for huge pages; ARCHITECTURE.md has the figures.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The exit code of the process. Scripts rely on the numbers, so they never change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// Success, possibly with warnings.
    #[default]
    Success = 0,
    /// A finding: a difference under `--check`, a conflict, a path that does not exist.
    Findings = 1,
    /// An invalid command line.
    Usage = 2,
    /// An input file is invalid, or cannot be read or written.
    Input = 3,
    /// A function failed, or was not allowed to run.
    Function = 4,
    /// A bug in krm.
    Bug = 70,
}

/// Why a command failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// With an exit code and the errors to report.
    Diagnostics(Exit, Vec<Diagnostic>),
    /// The reader of standard output is gone, which is not an error: `krm … | head -1`.
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

/// The result of every command.
pub(crate) type CommandResult = Result<Exit, Failure>;

fn main() -> ExitCode {
    if let Some(code) = krm_run::serve(std::env::args_os()) {
        return ExitCode::from(code);
    }
    std::panic::set_hook(Box::new(|panic| console::bug(&panic.to_string())));
    let exit = guarded(commands::main);
    interrupt::end_if_received();
    ExitCode::from(exit as u8)
}

/// Runs `work` and turns a panic into [`Exit::Bug`]. The panic hook has reported it; files that it staged are removed by the next
/// run that writes to the same package.
fn guarded(work: impl FnOnce() -> Exit) -> Exit {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or(Exit::Bug)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panic_exits_as_a_bug() {
        assert_eq!(guarded(|| panic!("on purpose")), Exit::Bug);
        assert_eq!(guarded(|| Exit::Findings), Exit::Findings);
    }
}
