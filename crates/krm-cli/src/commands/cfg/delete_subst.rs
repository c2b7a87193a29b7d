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
  krm cfg delete-subst shop image --diff";

/// Delete a substitution and the references to it.
///
/// Fields keep their values, and comments keep everything but the reference.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    package: SetterPackage,

    /// Name of the substitution
    name: Option<String>,

    #[command(flatten)]
    edit_options: EditOptions,
}

pub(super) fn run(args: &Args, global: &Global, console: &mut Console) -> CommandResult {
    let (dir, names) = args.package.split(&args.name, 1..=1, "NAME")?;
    let name = names[0];
    let opened = args.package.open(dir, &args.edit_options, global, console)?;
    let matches = |it: &Setters<'_>| it.definitions().substitution(name).is_some();
    let action = format!("deleted substitution \"{name}\"");
    let delete = DeleteDefinition::substitution(name);
    setters::delete(opened, &delete, matches, &action, &args.edit_options, global, console)
}
