//! `krm yaml get`: the value at a path, or the text of a collection as it is written.

use clap::ValueEnum;
use krm_core::Diagnostic;
use krm_core::print::json;
use krm_core::print::source_text;
use krm_core::query::MissingPath;
use krm_yaml::{DocumentRef, NodeRef, Path, ReadOptions};

use super::{broken, no_document, select};
use crate::cli::Documents;
use crate::console::Console;
use crate::{CommandResult, Exit, Failure, disk};

const EXAMPLES: &str = "\
Examples:
  krm yaml get spec.replicas deployment.yaml
  krm yaml get 'spec.template.spec.containers[name=web].image' deployment.yaml
  krm yaml get 'metadata.annotations.\"example.com/owner\"' deployment.yaml
  krm yaml get spec -o json < deployment.yaml

A path may also be a JSON pointer: /spec/replicas. A single dot is the whole document.";

/// Print the value at a path.
///
/// A scalar is printed as its value, a mapping or a list as it is written, with its comments, moved to the left edge.
/// Of several documents each result is printed; the exit code is 1 where none has the path.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Where to look
    path: Path,

    /// The file; - or nothing for standard input
    #[arg(default_value = disk::STDIN, hide_default_value = true)]
    file: String,

    /// Print every result in this format
    #[arg(short, long, value_name = "FORMAT")]
    output: Option<Format>,

    #[command(flatten)]
    documents: Documents,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Compact JSON, one result a line, aliases and merge keys resolved
    Json,
    /// As it is written, scalars with their quotes
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
            console.print("---\n")?;
        }
        console.print(&render(*node, args).map_err(Failure::input)?)?;
    }
    let errors = broken(&args.file, &documents);
    if !errors.is_empty() {
        return Err(Failure::Diagnostics(Exit::Input, errors));
    }
    if found.is_empty() {
        let nothing = not_found(&documents, &args.path).in_file(disk::display_name(&args.file));
        return Err(Failure::Diagnostics(Exit::Findings, vec![nothing]));
    }
    Ok(Exit::Success)
}

fn render(node: NodeRef<'_>, args: &Args) -> Result<String, Diagnostic> {
    let text = match (args.output, node.as_scalar()) {
        (Some(Format::Json), _) => {
            let value = node.to_value().map_err(|error| {
                Diagnostic::untyped_error(error.to_string())
                    .at(node.document().file(), node.span())
                    .in_file(disk::display_name(&args.file))
            })?;
            json::write(&value)
        }
        (None, Some(scalar)) => scalar.value().into_owned(),
        _ => source_text::text(node),
    };
    Ok(source_text::ensure_trailing_newline(text))
}

/// Where the path comes furthest, there is most to say.
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
