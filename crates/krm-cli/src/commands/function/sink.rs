//! `krm fn sink`: a list of resources, written into files.

use std::path::Path;

use krm_core::files::{Deletions, assemble};
use krm_core::functions::resource_list::{InputList, InputOptions, Item};
use krm_core::{Change, Diagnostic, Plan};

use super::{opening, output, streams};
use crate::cli::{Global, Preview};
use crate::commands::cfg::edit_session::{EditOptions, EditSession};
use crate::commands::plan;
use crate::console::Console;
use crate::{CommandResult, Exit, Failure};

const EXAMPLES: &str = "\
Examples:
  krm fn source shop | ./function | krm fn sink shop --prune
  krm fn source shop | ./function | krm fn sink out
  krm fn source shop | ./function | krm fn sink";

/// Write a list of resources into files.
///
/// Reads a list, or documents, from standard input. Each resource goes to the file that its annotations name, or to one that
/// is named after it. What is in DIR already is edited: a file of which nothing changed stays as it is. Without DIR the resources
/// are printed as documents.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The folder, which is made where it is missing
    #[arg(value_name = "DIR")]
    dir: Option<String>,

    /// Delete resources of DIR that are not in the list
    #[arg(long, requires = "dir")]
    prune: bool,

    /// Let --prune delete all resources, or a Kptfile
    #[arg(long, requires = "prune")]
    allow_delete: bool,

    #[command(flatten)]
    preview: Preview,
}

pub(super) fn run(args: &Args, global: &Global, console: &mut Console) -> CommandResult {
    let mut piped = streams::Piped::read()?;
    piped.left_out(false).iter().for_each(|told| console.report(told));
    let given = piped.items();
    if args.prune && given.is_empty() && !piped.is_list_of_none() {
        let told = Diagnostic::untyped_error(
            "there is no list on standard input, and --prune would delete everything",
        );
        return Err(Failure::input(told.hint("a list that is meant to be empty says `items: []`")));
    }
    let Some(dir) = &args.dir else {
        console.print(&output::documents(&given))?;
        return Ok(Exit::Success);
    };
    if !Path::new(dir).exists() {
        return made(dir, &given, args, console);
    }
    let edit_options = EditOptions::atomic(args.preview.clone());
    let session = EditSession::open_at(dir, &[], true, &edit_options, global, console)?;
    let before = opening::items(&session.loaded.package, false, console)?;
    let after = args.sunk(&before, &given)?;
    let deletions = if args.allow_delete { Deletions::Any } else { Deletions::Some };
    let done = assemble(&session.loaded.package, &before, &after, deletions)
        .map_err(|told| Failure::Diagnostics(Exit::Input, told))?;
    for gone in &done.deleted {
        console.status(&format!("deleted {} in {}", gone.resource, gone.path));
    }
    let mut plan = Plan::default();
    for change in done.changes {
        let shown = session.loaded.display_path(change.path.as_str());
        let path = change.old.map_or(shown, |file| file.display_path.clone());
        let old = change.old.and_then(|file| Some(file.file()?.text().to_owned()));
        plan.add(Change { path, old, new: change.into_text() });
    }
    session.finish(plan, console)
}

impl Args {
    /// What the folder is to hold: each resource that is given, edited into the one that is there, and the others unless
    /// they are to go.
    fn sunk(&self, before: &[Item], given: &[Item]) -> Result<Vec<Item>, Failure> {
        let plain = InputOptions { without_ids: true, ..InputOptions::default() };
        let list = InputList::of(given, &plain).map_err(Failure::input)?;
        let there = InputList::of(before, &plain).map_err(Failure::input)?;
        let answer = there
            .answer(list.text().to_owned())
            .map_err(|refused| Failure::input(refused.error))?;
        let kept = answer.items.into_iter().zip(answer.from).map(|(mut item, from)| {
            item.origin = from.and_then(|at| before[at].origin);
            item
        });
        let mut after: Vec<Item> = kept.collect();
        if !self.prune {
            after.extend(answer.gone.iter().map(|at| before[*at].clone()));
        }
        Ok(after)
    }
}

/// A folder that is not there yet.
fn made(dir: &str, given: &[Item], args: &Args, console: &mut Console) -> CommandResult {
    let package = krm_core::Package::default();
    let mut items = given.to_vec();
    items.iter_mut().for_each(|item| item.origin = None);
    let done = assemble(&package, &[], &items, Deletions::Any)
        .map_err(|told: Vec<Diagnostic>| Failure::Diagnostics(Exit::Input, told))?;
    let mut plan = Plan::default();
    for change in done.changes {
        let path = crate::loader::joined(dir, change.path.as_str());
        plan.add(Change { path, old: None, new: change.into_text() });
    }
    let lock = plan::lock_directory(dir, &args.preview, console)?;
    plan::apply_or_preview(plan, &args.preview, &lock, console)
}
