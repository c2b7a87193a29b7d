//! `krm cfg delete-subst`: deletes a substitution and the references to it.

use krm_core::setters::{DeleteDefinition, Setters};

use super::edit_session::EditOptions;
use super::setters::{self, SetterPackage};
use crate::CommandResult;
use crate::cli::Global;
use crate::console::Console;

const EXAMPLES: &str = "\
Examples:
  krm cfg delete-subst shop image
  krm cfg delete-subst shop image -R --diff";

/// Delete a substitution and the references to it.
///
/// Fields keep their values, and comments keep everything but the reference.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    package: SetterPackage,

    /// Name of the substitution
    name: String,

    #[command(flatten)]
    edit_options: EditOptions,
}

pub(super) fn run(args: &Args, global: &Global, console: &mut Console) -> CommandResult {
    let opened = args.package.open(&args.edit_options, global, console)?;
    let matches = |it: &Setters<'_>| it.definitions().substitution(&args.name).is_some();
    let action = format!("deleted substitution \"{}\"", args.name);
    let delete = DeleteDefinition::substitution(&*args.name);
    setters::delete(opened, &delete, matches, &action, &args.edit_options, global, console)
}
