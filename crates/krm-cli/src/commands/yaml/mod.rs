//! `krm yaml`: the lossless engine, for any YAML.

mod check;
mod edit;
mod events;
mod get;
mod merge;
mod merge3;
mod rm;
mod set;
mod value;
mod whole;

use clap::Subcommand;
use krm_core::Diagnostic;
use krm_yaml::{DocumentRef, File, Path};

use crate::cli::{Documents, Global};
use crate::console::Console;
use crate::{CommandResult, Failure, disk};

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Get(get::Args),
    Set(set::Args),
    Rm(rm::Args),
    Check(check::Args),
    Events(events::Args),
    Merge(merge::Args),
    Merge3(merge3::Args),
}

pub(crate) fn run(command: &Command, global: &Global, console: &mut Console) -> CommandResult {
    match command {
        Command::Get(args) => get::run(args, console),
        Command::Set(args) => set::run(args, global, console),
        Command::Rm(args) => rm::run(args, global, console),
        Command::Check(args) => check::run(args, global, console),
        Command::Events(args) => events::run(args, console),
        Command::Merge(args) => merge::run(args, console),
        Command::Merge3(args) => merge3::run(args, console),
    }
}

/// The documents of a file that the command line asks for.
fn select<'a>(
    file: &'a File,
    name: &str,
    documents: &Documents,
) -> Result<Vec<DocumentRef<'a>>, Failure> {
    let Some(wanted) = documents.doc else { return Ok(file.documents().collect()) };
    file.document(wanted).map(|document| vec![document]).ok_or_else(|| {
        let count = file.documents().count();
        let message =
            format!("there is no document {wanted}: the file has {count}, counted from 0");
        Failure::input(Diagnostic::untyped_error(message).in_file(disk::display_name(name)))
    })
}

/// Why these documents cannot be read.
fn broken(name: &str, documents: &[DocumentRef<'_>]) -> Vec<Diagnostic> {
    let errors = documents.iter().filter_map(|document| Some((document.file(), document.error()?)));
    errors
        .map(|(file, error)| Diagnostic::from_syntax(error, file).in_file(disk::display_name(name)))
        .collect()
}

/// What there is to say about a path in a file of comments alone.
fn no_document(path: &Path) -> Diagnostic {
    Diagnostic::untyped_error(format!("there is no `{path}`: the file has no document"))
}
