//! `krm yaml get`: prints the values at a path.

use std::io::IsTerminal;

use clap::ValueEnum;
use krm_core::Diagnostic;
use krm_core::print::json;
use krm_core::print::source_text;
use krm_core::query::MissingPath;
use krm_yaml::{File, NodeRef, PathPattern, ReadOptions};

use super::input::{no_document, syntax_errors};
use super::inputs::{InputFile, InputFiles, Inputs, names_or_current};
use super::selection::{self, Selection};
use crate::cli::Global;
use crate::commands::kinds::CommandKind;
use crate::console::Console;
use crate::{CommandResult, Exit, Failure, disk};

const EXAMPLES: &str = "\
Examples:
  krm yaml get spec.replicas deployment.yaml
  krm yaml get 'spec.template.spec.containers[name=web].image' deployment.yaml
  krm yaml get '**.image' shop
  krm yaml get metadata.name shop --where 'kind=Deployment && spec.replicas>1'
  krm yaml get 'metadata.annotations.\"example.com/owner\"' deployment.yaml
  krm yaml get spec -o json - < deployment.yaml

Paths: a.b, a[0], a[-1] (last), a[name=web], a.* and a[*] (all), a.**.b (any depth), a.\"b.c\"; see docs/paths.md.
A path can also be a JSON pointer: /spec/replicas. A single dot is the whole document.";

/// Print the values at a path.
///
/// A scalar is printed as its value; a mapping or sequence as it is written, with its comments, but not indented. A path can match many
/// values; those of all documents and files are printed. The exit code is 1 if there is none.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Path of the values
    path: PathPattern,

    #[command(flatten)]
    inputs: Inputs,

    /// Format of the values
    #[arg(short, long, value_name = "FORMAT", default_value = "raw")]
    output: Format,

    #[command(flatten)]
    selection: Selection,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Scalars as their values, without quotes; collections as they are written
    Raw,
    /// Compact JSON, one value per line, with aliases and merge keys resolved
    Json,
    /// YAML as it is written, with the quotes of scalars
    Yaml,
}

pub(super) fn run(args: &Args, global: &Global, console: &mut Console) -> CommandResult {
    if args.inputs.files.is_empty() {
        check_stdin_is_unused()?;
    }
    let names = names_or_current(&args.inputs.files);
    let options = ReadOptions::default();
    let files = InputFiles::read(&names, &args.inputs.recursion, options, global)?;
    let (mut errors, mut selected) = (files.problems.clone(), 0);
    let mut output = Output { format: args.output, last: None };
    let mut missing: Option<(usize, Diagnostic)> = None;
    for input in &files.files {
        let file = match &input.content {
            Ok(file) => file,
            Err(error) => {
                errors.push(error.clone());
                continue;
            }
        };
        let roots = roots(args, input, file, &mut errors)?;
        selected += roots.len();
        for root in &roots {
            let found = args.path.find(*root);
            found.iter().try_for_each(|node| output.print(*node, &input.name, console))?;
        }
        if output.last.is_some() {
            continue;
        }
        let (found, error) = not_found(&roots, &args.path);
        if missing.as_ref().is_none_or(|(best, _)| found > *best) {
            missing = Some((found, error.in_file(disk::display_name(&input.name))));
        }
    }
    let found_any = output.last.is_some();
    if errors.iter().any(Diagnostic::is_error) {
        return Err(Failure::Diagnostics(Exit::Input, errors));
    }
    console.report_all(&errors);
    if found_any {
        return Ok(Exit::Success);
    }
    let error = match missing {
        _ if selected == 0 && args.selection.is_on() => {
            args.selection.nothing(files.files.iter().filter_map(|it| it.content.as_deref().ok()))
        }
        Some((_, error)) => error,
        None => no_document(&args.path.to_string()),
    };
    Err(Failure::Diagnostics(Exit::Findings, vec![error]))
}

/// The selected documents and resources of a file. Syntax errors are collected, and the other documents are read.
fn roots<'a>(
    args: &Args,
    input: &InputFile,
    file: &'a File,
    errors: &mut Vec<Diagnostic>,
) -> Result<Vec<NodeRef<'a>>, Failure> {
    let documents = args.selection.documents(file, &input.name)?;
    errors.extend(syntax_errors(&input.name, &documents));
    Ok(selection::roots(&args.selection.units(&documents, None), file))
}

/// Fails if standard input is a pipe or a file: it would not be read, and the values of other files would be taken for its own.
fn check_stdin_is_unused() -> Result<(), Failure> {
    let is_redirected = !std::io::stdin().is_terminal() && disk::is_stdin_a_stream();
    match is_redirected {
        true => Err(Failure::usage(Diagnostic::error(CommandKind::StdinNotNamed))),
        false => Ok(()),
    }
}

/// Prints values one after the other.
struct Output {
    format: Format,
    /// Whether the last value was a collection; none before the first one.
    last: Option<bool>,
}

impl Output {
    fn print(
        &mut self,
        node: NodeRef<'_>,
        file: &str,
        console: &mut Console,
    ) -> Result<(), Failure> {
        let is_collection = node.is_collection();
        let separate = match self.format {
            Format::Json => false,
            Format::Yaml => self.last.is_some(),
            Format::Raw => self.last.is_some_and(|last| last || is_collection),
        };
        if separate {
            console.data("---\n")?;
        }
        self.last = Some(is_collection);
        let text = match (self.format, node.as_scalar()) {
            (Format::Json, _) => json::of_node(node)
                .map_err(|it| Failure::input(it.in_file(disk::display_name(file))))?,
            (Format::Raw, Some(scalar)) => scalar.value().into_owned(),
            _ => source_text::text(node),
        };
        console.data(&source_text::ensure_trailing_newline(text))
    }
}

/// The error for a path that no document has, about the document in which most of the path exists.
fn not_found(roots: &[NodeRef<'_>], path: &PathPattern) -> (usize, Diagnostic) {
    let missing = roots.iter().filter_map(|root| MissingPath::find(*root, path));
    let furthest = missing.rev().max_by_key(|missing| missing.found);
    match furthest {
        Some(missing) => (missing.found, missing.to_diagnostic(path)),
        None => (0, no_document(&path.to_string())),
    }
}
