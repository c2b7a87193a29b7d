//! What was written reaches the disk: a few files one by one, many in one go.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::parallel;

/// From here on the whole file system is flushed at once. A flush of each file costs a turn of the disk for each.
const MANY: usize = 8;

/// Flushes these files, and the folders that name them.
pub(super) fn files(paths: &[PathBuf]) -> io::Result<()> {
    let folders = folders_of(paths);
    if paths.len() > MANY && at_once(&folders)? {
        return Ok(());
    }
    each(paths)?;
    names(&folders)
}

/// Flushes these files, and leaves their names for later.
pub(super) fn contents(paths: &[PathBuf]) -> io::Result<()> {
    each(paths)
}

/// Flushes folders: which names are in them.
pub(super) fn names(folders: &BTreeSet<PathBuf>) -> io::Result<()> {
    if folders.len() > MANY && at_once(folders)? {
        return Ok(());
    }
    let folders: Vec<PathBuf> = folders.iter().cloned().collect();
    match each(&folders) {
        // Not every file system lets folders be flushed, and on those that do not it is not needed.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        result => result,
    }
}

/// The folders that hold these files.
pub(super) fn folders_of(paths: &[PathBuf]) -> BTreeSet<PathBuf> {
    let mut folders = BTreeSet::new();
    for folder in paths.iter().filter_map(|path| path.parent()) {
        if !folders.contains(folder) {
            folders.insert(folder.to_owned());
        }
    }
    folders
}

fn each(paths: &[PathBuf]) -> io::Result<()> {
    let flush = |path: &PathBuf| fs::File::open(path)?.sync_all();
    parallel::map(paths, None, flush).into_iter().collect()
}

/// Flushes every file system that holds one of the folders; false where there is no such call.
#[cfg(target_os = "linux")]
fn at_once(folders: &BTreeSet<PathBuf>) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let mut seen = BTreeSet::new();
    for folder in folders {
        if seen.insert(fs::metadata(folder)?.dev()) {
            rustix::fs::syncfs(open(folder)?)?;
        }
    }
    Ok(true)
}

#[cfg(not(target_os = "linux"))]
fn at_once(_: &BTreeSet<PathBuf>) -> io::Result<bool> {
    Ok(false)
}

#[cfg(target_os = "linux")]
fn open(folder: &Path) -> io::Result<fs::File> {
    fs::File::open(folder)
}
