//! Executes one step of a journal.

use std::io;

use super::journal::JournalStep;
use super::open_directories::OpenDirectories;

/// Executes a step. Each is one system call, so it is done completely or not at all.
pub(super) fn execute(step: &JournalStep, directories: &OpenDirectories<'_>) -> io::Result<()> {
    let parent = || directories.parent(step.place());
    match step {
        JournalStep::Replace { staged, .. } => {
            let (directory, name) = parent()?;
            directory.rename(staged, name)
        }
        JournalStep::Create { staged, .. } => {
            let (directory, name) = parent()?;
            // Another program may have created the file since the plan was checked.
            directory.rename_new(staged, name)
        }
        JournalStep::Delete { .. } | JournalStep::Drop { .. } => {
            let (directory, name) = parent()?;
            directory.remove_file(name)
        }
        JournalStep::CreateDirectory { .. } => Ok(()),
        JournalStep::RemoveDirectory { .. } => {
            // A directory that another program uses by now stays.
            let _ = parent().and_then(|(directory, name)| directory.remove_directory(name));
            Ok(())
        }
    }
}
