//! `krm cfg delete-subst`: a substitution goes, and the references to it.

use krm_core::setters::{Delete, Setters};

use super::editing::Editing;
use super::setters::{self, Where};
use crate::Outcome;
use crate::cli::Global;
use crate::show::Screen;

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
    editing: Editing,
}

pub(super) fn run(args: &Args, global: &Global, screen: &mut Screen) -> Outcome {
    let opened = args.at.open(&args.editing, global, screen)?;
    let is_meant = |it: &Setters<'_>| it.definitions().substitution(&args.name).is_some();
    let words = format!("deleted substitution \"{}\"", args.name);
    let delete = Delete::substitution(&*args.name);
    setters::delete(opened, &delete, is_meant, &words, &args.editing, global, screen)
}
