//! Executes one step of a journal.

use std::io;
use std::path::Path;

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

/// Removes the directories that deleted files leave empty, as git does: a directory that was renamed upstream is not left behind.
///
/// The base stays, and so does a directory in which something else is. Nothing depends on it, so a failure is not an error.
pub(super) fn remove_emptied_directories(steps: &[JournalStep], directories: &OpenDirectories<'_>) {
    let deleted = steps.iter().filter(|step| matches!(step, JournalStep::Delete { .. }));
    for step in deleted {
        let above = step.place().ancestors().skip(1);
        for directory in above.take_while(|directory| *directory != Path::new("")) {
            let parent = directories.parent(directory);
            if parent.and_then(|(parent, name)| parent.remove_directory(name)).is_err() {
                break;
            }
        }
    }
}
