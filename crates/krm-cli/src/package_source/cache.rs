//! The cache of upstreams on this machine: one locked entry per upstream, the least recently used ones are removed when it grows too large.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use krm_core::Diagnostic;

use super::SourceKind;
use crate::cache_directory::Area;
use crate::console::Activity;
use crate::disk::io_reason;
use crate::result_cache::Usage;

/// How long a process waits for another one that downloads from the same upstream.
const LONGEST_WAIT: Duration = Duration::from_secs(300);

const PAUSE: Duration = Duration::from_millis(20);

/// An entry of the cache, locked until this is dropped.
#[derive(Debug)]
pub(crate) struct CacheEntry {
    /// The directory of the entry, which may not exist yet.
    pub(crate) directory: PathBuf,
    _lock: File,
}

impl CacheEntry {
    /// Locks the entry of an upstream.
    pub(crate) fn lock(area: Area, key: &str) -> Result<Self, Diagnostic> {
        let area = area.directory().ok_or_else(no_directory)?;
        fs::create_dir_all(&area).map_err(|error| failed(&error))?;
        let directory = area.join(name(key));
        let path = directory.with_extension("lock");
        let open = || File::options().create(true).append(true).open(&path);
        let mut lock = open().map_err(|error| failed(&error))?;
        wait(&lock)?;
        // An eviction may have removed the file while this process waited.
        while !path.exists() {
            lock = open().map_err(|error| failed(&error))?;
            wait(&lock)?;
        }
        // The time of the last use decides what is evicted.
        let _ = lock.set_modified(SystemTime::now());
        Ok(Self { directory, _lock: lock })
    }

    /// Removes entries that nobody uses, the least recently used ones first, until the cache has its allowed size.
    pub(crate) fn evict_others(&self) {
        if let Some(area) = self.directory.parent() {
            evict_until(area, Area::Git.size_limit(), Some(&self.directory));
        }
    }
}

/// Removes entries that nobody uses, and not `except`, the least recently used ones first, until an area has at most `limit` bytes.
pub(crate) fn evict_until(area: &Path, limit: u64, except: Option<&Path>) -> Usage {
    let mut entries: Vec<(SystemTime, PathBuf, u64)> = fs::read_dir(area)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .map(|path| {
            let used = fs::metadata(path.with_extension("lock")).and_then(|it| it.modified());
            (used.unwrap_or(SystemTime::UNIX_EPOCH), path.clone(), size(&path))
        })
        .collect();
    entries.sort();
    let mut total: u64 = entries.iter().map(|(_, _, size)| size).sum();
    let mut removed = Usage::default();
    for (_, path, size) in entries {
        if total <= limit {
            break;
        }
        if Some(&*path) != except && evict(&path) {
            total = total.saturating_sub(size);
            removed.add(size);
        }
    }
    removed
}

/// Removes an entry unless another process uses it.
fn evict(directory: &Path) -> bool {
    let path = directory.with_extension("lock");
    let Ok(lock) = File::options().create(true).append(true).open(&path) else { return false };
    if lock.try_lock().is_err() {
        return false;
    }
    let is_removed = fs::remove_dir_all(directory).is_ok();
    let _ = fs::remove_file(&path);
    is_removed
}

fn wait(lock: &File) -> Result<(), Diagnostic> {
    let since = Instant::now();
    let mut activity = None;
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::Error(error)) => return Err(failed(&error)),
            Err(TryLockError::WouldBlock) if since.elapsed() > LONGEST_WAIT => {
                let seconds = LONGEST_WAIT.as_secs();
                return Err(Diagnostic::error(SourceKind::CacheLocked { seconds }));
            }
            Err(TryLockError::WouldBlock) => {
                activity.get_or_insert_with(|| {
                    Activity::begin("waiting for another process that uses the cache")
                });
                std::thread::sleep(PAUSE);
            }
        }
    }
}

fn no_directory() -> Diagnostic {
    let reason = "neither KRM_CACHE_DIR nor HOME is set".to_owned();
    Diagnostic::error(SourceKind::CacheFailed { reason })
}

fn failed(error: &io::Error) -> Diagnostic {
    Diagnostic::error(SourceKind::CacheFailed { reason: io_reason(error) })
}

/// The name of an entry: readable for people, and different for each key.
fn name(key: &str) -> String {
    use std::hash::Hasher;
    let hash = |seed| {
        let mut hasher = siphasher::sip::SipHasher13::new_with_keys(seed, 0);
        hasher.write(key.as_bytes());
        hasher.finish()
    };
    let last = key.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or_default();
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || *c == '-' || *c == '_';
    let readable: String = last.chars().filter(is_plain).take(40).collect();
    format!("{readable}-{:016x}{:016x}", hash(0), hash(1))
}

/// The size of the files in a directory.
fn size(directory: &Path) -> u64 {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let size_of = |entry: fs::DirEntry| match entry.metadata() {
        Ok(it) if it.is_dir() => size(&entry.path()),
        Ok(it) => it.len(),
        Err(_) => 0,
    };
    entries.map(size_of).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_entries_are_safe_and_differ() {
        let one = name("https://x.io/a/shop.git");
        assert!(one.starts_with("shopgit-") && one.len() == "shopgit-".len() + 32, "{one}");
        assert_ne!(one, name("https://x.io/b/shop.git"));
        assert!(!name("../../etc/$(x)").contains(['.', '/', '$']));
    }
}
