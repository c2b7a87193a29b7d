//! Removes what was not used for the longest time.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::{Store, create_directory, failure, open_lock, random};
use crate::{Control, OciKind};

/// What was removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Blobs and unpacked images.
    pub entries: usize,
    /// Their bytes.
    pub bytes: u64,
    /// The bytes that are left.
    pub left: u64,
}

/// Something that can be removed.
struct Entry {
    path: PathBuf,
    used: SystemTime,
    bytes: u64,
}

impl Store {
    /// Removes the entries that were not used for the longest time until the store has at most `limit` bytes, and everything that
    /// interrupted runs left.
    ///
    /// # Errors
    /// If the store is used by another process for longer than `patience`, or cannot be changed.
    pub fn prune(root: &Path, limit: u64, patience: Duration) -> Result<Pruned, OciKind> {
        if !root.join("blobs").is_dir() {
            return Ok(Pruned::default());
        }
        let lock = open_lock(&root.join("lock")).map_err(|error| failure(root, &error))?;
        let store = Self { root: root.to_owned(), is_writable: true, _lock: None };
        if !store.wait(patience, &Control::default(), || lock.try_lock())? {
            return Err(OciKind::StoreBusy { path: root.display().to_string() });
        }
        // Nobody else uses the store now, so nothing in staging belongs to a process that lives.
        store.remove_contents(&store.root.join("staging"))?;
        let mut entries = store.entries()?;
        entries.sort_by_key(|entry| entry.used);
        let mut pruned =
            Pruned { left: entries.iter().map(|it| it.bytes).sum(), ..Pruned::default() };
        for entry in entries {
            if pruned.left <= limit {
                break;
            }
            store.remove(&entry.path)?;
            pruned.entries += 1;
            pruned.bytes += entry.bytes;
            pruned.left -= entry.bytes;
        }
        if pruned.left == 0 {
            store.remove_contents(&store.root.join("tags"))?;
        }
        Ok(pruned)
    }

    fn entries(&self) -> Result<Vec<Entry>, OciKind> {
        let mut entries = Vec::new();
        for directory in ["blobs/sha256", "roots"] {
            let directory = self.root.join(directory);
            for entry in fs::read_dir(&directory).map_err(|error| failure(&directory, &error))? {
                let entry = entry.map_err(|error| failure(&directory, &error))?;
                let Ok(metadata) = entry.metadata() else { continue };
                let path = entry.path();
                let bytes = match metadata.is_dir() {
                    true => size_of_root(&path),
                    // The size of an unpacked image goes with it.
                    false if path.extension().is_some() => continue,
                    false => metadata.len(),
                };
                let used = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
                entries.push(Entry { path, used, bytes });
            }
        }
        Ok(entries)
    }

    /// Removes an entry. A directory is moved away first, so that it is never visible in part.
    fn remove(&self, path: &Path) -> Result<(), OciKind> {
        let removed = if path.is_dir() {
            let trash = self.staging(&format!("trash-{}", random()?));
            let _ = fs::remove_file(path.with_extension("bytes"));
            fs::rename(path, &trash).and_then(|()| fs::remove_dir_all(&trash))
        } else {
            fs::remove_file(path)
        };
        removed.map_err(|error| failure(path, &error))
    }

    fn remove_contents(&self, directory: &Path) -> Result<(), OciKind> {
        // Symlinks of unpacked images are removed, not followed.
        fs::remove_dir_all(directory)
            .and_then(|()| create_directory(directory))
            .map_err(|error| failure(directory, &error))
    }
}

fn size_of_root(path: &Path) -> u64 {
    let text = fs::read_to_string(path.with_extension("bytes")).unwrap_or_default();
    text.trim().parse().unwrap_or_default()
}
