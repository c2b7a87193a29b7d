//! `krm fix`: applies the field values that functions proposed in their results.

use krm_core::functions::results::PackageResult;
use krm_core::functions::results::{Fixes, RunReport};
use krm_core::{Diagnostic, Package, Plan};
use krm_yaml::ReadOptions;

use super::cfg::edit_session::{EditOptions, EditSession};
use super::refuse_stdin;
use crate::cli::{Global, Recursion};
use crate::console::Console;
use crate::{CommandResult, Exit, Failure, disk};

const EXAMPLES: &str = "\
Examples:
  krm fn eval shop -i check --results-dir out; krm fix shop --results out/results.yaml --diff
  krm fix shop --results out/results.yaml --choose 3=2";

/// Apply fixes that functions propose.
///
/// Reads the results of a function run and sets each field for which a result proposes a value, provided that the field still has the
/// value that the function saw. If a result proposes several values, choose one with --choose.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Directory or file that the functions ran on [default: current directory]
    #[arg(value_name = "DIR", default_value = ".", hide_default_value = true)]
    dir: String,

    /// Results to apply: a file written by --results-dir, or the output of a function; - is standard input
    #[arg(long, value_name = "FILE")]
    results: String,

    #[command(flatten)]
    choices: Choices,

    #[command(flatten)]
    recursion: Recursion,

    #[command(flatten)]
    edit_options: EditOptions,
}

/// Chooses among several proposed values.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct Choices {
    /// Apply the Nth proposed value of a result, or of all results; can be repeated
    #[arg(long, value_name = "[RESULT=]N", value_parser = choice)]
    choose: Vec<Choice>,
}

#[derive(Clone, Copy, Debug)]
struct Choice {
    result: Option<usize>,
    proposal: usize,
}

fn choice(text: &str) -> Result<Choice, String> {
    let number = |text: &str| text.trim().parse::<usize>().ok().filter(|number| *number > 0);
    let read = match text.split_once('=') {
        Some((result, proposal)) => number(result).zip(number(proposal)).map(|(a, b)| (Some(a), b)),
        None => number(text).map(|proposal| (None, proposal)),
    };
    let (result, proposal) = read.ok_or("expected RESULT=N or N, counted from 1")?;
    Ok(Choice { result, proposal })
}

impl Choices {
    /// The index of the filter value for a result; both count from 0.
    fn of(&self, result: usize) -> Option<usize> {
        let all = self.choose.iter().rev();
        let own = all.clone().find(|choice| choice.result == Some(result + 1));
        let any = || all.clone().find(|choice| choice.result.is_none());
        own.or_else(any).map(|choice| choice.proposal - 1)
    }

    /// Applies the fixes that the functions of a run propose.
    pub(crate) fn apply(&self, package: &Package, report: &RunReport) -> Fixes {
        let findings: Vec<PackageResult<'_>> = report
            .records
            .iter()
            .flat_map(|record| {
                let directory = record.package.as_str();
                record.results.iter().map(move |result| PackageResult { directory, result })
            })
            .collect();
        Fixes::apply(package, &findings, |number, _| self.of(number))
    }
}

pub(crate) fn run(args: &Args, global: &Global, console: &mut Console) -> CommandResult {
    refuse_stdin(&args.dir)?;
    let in_file = |diagnostic: Diagnostic| diagnostic.in_file(disk::display_name(&args.results));
    let file = disk::parse(&args.results, ReadOptions::default()).map_err(Failure::input)?;
    let (results, warnings) =
        RunReport::parse(&file).map_err(|error| Failure::input(in_file(error)))?;
    let warnings: Vec<Diagnostic> = warnings.into_iter().map(in_file).collect();
    console.report_all(&warnings);
    args.edit_options.check_output(console)?;
    let scope = args.recursion.includes_subpackages();
    let session = EditSession::open_at(&args.dir, &[], scope, &args.edit_options, global, console)?;
    session.count_resources(console);
    let package = &session.loaded.package;
    let fixes = args.choices.apply(package, &results);
    let mut plan = Plan::default();
    for file in package.files() {
        if let Some(new) = fixes.texts.get(&file.path) {
            plan.set(session.loaded.original(file), Some(new.clone())).map_err(Failure::input)?;
        }
    }
    let exit = session.finish(plan, console)?;
    console.flush_before_diagnostics()?;
    report(&fixes, args.edit_options.preview.is_on(), console);
    Ok(if exit == Exit::Success && !fixes.skipped.is_empty() { Exit::Findings } else { exit })
}

/// Reports which fixes were applied and which were not.
pub(crate) fn report(fixes: &Fixes, is_preview: bool, console: &mut Console) {
    console.report_all(&fixes.skipped);
    if !is_preview {
        fixes.applied.iter().for_each(|field| console.status(&format!("fixed {field}")));
    }
    if fixes.applied.is_empty() && fixes.skipped.is_empty() {
        console.status("nothing to fix");
    }
}
