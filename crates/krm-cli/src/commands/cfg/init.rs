//! `krm cfg init`: makes a directory a package.

use std::fs;
use std::path::Path;

use krm_core::{Diagnostic, Plan};

use super::edit_session::ChangesOutput;
use crate::cli::Preview;
use crate::commands::kinds::CommandKind;
use crate::commands::{plan, refuse_stdin};
use crate::console::Console;
use crate::disk::FileKind;
use crate::{CommandResult, Failure};

const NAME: &str = "Krmfile";
const CONTENT: &str = "apiVersion: config.k8s.io/v1alpha1\nkind: Krmfile\n";

const EXAMPLES: &str = "\
Examples:
  krm cfg init
  krm cfg init shop --diff";

/// Make a directory a package.
///
/// Writes a Krmfile to the directory. An existing one is never overwritten.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Directory of the package
    #[arg(default_value = ".")]
    dir: String,

    #[command(flatten)]
    changes: ChangesOutput,

    #[command(flatten)]
    preview: Preview,
}

pub(super) fn run(args: &Args, console: &mut Console) -> CommandResult {
    args.changes.apply(&args.preview, console)?;
    refuse_stdin(&args.dir)?;
    let path = match args.dir.trim_end_matches('/') {
        "." => NAME.to_owned(),
        "" => format!("/{NAME}"),
        dir => format!("{dir}/{NAME}"),
    };
    if !Path::new(&args.dir).is_dir() {
        let kind = match Path::new(&args.dir).exists() {
            true => FileKind::NotADirectory,
            false => FileKind::DirectoryNotFound,
        };
        return Err(Failure::input(Diagnostic::error(kind).in_file(&*args.dir)));
    }
    let lock = plan::lock(std::slice::from_ref(&args.dir), &args.preview, console)?;
    if fs::symlink_metadata(&path).is_ok() {
        let error = Diagnostic::error(CommandKind::AlreadyAPackage);
        return Err(Failure::input(error.in_file(path)));
    }
    let mut plan = Plan::default();
    plan.set(plan::file_in(&args.dir, NAME, None)?, Some(CONTENT.to_owned()))
        .map_err(Failure::input)?;
    plan::apply_or_preview(&plan, &args.preview, &lock, console)
}
