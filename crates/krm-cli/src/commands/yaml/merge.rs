//! `krm yaml merge`: merges one YAML file into another.

use std::sync::Arc;

use krm_core::Plan;
use krm_core::merge::{MergeOptions, NamedFile, merge_files};

use super::input::{into_text, read_valid};
use crate::cli::Preview;
use crate::commands::check_stdin_once;
use crate::commands::merge_options::{self, ListOptions, NewItems};
use crate::commands::plan;
use crate::console::Console;
use crate::disk::Lock;
use crate::{CommandResult, Exit, Failure, disk};

const EXAMPLES: &str = "\
Examples:
  krm yaml merge patch.yaml deployment.yaml
  krm yaml merge patch.yaml deployment.yaml -i --diff
  krm yaml merge patch.yaml - < deployment.yaml
  krm yaml merge patch.yaml rules.yaml --list-key spec.rules=host";

/// Merge one YAML file into another.
///
/// Sets the fields of SOURCE in DESTINATION; null removes a field, and everything that SOURCE does not mention is unchanged, byte for byte.
/// List elements are matched by merge key; documents by resource identity, or by position if they are not resources. The result is
/// printed, or written with -i.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// File to merge; - is standard input
    source: String,

    /// File to merge into; - is standard input
    destination: String,

    /// Write the result to DESTINATION
    #[arg(short, long)]
    in_place: bool,

    #[command(flatten)]
    lists: ListOptions,

    /// Where to insert new list elements
    #[arg(long, value_name = "WHERE", default_value = "last")]
    new_items: NewItems,

    #[command(flatten)]
    preview: Preview,
}

pub(super) fn run(args: &Args, console: &mut Console) -> CommandResult {
    let names = [&*args.source, &*args.destination];
    check_stdin_once(names)?;
    let lock = match args.in_place {
        true => plan::lock(std::slice::from_ref(&args.destination), &args.preview, console)?,
        false => Lock::none(),
    };
    let [source, destination] = [read_valid(names[0])?, read_valid(names[1])?].map(Arc::new);
    let schema = args.lists.schema(&[&source, &destination], console)?;
    let lists = args.lists.pairing(&schema);
    let options =
        MergeOptions { lists, new_items: args.new_items.option(), ..MergeOptions::default() };
    let named = |name, file| NamedFile { name: disk::display_name(name), file };
    let merged = merge_files(named(names[0], &source), named(names[1], &destination), &options)
        .map_err(Failure::input)?;
    merge_options::report_notes(&merged.warnings, console);
    if !args.in_place && !args.preview.is_on() {
        console.data(&merged.text)?;
        return Ok(Exit::Success);
    }
    let mut plan = Plan::default();
    let original = lock.original(&args.destination, into_text(destination));
    plan.set(original.map_err(Failure::input)?, Some(merged.text)).map_err(Failure::input)?;
    plan::apply_or_preview(&plan, &args.preview, &lock, console)
}
