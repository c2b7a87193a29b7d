//! The directories below another one that a phase of a run works in, each opened once.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::root::Directory;

/// How many directories are open at a time. Files are handled in the order of their paths, so few are needed again later.
const MOST: usize = 64;

/// Opens directories below a base. It lives for one phase only, so that each phase notices a directory that was replaced.
pub(super) struct OpenDirectories<'a> {
    base: &'a Directory,
    opened: Mutex<BTreeMap<PathBuf, Arc<Directory>>>,
}

impl<'a> OpenDirectories<'a> {
    pub(super) fn below(base: &'a Directory) -> Self {
        Self { base, opened: Mutex::default() }
    }

    /// The directory of this path below the base.
    pub(super) fn get(&self, path: &Path) -> io::Result<Arc<Directory>> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(directory) = opened.get(path) {
            return Ok(directory.clone());
        }
        let directory = Arc::new(self.base.directory(path)?);
        if opened.len() == MOST {
            opened.clear();
        }
        opened.insert(path.to_owned(), directory.clone());
        Ok(directory)
    }

    /// The directory that holds a file, and the name of the file in it.
    pub(super) fn parent<'p>(&self, path: &'p Path) -> io::Result<(Arc<Directory>, &'p OsStr)> {
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        Ok((self.get(path.parent().unwrap_or(Path::new("")))?, name))
    }
}
