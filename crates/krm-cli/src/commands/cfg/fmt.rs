//! `krm cfg fmt`: the fields of resources in the order that people know.

use std::collections::BTreeMap;
use std::sync::Mutex;

use clap::ValueEnum;
use krm_core::format::{Options, format};
use krm_core::schema::Schema;
use krm_core::{Diagnostic, PackageFile, PackagePath};
use krm_yaml::{Indentation, ListIndent};

use super::editing::{Editing, Session, Target, Targets};
use crate::cli::Global;
use crate::show::Screen;
use crate::{Exit, Outcome};

const EXAMPLES: &str = "\
Examples:
  krm cfg fmt shop
  krm cfg fmt shop base --check
  krm cfg fmt - < deployment.yaml";

/// Put the fields of resources in order.
///
/// Every mapping of a resource is ordered, known fields first and the others by name; nothing else changes: comments,
/// blank lines, quotes and lists stay as they are. What is no resource is left alone, and so is a resource with the
/// annotation config.kubernetes.io/formatting: none.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    targets: Targets,

    /// Indent mappings, and texts in them, by this many spaces
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=9))]
    indent: Option<u32>,

    /// Indent lists as mappings (wide), or not at all (compact)
    #[arg(long, value_name = "STYLE")]
    seq_indent: Option<SeqIndent>,

    /// Sort containers by name, and the operations of webhooks
    #[arg(long)]
    sort_lists: bool,

    /// Give text its quotes, and take them from numbers and booleans, as the schemas of Kubernetes say
    #[arg(long)]
    use_schema: bool,

    #[command(flatten)]
    editing: Editing,
}

/// How much deeper lists stand than their keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SeqIndent {
    /// As deep as mappings
    Wide,
    /// Not deeper
    Compact,
}

pub(super) fn run(args: &Args, global: &Global, screen: &mut Screen) -> Outcome {
    let schema = args.use_schema.then(Schema::kubernetes);
    let mut exit = Exit::Done;
    for target in args.targets.each() {
        exit = worse(exit, one(&target, args, schema.as_ref(), global, screen)?);
    }
    Ok(exit)
}

fn one(
    target: &Target,
    args: &Args,
    schema: Option<&Schema>,
    global: &Global,
    screen: &mut Screen,
) -> Outcome {
    let session = Session::open(target, &args.editing, global, screen)?;
    let told: Mutex<BTreeMap<PackagePath, Vec<Diagnostic>>> = Mutex::default();
    let exit = session.each_file(global, screen, |file| {
        let formatted = formatted(file, args, schema)?;
        if let Ok(mut told) = told.lock() {
            told.insert(file.path.clone(), formatted.1);
        }
        Ok(formatted.0)
    });
    let told = told.into_inner().unwrap_or_default();
    screen.flush()?;
    told.values().for_each(|told| screen.tell_all(told));
    exit
}

/// The new text of a file, and what there is to say about it.
fn formatted(
    file: &PackageFile,
    args: &Args,
    schema: Option<&Schema>,
) -> Result<(Option<String>, Vec<Diagnostic>), Vec<Diagnostic>> {
    // Compat: a Kptfile or Krmfile has an order of its own, which its tools write.
    let Some(content) = file.file().filter(|_| !file.path.is_package_file()) else {
        return Ok((None, Vec::new()));
    };
    let json = file.path.is_json();
    let indentation = Indentation {
        mapping: args.indent,
        list: args.seq_indent.map(|style| match style {
            SeqIndent::Wide => ListIndent::Wide,
            SeqIndent::Compact => ListIndent::Compact,
        }),
    };
    let options = Options { json, sort_lists: args.sort_lists, indentation, schema };
    let named = |told: Vec<Diagnostic>| {
        told.into_iter().map(|diagnostic| diagnostic.in_file(&*file.shown)).collect::<Vec<_>>()
    };
    let formatted = format(content, options).map_err(named)?;
    Ok((formatted.text, named(formatted.told)))
}

/// What could not be read counts more than what would change.
fn worse(a: Exit, b: Exit) -> Exit {
    if a == Exit::Input || b == Exit::Done { a } else { b }
}
