//! `krm fn doc`: what a built-in function does, how it is configured, and an example that works.

use krm_catalog::{BUILTINS, Builtin};
use krm_core::Diagnostic;
use krm_core::diagnostics::closest_name;
use krm_core::model::ImageName;

use crate::console::Console;
use crate::{CommandResult, Exit, Failure};

const EXAMPLES: &str = "\
Examples:
  krm fn doc set-labels
  krm fn doc ghcr.io/kptdev/krm-functions-catalog/set-labels:v0.2.0";

/// Print the page of a built-in function.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The function's name, or an image of the catalog
    #[arg(value_name = "NAME", required_unless_present = "image")]
    name: Option<String>,

    /// The image, as for kpt
    #[arg(short, long, conflicts_with = "name")]
    image: Option<String>,
}

pub(super) fn run(args: &Args, console: &mut Console) -> CommandResult {
    let name = args.name.as_deref().or(args.image.as_deref()).unwrap_or_default();
    let builtin = find(name)?;
    console.print(builtin.doc.trim_end())?;
    console.print("\n")?;
    Ok(Exit::Success)
}

/// The built-in function of this name or image.
pub(super) fn find(name: &str) -> Result<&'static Builtin, Failure> {
    let short = ImageName::parse(name).map_or(name, |image| image.name());
    krm_catalog::find(short).ok_or_else(|| {
        let names =
            BUILTINS.iter().flat_map(|it| [it.name].into_iter().chain(it.aliases.iter().copied()));
        let hint = match closest_name(names, short) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => "`krm fn list` shows those that are".to_owned(),
        };
        let told =
            Diagnostic::untyped_error(format!("no function `{short}` is built in")).hint(hint);
        Failure::Diagnostics(Exit::Usage, vec![told])
    })
}
