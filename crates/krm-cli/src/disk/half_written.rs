//! Whether a directory is being written, for commands that only read and take no lock.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use krm_core::Diagnostic;

use super::journal;
use super::lock::has_journal;
use super::lock_holder::{self, Holder};
use super::root::Directory;
use super::{FileKind, from_here};

/// A directory in which some files have their new contents and others have not.
#[derive(Debug)]
pub(crate) struct HalfWritten {
    directory: PathBuf,
    /// The process that is writing; none if it was killed.
    writer: Option<Writer>,
}

/// A process that holds a lock, as far as the system shows it.
type Writer = Option<Holder>;

impl HalfWritten {
    /// The first of these directories and the parents of `root` that a run has begun to rename files in.
    ///
    /// Before its commit a journal does not matter: all files are still the old ones.
    pub(crate) fn find(root: &Path, with_journals: &[PathBuf]) -> Option<Self> {
        let above = root.ancestors().skip(1).filter(|directory| has_journal(directory));
        let mut directories = above.chain(with_journals.iter().map(PathBuf::as_path));
        let directory = directories.find(|directory| is_committed(directory))?;
        let writer = writer(directory);
        // It may have ended between the two looks.
        (writer.is_some() || is_committed(directory))
            .then(|| Self { directory: directory.to_owned(), writer })
    }

    /// Whether waiting can help.
    pub(crate) fn is_alive(&self) -> bool {
        self.writer.is_some()
    }

    pub(crate) fn to_diagnostic(&self) -> Diagnostic {
        let error = match &self.writer {
            // No run completes what another directory's has left.
            None if is_copied(&self.directory) => Diagnostic::error(FileKind::CopiedJournal),
            None => Diagnostic::error(FileKind::HalfWritten),
            Some(holder) => {
                let another = || "another program".to_owned();
                let holder = holder.as_ref().map_or_else(another, ToString::to_string);
                Diagnostic::error(FileKind::BeingWritten { holder })
            }
        };
        error.in_file(from_here(&self.directory))
    }
}

/// Whether files may have been renamed. A journal of another user cannot be read, and then they may have been.
fn is_committed(directory: &Path) -> bool {
    let journal = Directory::open(directory).and_then(|directory| journal::read(&directory));
    match journal {
        Ok(journal) => journal.is_committed,
        Err(error) => error.kind() == io::ErrorKind::PermissionDenied,
    }
}

fn is_copied(directory: &Path) -> bool {
    let is_own = Directory::open(directory)
        .and_then(|directory| journal::read(&directory)?.is_of(&directory));
    is_own.is_ok_and(|is_own| !is_own)
}

/// The process that has locked the directory or one of its parents for writing.
fn writer(directory: &Path) -> Option<Writer> {
    let is_locked = |file: &File| match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => true,
        Ok(()) | Err(TryLockError::Error(_)) => false,
    };
    let open = |directory: &Path| File::open(directory).ok();
    let locked = directory.ancestors().filter_map(open).find(is_locked)?;
    Some(lock_holder::of(&locked))
}
