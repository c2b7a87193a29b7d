//! `krm cfg delete-setter`: a setter goes, and the references to it.

use krm_core::setters::{DeleteDefinition, Setters};

use super::edit_session::EditOptions;
use super::setters::{self, Where};
use crate::CommandResult;
use crate::cli::Global;
use crate::console::Console;

const EXAMPLES: &str = "\
Examples:
  krm cfg delete-setter shop replicas
  krm cfg delete-setter shop replicas -R --diff";

/// Delete a setter, and the references to it.
///
/// The values of the fields stay, and so does every other word of their comments.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    at: Where,

    /// The name of the setter
    name: String,

    #[command(flatten)]
    edit_options: EditOptions,
}

pub(super) fn run(args: &Args, global: &Global, console: &mut Console) -> CommandResult {
    let opened = args.at.open(&args.edit_options, global, console)?;
    let is_meant = |it: &Setters<'_>| it.definitions().setter(&args.name).is_some();
    let words = format!("deleted setter \"{}\"", args.name);
    let delete = DeleteDefinition::setter(&*args.name);
    setters::delete(opened, &delete, is_meant, &words, &args.edit_options, global, console)
}
