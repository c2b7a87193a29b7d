//! `krm yaml merge3`: applies the changes between two versions of a file to a third.

use clap::ValueEnum;
use krm_core::Plan;
use krm_core::merge::{MergedFile, NamedFile, Side, merge_files_three_way};

use super::input::{into_text, read_valid, read_valid_versions};
use crate::cli::Preview;
use crate::commands::check_stdin_once;
use crate::commands::conflict_records;
use crate::commands::merge_options::{self, ConflictAction, ConflictOptions, ListOptions};
use crate::commands::plan;
use crate::console::Console;
use crate::disk::Lock;
use crate::{CommandResult, Exit, Failure, disk};

const EXAMPLES: &str = "\
Examples:
  krm yaml merge3 --base old.yaml --upstream new.yaml --local mine.yaml
  krm yaml merge3 --base old.yaml --upstream new.yaml --local mine.yaml --on-conflict mark
  krm yaml merge3 --base old.yaml --upstream new.yaml --local - < mine.yaml
  krm yaml merge3 --base old.yaml --upstream new.yaml --local mine.yaml --dry-run -o json
  krm yaml merge3 --resolve local mine.yaml";

const USAGE: &str = "\
krm yaml merge3 [OPTIONS] --base <FILE> --upstream <FILE> --local <FILE>
       krm yaml merge3 [OPTIONS] --resolve <SIDE> <FILES>...";

/// Apply the changes between two versions of a YAML file to a third (three-way merge).
///
/// Changes from --base to --upstream are applied to --local; everything else is unchanged, byte for byte. If both sides changed the same
/// field, upstream's value is taken with a warning, unless --on-conflict says otherwise. The --local file is edited in place; - is printed.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, override_usage = USAGE)]
pub(crate) struct Args {
    /// Common ancestor of both sides
    #[arg(long, alias = "ancestor", value_name = "FILE", required_unless_present_any = ["resolve", "files"])]
    base: Option<String>,

    /// Version whose changes are merged
    #[arg(long, alias = "from", value_name = "FILE", required_unless_present_any = ["resolve", "files"])]
    upstream: Option<String>,

    /// Version to update, in place; - merges into standard input and prints the result
    #[arg(long, alias = "to", value_name = "FILE", required_unless_present_any = ["resolve", "files"])]
    local: Option<String>,

    /// File name to use in diagnostics, if --local is a temporary file
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// Compat: accepted and ignored, as the result is always written
    #[arg(short, long, hide = true)]
    in_place: bool,

    #[command(flatten)]
    lists: ListOptions,

    #[command(flatten)]
    conflicts: ConflictOptions,

    /// Format of the conflicts, which are printed to standard output
    #[arg(short, long, value_name = "FORMAT")]
    output: Option<Format>,

    /// Resolve the conflict markers of an earlier merge in FILES
    #[arg(long, value_name = "SIDE", requires = "files", conflicts_with_all = ["base", "upstream", "local", "in_place", "output"])]
    resolve: Option<Resolve>,

    /// Files whose conflict markers to resolve
    #[arg(requires = "resolve")]
    files: Vec<String>,

    #[command(flatten)]
    preview: Preview,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One JSON array
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Resolve {
    /// Use the local values from the markers
    Local,
    /// Keep upstream's values and remove the markers
    Upstream,
}

pub(super) fn run(args: &Args, console: &mut Console) -> CommandResult {
    if let Some(side) = args.resolve {
        return resolve(args, side, console);
    }
    let names =
        [&args.base, &args.local, &args.upstream].map(|it| it.as_deref().unwrap_or_default());
    check_stdin_once(names)?;
    let beside = args.name.as_deref().unwrap_or(names[1]);
    let is_piped = names[1] == disk::STDIN;
    // As a merge driver of git, krm merges one file of many, and git says what was done.
    if !is_piped && args.name.is_none() {
        console.summary().enable();
    }
    let lock = match is_piped {
        false => plan::lock(
            &[names[1].to_owned(), conflict_records::path_beside(beside)],
            &args.preview,
            console,
        )?,
        true => Lock::none(),
    };
    let [base, local, upstream] = read_valid_versions(names)?;
    let shown = args.name.as_deref().unwrap_or(disk::display_name(names[1]));
    let schema = args.lists.schema(&[&base, &local, &upstream], console)?;
    let options = args.conflicts.merge_options(args.lists.pairing(&schema));
    let merged = merge_files_three_way(
        NamedFile { name: disk::display_name(names[0]), file: &base },
        NamedFile { name: shown, file: &local },
        NamedFile { name: disk::display_name(names[2]), file: &upstream },
        &options,
    );
    let merged = merged.map_err(Failure::input)?;
    let can_record = !is_piped;
    let action = args.conflicts.action(&merged.conflicts, can_record);
    report(&merged, action, args, console)?;
    if action == ConflictAction::Fail {
        return Ok(Exit::Findings);
    }
    let done = if is_piped && args.output.is_some() {
        // Standard output has the conflicts.
        Exit::Success
    } else {
        let mut plan = Plan::default();
        let original = lock.original(names[1], into_text(local)).map_err(Failure::input)?;
        plan.set(original, Some(merged.text)).map_err(Failure::input)?;
        if args.conflicts.marks() && can_record {
            conflict_records::add_beside(&merged.conflicts, beside, &lock, &mut plan)?;
        }
        plan::apply_or_preview(&plan, &args.preview, &lock, console)?
    };
    Ok(if action == ConflictAction::WriteAndFail { Exit::Findings } else { done })
}

fn report(
    merged: &MergedFile,
    action: ConflictAction,
    args: &Args,
    console: &mut Console,
) -> Result<(), Failure> {
    merge_options::report_notes(&merged.warnings, console);
    match args.output {
        Some(Format::Json) => console.data(&merge_options::conflicts_json(&merged.conflicts)),
        None => {
            console.report_all(&args.conflicts.diagnostics(&merged.conflicts, action));
            Ok(())
        }
    }
}

fn resolve(args: &Args, side: Resolve, console: &mut Console) -> CommandResult {
    let side = match side {
        Resolve::Local => Side::Local,
        Resolve::Upstream => Side::Upstream,
    };
    console.summary().enable();
    let lock = plan::lock(&args.files, &args.preview, console)?;
    let plan = conflict_records::resolve_files(&args.files, side, &lock, read_valid)?;
    plan::apply_or_preview(&plan, &args.preview, &lock, console)
}
