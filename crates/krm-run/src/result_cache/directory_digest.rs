//! The digest of a directory that a function sees: names, types, permissions and contents.

use std::fs::{self, Metadata};
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::read_regular_file;

/// The largest directory whose content is read to look for a result.
const MAX_BYTES: u64 = 256 << 20;
const MAX_ENTRIES: usize = 20_000;

/// The digest of a directory or file; none if it is too large, cannot be read, or contains pipes, sockets or devices.
///
/// Times are left out, as in the caches of build systems: every checkout has others.
pub(crate) fn directory_digest(path: &Path) -> Option<[u8; 32]> {
    let mut walk = Walk { hasher: Sha256::new(), bytes: MAX_BYTES, entries: MAX_ENTRIES };
    let metadata = fs::metadata(path).ok()?;
    walk.add(path, b"", &metadata)?;
    Some(walk.hasher.finalize().into())
}

struct Walk {
    hasher: Sha256,
    /// What is left of the limits.
    bytes: u64,
    entries: usize,
}

impl Walk {
    fn field(&mut self, bytes: &[u8]) {
        self.hasher.update((bytes.len() as u64).to_le_bytes());
        self.hasher.update(bytes);
    }

    fn add(&mut self, path: &Path, name: &[u8], metadata: &Metadata) -> Option<()> {
        self.entries = self.entries.checked_sub(1)?;
        self.field(name);
        for number in access(metadata) {
            self.hasher.update(number.to_le_bytes());
        }
        let kind = metadata.file_type();
        if kind.is_symlink() {
            // Where it leads is part of the directory, or does not exist for the function.
            self.field(b"symlink");
            self.field(fs::read_link(path).ok()?.as_os_str().as_encoded_bytes());
        } else if kind.is_dir() {
            let mut entries = Vec::new();
            for entry in fs::read_dir(path).ok()? {
                let entry = entry.ok()?;
                entries.push((entry.file_name(), entry.metadata().ok()?));
            }
            entries.sort_by(|(a, _), (b, _)| a.cmp(b));
            self.field(b"directory");
            self.hasher.update((entries.len() as u64).to_le_bytes());
            for (name, metadata) in entries {
                self.add(&path.join(&name), name.as_encoded_bytes(), &metadata)?;
            }
        } else {
            let content = read_regular_file(path, self.bytes).ok()?;
            self.bytes -= content.len() as u64;
            self.field(b"file");
            self.field(&content);
        }
        Some(())
    }
}

/// What decides who can read a file.
#[cfg(unix)]
fn access(metadata: &Metadata) -> [u32; 3] {
    use std::os::unix::fs::MetadataExt;
    [metadata.mode(), metadata.uid(), metadata.gid()]
}

#[cfg(not(unix))]
fn access(_: &Metadata) -> [u32; 3] {
    [0; 3]
}
