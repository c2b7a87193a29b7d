//! Entries as files of a private directory, shared by all processes of a user.
//!
//! A file is written under a temporary name and renamed, so that a reader sees all of an entry or nothing. It is not flushed: an entry that
//! a crash of the machine damages has a wrong checksum, and is a miss. Nobody waits for a lock: an entry that is removed while it is looked
//! up is a miss, too.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use krm_run::{CacheKey, ResultStore};

use super::CacheKind;
use crate::disk;

/// The unit in which the size of the cache is estimated: a block of most file systems.
const BLOCK: u64 = 4096;

/// A larger file is not an entry.
const MAX_ENTRY: u64 = 1 << 30;

/// The file whose length is the number of blocks that were written.
const USAGE: &str = "usage";

/// The beginning of temporary names.
const STAGED: &str = ".staged-";

/// After this time a temporary file belongs to a process that was killed.
const STALE: Duration = Duration::from_secs(3600);

/// A directory of entries.
#[derive(Debug)]
pub(crate) struct DirectoryStore {
    root: PathBuf,
    /// The largest size in bytes. The cache is reduced to nine tenths of it when it has grown beyond.
    limit: u64,
}

/// What a part of the cache has, or what was removed from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    pub(crate) entries: usize,
    pub(crate) bytes: u64,
}

impl Usage {
    pub(crate) fn add(&mut self, bytes: u64) {
        self.entries += 1;
        self.bytes += bytes;
    }
}

impl DirectoryStore {
    /// The store in a directory, which may not exist yet.
    pub(crate) fn open(root: PathBuf, limit: u64) -> Result<Self, CacheKind> {
        match is_private(&root) {
            true => Ok(Self { root, limit }),
            false => Err(CacheKind::NotPrivate { path: root.display().to_string() }),
        }
    }

    fn path(&self, key: &CacheKey) -> PathBuf {
        let name = key.to_string();
        self.root.join(&name[..2]).join(name)
    }

    /// What it has.
    pub(crate) fn usage(&self) -> Usage {
        let mut usage = Usage::default();
        self.files().into_iter().for_each(|file| usage.add(file.bytes));
        usage
    }

    /// Removes the entries that were not used for the longest time, until the store has at most `limit` bytes, and what killed processes left.
    pub(crate) fn prune(&self, limit: u64) -> io::Result<Usage> {
        let mut files = self.files();
        files.sort_by_key(|file| file.used);
        let mut left: u64 = files.iter().map(|file| file.bytes).sum();
        let mut removed = Usage::default();
        for file in files {
            if left <= limit {
                break;
            }
            match fs::remove_file(&file.path) {
                Ok(()) => removed.add(file.bytes),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
            left -= file.bytes;
        }
        if self.root.is_dir() {
            create_options().truncate(false).open(self.root.join(USAGE))?.set_len(left / BLOCK)?;
        }
        Ok(removed)
    }

    /// All entries. Stale temporary files are removed on the way.
    fn files(&self) -> Vec<StoredFile> {
        let entries = |path: &Path| fs::read_dir(path).into_iter().flatten().flatten();
        let mut files = Vec::new();
        for entry in entries(&self.root).flat_map(|directory| entries(&directory.path())) {
            let Ok(metadata) = entry.metadata() else { continue };
            let used = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            if entry.file_name().as_encoded_bytes().starts_with(STAGED.as_bytes()) {
                if used.elapsed().is_ok_and(|age| age > STALE) {
                    let _ = fs::remove_file(entry.path());
                }
                continue;
            }
            let bytes = metadata.len().div_ceil(BLOCK) * BLOCK;
            files.push(StoredFile { path: entry.path(), used, bytes });
        }
        files
    }

    fn write(&self, key: &CacheKey, entry: &[u8]) -> io::Result<()> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let path = self.path(key);
        let directory = path.parent().unwrap_or(&self.root);
        disk::create_private_directory(directory)?;
        let (process, count) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let staged = directory.join(format!("{STAGED}{process}-{count}-{}", now.as_nanos()));
        let written = create_options()
            .create_new(true)
            .open(&staged)
            .and_then(|mut file| file.write_all(entry))
            .and_then(|()| fs::rename(&staged, &path));
        if written.is_err() {
            let _ = fs::remove_file(&staged);
        }
        written?;
        self.count(entry.len() as u64)
    }

    /// Adds to the estimated size, and removes entries if it is too large. Appending is atomic, so that no process loses what another one counts;
    /// what is counted twice is corrected when entries are removed.
    fn count(&self, bytes: u64) -> io::Result<()> {
        let mut usage = create_options().append(true).open(self.root.join(USAGE))?;
        usage.write_all(&vec![b'.'; usize::try_from(bytes.div_ceil(BLOCK)).unwrap_or(0)])?;
        if usage.metadata()?.len() * BLOCK > self.limit {
            self.prune(self.limit / 10 * 9)?;
        }
        Ok(())
    }
}

struct StoredFile {
    path: PathBuf,
    used: SystemTime,
    bytes: u64,
}

impl ResultStore for DirectoryStore {
    fn get(&self, key: &CacheKey) -> Option<Vec<u8>> {
        let mut file = File::open(self.path(key)).ok()?;
        let length = file.metadata().ok()?.len();
        let mut bytes = Vec::with_capacity(usize::try_from(length.min(MAX_ENTRY)).ok()?);
        Read::by_ref(&mut file).take(MAX_ENTRY).read_to_end(&mut bytes).ok()?;
        // The time of the last use decides what is removed first.
        let _ = file.set_modified(SystemTime::now());
        Some(bytes)
    }

    fn put(&self, key: &CacheKey, entry: &[u8]) -> bool {
        // A cache that is full or read-only is not an error: the function has run.
        self.write(key, entry).is_ok()
    }

    fn discard(&self, key: &CacheKey) {
        let _ = fs::remove_file(self.path(key));
    }
}

/// Whether nobody else can write to a directory, or it does not exist yet. Results contain values of Secrets and become part of packages.
#[cfg(unix)]
fn is_private(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::symlink_metadata(path).map_or(true, |it| {
        it.is_dir() && it.uid() == rustix::process::geteuid().as_raw() && it.mode() & 0o022 == 0
    })
}

#[cfg(not(unix))]
fn is_private(_: &Path) -> bool {
    true
}

/// Options for a file that only the user can read.
fn create_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

#[cfg(test)]
mod tests {
    use krm_run::FunctionIdentity;

    use super::*;

    fn key(number: usize) -> CacheKey {
        FunctionIdentity::new("test").field("number", &number.to_le_bytes()).key()
    }

    #[test]
    fn entries_survive_and_are_private() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("results");
        let store = DirectoryStore::open(root.clone(), 1 << 20).unwrap();
        assert_eq!(store.get(&key(1)), None);
        store.put(&key(1), b"one");
        store.put(&key(1), b"two");
        assert_eq!(store.get(&key(1)).as_deref(), Some(&b"two"[..]));
        assert_eq!(store.usage(), Usage { entries: 1, bytes: BLOCK });
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!((mode(&root), mode(&store.path(&key(1)))), (0o700, 0o600));
            fs::set_permissions(&root, fs::Permissions::from_mode(0o770)).unwrap();
            let refused = DirectoryStore::open(root, 1).unwrap_err();
            assert!(matches!(refused, CacheKind::NotPrivate { .. }));
        }
        store.discard(&key(1));
        assert_eq!(store.usage(), Usage::default());
    }

    #[test]
    fn oldest_use_is_removed_first() {
        let directory = tempfile::tempdir().unwrap();
        let store = DirectoryStore::open(directory.path().join("r"), 10 * BLOCK).unwrap();
        let age = |number: usize, seconds: u64| {
            let file = File::options().append(true).open(store.path(&key(number))).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(seconds)).unwrap();
        };
        for number in 0..10 {
            store.put(&key(number), &[0; 100]);
            age(number, 100 - number as u64);
        }
        assert!(store.get(&key(0)).is_some(), "it is used now");
        store.put(&key(10), &[0; 100]);
        let left: Vec<usize> = (0..11).filter(|it| store.path(&key(*it)).exists()).collect();
        assert_eq!(left, [0, 3, 4, 5, 6, 7, 8, 9, 10], "nine tenths");
        let removed = store.prune(0).unwrap();
        assert_eq!((removed.entries, store.usage()), (9, Usage::default()));
    }

    #[test]
    fn processes_share_a_store() {
        let directory = tempfile::tempdir().unwrap();
        let open = || DirectoryStore::open(directory.path().join("r"), 64 * BLOCK).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let store = open();
                    for number in 0..200 {
                        store.put(&key(number), &number.to_le_bytes().repeat(1000));
                        if let Some(entry) = store.get(&key(number)) {
                            assert_eq!(entry, number.to_le_bytes().repeat(1000));
                        }
                    }
                });
            }
        });
        assert!(open().usage().bytes <= 68 * BLOCK, "{:?}", open().usage());
    }
}
