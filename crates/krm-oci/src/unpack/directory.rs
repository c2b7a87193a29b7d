//! An open directory of a root that is being unpacked: everything is reached by one name in an open directory, so no path can lead
//! through a symlink, even if another process changes the tree meanwhile.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{self as sys, AtFlags, FileType, Mode, OFlags, RawMode};
use rustix::io::Errno;

/// Permissions without which krm itself could not remove or read what it unpacked.
const OWN_DIRECTORY: u32 = 0o700;
const OWN_FILE: u32 = 0o600;

#[derive(Debug)]
pub(crate) struct Directory {
    fd: OwnedFd,
}

impl Directory {
    /// Opens a directory of the store.
    pub(crate) fn at(path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(Self { fd: sys::open(path, flags, Mode::empty())? })
    }

    pub(super) fn clone_handle(&self) -> io::Result<Self> {
        Ok(Self { fd: self.fd.try_clone()? })
    }

    /// Opens a directory in this one.
    pub(super) fn open(&self, name: &OsStr) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(Self { fd: sys::openat(&self.fd, checked(name)?, flags, Mode::empty())? })
    }

    /// Opens a directory below this one with one system call. None if that is not possible for any reason.
    #[cfg(target_os = "linux")]
    pub(super) fn open_beneath(&self, names: &[Box<[u8]>]) -> Option<Self> {
        use rustix::fs::ResolveFlags;
        let (path, flags) =
            (names.join(&b'/'), OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC);
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        let path = if path.is_empty() { b"." } else { &*path };
        let fd = sys::openat2(&self.fd, path, flags, Mode::empty(), resolve).ok()?;
        Some(Self { fd })
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn open_beneath(&self, _: &[Box<[u8]>]) -> Option<Self> {
        None
    }

    /// Opens a directory in this one, which is created if it is missing.
    pub(super) fn enter(&self, name: &OsStr) -> io::Result<Self> {
        match self.open(name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                sys::mkdirat(&self.fd, checked(name)?, Mode::from_raw_mode(0o755))?;
                self.open(name)
            }
            result => result,
        }
    }

    /// Creates a directory, or changes the permissions of the one that is there. Anything else of the name is replaced.
    pub(super) fn make_directory(&self, name: &OsStr, mode: u32) -> io::Result<()> {
        if !self.is_directory(name)? {
            self.remove(name)?;
            sys::mkdirat(&self.fd, checked(name)?, Mode::from_raw_mode(0o700))?;
        }
        let directory = self.open(name)?;
        Ok(sys::fchmod(&directory.fd, permissions(mode | OWN_DIRECTORY))?)
    }

    /// Creates a file, which replaces anything else of the name.
    pub(super) fn create(&self, name: &OsStr, mode: u32) -> io::Result<File> {
        self.remove(name)?;
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = sys::openat(&self.fd, checked(name)?, flags, Mode::from_raw_mode(0o600))?;
        // Not left to the file creation mask.
        sys::fchmod(&fd, permissions(mode | OWN_FILE))?;
        Ok(fd.into())
    }

    /// Creates a symlink, which replaces anything else of the name.
    pub(super) fn make_symlink(&self, name: &OsStr, target: &OsStr) -> io::Result<()> {
        self.remove(name)?;
        Ok(sys::symlinkat(target, &self.fd, checked(name)?)?)
    }

    /// Gives a file or symlink of this directory a second name, which replaces anything else of that name.
    pub(super) fn link(&self, name: &OsStr, at: &Self, new: &OsStr) -> io::Result<()> {
        let stat = sys::statat(&self.fd, checked(name)?, AtFlags::SYMLINK_NOFOLLOW)?;
        if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
            return Err(io::Error::other("a hard link to a directory"));
        }
        at.remove(new)?;
        // Without a flag the symlink itself is linked.
        Ok(sys::linkat(&self.fd, name, &at.fd, checked(new)?, AtFlags::empty())?)
    }

    /// Removes a file, a symlink or a whole directory. A name that does not exist is not an error.
    pub(super) fn remove(&self, name: &OsStr) -> io::Result<()> {
        match sys::unlinkat(&self.fd, checked(name)?, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => return Ok(()),
            // Linux reports a directory as the former, other systems as the latter.
            Err(Errno::ISDIR | Errno::PERM) => {}
            Err(error) => return Err(error.into()),
        }
        let directory = self.open(name)?;
        for (inside, _) in directory.entries()? {
            directory.remove(&inside)?;
        }
        Ok(sys::unlinkat(&self.fd, name, AtFlags::REMOVEDIR)?)
    }

    /// The names in this directory, and whether they are directories.
    pub(super) fn entries(&self) -> io::Result<Vec<(OsString, bool)>> {
        let mut entries = Vec::new();
        for entry in sys::Dir::read_from(&self.fd)? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            let is_directory = match entry.file_type() {
                FileType::Unknown => self.is_directory(name)?,
                kind => kind == FileType::Directory,
            };
            entries.push((name.to_owned(), is_directory));
        }
        Ok(entries)
    }

    fn is_directory(&self, name: &OsStr) -> io::Result<bool> {
        match sys::statat(&self.fd, checked(name)?, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(FileType::from_raw_mode(stat.st_mode) == FileType::Directory),
            Err(Errno::NOENT) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Flushes the file system, so that a root which exists after a crash is complete.
    pub(crate) fn flush(&self) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        rustix::fs::syncfs(&self.fd)?;
        #[cfg(not(target_os = "linux"))]
        rustix::fs::sync();
        Ok(())
    }
}

/// Programs such as Python compare the time of a file with the one that they recorded. It is not worth an error.
pub(super) fn set_modified(file: &File, seconds: u64) {
    let time = std::time::UNIX_EPOCH.checked_add(std::time::Duration::from_secs(seconds));
    if let Some(time) = time {
        let _ = file.set_modified(time);
    }
}

/// The permissions of a layer, whose archive has set-id bits removed. How wide a mode is depends on the system.
fn permissions(mode: u32) -> Mode {
    Mode::from_raw_mode(mode as RawMode)
}

/// Accepts a single name only: a path with several components could lead through a symlink.
fn checked(name: &OsStr) -> io::Result<&OsStr> {
    let bytes = name.as_bytes();
    let is_name = !bytes.is_empty()
        && bytes != b"."
        && bytes != b".."
        && !bytes.iter().any(|byte| matches!(byte, b'/' | 0));
    if is_name { Ok(name) } else { Err(io::ErrorKind::InvalidInput.into()) }
}
