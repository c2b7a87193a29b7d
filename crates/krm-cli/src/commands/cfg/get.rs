//! `krm cfg get`: prints the value of a setter, for scripts.

use clap_complete::engine::ArgValueCandidates;
use krm_core::Diagnostic;
use krm_core::print::source_text;
use krm_core::setters::{SetterKind, SetterValue};

use super::setters::SetterPackage;
use crate::cli::Global;
use crate::commands::completion::candidates;
use crate::commands::kinds::CommandKind;
use crate::console::Console;
use crate::{CommandResult, Exit, Failure};

const EXAMPLES: &str = "\
Examples:
  krm cfg get image-tag
  krm cfg get shop image-tag
  docker pull shop/web:$(krm cfg get shop image-tag)";

/// Print the value of a setter.
///
/// An array is printed one element per line. The exit code is 1 if the setter is not defined or has no value.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    package: SetterPackage,

    /// Name of the setter
    #[arg(add = ArgValueCandidates::new(candidates::setters))]
    name: Option<String>,
}

pub(super) fn run(args: &Args, global: &Global, console: &mut Console) -> CommandResult {
    let (dir, names) = args.package.split(&args.name, 1..=1, "NAME")?;
    let package = args.package.load(dir, global)?;
    let packages = package.setters(global);
    let errors: Vec<Diagnostic> =
        packages.iter().flat_map(|package| package.setters.errors()).cloned().collect();
    if !errors.is_empty() {
        return Err(Failure::Diagnostics(Exit::Input, errors));
    }
    let found = packages.iter().find_map(|package| package.setters.definitions().setter(names[0]));
    let missing = |error: Diagnostic| Err(Failure::Diagnostics(Exit::Findings, vec![error]));
    let name = names[0].to_owned();
    let Some(setter) = found else {
        let error =
            Diagnostic::error(SetterKind::NotDefined { target: format!("setter `{name}`") });
        return missing(error.hint("use `krm cfg list-setters` to list the setters"));
    };
    match &setter.value {
        SetterValue::Unset => {
            return missing(Diagnostic::error(CommandKind::SetterWithoutValue { name }));
        }
        SetterValue::Scalar(text) => {
            console.data(&source_text::ensure_trailing_newline(text.clone()))?;
        }
        SetterValue::List(items) => {
            items.iter().try_for_each(|item| console.data(&format!("{item}\n")))?;
        }
    }
    Ok(Exit::Success)
}
