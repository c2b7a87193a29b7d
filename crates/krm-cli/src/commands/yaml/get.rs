//! `krm yaml get`: prints the value at a path.

use clap::ValueEnum;
use krm_core::Diagnostic;
use krm_core::print::json;
use krm_core::print::source_text;
use krm_core::query::MissingPath;
use krm_yaml::{DocumentRef, NodeRef, Path, ReadOptions};

use super::input::{no_document, select, syntax_errors};
use crate::cli::Documents;
use crate::console::Console;
use crate::{CommandResult, Exit, Failure, disk};

const EXAMPLES: &str = "\
Examples:
  krm yaml get spec.replicas deployment.yaml
  krm yaml get 'spec.template.spec.containers[name=web].image' deployment.yaml
  krm yaml get 'metadata.annotations.\"example.com/owner\"' deployment.yaml
  krm yaml get spec -o json < deployment.yaml

A path can also be a JSON pointer: /spec/replicas. A single dot is the whole document.";

/// Print the value at a path.
///
/// A scalar is printed as its value; a mapping or sequence as it is written, with its comments, but not indented. In a file with
/// several documents the value of each is printed. The exit code is 1 if no document has the path.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Path of the value
    path: Path,

    /// File to read; - or no argument is standard input
    #[arg(default_value = disk::STDIN, hide_default_value = true)]
    file: String,

    /// Format of the values
    #[arg(short, long, value_name = "FORMAT")]
    output: Option<Format>,

    #[command(flatten)]
    documents: Documents,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Compact JSON, one value per line, with aliases and merge keys resolved
    Json,
    /// YAML as it is written, with the quotes of scalars
    Yaml,
}

pub(super) fn run(args: &Args, console: &mut Console) -> CommandResult {
    let file = disk::parse(&args.file, ReadOptions::default()).map_err(Failure::input)?;
    let documents = select(&file, &args.file, &args.documents)?;
    let found: Vec<NodeRef<'_>> = documents
        .iter()
        .filter_map(|document| document.find(&args.path))
        .map(NodeRef::resolve)
        .collect();
    for (at, node) in found.iter().enumerate() {
        let separate = args.output != Some(Format::Json)
            && at > 0
            && (args.output.is_some() || node.is_collection() || found[at - 1].is_collection());
        if separate {
            console.data("---\n")?;
        }
        console.data(&render(*node, args).map_err(Failure::input)?)?;
    }
    let errors = syntax_errors(&args.file, &documents);
    if !errors.is_empty() {
        return Err(Failure::Diagnostics(Exit::Input, errors));
    }
    if found.is_empty() {
        let error = not_found(&documents, &args.path).in_file(disk::display_name(&args.file));
        return Err(Failure::Diagnostics(Exit::Findings, vec![error]));
    }
    Ok(Exit::Success)
}

fn render(node: NodeRef<'_>, args: &Args) -> Result<String, Diagnostic> {
    let text = match (args.output, node.as_scalar()) {
        (Some(Format::Json), _) => {
            json::of_node(node).map_err(|it| it.in_file(disk::display_name(&args.file)))?
        }
        (None, Some(scalar)) => scalar.value().into_owned(),
        _ => source_text::text(node),
    };
    Ok(source_text::ensure_trailing_newline(text))
}

/// The error for a path that no document has, about the document in which most of the path exists.
fn not_found(documents: &[DocumentRef<'_>], path: &Path) -> Diagnostic {
    let furthest = documents
        .iter()
        .filter_map(|document| MissingPath::find(*document, path))
        .rev()
        .max_by_key(|missing| missing.found);
    match furthest {
        Some(missing) => missing.to_diagnostic(path),
        None => no_document(path),
    }
}
