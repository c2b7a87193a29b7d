//! Files and standard input: read whole, and written whole or not at all.

mod apply;
#[cfg(unix)]
mod attributes;
#[cfg(not(unix))]
#[path = "portable_attributes.rs"]
mod attributes;
mod flush;
mod half_written;
mod identity;
mod journal;
mod kinds;
mod lock;
mod lock_holder;
mod open_directories;
mod output_file;
mod read;
mod recover;
#[cfg(unix)]
mod resolve;
mod rollback;
#[cfg(unix)]
pub(crate) mod root;
#[cfg(not(unix))]
#[path = "portable_root.rs"]
pub(crate) mod root;
mod secret_access;
mod state;
mod step;
mod target;

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::Path;

use krm_core::Diagnostic;
use krm_yaml::{File, ReadOptions};

use crate::duplicate_keys;

pub(crate) use apply::write;
pub(crate) use half_written::HalfWritten;
pub(crate) use kinds::FileKind;
pub(crate) use lock::{Lock, has_journal};
pub(crate) use output_file::{is_output_stream, write_output, write_to_stream};
pub(crate) use read::{
    EntryKind, FILE_LIMIT, PackageRoot, is_stdin_a_stream, is_stream, read_existing, read_named,
    unreadable,
};
pub(crate) use state::FileState;

/// The argument that means standard input or output.
pub(crate) const STDIN: &str = "-";

/// Whether this is the name of a file that krm creates while it writes.
pub(crate) fn is_internal_file(name: &str) -> bool {
    name.starts_with(journal::STAGED)
}

/// Whether this is the name of a journal.
pub(crate) fn is_journal(name: &OsStr) -> bool {
    name == journal::NAME
}

/// The name that messages give a file.
pub(crate) fn display_name(name: &str) -> &str {
    if name == STDIN { "<stdin>" } else { name }
}

/// A path relative to the current directory, as messages show it.
pub(crate) fn from_here(path: &Path) -> String {
    let here = std::env::current_dir().and_then(fs::canonicalize).unwrap_or_default();
    match path.strip_prefix(here) {
        Ok(inside) if inside.as_os_str().is_empty() => ".".to_owned(),
        Ok(inside) => inside.to_string_lossy().into_owned(),
        Err(_) => path.to_string_lossy().into_owned(),
    }
}

/// Reads and parses a file, or standard input.
pub(crate) fn parse(name: &str, options: ReadOptions) -> Result<File, Diagnostic> {
    let bytes =
        read::read_named(name).map_err(|diagnostic| diagnostic.in_file(display_name(name)))?;
    let file = krm_yaml::decode(bytes)
        .and_then(|text| File::parse_with(text, options))
        .map_err(|error| Diagnostic::from(&error).in_file(display_name(name)))?;
    duplicate_keys::add(display_name(name), &file);
    Ok(file)
}

/// Reads the text of a file that need not be YAML, or of standard input.
pub(crate) fn read_text(name: &str) -> Result<String, Diagnostic> {
    let bytes =
        read::read_named(name).map_err(|diagnostic| diagnostic.in_file(display_name(name)))?;
    String::from_utf8(bytes).map_err(|_| {
        let reason = "the file is not valid UTF-8".to_owned();
        Diagnostic::error(FileKind::CannotRead { reason }).in_file(display_name(name))
    })
}

pub(crate) fn cannot_read(error: &io::Error) -> Diagnostic {
    Diagnostic::error(FileKind::CannotRead { reason: io_reason(error) })
}

/// The device and inode of a file, which all its hard links share.
#[cfg(unix)]
pub(crate) fn file_id(metadata: &fs::Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
pub(crate) fn file_id(_: &fs::Metadata) -> Option<(u64, u64)> {
    None
}

/// Whether a file may be executed.
#[cfg(unix)]
pub(crate) fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
pub(crate) fn is_executable(_: &Path) -> bool {
    false
}

/// Creates a directory, and missing ones above it, that only the user can read.
pub(crate) fn create_private_directory(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Fails if krm has received a signal.
pub(crate) fn not_interrupted() -> Result<(), Diagnostic> {
    match crate::interrupt::received() {
        Some(signal) => Err(Diagnostic::error(FileKind::Interrupted { signal })),
        None => Ok(()),
    }
}

fn cannot_write(error: &io::Error) -> Diagnostic {
    Diagnostic::error(FileKind::CannotWrite { reason: io_reason(error) })
}

/// A number that nobody can predict, for names and marks that must differ from all others.
pub(crate) fn random_number() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    // The keys of the hasher are random.
    RandomState::new().hash_one(std::process::id())
}

/// The operating system's message in lower case, without its error number.
pub(crate) fn io_reason(error: &io::Error) -> String {
    if root::is_refused(error) {
        // The system's own message speaks of too many levels of symlinks, or of devices.
        return "a symlink on the path is not followed".to_owned();
    }
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or(&text);
    let mut chars = text.chars();
    chars.next().map(|first| first.to_lowercase().chain(chars).collect()).unwrap_or_default()
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
