//! Unpacks the layers of an image into a directory. Layers are hostile: whatever they contain, nothing outside of the directory changes.
//!
//! - Every directory on the way to an entry is opened by its name in its parent, without following symlinks. A layer that leads through
//!   a symlink is refused.
//! - Symlinks are created with the target that the layer has, and never followed: their target means something in the container only.
//! - Hard links lead to files of the same root. Devices and pipes are left out. Set-id bits, owners and extended attributes are dropped.
//! - Whiteouts remove what lower layers have, and never what the same layer has.

mod directory;
mod whiteout;

use std::collections::HashSet;
use std::ffi::OsStr;
use std::hash::{BuildHasher, RandomState};
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

pub(crate) use directory::Directory;

use self::whiteout::Whiteout;
use crate::archive::{Archive, Entry, EntryKind, Used, components};
use crate::{ArchiveLimits, Control, OciKind};

/// Unpacks the layers of one image, lowest first.
pub(crate) struct Unpacker<'a> {
    root: Directory,
    limits: ArchiveLimits,
    used: Used,
    control: &'a Control,
    /// The paths of the current layer and of all directories above them.
    written: Paths,
    /// The paths of all layers: entries have directories above them that the archive need not list.
    paths: u64,
    buffer: Vec<u8>,
}

impl<'a> Unpacker<'a> {
    /// Unpacks into an empty directory.
    pub(crate) fn new(root: Directory, limits: ArchiveLimits, control: &'a Control) -> Self {
        let used = Used::default();
        let (written, buffer) = (Paths::default(), vec![0; 64 << 10]);
        Self { root, limits, used, control, written, paths: 0, buffer }
    }

    /// What the layers used of the limits.
    pub(crate) fn used(&self) -> Used {
        self.used
    }

    /// Adds a layer, and returns its source after all of it was read.
    pub(crate) fn layer<R: Read>(&mut self, source: R) -> Result<R, OciKind> {
        self.written.hashes.clear();
        let mut archive = Archive::new(source, self.limits, self.used);
        while let Some(entry) = archive.next()? {
            self.control.check()?;
            self.add(&entry, &mut archive)?;
        }
        let (source, used) = archive.finish()?;
        self.used = used;
        Ok(source)
    }

    fn add<R: Read>(&mut self, entry: &Entry, archive: &mut Archive<R>) -> Result<(), OciKind> {
        // The root itself: its permissions are those of the store.
        let Some((name, parents)) = entry.path.split_last() else { return Ok(()) };
        if let Some(whiteout) = Whiteout::of(name).map_err(|reason| entry.invalid(reason))? {
            return self.remove(entry, parents, &whiteout);
        }
        if entry.kind == EntryKind::Special {
            return Ok(());
        }
        let parent = self.parent(entry, parents)?;
        let name = OsStr::from_bytes(name);
        self.mark(&entry.path)?;
        match entry.kind {
            EntryKind::Directory => parent.make_directory(name, entry.mode),
            EntryKind::Symlink => parent.make_symlink(name, OsStr::from_bytes(&entry.link)),
            EntryKind::HardLink => return self.hard_link(entry, &parent, name),
            EntryKind::File => {
                let mut file = parent.create(name, entry.mode).map_err(|it| failed(entry, &it))?;
                loop {
                    let count = archive.read(&mut self.buffer)?;
                    if count == 0 {
                        break;
                    }
                    file.write_all(&self.buffer[..count]).map_err(|it| failed(entry, &it))?;
                }
                directory::set_modified(&file, entry.modified);
                Ok(())
            }
            EntryKind::Special => Ok(()),
        }
        .map_err(|error| failed(entry, &error))
    }

    /// Opens the directory of an entry, and creates the directories that are missing.
    fn parent(&mut self, entry: &Entry, parents: &[Box<[u8]>]) -> Result<Directory, OciKind> {
        if let Some(directory) = self.root.open_beneath(parents) {
            return Ok(directory);
        }
        let mut directory = self.root.clone_handle().map_err(|error| failed(entry, &error))?;
        for name in parents {
            directory =
                directory.enter(OsStr::from_bytes(name)).map_err(|error| failed(entry, &error))?;
        }
        Ok(directory)
    }

    fn hard_link(&self, entry: &Entry, parent: &Directory, name: &OsStr) -> Result<(), OciKind> {
        let target = components(&entry.link, &self.limits)?;
        let Some((target_name, parents)) = target.split_last() else {
            return Err(entry.invalid("a hard link to the root directory"));
        };
        if target == entry.path {
            return Err(entry.invalid("a hard link to itself"));
        }
        let mut directory = self.root.clone_handle().map_err(|error| failed(entry, &error))?;
        for name in parents {
            let next = directory.open(OsStr::from_bytes(name));
            directory = next.map_err(|error| failed(entry, &error))?;
        }
        directory
            .link(OsStr::from_bytes(target_name), parent, name)
            .map_err(|error| failed(entry, &error))
    }

    /// Removes what a whiteout hides.
    fn remove(
        &mut self,
        entry: &Entry,
        parents: &[Box<[u8]>],
        whiteout: &Whiteout<'_>,
    ) -> Result<(), OciKind> {
        // A whiteout may be the only entry of a directory, which then exists in the image.
        let parent = self.parent(entry, parents)?;
        self.mark(parents)?;
        let mut path = parents.join(&b'/');
        let removed = match whiteout {
            Whiteout::Ignored => Ok(()),
            Whiteout::Name(name) => {
                if !parents.is_empty() {
                    path.push(b'/');
                }
                path.extend_from_slice(name);
                match self.written.contains(&path) {
                    true => Ok(()),
                    false => parent.remove(OsStr::from_bytes(name)),
                }
            }
            Whiteout::Opaque => self.make_opaque(&parent, &mut path),
        };
        removed.map_err(|error| failed(entry, &error))
    }

    /// Removes everything in a directory that the current layer did not write.
    fn make_opaque(&self, directory: &Directory, path: &mut Vec<u8>) -> std::io::Result<()> {
        for (name, is_directory) in directory.entries()? {
            let length = path.len();
            if length > 0 {
                path.push(b'/');
            }
            path.extend_from_slice(name.as_bytes());
            let removed = match self.written.contains(path) {
                false => directory.remove(&name),
                true if is_directory => self.make_opaque(&directory.open(&name)?, path),
                true => Ok(()),
            };
            path.truncate(length);
            removed?;
        }
        Ok(())
    }

    /// Records that the current layer has a path.
    fn mark(&mut self, path: &[Box<[u8]>]) -> Result<(), OciKind> {
        // From the end: the directories above a known path are known.
        for length in (1..=path.len()).rev() {
            if !self.written.insert(&path[..length].join(&b'/')) {
                break;
            }
            self.paths += 1;
        }
        let limit = self.limits.entries;
        match self.paths > limit {
            true => Err(OciKind::TooLarge { what: "the number of paths of an archive", limit }),
            false => Ok(()),
        }
    }
}

/// A set of paths by their hashes, as a layer can have a million long ones. The keys are random, so no layer can have two paths with the
/// same hash on purpose, and by chance it does not happen with so many bits.
#[derive(Default)]
struct Paths {
    keys: [RandomState; 2],
    hashes: HashSet<[u64; 2]>,
}

impl Paths {
    fn hash(&self, path: &[u8]) -> [u64; 2] {
        self.keys.each_ref().map(|key| key.hash_one(path))
    }

    fn contains(&self, path: &[u8]) -> bool {
        self.hashes.contains(&self.hash(path))
    }

    /// Returns false if the path was known.
    fn insert(&mut self, path: &[u8]) -> bool {
        self.hashes.insert(self.hash(path))
    }
}

/// Unpacks layers that are not compressed, lowest first, into an empty directory. [`crate::Store::unpack`] does the same for images.
///
/// # Errors
/// If a layer is not allowed. What was unpacked until then is left.
pub fn unpack_layers<R: Read>(
    layers: impl IntoIterator<Item = R>,
    root: &Path,
    limits: &ArchiveLimits,
) -> Result<(), OciKind> {
    let directory = Directory::at(root).map_err(|error| OciKind::Store {
        path: root.display().to_string(),
        reason: error.to_string(),
    })?;
    let control = Control::default();
    let mut unpacker = Unpacker::new(directory, *limits, &control);
    layers.into_iter().try_for_each(|layer| unpacker.layer(layer).map(|_| ()))
}

fn failed(entry: &Entry, error: &std::io::Error) -> OciKind {
    use rustix::io::Errno;
    let is = |errno: Errno| error.raw_os_error() == Some(errno.raw_os_error());
    match error {
        // A symlink where a directory is expected is reported as either of these.
        _ if is(Errno::LOOP) || is(Errno::NOTDIR) => {
            entry.invalid("the path leads through a symlink or a file")
        }
        _ if is(Errno::NOENT) => entry.invalid("the target does not exist"),
        _ => entry.invalid(&error.to_string()),
    }
}

#[cfg(test)]
mod tests;
