//! Recovery after a killed run: a committed journal is completed, any other is rolled back.

use std::collections::BTreeSet;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use krm_core::Diagnostic;

use super::journal::{self, JournalStep, digest};
use super::lock::{OnDiagnostic, has_journal};
use super::open_directories::OpenDirectories;
use super::root::{Directory, is_refused};
use super::{FileKind, flush, from_here, io_reason, step};
use crate::interrupt::UninterruptedSection;

/// What to do if a directory of a step is not there, or is a symlink now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unreachable {
    /// Skip the step: the directory was replaced since the run was killed.
    Skip,
    /// Fail: the run is still alive, somebody has just moved the directory with its staged files, and the journal must stay for the
    /// next run.
    Fail,
}

/// Whether a killed run of this user left a journal here. The caller holds the lock, so the run cannot be alive.
pub(super) fn is_due(directory: &Path) -> bool {
    has_journal(directory) && is_ours(&directory.join(journal::NAME))
}

/// Completes or rolls back what a killed run left in a directory that the caller has locked.
pub(super) fn recover_directory(
    (path, directory): (&Path, io::Result<Directory>),
    report: OnDiagnostic<'_>,
) -> Result<(), Diagnostic> {
    let _section = UninterruptedSection::begin();
    let display_path = from_here(&path.join(journal::NAME));
    if !is_ours(&path.join(journal::NAME)) {
        return Err(Diagnostic::error(FileKind::ForeignJournal).in_file(display_path));
    }
    let failed = |error: io::Error| {
        let kind = FileKind::CannotRecover { reason: io_reason(&error) };
        Diagnostic::error(kind).in_file(&*display_path)
    };
    let directory = directory.map_err(failed)?;
    let journal = journal::read(&directory).map_err(failed)?;
    if !journal.is_of(&directory).map_err(failed)? {
        return Err(Diagnostic::error(FileKind::CopiedJournal).in_file(display_path));
    }
    let unreachable = Unreachable::Skip;
    discard_next(&directory, unreachable).map_err(failed)?;
    let left = match journal.is_committed {
        true => forward(&journal.steps, &directory, unreachable),
        false => back(&journal.steps, &directory, unreachable).map(|()| Vec::new()),
    };
    let left = left.map_err(failed)?;
    // The last thing that a run does, so most killed runs have not done it. Not part of `forward`, which also reverts a run that failed: a
    // directory that was empty before must stay then.
    if journal.is_committed {
        step::remove_emptied_directories(&journal.steps, &OpenDirectories::below(&directory));
    }
    journal::end(&directory).map_err(failed)?;
    let outcome = match journal.is_committed {
        true => FileKind::RunCompleted,
        false => FileKind::RunRolledBack,
    };
    report(&Diagnostic::warning(outcome).in_file(from_here(path)));
    for target in left {
        let kind = FileKind::NotRecovered;
        report(&Diagnostic::warning(kind).in_file(from_here(&path.join(target))));
    }
    Ok(())
}

/// Makes the remaining changes of a committed journal. Returns the files that another program has changed.
pub(super) fn forward(
    steps: &[JournalStep],
    directory: &Directory,
    unreachable: Unreachable,
) -> io::Result<Vec<PathBuf>> {
    let directories = OpenDirectories::below(directory);
    let mut left = Vec::new();
    for step in steps {
        if !finish(step, &directories, unreachable)? {
            left.extend(step.target().map(Path::to_owned));
        }
    }
    let targets: Vec<PathBuf> =
        steps.iter().filter_map(JournalStep::target).map(Path::to_owned).collect();
    let mut parents = flush::directories_of(&targets);
    // Some were removed.
    parents.retain(|parent| directory.directory(parent).is_ok());
    flush::names(directory, &parents)?;
    Ok(left)
}

/// Removes a next journal that never came into effect, and what was staged for it. The files that it would drop belong to the
/// journal in effect.
pub(super) fn discard_next(directory: &Directory, unreachable: Unreachable) -> io::Result<()> {
    let is_own = |step: &JournalStep| {
        matches!(step, JournalStep::Replace { .. } | JournalStep::Create { .. })
    };
    let steps = journal::next_steps(directory)?;
    let own: Vec<JournalStep> = steps.into_iter().filter(is_own).collect();
    back(&own, directory, unreachable)?;
    journal::remove_next(directory)
}

/// Makes one change. Returns false where another program has changed the file.
fn finish(
    step: &JournalStep,
    directories: &OpenDirectories<'_>,
    unreachable: Unreachable,
) -> io::Result<bool> {
    let contents = |path: &Path| contents(path, directories, unreachable);
    let staged = step.staged();
    let content = staged.as_deref().map(contents).transpose()?.flatten();
    let now = step.target().map(contents).transpose()?.flatten();
    let done = match step {
        JournalStep::Replace { old, new, .. } if now == Some(*old) && content == Some(*new) => {
            false
        }
        JournalStep::Create { new, .. } if now.is_none() && content == Some(*new) => false,
        JournalStep::Delete { old, .. } if now == Some(*old) => false,
        JournalStep::RemoveDirectory { .. } => false,
        JournalStep::CreateDirectory { .. } => return Ok(true),
        _ => true,
    };
    if !done {
        step::execute(step, directories)?;
        return Ok(true);
    }
    if let Some(staged) = staged.filter(|_| content.is_some()) {
        remove(&staged, directories)?;
    }
    Ok(match step {
        JournalStep::Replace { new, .. } | JournalStep::Create { new, .. } => now == Some(*new),
        JournalStep::Delete { .. } => now.is_none(),
        JournalStep::Drop { .. }
        | JournalStep::CreateDirectory { .. }
        | JournalStep::RemoveDirectory { .. } => true,
    })
}

/// Removes staged files and the directories that were created for them.
pub(super) fn back(
    steps: &[JournalStep],
    directory: &Directory,
    unreachable: Unreachable,
) -> io::Result<()> {
    let directories = OpenDirectories::below(directory);
    let created: BTreeSet<&Path> = steps
        .iter()
        .filter(|step| matches!(step, JournalStep::CreateDirectory { .. }))
        .map(JournalStep::place)
        .collect();
    for staged in steps.iter().filter_map(JournalStep::staged) {
        let parent = staged.parent().unwrap_or(Path::new(""));
        match directories.get(parent) {
            Err(error) if unreachable == Unreachable::Skip && is_missing(&error) => {}
            // The run failed before it created the directory.
            Err(error) if error.kind() == io::ErrorKind::NotFound && created.contains(parent) => {}
            Err(error) => return Err(error),
            Ok(_) => gone(remove(&staged, &directories))?,
        }
    }
    for step in steps.iter().rev() {
        if let JournalStep::CreateDirectory { path } = step {
            // A directory that another program uses by now stays.
            let parent = directories.parent(path);
            let _ = parent.and_then(|(parent, name)| parent.remove_directory(name));
        }
    }
    Ok(())
}

fn remove(path: &Path, directories: &OpenDirectories<'_>) -> io::Result<()> {
    let (parent, name) = directories.parent(path)?;
    parent.remove_file(name)
}

fn gone(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if is_missing(&error) => Ok(()),
        other => other,
    }
}

/// A path through a symlink is not one that a run has written.
fn is_missing(error: &io::Error) -> bool {
    let is_missing = matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory);
    is_missing || is_refused(error)
}

/// The digest of a file's content; none where the file does not exist.
fn contents(
    path: &Path,
    directories: &OpenDirectories<'_>,
    unreachable: Unreachable,
) -> io::Result<Option<u64>> {
    // A run writes neither directories nor symlinks; a digest of 0 matches no step, except by chance.
    const OTHER: u64 = 0;
    let (parent, name) = match directories.parent(path) {
        Err(error) if unreachable == Unreachable::Skip && is_missing(&error) => return Ok(None),
        parent => parent?,
    };
    let mut file = match parent.file(Path::new(name)) {
        Ok((file, _)) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) if is_refused(&error) || is_other(&error) => return Ok(Some(OTHER)),
        Err(error) => return Err(error),
    };
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(Some(digest(&bytes)))
}

/// Whether something exists that is not a regular file.
fn is_other(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::IsADirectory | io::ErrorKind::InvalidInput)
}

#[cfg(unix)]
fn is_ours(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let metadata = std::fs::symlink_metadata(path);
    metadata.is_ok_and(|it| it.is_file() && it.uid() == rustix::process::geteuid().as_raw())
}

#[cfg(not(unix))]
fn is_ours(path: &Path) -> bool {
    path.is_file()
}
