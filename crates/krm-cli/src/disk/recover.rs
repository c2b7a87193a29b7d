//! Recovery after a killed run: a committed journal is completed, any other is rolled back.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use krm_core::Diagnostic;

use super::journal::{self, Journal, JournalStep, digest};
use super::lock::{OnDiagnostic, has_journal};
use super::{FileKind, flush, from_here, io_reason, step};
use crate::interrupt::UninterruptedSection;

/// Whether a killed run of this user left a journal here. The caller holds the lock, so the run cannot be alive.
pub(super) fn is_due(directory: &Path) -> bool {
    has_journal(directory) && is_ours(&directory.join(journal::NAME))
}

/// Completes or rolls back what a killed run left in a directory that the caller has locked.
pub(super) fn recover_directory(
    directory: &Path,
    report: OnDiagnostic<'_>,
) -> Result<(), Diagnostic> {
    let _section = UninterruptedSection::begin();
    let path = directory.join(journal::NAME);
    let display_path = from_here(&path);
    if !is_ours(&path) {
        return Err(Diagnostic::error(FileKind::ForeignJournal).in_file(display_path));
    }
    let failed = |error: io::Error| {
        let kind = FileKind::CannotRecover { reason: io_reason(&error) };
        Diagnostic::error(kind).in_file(&*display_path)
    };
    let text = fs::read(&path).map_err(failed)?;
    discard_next(directory).map_err(failed)?;
    let journal = Journal::parse(&String::from_utf8_lossy(&text));
    let steps = journal.steps.into_iter().filter(|step| stays_inside(step, directory));
    let steps: Vec<JournalStep> = steps.collect();
    let left = match journal.is_committed {
        true => forward(&steps, directory).map_err(failed)?,
        false => back(&steps, directory).map(|()| Vec::new()).map_err(failed)?,
    };
    journal::end(directory).map_err(failed)?;
    for target in left {
        report(&Diagnostic::warning(FileKind::NotRecovered).in_file(from_here(&target)));
    }
    Ok(())
}

/// Makes the remaining changes of a committed journal. Returns the files that another program has changed.
pub(super) fn forward(steps: &[JournalStep], directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut left = Vec::new();
    for step in steps {
        if !finish(step, directory)? {
            left.extend(step.target().map(|target| directory.join(target)));
        }
    }
    let targets: Vec<PathBuf> =
        steps.iter().filter_map(JournalStep::target).map(|target| directory.join(target)).collect();
    let mut directories = flush::directories_of(&targets);
    directories.retain(|directory| directory.is_dir());
    flush::names(&directories)?;
    Ok(left)
}

/// Removes a next journal that never came into effect, and what was staged for it. The files that it would drop belong to the
/// journal in effect.
pub(super) fn discard_next(directory: &Path) -> io::Result<()> {
    let is_own = |step: &JournalStep| {
        matches!(step, JournalStep::Replace { .. } | JournalStep::Create { .. })
    };
    let steps = journal::next_steps(directory)?;
    let own: Vec<JournalStep> =
        steps.into_iter().filter(is_own).filter(|step| stays_inside(step, directory)).collect();
    back(&own, directory)?;
    journal::remove_next(directory)
}

/// Makes one change. Returns false where another program has changed the file.
fn finish(step: &JournalStep, directory: &Path) -> io::Result<bool> {
    let staged = step.staged().map(|staged| directory.join(staged));
    let content = staged.as_deref().map(contents).transpose()?.flatten();
    let now = step.target().map(|target| contents(&directory.join(target))).transpose()?.flatten();
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
        step::execute(step, directory)?;
        return Ok(true);
    }
    if content.is_some() {
        fs::remove_file(staged.expect("its content was read"))?;
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
pub(super) fn back(steps: &[JournalStep], directory: &Path) -> io::Result<()> {
    for staged in steps.iter().filter_map(JournalStep::staged) {
        gone(fs::remove_file(directory.join(staged)))?;
    }
    for step in steps.iter().rev() {
        if let JournalStep::CreateDirectory { path } = step {
            // A directory that another program uses by now stays.
            let _ = fs::remove_dir(directory.join(path));
        }
    }
    Ok(())
}

fn gone(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if is_missing(&error) => Ok(()),
        other => other,
    }
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// The digest of a file's content; none where the file does not exist.
fn contents(path: &Path) -> io::Result<Option<u64>> {
    let metadata = match fs::symlink_metadata(path) {
        Err(error) if is_missing(&error) => return Ok(None),
        other => other?,
    };
    match metadata.is_file() {
        true => fs::read(path).map(|bytes| Some(digest(&bytes))),
        // A run writes neither directories nor symlinks; a digest of 0 matches no step, except by chance.
        false => Ok(Some(0)),
    }
}

/// Whether a step stays below the directory on disk as well: no directory on its path is a symlink.
fn stays_inside(step: &JournalStep, directory: &Path) -> bool {
    let path = match step {
        JournalStep::CreateDirectory { path } | JournalStep::RemoveDirectory { path } => {
            path.clone()
        }
        step => step.staged().or_else(|| step.target().map(Path::to_owned)).unwrap_or_default(),
    };
    let above = path.ancestors().skip(1);
    !above.into_iter().any(|above| directory.join(above).is_symlink())
}

#[cfg(unix)]
fn is_ours(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let metadata = fs::symlink_metadata(path);
    metadata.is_ok_and(|it| it.is_file() && it.uid() == rustix::process::geteuid().as_raw())
}

#[cfg(not(unix))]
fn is_ours(path: &Path) -> bool {
    path.is_file()
}
