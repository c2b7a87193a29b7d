//! `krm cfg migrate-setters`: setters go from one dialect to the other.

use clap::ValueEnum;
use krm_core::Diagnostic;
use krm_core::setters::{Changes, Dialect, MigrateSetters};

use super::edit_session::EditOptions;
use super::setters::{self, Where};
use crate::cli::Global;
use crate::console::Console;
use crate::{CommandResult, Exit, Failure};

const EXAMPLES: &str = "\
Examples:
  krm cfg migrate-setters shop --to kpt-set --diff
  krm cfg migrate-setters shop --to openapi
  krm cfg migrate-setters shop --to kpt-set --lossy";

/// Take setters from one dialect to the other.
///
/// openapi defines setters in the Krmfile or Kptfile, and fields refer to them with {\"$openapi\":\"NAME\"}. kpt-set keeps
/// values in the functionConfig of apply-setters, and fields refer to them with kpt-set: ${NAME}. What the other dialect
/// cannot hold is listed, and nothing is written unless --lossy says that it may go.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    at: Where,

    /// The dialect
    #[arg(long, value_name = "DIALECT", required = true)]
    to: To,

    /// Let go what the dialect cannot hold
    #[arg(long)]
    lossy: bool,

    #[command(flatten)]
    edit_options: EditOptions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum To {
    /// Definitions in OpenAPI
    Openapi,
    /// Values for kpt's apply-setters
    KptSet,
}

pub(super) fn run(args: &Args, global: &Global, console: &mut Console) -> CommandResult {
    let opened = args.at.open(&args.edit_options, global, console)?;
    let parts = setters::read(&opened.session.loaded, &opened.openapi, global);
    let to = match args.to {
        To::Openapi => Dialect::OpenApi,
        To::KptSet => Dialect::KptSet,
    };
    let done = setters::each(&parts, |_| true, |it| MigrateSetters { to }.compute(it))?;
    let (mut changes, mut said, mut losses) = (Changes::default(), Vec::new(), Vec::new());
    for (part, migrated) in done {
        losses.extend(migrated.losses);
        said.extend(setters::headline(&parts, part));
        let (count, fields) = (migrated.setters.len(), migrated.fields.len());
        said.push(format!("migrated {count} setter(s) and {fields} field(s)"));
        changes.merge(migrated.changes);
    }
    if !losses.is_empty() && !args.lossy {
        let words = "nothing was written, because the other dialect cannot hold all of it";
        losses.push(Diagnostic::untyped_error(words).hint("--lossy lets it go"));
        return Err(Failure::Diagnostics(Exit::Input, losses));
    }
    console.report_all(&losses);
    let planned = setters::plan(&changes, global);
    setters::finish(opened.session, planned, &said, &args.edit_options, console)
}
