//! `krm yaml merge3`: what changed between two versions of a file is made in a third, and conflicts are told.

use clap::ValueEnum;
use krm_core::merge::node::{MergedFile, NamedFile, Side, settle_marks, three_way_files};
use krm_core::{Change, Diagnostic, Plan};

use super::whole;
use crate::cli::Preview;
use crate::commands::merge_options::{self, ConflictFlags, ListFlags, Verdict};
use crate::commands::plan;
use crate::console::Console;
use crate::disk::Lock;
use crate::{CommandResult, Exit, Failure, disk};

const EXAMPLES: &str = "\
Examples:
  krm yaml merge3 --base old.yaml --upstream new.yaml --local mine.yaml
  krm yaml merge3 --base old.yaml --upstream new.yaml --local mine.yaml -i --on-conflict mark
  krm yaml merge3 --base old.yaml --upstream new.yaml --local mine.yaml -o json
  krm yaml merge3 --resolve local mine.yaml";

/// Merge what changed between two versions of a YAML file into a third.
///
/// What changed from BASE to UPSTREAM is made in LOCAL; what neither changed is the same bytes. Where both sides changed
/// the same thing, upstream's is taken with a warning, unless --on-conflict says otherwise. The result is printed unless
/// -i says to write it.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The version that both sides started from
    #[arg(long, value_name = "FILE", required_unless_present = "resolve")]
    base: Option<String>,

    /// The version that changes come from
    #[arg(long, value_name = "FILE", required_unless_present = "resolve")]
    upstream: Option<String>,

    /// The version that changes are made in
    #[arg(long, value_name = "FILE", required_unless_present = "resolve")]
    local: Option<String>,

    /// The name of the file in messages, where LOCAL is a temporary one
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// Write the result to LOCAL
    #[arg(short, long)]
    in_place: bool,

    #[command(flatten)]
    lists: ListFlags,

    #[command(flatten)]
    conflicts: ConflictFlags,

    /// Print the conflicts in this format instead of the result
    #[arg(short, long, value_name = "FORMAT")]
    output: Option<Format>,

    /// Settle the marks of an earlier merge in these files
    #[arg(long, value_name = "SIDE", conflicts_with_all = ["base", "upstream", "local", "in_place", "output"])]
    resolve: Option<Resolve>,

    /// The files whose marks are settled
    #[arg(requires = "resolve")]
    files: Vec<String>,

    #[command(flatten)]
    preview: Preview,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One list of objects
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Resolve {
    /// What stands in the marks
    Local,
    /// What stands beside them
    Upstream,
}

pub(super) fn run(args: &Args, console: &mut Console) -> CommandResult {
    if let Some(side) = args.resolve {
        return resolve(args, side, console);
    }
    let names =
        [&args.base, &args.local, &args.upstream].map(|it| it.as_deref().unwrap_or_default());
    whole::once(&names)?;
    let lock = match args.in_place {
        true => plan::lock(&[names[1].to_owned()], &args.preview, console)?,
        false => Lock::none(),
    };
    let [base, local, upstream] =
        [whole::read(names[0])?, whole::read(names[1])?, whole::read(names[2])?];
    let shown = args.name.as_deref().unwrap_or(disk::display_name(names[1]));
    let schema = args.lists.schema(&[&base, &local, &upstream], console)?;
    let rules = args.conflicts.rules(args.lists.rules(&schema));
    let merged = three_way_files(
        NamedFile { name: disk::display_name(names[0]), file: &base },
        NamedFile { name: shown, file: &local },
        NamedFile { name: disk::display_name(names[2]), file: &upstream },
        &rules,
    );
    let merged = merged.map_err(Failure::input)?;
    let verdict = args.conflicts.judge(&merged.conflicts);
    report(&merged, verdict, args, console)?;
    if verdict == Verdict::Fail {
        return Ok(Exit::Findings);
    }
    let done = if args.in_place || args.preview.is_on() {
        let mut plan = Plan::default();
        let (path, old) = (names[1].to_owned(), Some(local.into_text()));
        plan.add(Change { path, old, new: Some(merged.text) });
        plan::apply_or_preview(plan, &args.preview, &lock, console)?
    } else {
        if args.output.is_none() {
            console.print(&merged.text)?;
        }
        Exit::Success
    };
    Ok(if verdict == Verdict::WriteAndFail { Exit::Findings } else { done })
}

fn report(
    merged: &MergedFile,
    verdict: Verdict,
    args: &Args,
    console: &mut Console,
) -> Result<(), Failure> {
    console.report_all(&merged.warnings);
    match args.output {
        Some(Format::Json) => console.print(&merge_options::conflicts_json(&merged.conflicts)),
        None => {
            console.report_all(&args.conflicts.told(&merged.conflicts, verdict));
            Ok(())
        }
    }
}

fn resolve(args: &Args, side: Resolve, console: &mut Console) -> CommandResult {
    if args.files.is_empty() {
        let none = Diagnostic::untyped_error("no file is named whose marks are to be settled");
        return Err(Failure::Diagnostics(Exit::Usage, vec![none]));
    }
    let side = match side {
        Resolve::Local => Side::Local,
        Resolve::Upstream => Side::Upstream,
    };
    let lock = plan::lock(&args.files, &args.preview, console)?;
    let mut plan = Plan::default();
    for name in &args.files {
        let file = whole::read(name)?;
        let told = |error: Diagnostic| Failure::input(error.in_file(disk::display_name(name)));
        let text = settle_marks(&file, side).map_err(told)?;
        plan.add(Change { path: name.clone(), old: Some(file.into_text()), new: Some(text) });
    }
    plan::apply_or_preview(plan, &args.preview, &lock, console)
}
