//! `krm yaml merge`: what one file says is set in another, and whatever it does not mention stays.

use krm_core::merge::node::{NamedFile, Rules, two_way_files};
use krm_core::{Change, Plan};

use super::whole;
use crate::cli::Preview;
use crate::commands::merge_options::{ListFlags, NewItems};
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
/// Fields of SRC are set in DEST, null removes them, and what SRC does not mention stays as it is, to the byte. Elements
/// of lists pair by their keys. Documents pair by identity where they are resources, and by position otherwise. The
/// result is printed unless -i says to write it.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// What is set; - for standard input
    source: String,

    /// What it is set in; - for standard input
    destination: String,

    /// Write the result to DEST
    #[arg(short, long)]
    in_place: bool,

    #[command(flatten)]
    lists: ListFlags,

    /// Where new items of lists go
    #[arg(long, value_name = "WHERE", default_value = "last")]
    new_items: NewItems,

    #[command(flatten)]
    preview: Preview,
}

pub(super) fn run(args: &Args, console: &mut Console) -> CommandResult {
    let names = [&*args.source, &*args.destination];
    whole::once(&names)?;
    let lock = match args.in_place {
        true => plan::lock(std::slice::from_ref(&args.destination), &args.preview, console)?,
        false => Lock::none(),
    };
    let [source, destination] = [whole::read(names[0])?, whole::read(names[1])?];
    let schema = args.lists.schema(&[&source, &destination], console)?;
    let rules = Rules { new_items: args.new_items.rule(), ..args.lists.rules(&schema) };
    let named = |name, file| NamedFile { name: disk::display_name(name), file };
    let merged = two_way_files(named(names[0], &source), named(names[1], &destination), &rules)
        .map_err(Failure::input)?;
    console.report_all(&merged.warnings);
    if !args.in_place && !args.preview.is_on() {
        console.print(&merged.text)?;
        return Ok(Exit::Success);
    }
    let mut plan = Plan::default();
    let (path, old) = (args.destination.clone(), Some(destination.into_text()));
    plan.add(Change { path, old, new: Some(merged.text) });
    plan::apply_or_preview(plan, &args.preview, &lock, console)
}
