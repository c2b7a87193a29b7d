//! `krm cfg delete-setter`: deletes a setter and the references to it.

use clap_complete::engine::ArgValueCandidates;
use krm_core::setters::{DeleteDefinition, Setters};

use super::edit_session::EditOptions;
use super::setters::{self, SetterPackage};
use crate::CommandResult;
use crate::cli::Global;
use crate::commands::completion::candidates;
use crate::console::Console;

const EXAMPLES: &str = "\
Examples:
  krm cfg delete-setter shop replicas
  krm cfg delete-setter shop replicas --diff";

/// Delete a setter and the references to it.
///
/// Fields keep their values, and comments keep everything but the reference.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    package: SetterPackage,

    /// Name of the setter
    #[arg(add = ArgValueCandidates::new(candidates::setters))]
    name: Option<String>,

    #[command(flatten)]
    edit_options: EditOptions,
}

pub(super) fn run(args: &Args, global: &Global, console: &mut Console) -> CommandResult {
    let (dir, names) = args.package.split(&args.name, 1..=1, "NAME")?;
    let name = names[0];
    let opened = args.package.open(dir, &args.edit_options, global, console)?;
    let matches = |it: &Setters<'_>| it.definitions().setter(name).is_some();
    let action = format!("deleted setter \"{name}\"");
    let delete = DeleteDefinition::setter(name);
    setters::delete(opened, &delete, matches, &action, &args.edit_options, global, console)
}
