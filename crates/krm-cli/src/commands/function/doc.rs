//! `krm fn doc`: prints the documentation of a built-in function.

use clap_complete::engine::ArgValueCandidates;
use krm_catalog::{BUILTINS, Builtin};
use krm_core::Diagnostic;
use krm_core::diagnostics::closest_name;
use krm_core::model::ImageName;

use super::kinds::FnCommandKind;
use crate::commands::completion::candidates;
use crate::console::Console;
use crate::{CommandResult, Exit, Failure};

const EXAMPLES: &str = "\
Examples:
  krm fn doc set-labels
  krm fn doc ghcr.io/kptdev/krm-functions-catalog/set-labels:v0.2.0";

/// Print the documentation of a built-in function.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Name of the function, or an image of the catalog
    #[arg(value_name = "NAME", required_unless_present = "image", add = ArgValueCandidates::new(candidates::builtins))]
    name: Option<String>,

    /// Image of the function, as in kpt
    #[arg(short, long, conflicts_with = "name")]
    image: Option<String>,
}

pub(super) fn run(args: &Args, console: &mut Console) -> CommandResult {
    let name = args.name.as_deref().or(args.image.as_deref()).unwrap_or_default();
    let builtin = find(name)?;
    console.data(builtin.doc.trim_end())?;
    console.data("\n")?;
    Ok(Exit::Success)
}

/// The built-in function of this name or image.
pub(super) fn find(name: &str) -> Result<&'static Builtin, Failure> {
    let short = ImageName::parse(name).map_or(name, |image| image.name());
    krm_catalog::find(short).ok_or_else(|| {
        let names =
            BUILTINS.iter().flat_map(|it| [it.name].into_iter().chain(it.aliases.iter().copied()));
        let hint = match closest_name(names, short) {
            Some(similar) => format!("did you mean `{similar}`?"),
            None => "run `krm fn list` for the built-in functions".to_owned(),
        };
        let error = Diagnostic::error(FnCommandKind::UnknownFunction { name: short.to_owned() });
        Failure::usage(error.hint(hint))
    })
}
