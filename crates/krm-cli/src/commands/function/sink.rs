//! `krm fn sink`: writes a list of resources to files.

use std::path::Path;

use krm_core::files::{Deletions, assemble};
use krm_core::functions::resource_list::{InputList, InputOptions, Item, without_wire_annotations};
use krm_core::{Diagnostic, Plan};

use super::kinds::FnCommandKind;
use super::piped_list::PipedList;
use super::{finish, open_package, output};
use crate::cli::{Global, Preview, Recursion};
use crate::commands::cfg::edit_session::{ChangesFormat, EditOptions, EditSession};
use crate::commands::{check_stdin_is_piped, plan, refuse_stdin};
use crate::console::Console;
use crate::disk::FileKind;
use crate::{CommandResult, Exit, Failure};

const EXAMPLES: &str = "\
Examples:
  krm fn source shop | ./function | krm fn sink shop --prune
  krm fn source shop/web | ./function | krm fn sink shop/web --overwrite
  krm fn source shop | ./function | krm fn sink out
  krm fn source shop | ./function | krm fn sink";

/// Write a list of resources to files.
///
/// Reads a list or documents from standard input. Each resource is written to the file that its annotations name, or to a file named
/// after it. A DIR that exists needs --overwrite or --prune: its resources are edited in place, and files without changes are not
/// written. Without DIR, --overwrite and --prune, the resources are printed as documents.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Directory, which is created; one that exists needs --overwrite or --prune [default with these: current directory]
    #[arg(value_name = "DIR")]
    dir: Option<String>,

    /// Edit the resources of an existing directory, and keep those that are not in the list
    #[arg(long, conflicts_with = "prune")]
    overwrite: bool,

    /// Edit the resources of an existing directory, and delete those that are not in the list
    #[arg(long)]
    prune: bool,

    /// Allow --prune to delete all resources, or a Kptfile
    #[arg(long, requires = "prune")]
    allow_delete: bool,

    #[command(flatten)]
    recursion: Recursion,

    /// Print the changes of --check, --diff or --dry-run in this format
    #[arg(short, long, value_name = "FORMAT")]
    output: Option<ChangesFormat>,

    #[command(flatten)]
    preview: Preview,
}

pub(super) fn run(args: &Args, global: &Global, console: &mut Console) -> CommandResult {
    args.check_output(console)?;
    args.dir.as_deref().map_or(Ok(()), refuse_stdin)?;
    check_stdin_is_piped()?;
    let mut list = PipedList::read()?;
    list.warn_if_empty(console);
    list.skipped_documents(false).iter().for_each(|warning| console.report(warning));
    list.check_paths(console)?;
    let given = stripped(list.take_items())?;
    if args.prune && given.is_empty() && !list.has_items_field() {
        return Err(Failure::input(Diagnostic::error(FnCommandKind::PruneWithoutList)));
    }
    let here = (args.overwrite || args.prune).then_some(".");
    let Some(dir) = args.dir.as_deref().or(here) else {
        console.data(&output::documents(&given))?;
        return Ok(Exit::Success);
    };
    if !Path::new(dir).exists() {
        return create(dir, &given, args, console);
    }
    // Compat: kpt refuses every directory that exists.
    if !args.overwrite && !args.prune {
        let error = match Path::new(dir).is_dir() {
            true => Diagnostic::error(FnCommandKind::SinkExists),
            false => Diagnostic::error(FileKind::NotADirectory),
        };
        return Err(Failure::input(error.in_file(dir)));
    }
    let edit_options = EditOptions::atomic(args.preview.clone());
    let scope = args.recursion.includes_subpackages();
    let session = EditSession::open_at(dir, &[], scope, &edit_options, global, console)?;
    let before = open_package::items(&session.loaded.package, false, console)?;
    console.summary().add_resources(given.len());
    let after = args.merged(&before, &given)?;
    let deletions = if args.allow_delete { Deletions::Any } else { Deletions::Some };
    let done = assemble(&session.loaded.package, &before, &after, deletions)
        .map_err(|errors| Failure::Diagnostics(Exit::Input, errors))?;
    done.warnings.iter().for_each(|warning| console.report(warning));
    finish::report_deletions(&done.deleted, &session.loaded, &args.preview, console);
    let mut plan = Plan::default();
    for change in done.changes {
        let original = session.loaded.original_at(&change.path);
        plan.set(original, change.new).map_err(Failure::input)?;
    }
    session.finish(plan, console)
}

impl Args {
    fn check_output(&self, console: &mut Console) -> Result<(), Failure> {
        self.output.map_or(Ok(()), |format| format.apply(&self.preview, console))
    }

    /// The new resources of the directory: each given resource, edited into the existing one, and the other existing ones
    /// unless they are pruned.
    fn merged(&self, before: &[Item], given: &[Item]) -> Result<Vec<Item>, Failure> {
        let plain = InputOptions { without_ids: true, ..InputOptions::default() };
        let list = InputList::of(given, &plain).map_err(Failure::input)?;
        let existing = InputList::of(before, &plain).map_err(Failure::input)?;
        let answer = existing
            .apply_output(list.text().to_owned())
            .map_err(|refused| Failure::input(refused.error))?;
        let kept = answer.items.into_iter().zip(answer.sources).map(|(mut item, from)| {
            item.origin = from.and_then(|at| before[at].origin);
            item
        });
        let mut after = stripped(kept.collect())?;
        if !self.prune {
            after.extend(answer.removed.iter().map(|at| before[*at].clone()));
        }
        Ok(after)
    }
}

/// The resources without annotations that only belong to a ResourceList: those of nested lists, and those that a file has already.
fn stripped(items: Vec<Item>) -> Result<Vec<Item>, Failure> {
    let strip = |item: Item| Ok(without_wire_annotations(&item)?.unwrap_or(item));
    items.into_iter().map(strip).collect::<Result<_, Diagnostic>>().map_err(Failure::input)
}

/// Writes the resources to a new directory.
fn create(dir: &str, given: &[Item], args: &Args, console: &mut Console) -> CommandResult {
    let package = krm_core::Package::default();
    console.summary().add_resources(given.len());
    let mut items = given.to_vec();
    items.iter_mut().for_each(|item| item.origin = None);
    let done = assemble(&package, &[], &items, Deletions::Any)
        .map_err(|errors: Vec<Diagnostic>| Failure::Diagnostics(Exit::Input, errors))?;
    done.warnings.iter().for_each(|warning| console.report(warning));
    let mut plan = Plan::default();
    for change in done.changes {
        let original = plan::file_in(dir, change.path.as_str(), None)?;
        plan.set(original, change.new).map_err(Failure::input)?;
    }
    let lock = plan::lock_directory(dir, &args.preview, console)?;
    plan::apply_or_preview(&plan, &args.preview, &lock, console)
}
