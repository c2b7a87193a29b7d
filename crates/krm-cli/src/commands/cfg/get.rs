//! `krm cfg get`: the value of a setter alone, for scripts.

use krm_core::Diagnostic;
use krm_core::print::source_text;
use krm_core::setters::SetterValue;

use super::setters::{self, Where};
use crate::cli::Global;
use crate::console::Console;
use crate::{CommandResult, Exit, Failure};

const EXAMPLES: &str = "\
Examples:
  krm cfg get shop image-tag
  docker pull shop/web:$(krm cfg get shop image-tag)";

/// Print the value of a setter, and nothing else.
///
/// A list is printed an item a line. The exit code is 1 where there is no such setter, or no value.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    at: Where,

    /// The setter
    name: String,
}

pub(super) fn run(args: &Args, global: &Global, console: &mut Console) -> CommandResult {
    let (loaded, openapi) = args.at.load(global)?;
    let parts = setters::read(&loaded, &openapi, global);
    let errors: Vec<Diagnostic> =
        parts.iter().flat_map(|part| part.setters.errors()).cloned().collect();
    if !errors.is_empty() {
        return Err(Failure::Diagnostics(Exit::Input, errors));
    }
    let found = parts.iter().find_map(|part| part.setters.definitions().setter(&args.name));
    let missing = |words: String| {
        let hint = "`krm cfg list-setters` shows which there are";
        Failure::Diagnostics(Exit::Findings, vec![Diagnostic::untyped_error(words).hint(hint)])
    };
    let Some(setter) = found else {
        return Err(missing(format!("the setter `{}` is not defined", args.name)));
    };
    match &setter.value {
        SetterValue::Unset => {
            return Err(missing(format!("the setter `{}` has no value", args.name)));
        }
        SetterValue::Text(text) => {
            console.print(&source_text::ensure_trailing_newline(text.clone()))?;
        }
        SetterValue::List(items) => {
            items.iter().try_for_each(|item| console.print(&format!("{item}\n")))?;
        }
    }
    Ok(Exit::Success)
}
