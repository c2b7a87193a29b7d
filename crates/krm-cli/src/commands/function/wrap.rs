//! `krm fn wrap`: any program that prints resources, as a function.

use krm_core::adapter;
use krm_core::merge::Rules;

use super::command::{self, Program};
use crate::cli::yes_or_no;
use crate::show::Screen;
use crate::{Exit, Failure, Outcome};

const EXAMPLES: &str = "\
Examples:
  krm fn wrap -- ./nginx-template.sh < input.yaml
  krm fn wrap -- helm template shop ./chart < input.yaml";

/// Run a program as a function: its configuration as variables, its output merged.
///
/// Reads a ResourceList on standard input and writes one to standard output. The fields of metadata, spec and data of its
/// functionConfig become variables of the program in upper case. What the program prints is merged into the resources, so that
/// what people changed in them stays; new ones get the file config/NAME_KIND.yaml, unless they name one.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, mut_arg("env_only", yes_or_no))]
pub(crate) struct Args {
    #[command(flatten)]
    program: Program,

    /// Pass the configuration as flags, too (--env-only=false)
    #[arg(long, default_value = "true", hide_default_value = true)]
    env_only: bool,
}

pub(super) fn run(args: &Args, screen: &mut Screen) -> Outcome {
    let input = command::input()?;
    let output = args.program.run(&input, !args.env_only)?;
    let merged = adapter::merge(&input, output, &Rules::default()).map_err(|told| {
        Failure::function(told.in_file(format!("output of {}", args.program.name())))
    })?;
    screen.print(&merged)?;
    Ok(Exit::Done)
}
