//! `krm cfg rename-setter`: a setter gets another name, everywhere.

use krm_core::setters::{Changes, RenameSetter, Setters};

use super::edit_session::EditOptions;
use super::setters::{self, Where};
use crate::CommandResult;
use crate::cli::Global;
use crate::console::Console;

const EXAMPLES: &str = "\
Examples:
  krm cfg rename-setter shop replicas web-replicas
  krm cfg rename-setter shop tag image-tag -R --diff";

/// Give a setter another name, in its definition, in substitutions and in every reference.
///
/// Each reference keeps its form, and the fields keep their values.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    at: Where,

    /// The name that it has
    name: String,

    /// The name that it gets
    new_name: String,

    #[command(flatten)]
    edit_options: EditOptions,
}

pub(super) fn run(args: &Args, global: &Global, console: &mut Console) -> CommandResult {
    let opened = args.at.open(&args.edit_options, global, console)?;
    let parts = setters::read(&opened.session.loaded, &opened.openapi, global);
    let rename = RenameSetter { from: args.name.clone(), to: args.new_name.clone() };
    let is_meant = |it: &Setters<'_>| it.definitions().setter(&args.name).is_some();
    let done = setters::each(&parts, is_meant, |it| rename.compute(it))?;
    let (mut changes, mut said) = (Changes::default(), Vec::new());
    for (part, renamed) in done {
        said.extend(setters::headline(&parts, part));
        let fields = setters::fields(&renamed.fields);
        said.push(format!("renamed setter \"{}\" to \"{}\" in {fields}", args.name, args.new_name));
        changes.merge(renamed.changes);
    }
    let planned = setters::plan(&changes, global);
    setters::finish(opened.session, planned, &said, &args.edit_options, console)
}
