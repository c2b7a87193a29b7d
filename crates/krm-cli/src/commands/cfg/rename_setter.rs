//! `krm cfg rename-setter`: renames a setter and all references to it.

use clap_complete::engine::ArgValueCandidates;
use krm_core::Diagnostic;
use krm_core::setters::{Changes, RenameSetter, SetterKind, Setters};

use super::edit_session::EditOptions;
use super::setters::{self, PackageSetters, SetterPackage};
use crate::cli::Global;
use crate::commands::completion::candidates;
use crate::console::Console;
use crate::{CommandResult, Failure};

const EXAMPLES: &str = "\
Examples:
  krm cfg rename-setter shop replicas web-replicas
  krm cfg rename-setter shop tag image-tag --diff";

/// Rename a setter in its definition, in substitutions and in all references.
///
/// References keep their syntax, and fields keep their values.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    package: SetterPackage,

    /// Current name of the setter
    #[arg(add = ArgValueCandidates::new(candidates::setters))]
    name: Option<String>,

    /// New name of the setter
    new_name: Option<String>,

    /// Fail if no field references the setter
    #[arg(long)]
    strict: bool,

    #[command(flatten)]
    edit_options: EditOptions,
}

pub(super) fn run(args: &Args, global: &Global, console: &mut Console) -> CommandResult {
    let given = args.name.iter().chain(&args.new_name);
    let (dir, names) = args.package.split(given, 2..=2, "NAME and NEW_NAME")?;
    let [name, new_name] = [names[0], names[1]];
    let opened = args.package.open(dir, &args.edit_options, global, console)?;
    let packages = opened.setters(global);
    let rename = RenameSetter { from: name.to_owned(), to: new_name.to_owned() };
    let matches = |it: &Setters<'_>| it.definitions().setter(name).is_some();
    let done = setters::each(&packages, matches, |it| rename.compute(it))?;
    // Fields that follow through substitutions keep their references.
    let is_unused = |package: &PackageSetters<'_>| package.setters.fields_of(name).is_empty();
    if done.iter().all(|(package, renamed)| renamed.fields.is_empty() && is_unused(package)) {
        let kind = SetterKind::NoFields { name: name.to_owned() };
        let warning = setters::strict(Diagnostic::warning(kind), args.strict);
        if warning.is_error() {
            return Err(Failure::input(warning));
        }
        console.report(&warning);
    }
    let (mut changes, mut status) = (Changes::default(), Vec::new());
    for (package, renamed) in done {
        status.extend(setters::headline(&packages, package));
        let fields = setters::describe_fields(&renamed.fields);
        status.push(format!("renamed setter \"{name}\" to \"{new_name}\" in {fields}"));
        changes.merge(renamed.changes);
    }
    let plan = setters::plan(&changes, &opened.session, global);
    setters::finish(opened.session, plan, &status, &args.edit_options, console)
}
