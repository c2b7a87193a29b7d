//! `krm yaml events`: what the reader sees, in the notation of the YAML test suite.

use krm_yaml::ReadOptions;

use super::broken;
use crate::console::Console;
use crate::{CommandResult, Exit, Failure, disk};

const EXAMPLES: &str = "\
Examples:
  krm yaml events deployment.yaml
  printf 'a: [1]\\n' | krm yaml events";

/// Print the events of the YAML test suite, one a line.
///
/// A document that cannot be read is left out and told about; the exit code is 3 then.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The file; - or nothing for standard input
    #[arg(default_value = disk::STDIN, hide_default_value = true)]
    file: String,
}

pub(super) fn run(args: &Args, console: &mut Console) -> CommandResult {
    let file = disk::parse(&args.file, ReadOptions::default()).map_err(Failure::input)?;
    console.print(&krm_yaml::events(&file))?;
    let errors = broken(&args.file, &file.documents().collect::<Vec<_>>());
    if errors.is_empty() {
        Ok(Exit::Success)
    } else {
        Err(Failure::Diagnostics(Exit::Input, errors))
    }
}
