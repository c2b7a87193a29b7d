//! Reads whole files: regular ones only, and never more than a limit.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

/// Why a file is not read.
#[derive(Debug)]
pub enum RegularFileError {
    /// The operating system refuses it.
    Io(io::Error),
    /// It is a directory, a pipe, a socket or a device.
    NotRegular,
    /// It has more bytes than the limit.
    TooLarge {
        /// The size of the file, as far as it is known.
        bytes: u64,
    },
}

impl From<io::Error> for RegularFileError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Reads a regular file of at most `limit` bytes.
///
/// The type is checked before the file is opened, because opening a pipe can wait for ever and opening a device can have effects,
/// and again afterwards, because the file may have been replaced in between.
///
/// # Errors
/// If the file cannot be read, is not a regular file, or is larger than the limit.
pub fn read_regular_file(path: &Path, limit: u64) -> Result<Vec<u8>, RegularFileError> {
    check_regular(&fs::metadata(path)?, limit)?;
    let file = open_options().open(path)?;
    let metadata = file.metadata()?;
    read_opened(file, &metadata, limit)
}

/// Reads a file that the user names: like [`read_regular_file`], or a pipe to its end, such as that of `<(command)` in a shell.
///
/// # Errors
/// If the file cannot be read, is a directory or a device, or is larger than the limit.
pub(crate) fn read_file_or_pipe(path: &Path, limit: u64) -> Result<Vec<u8>, RegularFileError> {
    if !is_pipe(&fs::metadata(path)?) {
        return read_regular_file(path, limit);
    }
    let mut bytes = Vec::new();
    read_limited(File::open(path)?, limit, &mut bytes)?;
    Ok(bytes)
}

#[cfg(unix)]
fn is_pipe(metadata: &Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    metadata.file_type().is_fifo()
}

#[cfg(not(unix))]
fn is_pipe(_: &Metadata) -> bool {
    false
}

/// Options for reading. Opening returns at once even if the file is a pipe.
fn open_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    }
    options
}

/// Reads an opened file that must be regular and have at most `limit` bytes. The metadata is its own.
///
/// # Errors
/// If the file cannot be read, is not a regular file, or is larger than the limit.
pub fn read_opened(
    file: File,
    metadata: &Metadata,
    limit: u64,
) -> Result<Vec<u8>, RegularFileError> {
    check_regular(metadata, limit)?;
    let mut bytes = Vec::new();
    bytes.reserve_exact(usize::try_from(metadata.len()).unwrap_or(0).min(1 << 30));
    read_limited(file, limit, &mut bytes)?;
    Ok(bytes)
}

/// Appends everything that a reader returns, but no more than `limit` bytes.
///
/// # Errors
/// If reading fails, or there are more bytes.
pub fn read_limited(
    reader: impl Read,
    limit: u64,
    bytes: &mut Vec<u8>,
) -> Result<(), RegularFileError> {
    // `take` also keeps the standard library from asking for the size again.
    let read = reader.take(limit.saturating_add(1)).read_to_end(bytes)?;
    match read as u64 > limit {
        true => Err(RegularFileError::TooLarge { bytes: read as u64 }),
        false => Ok(()),
    }
}

fn check_regular(metadata: &Metadata, limit: u64) -> Result<(), RegularFileError> {
    match metadata.len() {
        _ if !metadata.is_file() => Err(RegularFileError::NotRegular),
        bytes if bytes > limit => Err(RegularFileError::TooLarge { bytes }),
        _ => Ok(()),
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    #[test]
    fn special_files_are_not_opened() {
        let directory = tempfile::tempdir().unwrap();
        let pipe = directory.path().join("pipe");
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, mode).unwrap();
        for path in [&*pipe, directory.path(), Path::new("/dev/zero"), Path::new("/dev/null")] {
            let read = read_regular_file(path, 100);
            assert!(matches!(read, Err(RegularFileError::NotRegular)), "{}", path.display());
        }
        // A file that became a pipe after the check: opening does not wait, and nothing is read.
        let file = open_options().open(&pipe).unwrap();
        let metadata = file.metadata().unwrap();
        let read = read_opened(file, &metadata, 100);
        assert!(matches!(read, Err(RegularFileError::NotRegular)));
    }

    #[test]
    fn pipe_that_the_user_names_is_read_to_its_end() {
        let directory = tempfile::tempdir().unwrap();
        let pipe = directory.path().join("pipe");
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, mode).unwrap();
        let writer = pipe.clone();
        let written = std::thread::spawn(move || fs::write(writer, "a = 1\n"));
        assert_eq!(read_file_or_pipe(&pipe, 100).unwrap(), b"a = 1\n");
        written.join().unwrap().unwrap();
        let device = read_file_or_pipe(Path::new("/dev/zero"), 100);
        assert!(matches!(device, Err(RegularFileError::NotRegular)));
    }

    #[test]
    fn size_is_checked_before_and_while_reading() {
        let directory = tempfile::tempdir().unwrap();
        let sparse = directory.path().join("sparse");
        File::create(&sparse).unwrap().set_len(20 << 30).unwrap();
        let read = read_regular_file(&sparse, 1 << 32);
        assert!(matches!(read, Err(RegularFileError::TooLarge { bytes }) if bytes == 20 << 30));
        let mut bytes = Vec::new();
        let endless = read_limited(io::repeat(0), 1000, &mut bytes);
        assert!(matches!(endless, Err(RegularFileError::TooLarge { bytes: 1001 })));
        let mut bytes = Vec::new();
        assert!(read_limited(&b"abc"[..], 3, &mut bytes).is_ok());
        assert_eq!(bytes, b"abc");
    }
}
