//! A blob that is being downloaded: locked, hashed while it grows, and kept when the download ends early.

use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::time::Duration;

use super::{Store, failure, hash_file, open_lock};
use crate::digest::Hasher;
use crate::manifest::Descriptor;
use crate::{Control, Digest, OciKind};

/// How long a download of the same blob by another process is waited for.
const PATIENCE: Duration = Duration::from_secs(3600);

pub(crate) struct PartialBlob {
    file: File,
    path: PathBuf,
    target: PathBuf,
    digest: Digest,
    size: u64,
    hasher: Hasher,
    length: u64,
}

impl Store {
    /// Starts or continues to store a blob. None if it is complete, perhaps because another process was faster.
    pub(crate) fn partial(
        &self,
        descriptor: &Descriptor,
        control: &Control,
    ) -> Result<Option<PartialBlob>, OciKind> {
        let (digest, size) = (descriptor.digest()?, descriptor.size);
        loop {
            if self.has_blob(&digest, size) {
                return Ok(None);
            }
            self.check_writable()?;
            let path = self.staging(&format!("{}.partial", digest.hex()));
            let file = open_lock(&path).map_err(|error| failure(&path, &error))?;
            if !self.wait(PATIENCE, control, || file.try_lock())? {
                return Err(OciKind::StoreBusy { path: path.display().to_string() });
            }
            // The process that had the lock may have completed the blob, or a prune may have removed the file: the lock is then one
            // of a file that nobody else will find.
            if !is_same_file(&file, &path) {
                continue;
            }
            let target = self.blob_path(&digest);
            let hasher = Hasher::default();
            let mut partial = PartialBlob { file, path, target, digest, size, hasher, length: 0 };
            partial.resume()?;
            return Ok(Some(partial));
        }
    }
}

impl PartialBlob {
    /// The number of bytes that are there.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.length == self.size
    }

    /// Reads what an earlier download left.
    fn resume(&mut self) -> Result<(), OciKind> {
        let read = self
            .file
            .seek(SeekFrom::Start(0))
            .and_then(|_| hash_file(&mut self.file, &mut self.hasher));
        self.length = read.map_err(|error| failure(&self.path, &error))?;
        if self.length > self.size { self.restart() } else { Ok(()) }
    }

    /// Drops what is there.
    pub(crate) fn restart(&mut self) -> Result<(), OciKind> {
        self.file.set_len(0).map_err(|error| failure(&self.path, &error))?;
        (self.hasher, self.length) = (Hasher::default(), 0);
        Ok(())
    }

    /// Adds bytes. More bytes than the blob has are an error.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<(), OciKind> {
        if self.length + bytes.len() as u64 > self.size {
            self.restart()?;
            return Err(OciKind::TooLarge { what: "a blob", limit: self.size });
        }
        self.file.write_all(bytes).map_err(|error| failure(&self.path, &error))?;
        self.hasher.update(bytes);
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Verifies the digest and makes the blob visible. Content that is wrong is dropped.
    pub(crate) fn complete(&mut self) -> Result<(), OciKind> {
        let checked = self.digest.check(&self.hasher.clone().finish());
        if checked.is_err() {
            self.restart()?;
            return checked;
        }
        self.file
            .sync_data()
            .and_then(|()| fs::rename(&self.path, &self.target))
            .map_err(|error| failure(&self.target, &error))
    }
}

/// Whether the path still names the open file.
#[cfg(unix)]
fn is_same_file(file: &File, path: &std::path::Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let (Ok(open), Ok(named)) = (file.metadata(), fs::symlink_metadata(path)) else { return false };
    (open.dev(), open.ino()) == (named.dev(), named.ino())
}

/// Other systems do not rename or remove a file that is open.
#[cfg(not(unix))]
fn is_same_file(_: &File, path: &std::path::Path) -> bool {
    path.exists()
}
