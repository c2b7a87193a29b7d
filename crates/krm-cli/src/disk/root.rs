//! An opened directory: everything below it is reached by relative paths that cannot leave it.
//!
//! A path that was checked can mean another file a moment later, because another process can replace a directory by a symlink. So the
//! check and the use are one system call here: `openat2` with `RESOLVE_BENEATH`, or a walk that opens one component after the other
//! without following symlinks, where the call is missing.

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{self as sys, AtFlags, Mode, OFlags};

use super::resolve;
use super::state::FileState;

/// A directory that stays the same one, whatever happens to its path.
#[derive(Debug)]
pub(crate) struct Directory {
    file: File,
}

impl Directory {
    /// Opens a directory that the user named, or one whose path was resolved. Symlinks are followed.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self { file: sys::open(path, flags, Mode::empty())?.into() })
    }

    /// Opens a directory below this one. The empty path is this directory.
    pub(crate) fn directory(&self, path: &Path) -> io::Result<Self> {
        let fd = self.resolve(path, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty())?;
        Ok(Self { file: fd.into() })
    }

    /// Opens a regular file for reading. Pipes do not block, and they and devices are an error.
    pub(crate) fn file(&self, path: &Path) -> io::Result<(File, Metadata)> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = File::from(self.resolve(path, flags, Mode::empty())?);
        let metadata = file.metadata()?;
        match metadata.is_file() {
            true => Ok((file, metadata)),
            false if metadata.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
            false => Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")),
        }
    }

    /// Flushes the content of a file.
    pub(crate) fn flush_file(&self, path: &Path) -> io::Result<()> {
        self.file(path)?.0.sync_all()
    }

    /// Creates a file that must not exist yet.
    pub(crate) fn create(&self, path: &Path, mode: u32) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
        // How wide a mode is depends on the system.
        let mode = Mode::from_raw_mode(mode as sys::RawMode);
        Ok(self.resolve(path, flags, mode)?.into())
    }

    /// The state of a file in this directory, of a symlink itself.
    pub(crate) fn stat(&self, name: &OsStr) -> io::Result<FileState> {
        let stat = sys::statat(&self.file, checked(name)?, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(FileState::of_stat(&stat))
    }

    /// Renames a file, which replaces another one of the new name.
    pub(crate) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(sys::renameat(&self.file, checked(from)?, &self.file, checked(to)?)?)
    }

    /// Renames a file to a name that must not exist.
    pub(crate) fn rename_new(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        let (from, to) = (checked(from)?, checked(to)?);
        if let Some(result) = rename_without_replacing(&self.file, from, to) {
            return result;
        }
        match sys::statat(&self.file, to, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
            Err(_) => self.rename(from, to),
        }
    }

    /// Gives a file a second name.
    pub(crate) fn hard_link(&self, from: &OsStr, at: &Self, to: &OsStr) -> io::Result<()> {
        let (from, to) = (checked(from)?, checked(to)?);
        Ok(sys::linkat(&self.file, from, &at.file, to, AtFlags::empty())?)
    }

    pub(crate) fn remove_file(&self, name: &OsStr) -> io::Result<()> {
        Ok(sys::unlinkat(&self.file, checked(name)?, AtFlags::empty())?)
    }

    pub(crate) fn create_directory(&self, name: &OsStr) -> io::Result<()> {
        Ok(sys::mkdirat(&self.file, checked(name)?, Mode::from_raw_mode(0o777))?)
    }

    pub(crate) fn remove_directory(&self, name: &OsStr) -> io::Result<()> {
        Ok(sys::unlinkat(&self.file, checked(name)?, AtFlags::REMOVEDIR)?)
    }

    /// Flushes the names in this directory.
    pub(crate) fn flush(&self) -> io::Result<()> {
        self.file.sync_all()
    }

    /// The open directory itself, to lock it.
    pub(crate) fn as_file(&self) -> &File {
        &self.file
    }

    fn resolve(&self, path: &Path, flags: OFlags, mode: Mode) -> io::Result<OwnedFd> {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        Ok(resolve::open(self.as_fd(), path, flags | OFlags::CLOEXEC, mode)?)
    }
}

impl AsFd for Directory {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl From<Directory> for OwnedFd {
    fn from(directory: Directory) -> Self {
        directory.file.into()
    }
}

impl From<File> for Directory {
    fn from(file: File) -> Self {
        Self { file }
    }
}

/// Whether a path was refused because it leaves the directory, or because of a symlink on it.
pub(crate) fn is_refused(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let code = error.raw_os_error();
    [Errno::XDEV, Errno::LOOP].iter().any(|errno| code == Some(errno.raw_os_error()))
}

/// Accepts a single name only: a path with several components could lead through a symlink.
fn checked(name: &OsStr) -> io::Result<&OsStr> {
    let is_name = Path::new(name).file_name() == Some(name);
    if is_name { Ok(name) } else { Err(io::ErrorKind::InvalidInput.into()) }
}

/// None where the file system or the kernel does not support the flag.
#[cfg(target_os = "linux")]
fn rename_without_replacing(directory: &File, from: &OsStr, to: &OsStr) -> Option<io::Result<()>> {
    use rustix::io::Errno;
    match sys::renameat_with(directory, from, directory, to, sys::RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => None,
        result => Some(result.map_err(io::Error::from)),
    }
}

#[cfg(not(target_os = "linux"))]
fn rename_without_replacing(_: &File, _: &OsStr, _: &OsStr) -> Option<io::Result<()>> {
    None
}
