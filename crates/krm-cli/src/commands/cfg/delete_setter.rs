//! `krm cfg delete-setter`: a setter goes, and the references to it.

use krm_core::setters::{Changes, Delete, Setters};

use super::editing::Editing;
use super::setters::{self, Where};
use crate::Outcome;
use crate::cli::Global;
use crate::show::Screen;

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
    editing: Editing,
}

pub(super) fn run(args: &Args, global: &Global, screen: &mut Screen) -> Outcome {
    let opened = args.at.open(&args.editing, global, screen)?;
    let parts = setters::read(&opened.session.loaded, &opened.openapi, global);
    let delete = Delete::setter(&*args.name);
    let is_meant = |it: &Setters<'_>| it.definitions().setter(&args.name).is_some();
    let done = setters::each(&parts, is_meant, |it| delete.on(it))?;
    let (mut changes, mut said) = (Changes::default(), Vec::new());
    for (part, deleted) in done {
        said.extend(setters::headline(&parts, part));
        let fields = setters::fields(&deleted.fields);
        said.push(format!("deleted setter \"{}\" of {fields}", args.name));
        changes.merge(deleted.changes);
    }
    let planned = setters::plan(&changes, global);
    setters::finish(opened.session, planned, &said, &args.editing, screen)
}
