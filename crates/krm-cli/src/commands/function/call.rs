//! `krm fn call`: a built-in function for other orchestrators, from standard input to standard output.

use krm_core::Severity;
use krm_sdk::Error;
use krm_sdk::stream::Stream;
use krm_yaml::ReadOptions;

use super::configuration;
use super::doc;
use crate::console::Console;
use crate::{CommandResult, Exit, Failure, disk};

const EXAMPLES: &str = "\
Examples:
  krm fn source shop --fn-config labels.yaml | krm fn call set-labels | krm fn sink shop
  kpt fn eval shop --exec 'krm fn call set-labels' -- tier=web";

/// Run a built-in function on a list of resources.
///
/// A ResourceList, any other list or documents are read from standard input, and the same is written to standard output with what
/// the function changed. Everything that it did not change is the same bytes.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The function's name, or an image of the catalog
    #[arg(value_name = "NAME")]
    name: String,
}

pub(super) fn run(args: &Args, console: &mut Console) -> CommandResult {
    let builtin = doc::find(&args.name)?;
    let file = disk::parse(disk::STDIN, ReadOptions::default()).map_err(Failure::input)?;
    let told = |error: Error| {
        let told = error.diagnostics.into_iter();
        Failure::Diagnostics(
            Exit::Input,
            told.map(|it| it.in_file(disk::display_name(disk::STDIN))).collect(),
        )
    };
    let (stream, mut list) = Stream::read(file.into_text()).map_err(told)?;
    if let Err(error) = builtin.call(&mut list) {
        let results = error.results(list.results);
        if stream.has_room_for_results() {
            console.print(&stream.write_failed(&results).map_err(told)?)?;
        }
        // What a function reads of its configuration it places there.
        let told = error
            .diagnostics
            .into_iter()
            .map(|it| configuration::placed(it, configuration::NO_FILE));
        return Err(Failure::Diagnostics(Exit::Function, told.collect()));
    }
    console.print(&stream.write(&list).map_err(told)?)?;
    let errors: Vec<_> = list.results.iter().filter(|it| it.severity == Severity::Error).collect();
    errors.iter().for_each(|result| console.report(&result.to_diagnostic()));
    Ok(if errors.is_empty() { Exit::Success } else { Exit::Findings })
}
