//! `krm cfg migrate-setters`: converts setters between the dialects of kustomize and kpt.

use clap::ValueEnum;
use krm_core::Diagnostic;
use krm_core::setters::{Changes, Dialect, MigrateSetters};

use super::edit_session::EditOptions;
use super::setters::{self, SetterPackage};
use crate::cli::Global;
use crate::commands::kinds::CommandKind;
use crate::console::Console;
use crate::{CommandResult, Exit, Failure};

const EXAMPLES: &str = "\
Examples:
  krm cfg migrate-setters shop --to kpt-set --diff
  krm cfg migrate-setters shop --to openapi
  krm cfg migrate-setters shop --to kpt-set --lossy";

/// Convert setters from one dialect to another.
///
/// openapi defines setters in the Krmfile or Kptfile, and fields reference them with {"$openapi":"NAME"}. kpt-set keeps values in
/// the functionConfig of apply-setters, and fields reference them with kpt-set: ${NAME}; a Kptfile of version v1alpha1 becomes one of
/// version v1. What the target dialect cannot represent is
/// listed, and nothing is written unless --lossy is given.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    package: SetterPackage,

    /// Target dialect
    #[arg(long, value_name = "DIALECT", required = true)]
    to: TargetDialect,

    /// Drop what the target dialect cannot represent
    #[arg(long)]
    lossy: bool,

    #[command(flatten)]
    edit_options: EditOptions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum TargetDialect {
    /// OpenAPI definitions in the Krmfile or Kptfile
    Openapi,
    /// Values in the functionConfig of kpt's apply-setters
    KptSet,
}

pub(super) fn run(args: &Args, global: &Global, console: &mut Console) -> CommandResult {
    let (dir, _) = args.package.split([], 0..=0, "DIR")?;
    let opened = args.package.open(dir, &args.edit_options, global, console)?;
    let packages = opened.setters(global);
    let to = match args.to {
        TargetDialect::Openapi => Dialect::OpenApi,
        TargetDialect::KptSet => Dialect::KptSet,
    };
    let migrate = |it| MigrateSetters { to }.compute_inside(it, &setters::outer(&packages, it));
    let done = setters::each(&packages, |_| true, migrate)?;
    let (mut changes, mut status, mut losses) = (Changes::default(), Vec::new(), Vec::new());
    for (package, migrated) in done {
        losses.extend(migrated.losses);
        status.extend(setters::headline(&packages, package));
        let upgraded = migrated.upgraded.map(|file| &file.display_path);
        status.extend(upgraded.map(|path| format!("upgraded {path} to kpt.dev/v1")));
        let (count, fields) = (migrated.setters.len(), migrated.fields.len());
        status.push(format!("migrated {count} setter(s) and {fields} field(s)"));
        changes.merge(migrated.changes);
    }
    if !losses.is_empty() && !args.lossy {
        losses.push(Diagnostic::error(CommandKind::LossyMigration));
        return Err(Failure::Diagnostics(Exit::Input, losses));
    }
    console.report_all(&losses);
    let plan = setters::plan(&changes, &opened.session, global);
    setters::finish(opened.session, plan, &status, &args.edit_options, console)
}
