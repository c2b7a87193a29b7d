//! `krm pkg`: commands for packages that come from somewhere else: get, update, compare.

mod diff;
mod get;
mod init;
pub(crate) mod kinds;
mod line_breaks;
mod migrate;
mod push;
mod status;
mod update;
mod vendor;
mod versions;

use std::path::Path;

use clap::{Subcommand, ValueEnum};
use krm_core::Diagnostic;

use crate::cli::Global;
use crate::commands::cfg::{cat, tree};
use crate::console::Console;
use crate::disk::FileKind;
use crate::loader::join_display_path;
use crate::package_source::FetchedPackage;
use crate::{CommandResult, Failure, disk};
use kinds::PkgKind;
use versions::{KPTFILE, LocalPackage};

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Init(init::Args),
    Get(get::Args),
    Update(update::Args),
    Diff(diff::Args),
    Status(status::Args),
    /// Print the resources of packages as a tree, with Kptfiles and functionConfigs
    #[command(after_help = TREE_EXAMPLES)]
    Tree(tree::Args),
    #[command(after_help = CAT_EXAMPLES)]
    Cat(cat::Args),
    Push(push::Args),
    Vendor(vendor::Args),
    Migrate(migrate::Args),
}

const TREE_EXAMPLES: &str = "\
Examples:
  krm pkg tree shop
  krm pkg tree shop --image --replicas";

const CAT_EXAMPLES: &str = "\
Examples:
  krm pkg cat shop
  krm pkg cat shop --include-local
  krm pkg cat shop --wrap-kind List | kubectl apply -f -";

pub(crate) fn run(command: &Command, global: &Global, console: &mut Console) -> CommandResult {
    match command {
        Command::Init(args) => init::run(args, console),
        Command::Get(args) => get::run(args, console),
        Command::Update(args) => update::run(args, global, console),
        Command::Diff(args) => diff::run(args, global, console),
        Command::Status(args) => status::run(args, global, console),
        Command::Tree(args) => tree::run_with(args, true, global, console),
        Command::Cat(args) => cat::run(args, global, console),
        Command::Push(args) => push::run(args, global, console),
        Command::Vendor(args) => vendor::run(args, console),
        Command::Migrate(args) => migrate::run(args, global, console),
    }
}

/// How an update combines local and upstream changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Strategy {
    /// Merge resources field by field (three-way merge)
    ResourceMerge,
    /// Replace the package, but only if it has no local changes
    FastForward,
    /// Replace the package and lose local changes
    ForceDeleteReplace,
    /// Copy upstream's files over local ones; files that only local has stay
    CopyMerge,
}

/// The first digits of a commit or digest.
fn short(id: &str) -> &str {
    let start = id.find(':').map_or(0, |at| at + 1);
    id.get(..start + 7).unwrap_or(id)
}

/// Reports what of a package is not fetched.
fn report_skipped(fetched: &FetchedPackage, dir: &str, console: &mut Console) {
    for (path, what) in &fetched.skipped {
        let warning = Diagnostic::warning(PkgKind::EntrySkipped { what });
        console.report(&warning.in_file(join_display_path(dir, path)));
    }
    let is_pointer =
        |content: &[u8]| content.starts_with(b"version https://git-lfs.github.com/spec/");
    for (path, _) in fetched.files.iter().filter(|(_, file)| is_pointer(&file.content)) {
        let warning = Diagnostic::warning(PkgKind::LfsPointer);
        console.report(&warning.in_file(join_display_path(dir, path.as_str())));
    }
}

/// The directories at and below this one whose Kptfile has an upstream, outer ones first.
fn packages_below(dir: &str) -> Result<Vec<String>, Failure> {
    let mut found = Vec::new();
    for dir in directories_below(dir)? {
        if Path::new(&dir).join(KPTFILE).is_file() && LocalPackage::read(&dir)?.is_some() {
            found.push(dir);
        }
    }
    Ok(found)
}

/// Checks that a directory exists.
fn check_directory(dir: &str) -> Result<(), Failure> {
    let kind = match Path::new(dir) {
        path if path.is_dir() => return Ok(()),
        path if path.exists() => FileKind::NotADirectory,
        _ => FileKind::FileNotFound,
    };
    Err(Failure::input(Diagnostic::error(kind).in_file(dir)))
}

/// This directory and all below it, outer ones first. Symlinks are not followed.
fn directories_below(dir: &str) -> Result<Vec<String>, Failure> {
    let failed = |error: std::io::Error| Failure::input(disk::cannot_read(&error).in_file(dir));
    check_directory(dir)?;
    let mut found = Vec::new();
    let mut waiting = vec![dir.to_owned()];
    while let Some(next) = waiting.pop() {
        let mut below = Vec::new();
        for entry in std::fs::read_dir(&next).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let is_directory = entry.file_type().is_ok_and(|it| it.is_dir());
            let name = entry.file_name().to_string_lossy().into_owned();
            if is_directory && name != ".git" {
                below.push(join_display_path(&next, &name));
            }
        }
        below.sort_by(|a, b| b.cmp(a));
        waiting.extend(below);
        found.push(next);
    }
    Ok(found)
}
