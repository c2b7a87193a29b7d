//! `krm fn call`: runs a built-in function from standard input to standard output, for other orchestrators.

use krm_core::{Diagnostic, Severity};
use krm_sdk::stream::Stream;
use krm_yaml::ReadOptions;

use super::doc;
use super::piped_list::stdin_failure;
use super::{function_config, interpreter};
use crate::console::Console;
use crate::{CommandResult, Exit, Failure, disk};

const EXAMPLES: &str = "\
Examples:
  krm fn source shop --fn-config labels.yaml | krm fn call set-labels | krm fn sink shop
  kpt fn eval shop --exec 'krm fn call set-labels' -- tier=web";

/// Run a built-in function on a list of resources.
///
/// Reads a ResourceList, another list or documents from standard input and writes the same with the changes of the function to
/// standard output. Everything else stays byte for byte as it was.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Name of the function, or an image of the catalog
    #[arg(value_name = "NAME")]
    name: String,
}

pub(super) fn run(args: &Args, console: &mut Console) -> CommandResult {
    let builtin = doc::find(&args.name)?;
    let file = disk::parse(disk::STDIN, ReadOptions::default()).map_err(Failure::input)?;
    let (stream, mut list) = Stream::read(file.into_text()).map_err(stdin_failure)?;
    stream.check_documents().map_err(stdin_failure)?;
    if let Err(error) = interpreter::call(builtin, &mut list) {
        let results = error.results(list.results);
        if stream.can_carry_results() {
            console.data(&stream.write_failed(&results).map_err(stdin_failure)?)?;
        }
        // Locations without a file are in the functionConfig.
        let errors = error.diagnostics.into_iter();
        let errors = errors.map(|it| function_config::with_file(it, function_config::NO_FILE));
        let errors: Vec<Diagnostic> = errors.collect();
        let is_crash = errors.iter().any(krm_run::is_crash);
        let exit = if is_crash { Exit::Bug } else { Exit::Function };
        return Err(Failure::Diagnostics(exit, errors));
    }
    console.data(&stream.write(&list).map_err(stdin_failure)?)?;
    let errors: Vec<_> = list.results.iter().filter(|it| it.severity == Severity::Error).collect();
    errors.iter().for_each(|result| console.report(&result.to_diagnostic()));
    Ok(if errors.is_empty() { Exit::Success } else { Exit::Findings })
}
