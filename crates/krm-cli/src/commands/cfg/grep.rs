//! `krm cfg grep`: the resources for which conditions hold.

use krm_core::Resource;
use krm_core::print::cat::{Entry, Options};
use krm_core::query::Query;

use super::Input;
use super::resource_printer::{Printer, ResourceFormat, texts};
use crate::cli::{Global, yes_or_no};
use crate::console::Console;
use crate::{CommandResult, Exit};

const EXAMPLES: &str = "\
Examples:
  krm cfg grep kind=Deployment shop
  krm cfg grep 'spec.replicas>=3 && metadata.name!=^test-' shop
  krm cfg grep 'spec.template.spec.containers[name=web].image=nginx:1\\.' shop
  krm cfg grep 'spec.template.spec.containers.*.resources.limits.memory>1Gi' shop
  krm cfg grep 'metadata.annotations.\"example.com/owner\"' shop --invert-match

= and != take a regular expression that may match anywhere: ^3$ is only 3.
<, <=, > and >= compare numbers and quantities. A path alone asks whether the field is there.
&& joins conditions.";

/// Print the resources for which conditions hold.
///
/// The exit code is 1 where there is none.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, mut_arg("annotate", yes_or_no))]
pub(crate) struct Args {
    /// What must hold: PATH, PATH=REGEX, PATH!=REGEX, PATH>NUMBER and the like, joined by &&
    query: Query,

    #[command(flatten)]
    input: Input,

    /// Print the resources for which it does not hold
    #[arg(long)]
    invert_match: bool,

    /// Add annotations that say which file a resource is from, and where in it it stands
    #[arg(long, default_value = "false", hide_default_value = true)]
    annotate: bool,

    /// How to print resources
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
    let look = Options { annotated: args.annotate, ..Options::default() };
    let mut printer = Printer::new(args.output);
    for file in files {
        printer.file(texts(file, args.output, look, keep), console)?;
    }
    let count = printer.count;
    if count == 0 && !args.invert_match {
        let all: Vec<Resource<'_>> = loaded.package.resources().map(|it| it.resource).collect();
        console.report_all(args.query.near_miss(&all).as_slice());
    }
    let exit = if count == 0 { Exit::Findings } else { Exit::Success };
    printer.finish(&loaded, exit, global, console)
}
