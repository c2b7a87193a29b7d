//! `krm fn xargs`: runs a program with a functionConfig as flags and variables.

use super::program::{self, Program};
use crate::cli::optional_bool;
use crate::console::Console;
use crate::{CommandResult, Exit};

const EXAMPLES: &str = "\
Examples:
  krm fn xargs -- ./generate < input.yaml
  krm fn xargs --env-only --wrap-kind ResourceList -- ./function < input.yaml";

/// Run a program with a functionConfig as flags and environment variables.
///
/// Reads a ResourceList from standard input. The fields of metadata, spec and data of its functionConfig are flags (--replicas=3) and
/// environment variables (REPLICAS=3) of the program. The program reads the resources as a List; its output is printed unchanged.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, mut_arg("env_only", optional_bool))]
pub(crate) struct Args {
    #[command(flatten)]
    program: Program,

    /// Pass the functionConfig only as variables
    #[arg(long, default_value = "false", hide_default_value = true)]
    env_only: bool,
}

pub(super) fn run(args: &Args, console: &mut Console) -> CommandResult {
    let input = program::input()?;
    let output = args.program.run(&input, !args.env_only, console);
    let output = output.map_err(|failed| failed.failure)?;
    console.data(&output)?;
    Ok(Exit::Success)
}
