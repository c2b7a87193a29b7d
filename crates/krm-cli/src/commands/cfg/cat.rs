//! `krm cfg cat`: the resources of a package, as they are written.

use super::{Input, Local, ResourceFormat, finish, print};
use crate::cli::Global;
use crate::show::Screen;
use crate::{Exit, Outcome};

const EXAMPLES: &str = "\
Examples:
  krm cfg cat shop | kubectl apply -f -
  krm cfg cat shop --include-local
  krm cfg cat shop -R=false -o json";

/// Print the resources of a package.
///
/// Each is printed as it is written, with its comments; documents are joined by ---, and items of lists are moved to
/// the left edge. What is no resource, and what is for tools only, is left out.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    input: Input,

    #[command(flatten)]
    local: Local,

    /// How to print resources
    #[arg(short, long, value_name = "FORMAT", default_value = "yaml", hide_default_value = true)]
    output: ResourceFormat,
}

pub(super) fn run(args: &Args, global: &Global, screen: &mut Screen) -> Outcome {
    let loaded = args.input.load(global)?;
    let files = loaded.package.by_root().into_iter().flat_map(|(_, files)| files);
    print(files, args.output, |resource| args.local.keeps(resource), screen)?;
    finish(&loaded, Exit::Done, global, screen)
}
