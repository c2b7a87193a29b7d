//! `krm cache`: what krm keeps on this machine to be faster, and how to remove it.

mod prune;
mod stats;

use std::path::{Path, PathBuf};

use clap::Subcommand;
use krm_core::Diagnostic;

use crate::cache_directory::Area;
use crate::console::Console;
use crate::result_cache::CacheKind;
use crate::{CommandResult, Failure};

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Prune(prune::Args),
    Stats(stats::Args),
}

pub(crate) fn run(command: &Command, console: &mut Console) -> CommandResult {
    match command {
        Command::Prune(args) => prune::run(args, console),
        Command::Stats(args) => stats::run(args, console),
    }
}

/// The directory of a part of the cache.
fn directory(area: Area) -> Result<PathBuf, Failure> {
    let missing = || Failure::usage(Diagnostic::error(CacheKind::NoDirectory));
    area.directory().ok_or_else(missing)
}

/// A number of bytes for people.
fn size(bytes: u64) -> String {
    let units = [("GiB", 30), ("MiB", 20), ("KiB", 10)];
    match units.into_iter().find(|(_, shift)| bytes >= 1 << shift) {
        Some((unit, shift)) => format!("{:.1} {unit}", bytes as f64 / (1_u64 << shift) as f64),
        None => format!("{bytes} bytes"),
    }
}

/// The size of the files in a directory, without following symlinks.
fn size_of(path: &Path) -> u64 {
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    let size = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(it) if it.is_dir() => size_of(&entry.path()),
        Ok(it) => it.len(),
        Err(_) => 0,
    };
    entries.map(size).sum()
}

#[cfg(test)]
mod tests {
    #[test]
    fn sizes_have_a_unit() {
        let sizes = [0, 1023, 1024, 1 << 20, 3 << 29].map(super::size);
        assert_eq!(sizes.join(", "), "0 bytes, 1023 bytes, 1.0 KiB, 1.0 MiB, 1.5 GiB");
    }
}
