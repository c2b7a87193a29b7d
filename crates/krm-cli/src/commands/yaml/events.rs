//! `krm yaml events`: prints parser events in the notation of the YAML test suite.

use krm_yaml::ReadOptions;

use super::input::syntax_errors;
use crate::console::Console;
use crate::{CommandResult, Exit, Failure, disk};

const EXAMPLES: &str = "\
Examples:
  krm yaml events deployment.yaml
  printf 'a: [1]\\n' | krm yaml events -";

/// Print parser events, in the notation of the YAML test suite.
///
/// A document with a syntax error is left out and reported; the exit code is 3.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// File to read; - is standard input
    file: String,
}

pub(super) fn run(args: &Args, console: &mut Console) -> CommandResult {
    let file = disk::parse(&args.file, ReadOptions::default()).map_err(Failure::input)?;
    console.data(&krm_yaml::events(&file))?;
    let errors = syntax_errors(&args.file, &file.documents().collect::<Vec<_>>());
    if errors.is_empty() {
        Ok(Exit::Success)
    } else {
        Err(Failure::Diagnostics(Exit::Input, errors))
    }
}
