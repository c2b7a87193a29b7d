//! `krm yaml merge`: merges one YAML file into another.

use krm_core::Plan;
use krm_core::merge::{MergeOptions, NamedFile, merge_files};

use super::input::{into_text, read_valid_versions};
use crate::cli::Preview;
use crate::commands::cfg::edit_session::ChangesOutput;
use crate::commands::check_stdin_once;
use crate::commands::merge_options::{self, ListOptions, NewItems};
use crate::commands::plan;
use crate::console::Console;
use crate::{CommandResult, Failure, disk};

const EXAMPLES: &str = "\
Examples:
  krm yaml merge patch.yaml deployment.yaml
  krm yaml merge patch.yaml deployment.yaml --diff
  krm yaml merge patch.yaml - < deployment.yaml
  krm yaml merge patch.yaml rules.yaml --list-key spec.rules=host";

/// Merge one YAML file into another.
///
/// Sets the fields of SOURCE in DESTINATION; null removes a field, and everything that SOURCE does not mention is unchanged, byte for byte.
/// List elements are matched by merge key; documents by resource identity, or by position if they are not resources. DESTINATION is
/// edited in place; - is printed.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// File to merge; - is standard input
    source: String,

    /// File to merge into, in place; - merges into standard input and prints the result
    destination: String,

    /// Compat: accepted and ignored, as the result is always written
    #[arg(short, long, hide = true)]
    in_place: bool,

    #[command(flatten)]
    lists: ListOptions,

    /// Where to insert new list elements
    #[arg(long, value_name = "WHERE", default_value = "last")]
    new_items: NewItems,

    #[command(flatten)]
    changes: ChangesOutput,

    #[command(flatten)]
    preview: Preview,
}

pub(super) fn run(args: &Args, console: &mut Console) -> CommandResult {
    args.changes.apply(&args.preview, console)?;
    let names = [&*args.source, &*args.destination];
    check_stdin_once(names)?;
    if args.destination != disk::STDIN {
        console.summary().enable();
    }
    let lock = plan::lock(std::slice::from_ref(&args.destination), &args.preview, console)?;
    let [source, destination] = read_valid_versions(names)?;
    let schema = args.lists.schema(&[&source, &destination], console)?;
    let lists = args.lists.pairing(&schema);
    let options =
        MergeOptions { lists, new_items: args.new_items.option(), ..MergeOptions::default() };
    let named = |name, file| NamedFile { name: disk::display_name(name), file };
    let merged = merge_files(named(names[0], &source), named(names[1], &destination), &options)
        .map_err(Failure::input)?;
    merge_options::report_notes(&merged.warnings, console);
    let mut plan = Plan::default();
    let original = lock.original(&args.destination, into_text(destination));
    plan.set(original.map_err(Failure::input)?, Some(merged.text)).map_err(Failure::input)?;
    plan::apply_or_preview(&plan, &args.preview, &lock, console)
}
