//! `krm cfg grep`: prints the resources that match a query.

use krm_core::Resource;
use krm_core::print::cat::{Entry, Options};
use krm_core::query::Query;

use super::PackageInput;
use super::resource_printer::{ResourceFormat, ResourcePrinter, texts};
use crate::cli::{Global, optional_bool};
use crate::console::Console;
use crate::{CommandResult, Exit};

const EXAMPLES: &str = "\
Examples:
  krm cfg grep kind=Deployment shop
  krm cfg grep 'spec.replicas>=3 && metadata.name!=^test-' shop
  krm cfg grep '(kind=Deployment || kind=StatefulSet) && !spec.replicas' shop
  krm cfg grep 'spec.template.spec.containers[name=web].image=nginx:1\\.' shop
  krm cfg grep 'spec.template.spec.containers.*.resources.limits.memory>1Gi' shop
  krm cfg grep 'metadata.annotations.\"example.com/owner\"' shop --invert-match

= and != take a regular expression that matches anywhere in the value; ^3$ matches only 3.
=~ is the same as =. <, <=, > and >= compare numbers and quantities. A path alone matches if the field exists.
&&, ||, ! and parentheses combine conditions.";

/// Print the resources that match a query.
///
/// The exit code is 1 if no resource matches.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, mut_arg("annotate", optional_bool))]
pub(crate) struct Args {
    /// Conditions: PATH, PATH=REGEX, PATH!=REGEX, PATH>NUMBER and the like, combined with &&, ||, ! and parentheses
    query: Query,

    #[command(flatten)]
    input: PackageInput,

    /// Print the resources that do not match
    #[arg(long)]
    invert_match: bool,

    /// Annotate each resource with its file and its index in the file
    #[arg(long, default_value = "false", hide_default_value = true)]
    annotate: bool,

    /// Format of the resources
    #[arg(short, long, value_name = "FORMAT", default_value = "yaml", hide_default_value = true)]
    output: ResourceFormat,
}

pub(super) fn run(args: &Args, global: &Global, console: &mut Console) -> CommandResult {
    let loaded = args.input.load(global)?;
    let files = loaded.package.by_root().into_iter().flat_map(|(_, files)| files);
    let keep = |entry: &Entry<'_>| {
        let is_found = |resource| args.query.matches(resource) != args.invert_match;
        entry.resource.is_some_and(|(resource, _)| is_found(resource))
    };
    let options = Options { annotated: args.annotate, ..Options::default() };
    let mut printer = ResourcePrinter::new(args.output);
    for file in files {
        printer.file(texts(file, args.output, options, keep), console)?;
    }
    let count = printer.count;
    if count == 0 && !args.invert_match {
        let all: Vec<Resource<'_>> = loaded.package.resources().map(|it| it.resource).collect();
        console.report_all(args.query.suggestion(&all).as_slice());
    }
    let exit = if count == 0 { Exit::Findings } else { Exit::Success };
    printer.finish(&loaded, exit, global, console)
}
