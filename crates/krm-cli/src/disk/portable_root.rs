//! The directories of `root` for systems without `openat`, which means Windows: by paths instead of descriptors.
//!
//! Every component is checked before a path is used, so symlinks are not followed. The check and the use are two steps: a directory that
//! another process replaces by a symlink in between is not noticed. Directories cannot be locked or flushed.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::path::{Component, Path, PathBuf};

use super::state::FileState;

/// A directory by its path.
#[derive(Debug)]
pub(crate) struct Directory {
    path: PathBuf,
    /// Keeps the directory from being removed.
    file: File,
}

impl Directory {
    /// Opens a directory that the user named, or one whose path was resolved. Symlinks are followed.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Self::at(fs::canonicalize(path)?)
    }

    fn at(path: PathBuf) -> io::Result<Self> {
        use std::os::windows::fs::OpenOptionsExt;
        /// Without this flag, Windows opens no directories.
        const FILE_FLAG_BACKUP_SEMANTICS: u32 = 0x0200_0000;
        if !fs::symlink_metadata(&path)?.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        let mut options = OpenOptions::new();
        let file = options.read(true).custom_flags(FILE_FLAG_BACKUP_SEMANTICS).open(&path)?;
        Ok(Self { path, file })
    }

    /// Opens a directory below this one. The empty path is this directory.
    pub(crate) fn directory(&self, path: &Path) -> io::Result<Self> {
        Self::at(self.resolve(path)?)
    }

    /// Opens a regular file for reading.
    pub(crate) fn file(&self, path: &Path) -> io::Result<(File, Metadata)> {
        let path = self.resolve(path)?;
        let kind = fs::symlink_metadata(&path)?;
        match kind.is_file() {
            true => {}
            false if kind.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
            false => return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")),
        }
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        Ok((file, metadata))
    }

    /// Flushes the content of a file. Windows does that only through a handle that may write.
    pub(crate) fn flush_file(&self, path: &Path) -> io::Result<()> {
        OpenOptions::new().write(true).open(self.resolve(path)?)?.sync_all()
    }

    /// Creates a file that must not exist yet. It gets the permissions of its directory.
    pub(crate) fn create(&self, path: &Path, _: u32) -> io::Result<File> {
        OpenOptions::new().write(true).create_new(true).open(self.resolve(path)?)
    }

    /// The state of a file in this directory, of a symlink itself.
    pub(crate) fn stat(&self, name: &OsStr) -> io::Result<FileState> {
        Ok(FileState::of(&fs::symlink_metadata(self.named(name)?)?))
    }

    /// Renames a file, which replaces another one of the new name.
    pub(crate) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        fs::rename(self.named(from)?, self.named(to)?)
    }

    /// Renames a file to a name that must not exist.
    pub(crate) fn rename_new(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        match fs::symlink_metadata(self.named(to)?) {
            Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
            Err(_) => self.rename(from, to),
        }
    }

    /// Gives a file a second name.
    pub(crate) fn hard_link(&self, from: &OsStr, at: &Self, to: &OsStr) -> io::Result<()> {
        fs::hard_link(self.named(from)?, at.named(to)?)
    }

    pub(crate) fn remove_file(&self, name: &OsStr) -> io::Result<()> {
        fs::remove_file(self.named(name)?)
    }

    pub(crate) fn create_directory(&self, name: &OsStr) -> io::Result<()> {
        fs::create_dir(self.named(name)?)
    }

    pub(crate) fn remove_directory(&self, name: &OsStr) -> io::Result<()> {
        fs::remove_dir(self.named(name)?)
    }

    /// Directories cannot be flushed.
    #[allow(clippy::unused_self, clippy::unnecessary_wraps, reason = "the interface of `root`")]
    pub(crate) fn flush(&self) -> io::Result<()> {
        Ok(())
    }

    /// The open directory itself.
    pub(crate) fn as_file(&self) -> &File {
        &self.file
    }

    fn named(&self, name: &OsStr) -> io::Result<PathBuf> {
        let is_name = Path::new(name).file_name() == Some(name);
        if is_name { Ok(self.path.join(name)) } else { Err(io::ErrorKind::InvalidInput.into()) }
    }

    /// The path of something below this directory, without a symlink on the way.
    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        let mut resolved = self.path.clone();
        for component in path.components() {
            match component {
                Component::CurDir => continue,
                Component::Normal(name) => resolved.push(name),
                Component::ParentDir if resolved != self.path => _ = resolved.pop(),
                _ => return Err(io::ErrorKind::CrossesDevices.into()),
            }
            if fs::symlink_metadata(&resolved).is_ok_and(|it| it.is_symlink()) {
                return Err(io::ErrorKind::CrossesDevices.into());
            }
        }
        Ok(resolved)
    }
}

/// Whether a path was refused because it leaves the directory, or because of a symlink on it.
pub(crate) fn is_refused(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::CrossesDevices
}
