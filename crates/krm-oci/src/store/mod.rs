//! The store: blobs by digest, unpacked images by the digest of their layers, and which digest a tag had.
//!
//! ```text
//! blobs/sha256/HEX     complete and verified content
//! roots/HEX            unpacked image; roots/HEX.bytes has its size
//! tags/HEX             the digest of a tag, by the digest of its name
//! staging              what is being downloaded or unpacked, and the locks for that
//! lock                 shared while the store is used, exclusive while it is pruned
//! ```
//!
//! Everything is made in `staging` and renamed, so a process that is killed leaves no entry that is half written. What it leaves in
//! `staging` is continued (downloads) or removed (unpacked images) by the next process.

mod partial;
mod prune;
#[cfg(unix)]
mod roots;
#[cfg(not(unix))]
#[path = "portable_roots.rs"]
mod roots;

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

pub(crate) use partial::PartialBlob;
pub use prune::Pruned;

use crate::digest::Hasher;
use crate::manifest::Descriptor;
use crate::{Control, Digest, OciKind};

/// How often a lock that another process holds is tried again.
const PAUSE: Duration = Duration::from_millis(20);

/// A directory with blobs and unpacked images that processes share.
#[derive(Debug)]
pub struct Store {
    root: PathBuf,
    is_writable: bool,
    /// Held as long as the store is open.
    _lock: Option<File>,
}

impl Store {
    /// Opens a store, which is created if it is missing. One that the user cannot write to is read-only.
    ///
    /// # Errors
    /// If the directory cannot be created or opened.
    pub fn open(root: &Path) -> Result<Self, OciKind> {
        Self::open_within(root, Duration::from_secs(60))
    }

    fn open_within(root: &Path, patience: Duration) -> Result<Self, OciKind> {
        let created = ["blobs/sha256", "roots", "tags", "staging"]
            .iter()
            .try_for_each(|name| create_directory(&root.join(name)));
        let lock = created.and_then(|()| open_lock(&root.join("lock")));
        let lock = match lock {
            Ok(lock) => lock,
            Err(error) if is_read_only(&error) && root.join("blobs").is_dir() => {
                return Ok(Self { root: root.to_owned(), is_writable: false, _lock: None });
            }
            Err(error) => return Err(failure(root, &error)),
        };
        let store = Self { root: root.to_owned(), is_writable: true, _lock: None };
        // A store that is being pruned is available in a moment.
        let is_locked = store.wait(patience, &Control::default(), || lock.try_lock_shared())?;
        match is_locked {
            true => Ok(Self { _lock: Some(lock), ..store }),
            false => Err(OciKind::StoreBusy { path: root.display().to_string() }),
        }
    }

    /// Its directory.
    pub fn path(&self) -> &Path {
        &self.root
    }

    /// Whether something can be added.
    pub fn is_writable(&self) -> bool {
        self.is_writable
    }

    /// The file of a blob.
    pub fn blob_path(&self, digest: &Digest) -> PathBuf {
        self.root.join("blobs/sha256").join(digest.hex())
    }

    /// Whether the blob is complete. Its content was verified when it was stored, and is verified again when it is used.
    pub(crate) fn has_blob(&self, digest: &Digest, size: u64) -> bool {
        let is_complete = fs::metadata(self.blob_path(digest))
            .is_ok_and(|metadata| metadata.is_file() && metadata.len() == size);
        if is_complete {
            self.touch(&self.blob_path(digest));
        }
        is_complete
    }

    /// A small blob, if the store has it. One whose content does not have its digest is removed.
    ///
    /// # Errors
    /// If the blob is larger than the limit.
    pub fn read(&self, digest: &Digest, limit: u64) -> Result<Option<Vec<u8>>, OciKind> {
        let path = self.blob_path(digest);
        let Ok(file) = File::open(&path) else { return Ok(None) };
        let mut bytes = Vec::new();
        file.take(limit + 1).read_to_end(&mut bytes).map_err(|error| failure(&path, &error))?;
        if bytes.len() as u64 > limit {
            return Err(OciKind::TooLarge { what: "a blob", limit });
        }
        if Digest::of(&bytes) != *digest {
            self.discard_blob(digest);
            return Ok(None);
        }
        self.touch(&path);
        Ok(Some(bytes))
    }

    /// Stores a small blob.
    ///
    /// # Errors
    /// If the store is read-only or full.
    pub fn write(&self, bytes: &[u8]) -> Result<Digest, OciKind> {
        let digest = Digest::of(bytes);
        let media_type = "application/octet-stream";
        let descriptor = Descriptor::of(media_type, bytes);
        if let Some(mut partial) = self.partial(&descriptor, &Control::default())? {
            partial.restart()?;
            partial.append(bytes)?;
            partial.complete()?;
        }
        Ok(digest)
    }

    /// Removes a blob whose content is damaged.
    pub(crate) fn discard_blob(&self, digest: &Digest) {
        let _ = fs::remove_file(self.blob_path(digest));
    }

    /// The digest that a tag had when it was pulled.
    pub fn tag(&self, name: &str) -> Option<Digest> {
        let text = fs::read_to_string(self.tag_path(name)).ok()?;
        Digest::parse(text.lines().next()?).ok()
    }

    /// Records the digest of a tag.
    ///
    /// # Errors
    /// If the store is read-only or full.
    pub fn set_tag(&self, name: &str, digest: &Digest) -> Result<(), OciKind> {
        self.check_writable()?;
        let staged = self.staging(&format!("tag-{}", random()?));
        let target = self.tag_path(name);
        fs::write(&staged, format!("{digest}\n{name}\n"))
            .and_then(|()| fs::rename(&staged, &target))
            .map_err(|error| failure(&target, &error))
    }

    fn tag_path(&self, name: &str) -> PathBuf {
        self.root.join("tags").join(Digest::of(name.as_bytes()).hex())
    }

    fn staging(&self, name: &str) -> PathBuf {
        self.root.join("staging").join(name)
    }

    fn check_writable(&self) -> Result<(), OciKind> {
        match self.is_writable {
            true => Ok(()),
            false => Err(OciKind::StoreReadOnly { path: self.root.display().to_string() }),
        }
    }

    /// Records that an entry was used, so that prune keeps it longer. It is not worth an error.
    fn touch(&self, path: &Path) {
        if self.is_writable
            && let Ok(file) = File::open(path)
        {
            let _ = file.set_modified(SystemTime::now());
        }
    }

    /// Waits for a lock. Returns false if it is not free in time.
    fn wait(
        &self,
        patience: Duration,
        control: &Control,
        attempt: impl Fn() -> Result<(), TryLockError>,
    ) -> Result<bool, OciKind> {
        let start = Instant::now();
        loop {
            control.check()?;
            match attempt() {
                Ok(()) => return Ok(true),
                Err(TryLockError::WouldBlock) if start.elapsed() >= patience => return Ok(false),
                Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
                Err(TryLockError::Error(error)) => return Err(failure(&self.root, &error)),
            }
        }
    }
}

/// The digest of the rest of a file.
fn hash_file(file: &mut File, hasher: &mut Hasher) -> std::io::Result<u64> {
    let (mut buffer, mut length) = (vec![0; 256 << 10], 0);
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(length),
            count => {
                hasher.update(&buffer[..count]);
                length += count as u64;
            }
        }
    }
}

/// Only the user may read the store: private images are private.
fn create_directory(path: &Path) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(path)
}

fn open_lock(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().create(true).read(true).append(true).open(path)
}

fn is_read_only(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied)
}

fn failure(path: &Path, error: &std::io::Error) -> OciKind {
    OciKind::Store { path: path.display().to_string(), reason: error.to_string() }
}

/// A name that no other process uses.
fn random() -> Result<String, OciKind> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(|error| OciKind::Store {
        path: "staging".to_owned(),
        reason: error.to_string(),
    })?;
    Ok(data_encoding::HEXLOWER.encode(&bytes))
}

#[cfg(test)]
mod tests;
