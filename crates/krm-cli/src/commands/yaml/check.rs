//! `krm yaml check`: reports syntax errors, duplicate keys and values that YAML 1.1 reads differently.

use clap::ValueEnum;
use krm_core::kubernetes_reader;
use krm_core::print::json;
use krm_core::query;
use krm_core::{Diagnostic, Severity};
use krm_yaml::{File, ReadOptions};

use super::input::syntax_errors;
use super::inputs::{InputFile, InputFiles, Inputs, names_or_current};
use crate::cli::{FindingsExit, Global};
use crate::commands::conflict_records;
use crate::commands::kinds::CommandKind;
use crate::console::Console;
use crate::disk::FileKind;
use crate::{CommandResult, Exit, disk, duplicate_keys, parallel};

/// More warnings than this about one file are not printed.
const MAX_WARNINGS: usize = 100;

const EXAMPLES: &str = "\
Examples:
  krm yaml check *.yaml
  krm yaml check --yaml-1.1 --fail-on warning deployment.yaml
  krm yaml check -o json *.yaml
  krm yaml check - < deployment.yaml";

/// Check YAML files for errors.
///
/// Syntax errors, duplicate keys, unresolved merge conflicts and line breaks that only Kubernetes sees are errors (exit code 3).
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    inputs: Inputs,

    /// Report duplicate keys as warnings
    #[arg(long)]
    allow_duplicates: bool,

    /// Warn about values that YAML 1.1, as used by Kubernetes, reads differently; implied by --verbose
    #[arg(long = "yaml-1.1")]
    yaml_1_1: bool,

    /// Reject what YAML 1.2 forbids but Kubernetes accepts, such as lines of a quoted scalar that are not indented
    #[arg(long)]
    strict: bool,

    #[command(flatten)]
    findings: FindingsExit,

    /// Format of the findings
    #[arg(short, long, value_name = "FORMAT")]
    output: Option<Format>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One JSON array
    Json,
}

pub(super) fn run(args: &Args, global: &Global, console: &mut Console) -> CommandResult {
    let options = ReadOptions { strict: args.strict, ..ReadOptions::default() };
    let names = names_or_current(&args.inputs.files);
    let InputFiles { files, problems, .. } =
        InputFiles::read(&names, &args.inputs.recursion, options, global)?;
    duplicate_keys::discard();
    let check = |input: &InputFile| check(input, options, args, global);
    let found = parallel::map(&files, global.jobs, check);
    let mut found: Vec<Diagnostic> =
        problems.into_iter().chain(found.into_iter().flatten()).collect();
    if global.show_secrets {
        found.iter_mut().for_each(Diagnostic::reveal);
    }
    match args.output {
        Some(Format::Json) => {
            found.iter().for_each(|it| console.record(it));
            console.data(&list(&found))?;
        }
        None => console.report_all(&found),
    }
    let errors = found.iter().filter(|diagnostic| diagnostic.is_error()).count();
    let (files, rest) = (files.len(), found.len() - errors);
    let summary = [count(files, "file"), count(errors, "error"), count(rest, "warning")];
    console.detail(&format!("checked {}: {}, {}", summary[0], summary[1], summary[2]));
    let exit = if errors > 0 { Exit::Input } else { Exit::Success };
    Ok(args.findings.exit(exit, found.iter().map(|it| it.severity).max()))
}

fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

fn check(input: &InputFile, options: ReadOptions, args: &Args, global: &Global) -> Vec<Diagnostic> {
    let name = &*input.name;
    let file = match input.read_with(options) {
        Ok(file) => file,
        Err(diagnostic) => return vec![diagnostic],
    };
    let file = &*file;
    if name == disk::STDIN && file.text().trim().is_empty() {
        return vec![Diagnostic::warning(FileKind::EmptyStdin)];
    }
    let mut found = syntax_errors(name, &file.documents().collect::<Vec<_>>());
    found.extend(conflict_records::unresolved_of_file(name, file));
    let hidden = kubernetes_reader::hidden_text(file).into_iter();
    found.extend(hidden.map(|it| it.in_file(disk::display_name(name))));
    let warnings = warnings(file, args, args.yaml_1_1 || global.verbose);
    found.extend(warnings.into_iter().map(|warning| warning.in_file(disk::display_name(name))));
    found.sort_by_key(|diagnostic| {
        diagnostic.location.as_ref().map_or((u32::MAX, 0), |at| (at.line, at.column))
    });
    found
}

/// Duplicate keys, which are errors unless they are allowed, and values that YAML 1.1 reads differently.
fn warnings(file: &File, args: &Args, yaml_1_1: bool) -> Vec<Diagnostic> {
    let severity = if args.allow_duplicates { Severity::Warning } else { Severity::Error };
    let mut found = Vec::new();
    let mut omitted = 0;
    for document in file.documents() {
        let duplicates = query::duplicate_keys(document);
        let ambiguous = if yaml_1_1 { query::yaml11_scalars(document) } else { Vec::new() };
        let limit = MAX_WARNINGS - found.len();
        omitted += (duplicates.len() + ambiguous.len()).saturating_sub(limit);
        let duplicates = duplicates.iter().map(|key| {
            let mut duplicate = key.to_diagnostic(file);
            duplicate.severity = severity;
            duplicate
        });
        let ambiguous = ambiguous.into_iter().map(|scalar| query::yaml11_warning(scalar, file));
        found.extend(duplicates.chain(ambiguous).take(limit));
    }
    if omitted > 0 {
        found.push(Diagnostic::warning(CommandKind::WarningsOmitted { count: omitted }));
    }
    found
}

/// A JSON array, one diagnostic per line.
fn list(found: &[Diagnostic]) -> String {
    let lines: Vec<String> =
        found.iter().map(|diagnostic| json::display(&diagnostic.to_value())).collect();
    if lines.is_empty() { "[]\n".to_owned() } else { format!("[\n{}\n]\n", lines.join(",\n")) }
}
