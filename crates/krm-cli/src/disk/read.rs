//! Reading: the files of a package, which stay inside it, and files that the user names.

use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io;
use std::path::Path;

use krm_core::Diagnostic;
use krm_run::{RegularFileError, read_limited, read_regular_file};

use super::{FileKind, STDIN, cannot_read};

/// The largest file that is read: offsets in a text have 32 bits.
pub(crate) const FILE_LIMIT: u64 = u32::MAX as u64 - 1;

/// What a directory contains under a name. Symlinks are not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EntryKind {
    Directory,
    File,
    Symlink,
    /// A pipe, a socket or a device, which is never opened.
    Special,
}

/// The directory of a package, opened for reading.
///
/// Paths are relative to it and lead through no symlinks. So a directory that another process replaces by a symlink while the
/// package is read cannot make krm read anything else.
#[derive(Debug)]
pub(crate) struct PackageRoot {
    #[cfg(unix)]
    directory: super::root::Directory,
    #[cfg(not(unix))]
    path: std::path::PathBuf,
}

#[cfg(unix)]
impl PackageRoot {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        super::root::Directory::open(path).map(|directory| Self { directory })
    }

    /// Reads a regular file of at most `limit` bytes.
    pub(crate) fn read(
        &self,
        path: &Path,
        limit: u64,
    ) -> Result<(Vec<u8>, Metadata), RegularFileError> {
        let (file, metadata) = self.directory.file(path)?;
        let bytes = krm_run::read_opened(file, &metadata, limit)?;
        Ok((bytes, metadata))
    }

    /// The entries of a directory, in any order.
    pub(crate) fn entries(&self, path: &Path) -> io::Result<Vec<(OsString, EntryKind)>> {
        use std::os::unix::ffi::OsStringExt;
        let directory = self.directory.directory(path)?;
        let mut entries = Vec::new();
        for entry in rustix::fs::Dir::new(std::os::fd::OwnedFd::from(directory))? {
            let entry = entry?;
            let name = OsString::from_vec(entry.file_name().to_bytes().to_vec());
            if name == "." || name == ".." {
                continue;
            }
            let kind = match entry.file_type() {
                // Some file systems do not store the type with the name.
                rustix::fs::FileType::Unknown => self.kind(&path.join(&name))?,
                kind => entry_kind(kind),
            };
            entries.push((name, kind));
        }
        Ok(entries)
    }

    fn kind(&self, path: &Path) -> io::Result<EntryKind> {
        let flags = rustix::fs::AtFlags::SYMLINK_NOFOLLOW;
        let stat = rustix::fs::statat(&self.directory, path, flags)?;
        Ok(entry_kind(rustix::fs::FileType::from_raw_mode(stat.st_mode)))
    }
}

#[cfg(unix)]
fn entry_kind(kind: rustix::fs::FileType) -> EntryKind {
    match kind {
        _ if kind.is_dir() => EntryKind::Directory,
        _ if kind.is_file() => EntryKind::File,
        _ if kind.is_symlink() => EntryKind::Symlink,
        _ => EntryKind::Special,
    }
}

#[cfg(not(unix))]
impl PackageRoot {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { path: path.to_owned() })
    }

    /// Reads a regular file of at most `limit` bytes.
    pub(crate) fn read(
        &self,
        path: &Path,
        limit: u64,
    ) -> Result<(Vec<u8>, Metadata), RegularFileError> {
        let file = fs::File::open(self.path.join(path))?;
        let metadata = file.metadata()?;
        let bytes = krm_run::read_opened(file, &metadata, limit)?;
        Ok((bytes, metadata))
    }

    /// The entries of a directory, in any order.
    pub(crate) fn entries(&self, path: &Path) -> io::Result<Vec<(OsString, EntryKind)>> {
        let kind = |entry: &fs::DirEntry| -> io::Result<EntryKind> {
            Ok(match entry.file_type()? {
                kind if kind.is_dir() => EntryKind::Directory,
                kind if kind.is_file() => EntryKind::File,
                kind if kind.is_symlink() => EntryKind::Symlink,
                _ => EntryKind::Special,
            })
        };
        let entries = fs::read_dir(self.path.join(path))?;
        entries.map(|entry| entry.and_then(|it| Ok((it.file_name(), kind(&it)?)))).collect()
    }
}

/// Reads a file that the user names, or standard input.
pub(crate) fn read_named(name: &str) -> Result<Vec<u8>, Diagnostic> {
    let path = Path::new(name);
    let mut bytes = Vec::new();
    let read = match name {
        STDIN => read_limited(io::stdin().lock(), FILE_LIMIT, &mut bytes),
        _ if is_null_device(path) => Ok(()),
        _ if is_stream(name) => fs::File::open(path)
            .map_err(RegularFileError::Io)
            .and_then(|file| read_limited(file, FILE_LIMIT, &mut bytes)),
        _ => read_regular_file(path, FILE_LIMIT).map(|read| bytes = read),
    };
    match read {
        Ok(()) => Ok(bytes),
        Err(RegularFileError::Io(error)) if error.kind() == io::ErrorKind::NotFound => {
            Err(Diagnostic::error(FileKind::FileNotFound))
        }
        Err(RegularFileError::NotRegular) if path.is_dir() => {
            let path = name.trim_end_matches('/').into();
            Err(Diagnostic::error(FileKind::IsADirectory { path }))
        }
        Err(error) => Err(unreadable(error)),
    }
}

/// Reads the text of a file that may not exist. One that is not a regular file is an error, and so is a symlink that leads out of
/// its directory: krm chooses the name, so a package from elsewhere could otherwise make it read any file of the user.
pub(crate) fn read_existing(path: &Path) -> Result<Option<String>, Diagnostic> {
    if leads_out(path) {
        return Err(Diagnostic::error(FileKind::SymlinkOutside));
    }
    match read_regular_file(path, FILE_LIMIT) {
        Err(RegularFileError::Io(error)) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unreadable(error)),
        Ok(bytes) => String::from_utf8(bytes).map(Some).map_err(|_| {
            let reason = "the file is not valid UTF-8".to_owned();
            Diagnostic::error(FileKind::CannotRead { reason })
        }),
    }
}

/// Whether a symlink resolves to a file that is not below the directory of the symlink.
fn leads_out(path: &Path) -> bool {
    let is_symlink = fs::symlink_metadata(path).is_ok_and(|it| it.is_symlink());
    let directory = path.parent().filter(|it| !it.as_os_str().is_empty());
    let directory = fs::canonicalize(directory.unwrap_or(Path::new(".")));
    // The target may not exist.
    is_symlink
        && fs::canonicalize(path)
            .is_ok_and(|target| directory.is_ok_and(|it| !target.starts_with(it)))
}

/// Why a file was not read.
pub(crate) fn unreadable(error: RegularFileError) -> Diagnostic {
    match error {
        #[cfg(unix)]
        RegularFileError::Io(error) if super::root::is_refused(&error) => {
            let reason = "the path leads through a symlink".to_owned();
            Diagnostic::error(FileKind::CannotRead { reason })
        }
        RegularFileError::Io(error) => cannot_read(&error),
        RegularFileError::NotRegular => {
            Diagnostic::error(FileKind::CannotRead { reason: "not a regular file".to_owned() })
        }
        RegularFileError::TooLarge { bytes } => {
            Diagnostic::from(&krm_yaml::ReadError::TooLarge { bytes })
        }
    }
}

/// Whether the user names a pipe: a FIFO, or a descriptor that the process was started with, such as that of `<(command)` in a shell. It
/// is read like standard input. Pipes that are found in packages are never opened.
pub(crate) fn is_stream(name: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    let directories = ["/dev/fd/", "/proc/self/fd/"];
    let is_own_descriptor = name == "/dev/stdin"
        || directories.iter().any(|it| name.strip_prefix(it).is_some_and(is_number));
    is_own_descriptor || is_fifo(name)
}

#[cfg(unix)]
fn is_fifo(name: &str) -> bool {
    use std::os::unix::fs::FileTypeExt;
    fs::metadata(name).is_ok_and(|it| it.file_type().is_fifo())
}

#[cfg(not(unix))]
fn is_fifo(_: &str) -> bool {
    false
}

/// Whether standard input is a pipe or a regular file, so that somebody means it to be read. The null device and a closed one are not.
#[cfg(unix)]
pub(crate) fn is_stdin_a_stream() -> bool {
    let stat = rustix::fs::fstat(io::stdin());
    stat.is_ok_and(|it| {
        let kind = rustix::fs::FileType::from_raw_mode(it.st_mode);
        kind.is_fifo() || kind.is_file()
    })
}

#[cfg(not(unix))]
pub(crate) fn is_stdin_a_stream() -> bool {
    false
}

/// Whether a path is the null device, which stands for an empty file: git passes it to merge tools. It is not opened.
#[cfg(unix)]
fn is_null_device(path: &Path) -> bool {
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    // A regular file is the common case, and needs no second look at the disk.
    path == Path::new("/dev/null")
        && fs::metadata(path).is_ok_and(|it| it.file_type().is_char_device() && it.size() == 0)
}

#[cfg(not(unix))]
fn is_null_device(_: &Path) -> bool {
    false
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn symlink_out_of_its_directory_is_not_read() {
        let temporary = tempfile::tempdir().unwrap();
        let path = |name: &str| temporary.path().join(name);
        fs::create_dir_all(path("p/inner")).unwrap();
        fs::write(path("outside"), "secret").unwrap();
        fs::write(path("p/inner/own"), "own").unwrap();
        std::os::unix::fs::symlink("../outside", path("p/Kptfile")).unwrap();
        std::os::unix::fs::symlink("inner/own", path("p/krm.lock")).unwrap();
        let error = read_existing(&path("p/Kptfile")).unwrap_err();
        assert_eq!(error.id(), "symlink-outside");
        assert_eq!(read_existing(&path("p/krm.lock")).unwrap().as_deref(), Some("own"));
        assert_eq!(read_existing(&path("p/missing")).unwrap(), None);
    }
}
