//! Executes one step of a journal.

use std::fs;
use std::io;
use std::path::Path;

use super::journal::JournalStep;

/// Executes a step. Each is one system call, so it is done completely or not at all.
pub(super) fn execute(step: &JournalStep, directory: &Path) -> io::Result<()> {
    let staged = step.staged().map(|staged| directory.join(staged)).unwrap_or_default();
    match step {
        JournalStep::Replace { target, .. } => fs::rename(staged, directory.join(target)),
        JournalStep::Create { target, .. } => create(&staged, &directory.join(target)),
        JournalStep::Delete { target, .. } => fs::remove_file(directory.join(target)),
        JournalStep::Drop { .. } => fs::remove_file(staged),
        JournalStep::CreateDirectory { .. } => Ok(()),
        JournalStep::RemoveDirectory { path } => {
            // A directory that another program uses by now stays.
            let _ = fs::remove_dir(directory.join(path));
            Ok(())
        }
    }
}

/// Renames the staged file to a name that must not exist: another program may have created it since the plan was checked.
#[cfg(target_os = "linux")]
fn create(staged: &Path, target: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Errno;
    match renameat_with(CWD, staged, CWD, target, RenameFlags::NOREPLACE) {
        // Not every file system supports the flag.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => create_unless_exists(staged, target),
        result => Ok(result?),
    }
}

#[cfg(not(target_os = "linux"))]
fn create(staged: &Path, target: &Path) -> io::Result<()> {
    create_unless_exists(staged, target)
}

fn create_unless_exists(staged: &Path, target: &Path) -> io::Result<()> {
    if fs::symlink_metadata(target).is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    fs::rename(staged, target)
}
