//! `krm fn xargs`: the configuration of a function as flags and variables of a program.

use super::command::{self, Program};
use crate::cli::optional_bool;
use crate::console::Console;
use crate::{CommandResult, Exit};

const EXAMPLES: &str = "\
Examples:
  krm fn xargs -- ./generate < input.yaml
  krm fn xargs --env-only --wrap-kind ResourceList -- ./function < input.yaml";

/// Run a program with the configuration of a function as flags and variables.
///
/// Reads a ResourceList on standard input. The fields of metadata, spec and data of its functionConfig become flags
/// (--replicas=3) and variables (REPLICAS=3) of the program, which reads the resources as a List and prints what it likes.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, mut_arg("env_only", optional_bool))]
pub(crate) struct Args {
    #[command(flatten)]
    program: Program,

    /// Only variables, no flags
    #[arg(long, default_value = "false", hide_default_value = true)]
    env_only: bool,
}

pub(super) fn run(args: &Args, console: &mut Console) -> CommandResult {
    let input = command::input()?;
    console.print(&args.program.run(&input, !args.env_only)?)?;
    Ok(Exit::Success)
}
