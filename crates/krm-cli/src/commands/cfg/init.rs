//! `krm cfg init`: a folder becomes a package.

use std::fs;
use std::path::Path;

use krm_core::{Change, Diagnostic, Plan};

use crate::cli::Preview;
use crate::commands::plan;
use crate::console::Console;
use crate::{CommandResult, Failure};

const NAME: &str = "Krmfile";
const CONTENT: &str = "apiVersion: config.k8s.io/v1alpha1\nkind: Krmfile\n";

const EXAMPLES: &str = "\
Examples:
  krm cfg init
  krm cfg init shop --diff";

/// Make a folder a package.
///
/// Writes a Krmfile into it. One that is there is never overwritten.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The folder
    #[arg(default_value = ".")]
    dir: String,

    #[command(flatten)]
    preview: Preview,
}

pub(super) fn run(args: &Args, console: &mut Console) -> CommandResult {
    let path = match args.dir.trim_end_matches('/') {
        "." => NAME.to_owned(),
        "" => format!("/{NAME}"),
        dir => format!("{dir}/{NAME}"),
    };
    if !Path::new(&args.dir).is_dir() {
        let words = match Path::new(&args.dir).exists() {
            true => Diagnostic::untyped_error("this is a file, and a folder is wanted"),
            false => Diagnostic::untyped_error("there is no such folder").hint("make it first"),
        };
        return Err(Failure::input(words.in_file(&*args.dir)));
    }
    let lock = plan::lock(std::slice::from_ref(&args.dir), &args.preview, console)?;
    if fs::symlink_metadata(&path).is_ok() {
        let exists = Diagnostic::untyped_error("the folder is a package already");
        return Err(Failure::input(exists.in_file(path)));
    }
    let mut plan = Plan::default();
    plan.add(Change { path, old: None, new: Some(CONTENT.to_owned()) });
    plan::apply_or_preview(plan, &args.preview, &lock, console)
}
