//! Flushes written files to disk: a few one by one, many with one flush of the file system.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use super::root::Directory;
use crate::parallel;

/// A flush that failed, with the file or directory that was to be flushed.
#[derive(Debug)]
pub(super) struct FlushError {
    /// Relative to the base.
    pub(super) path: PathBuf,
    pub(super) error: io::Error,
}

impl From<FlushError> for io::Error {
    fn from(failed: FlushError) -> Self {
        failed.error
    }
}

/// Above this number the whole file system is flushed at once, because each flush of a file waits for the disk.
const MANY: usize = 8;

/// Flushes these files below a base and the directories that hold their names.
pub(super) fn files(base: &Directory, paths: &[PathBuf]) -> Result<(), FlushError> {
    let directories = directories_of(paths);
    if paths.len() > MANY && at_once(base, &directories)? {
        return Ok(());
    }
    contents(base, paths)?;
    names(base, &directories)
}

/// Flushes these files, but not the directories that hold their names.
pub(super) fn contents(base: &Directory, paths: &[PathBuf]) -> Result<(), FlushError> {
    each(paths, |path| base.flush_file(path))
}

/// Flushes directories, that is, the names in them.
pub(super) fn names(base: &Directory, directories: &BTreeSet<PathBuf>) -> Result<(), FlushError> {
    if directories.len() > MANY && at_once(base, directories)? {
        return Ok(());
    }
    let directories: Vec<PathBuf> = directories.iter().cloned().collect();
    match each(&directories, |path| base.directory(path)?.flush()) {
        // Some file systems cannot flush directories; those do not need it.
        Err(failed) if failed.error.kind() == io::ErrorKind::InvalidInput => Ok(()),
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

fn each(
    paths: &[PathBuf],
    flush: impl Fn(&Path) -> io::Result<()> + Sync,
) -> Result<(), FlushError> {
    let flush =
        |path: &PathBuf| flush(path).map_err(|error| FlushError { path: path.clone(), error });
    parallel::map(paths, None, flush).into_iter().collect()
}

/// Flushes every file system that holds one of the directories. Returns false where there is no such call.
#[cfg(target_os = "linux")]
fn at_once(base: &Directory, directories: &BTreeSet<PathBuf>) -> Result<bool, FlushError> {
    use std::os::unix::fs::MetadataExt;
    let mut seen = BTreeSet::new();
    for path in directories {
        let failed = |error| FlushError { path: path.clone(), error };
        let directory = base.directory(path).map_err(failed)?;
        if seen.insert(directory.as_file().metadata().map_err(failed)?.dev()) {
            rustix::fs::syncfs(directory).map_err(|error| failed(error.into()))?;
        }
    }
    Ok(true)
}

#[cfg(not(target_os = "linux"))]
fn at_once(_: &Directory, _: &BTreeSet<PathBuf>) -> Result<bool, FlushError> {
    Ok(false)
}
