//! `krm cfg init`: a folder becomes a package.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use krm_core::{Change, Diagnostic, Plan};

use crate::cli::Preview;
use crate::commands::writing;
use crate::show::Screen;
use crate::{Exit, Failure, Outcome, disk};

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

pub(super) fn run(args: &Args, screen: &mut Screen) -> Outcome {
    let path = match args.dir.trim_end_matches('/') {
        "." => NAME.to_owned(),
        "" => format!("/{NAME}"),
        dir => format!("{dir}/{NAME}"),
    };
    let failed = |diagnostic: Diagnostic| Failure::input(diagnostic.in_file(&*path));
    if !Path::new(&args.dir).is_dir() {
        let words = Diagnostic::error("there is no such folder").hint("make it first");
        return Err(Failure::input(words.in_file(&*args.dir)));
    }
    if fs::symlink_metadata(&path).is_ok() {
        return Err(failed(exists()));
    }
    if args.preview.is_on() {
        let mut plan = Plan::default();
        plan.add(Change { path, old: None, new: Some(CONTENT.to_owned()) });
        return writing::finish(plan, &args.preview, screen);
    }
    write(&path).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => failed(exists()),
        _ => failed(Diagnostic::error(format!("it cannot be written: {}", disk::reason(&error)))),
    })?;
    screen.note(&format!("made {path}"));
    Ok(Exit::Done)
}

fn exists() -> Diagnostic {
    Diagnostic::error("the folder is a package already")
}

fn write(path: &str) -> io::Result<()> {
    let mut file = fs::OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(CONTENT.as_bytes())?;
    file.sync_all()
}
