//! One step of a run on disk: staged content takes its place.

use std::fs;
use std::io;
use std::path::Path;

use super::journal::JournalStep;

/// Makes the change that a step tells of. Each is whole or not made at all.
pub(super) fn execute(step: &JournalStep, directory: &Path) -> io::Result<()> {
    let staged = step.staged().map(|staged| directory.join(staged)).unwrap_or_default();
    match step {
        JournalStep::Replace { target, .. } => fs::rename(staged, directory.join(target)),
        JournalStep::Create { target, .. } => create(&staged, &directory.join(target)),
        JournalStep::Delete { target, .. } => fs::remove_file(directory.join(target)),
        JournalStep::Drop { .. } => fs::remove_file(staged),
        JournalStep::CreateDirectory { .. } => Ok(()),
    }
}

/// Gives the staged file a name that nobody has taken meanwhile.
#[cfg(target_os = "linux")]
fn create(staged: &Path, target: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Errno;
    match renameat_with(CWD, staged, CWD, target, RenameFlags::NOREPLACE) {
        // Not every file system knows the flag.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => create_unless_there(staged, target),
        result => Ok(result?),
    }
}

#[cfg(not(target_os = "linux"))]
fn create(staged: &Path, target: &Path) -> io::Result<()> {
    create_unless_there(staged, target)
}

fn create_unless_there(staged: &Path, target: &Path) -> io::Result<()> {
    if fs::symlink_metadata(target).is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    fs::rename(staged, target)
}
