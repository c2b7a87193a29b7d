//! `krm yaml check`: everything that is wrong with YAML files, and what only looks right.

use clap::ValueEnum;
use krm_core::Diagnostic;
use krm_core::print::json;
use krm_core::query;
use krm_yaml::{File, ReadOptions};

use super::broken;
use crate::cli::Global;
use crate::console::Console;
use crate::{CommandResult, Exit, disk, parallel};

/// More warnings than this about one file help nobody.
const MOST_WARNINGS: usize = 100;

const EXAMPLES: &str = "\
Examples:
  krm yaml check *.yaml
  krm yaml check --yaml-1.1 deployment.yaml
  krm yaml check -o json *.yaml
  krm yaml check - < deployment.yaml";

/// Find what is wrong with YAML files.
///
/// Every document that cannot be read is an error (exit code 3), every key that stands twice a warning (exit code 0).
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The files; - for standard input
    #[arg(required = true)]
    files: Vec<String>,

    /// Warn of values that YAML 1.1, which Kubernetes follows, reads differently; also with --verbose
    #[arg(long = "yaml-1.1")]
    yaml_1_1: bool,

    /// Refuse what YAML 1.2 forbids though Kubernetes reads it: brackets left of their key
    #[arg(long)]
    strict: bool,

    /// Print the findings in this format
    #[arg(short, long, value_name = "FORMAT")]
    output: Option<Format>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One list of objects
    Json,
}

pub(super) fn run(args: &Args, global: &Global, console: &mut Console) -> CommandResult {
    let options = ReadOptions { strict_indentation: args.strict, ..ReadOptions::default() };
    let old_words = args.yaml_1_1 || global.verbose;
    let found = parallel::map(&args.files, global.jobs, |name| check(name, options, old_words));
    let mut found: Vec<Diagnostic> = found.into_iter().flatten().collect();
    if global.show_secrets {
        found.iter_mut().for_each(Diagnostic::reveal);
    }
    match args.output {
        Some(Format::Json) => console.print(&list(&found))?,
        None => console.report_all(&found),
    }
    let errors = found.iter().filter(|diagnostic| diagnostic.is_error()).count();
    let (files, rest) = (args.files.len(), found.len() - errors);
    let summary = [count(files, "file"), count(errors, "error"), count(rest, "warning")];
    console.detail(&format!("checked {}: {}, {}", summary[0], summary[1], summary[2]));
    Ok(if errors > 0 { Exit::Input } else { Exit::Success })
}

fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

fn check(name: &str, options: ReadOptions, old_words: bool) -> Vec<Diagnostic> {
    let file = match disk::parse(name, options) {
        Ok(file) => file,
        Err(diagnostic) => return vec![diagnostic],
    };
    let mut found = broken(name, &file.documents().collect::<Vec<_>>());
    let warnings = warnings(&file, old_words);
    found.extend(warnings.into_iter().map(|warning| warning.in_file(disk::display_name(name))));
    found.sort_by_key(|diagnostic| {
        diagnostic.location.as_ref().map_or((u32::MAX, 0), |at| (at.line, at.column))
    });
    found
}

fn warnings(file: &File, old_words: bool) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let mut left_out = 0;
    for document in file.documents() {
        let twice = query::duplicate_keys(document);
        let words = if old_words { query::yaml11_scalars(document) } else { Vec::new() };
        let all = twice.len() + words.len();
        let room = MOST_WARNINGS - found.len();
        left_out += all.saturating_sub(room);
        let twice = twice.iter().map(|it| it.to_diagnostic(file));
        found.extend(
            twice.chain(words.into_iter().map(|it| query::yaml11_warning(it, file))).take(room),
        );
    }
    if left_out > 0 {
        found.push(Diagnostic::untyped_warning(format!("{left_out} more warnings are not shown")));
    }
    found
}

/// One object a line, so that the list can be read and compared.
fn list(found: &[Diagnostic]) -> String {
    let lines: Vec<String> =
        found.iter().map(|diagnostic| json::write(&diagnostic.to_value())).collect();
    if lines.is_empty() { "[]\n".to_owned() } else { format!("[\n{}\n]\n", lines.join(",\n")) }
}
