//! Flushes written files to disk: a few one by one, many with one flush of the file system.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::parallel;

/// Above this number the whole file system is flushed at once, because each flush of a file waits for the disk.
const MANY: usize = 8;

/// Flushes these files and the directories that hold their names.
pub(super) fn files(paths: &[PathBuf]) -> io::Result<()> {
    let directories = directories_of(paths);
    if paths.len() > MANY && at_once(&directories)? {
        return Ok(());
    }
    each(paths)?;
    names(&directories)
}

/// Flushes these files, but not the directories that hold their names.
pub(super) fn contents(paths: &[PathBuf]) -> io::Result<()> {
    each(paths)
}

/// Flushes directories, that is, the names in them.
pub(super) fn names(directories: &BTreeSet<PathBuf>) -> io::Result<()> {
    if directories.len() > MANY && at_once(directories)? {
        return Ok(());
    }
    let directories: Vec<PathBuf> = directories.iter().cloned().collect();
    match each(&directories) {
        // Some file systems cannot flush directories; those do not need it.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        result => result,
    }
}

/// The directories that hold these files.
pub(super) fn directories_of(paths: &[PathBuf]) -> BTreeSet<PathBuf> {
    let mut directories = BTreeSet::new();
    for directory in paths.iter().filter_map(|path| path.parent()) {
        if !directories.contains(directory) {
            directories.insert(directory.to_owned());
        }
    }
    directories
}

fn each(paths: &[PathBuf]) -> io::Result<()> {
    let flush = |path: &PathBuf| fs::File::open(path)?.sync_all();
    parallel::map(paths, None, flush).into_iter().collect()
}

/// Flushes every file system that holds one of the directories. Returns false where there is no such call.
#[cfg(target_os = "linux")]
fn at_once(directories: &BTreeSet<PathBuf>) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let mut seen = BTreeSet::new();
    for directory in directories {
        if seen.insert(fs::metadata(directory)?.dev()) {
            rustix::fs::syncfs(open(directory)?)?;
        }
    }
    Ok(true)
}

#[cfg(not(target_os = "linux"))]
fn at_once(_: &BTreeSet<PathBuf>) -> io::Result<bool> {
    Ok(false)
}

#[cfg(target_os = "linux")]
fn open(directory: &Path) -> io::Result<fs::File> {
    fs::File::open(directory)
}
