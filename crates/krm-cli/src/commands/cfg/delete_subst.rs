//! `krm cfg delete-subst`: a substitution goes, and the references to it.

use krm_core::setters::{DeleteDefinition, Setters};

use super::edit_session::EditOptions;
use super::setters::{self, Where};
use crate::CommandResult;
use crate::cli::Global;
use crate::console::Console;

const EXAMPLES: &str = "\
Examples:
  krm cfg delete-subst shop image
  krm cfg delete-subst shop image -R --diff";

/// Delete a substitution, and the references to it.
///
/// The values of the fields stay, and so does every other word of their comments.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    at: Where,

    /// The name of the substitution
    name: String,

    #[command(flatten)]
    edit_options: EditOptions,
}

pub(super) fn run(args: &Args, global: &Global, console: &mut Console) -> CommandResult {
    let opened = args.at.open(&args.edit_options, global, console)?;
    let is_meant = |it: &Setters<'_>| it.definitions().substitution(&args.name).is_some();
    let words = format!("deleted substitution \"{}\"", args.name);
    let delete = DeleteDefinition::substitution(&*args.name);
    setters::delete(opened, &delete, is_meant, &words, &args.edit_options, global, console)
}
