//! `krm fn call`: runs a built-in function from standard input to standard output, for other orchestrators.

use clap_complete::engine::ArgValueCandidates;
use krm_catalog::BuiltinRelease;
use krm_core::model::ImageName;
use krm_core::{Diagnostic, Severity};
use krm_run::{Resolution, Resolved};
use krm_sdk::stream::Stream;
use krm_yaml::ReadOptions;

use super::doc;
use super::kinds::FnCommandKind;
use super::piped_list::stdin_failure;
use super::{function_config, interpreter};
use crate::commands::check_stdin_is_piped;
use crate::commands::completion::candidates;
use crate::console::Console;
use crate::{CommandResult, Exit, Failure, disk};

const EXAMPLES: &str = "\
Examples:
  krm fn source shop --fn-config labels.yaml | krm fn call set-labels | krm fn sink shop --prune
  kpt fn eval shop --exec 'krm fn call set-labels:v0.1.5' -- tier=web";

/// Run a built-in function on a list of resources.
///
/// Reads a ResourceList, another list or documents from standard input and writes the same with the changes of the function to
/// standard output. Everything else stays byte for byte as it was.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Name of the function, or an image of the catalog; a tag selects the release
    #[arg(value_name = "NAME", add = ArgValueCandidates::new(candidates::builtins))]
    name: String,

    /// Refuse a tag that is not a known release of the function, instead of a warning
    #[arg(long)]
    strict_tags: bool,
}

pub(super) fn run(args: &Args, console: &mut Console) -> CommandResult {
    let builtin = release(args)?;
    if builtin.is_assumed {
        console
            .report(&krm_run::unknown_tag(Severity::Warning, &builtin).context(args.name.clone()));
    }
    check_stdin_is_piped()?;
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

/// The built-in function as the release that the tag names.
fn release(args: &Args) -> Result<BuiltinRelease, Failure> {
    let name = args.name.as_str();
    let builtin = doc::find(name)?;
    let has_tag = ImageName::parse(name).is_ok_and(|it| it.tag.is_some() || it.digest.is_some());
    let resolution = Resolution { strict_tags: args.strict_tags, ..Resolution::default() };
    match resolution.resolve(name, None) {
        _ if !has_tag => Ok(builtin.into()),
        Ok(Resolved::Builtin(release)) => Ok(release),
        Ok(Resolved::Container(_)) => {
            let error = Diagnostic::error(FnCommandKind::UnknownFunction { name: name.to_owned() });
            Err(Failure::usage(krm_run::suggest_builtin(error, name)))
        }
        Err(error) => Err(Failure::usage(error)),
    }
}
