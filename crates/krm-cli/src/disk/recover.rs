//! What a dead run left behind: finished where it had begun to rename, undone where it had not.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use krm_core::Diagnostic;

use super::journal::{self, Journal, Step, digest};
use super::lock::{OnDiagnostic, has_journal};
use super::{flush, from_here, io_reason, step};

/// Whether a run of this user left something here. The caller holds the folder, so that the run is dead.
pub(super) fn is_due(folder: &Path) -> bool {
    has_journal(folder) && is_ours(&folder.join(journal::NAME))
}

/// Finishes or undoes what a dead run left in a folder that the caller holds.
pub(super) fn directory(folder: &Path, tell: OnDiagnostic<'_>) -> Result<(), Diagnostic> {
    let path = folder.join(journal::NAME);
    let display_path = from_here(&path);
    if !is_ours(&path) {
        let words = "an interrupted run of another user left this, and nothing was written";
        return Err(Diagnostic::untyped_error(words)
            .in_file(display_path)
            .hint("let them run krm here again, or remove it"));
    }
    let failed = |error: io::Error| {
        let words = format!("an interrupted run cannot be cleaned up: {}", io_reason(&error));
        Diagnostic::untyped_error(words).in_file(&*display_path)
    };
    let text = fs::read(&path).map_err(failed)?;
    let journal = Journal::parse(&String::from_utf8_lossy(&text));
    let steps = journal.steps.into_iter().filter(|step| stays_inside(step, folder));
    let steps: Vec<Step> = steps.collect();
    let left = match journal.is_committed {
        true => forward(&steps, folder).map_err(failed)?,
        false => back(&steps, folder).map(|()| Vec::new()).map_err(failed)?,
    };
    journal::end(folder).map_err(failed)?;
    for target in left {
        let words = "an interrupted run was to write this file, which somebody else has changed since; it is left as it is";
        tell(&Diagnostic::untyped_warning(words).in_file(from_here(&target)));
    }
    Ok(())
}

/// Makes the changes of a committed journal that are still to be made; the files that are not as they should be.
pub(super) fn forward(steps: &[Step], folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut left = Vec::new();
    for step in steps {
        if !finish(step, folder)? {
            left.extend(step.target().map(|target| folder.join(target)));
        }
    }
    let targets: Vec<PathBuf> =
        steps.iter().filter_map(Step::target).map(|target| folder.join(target)).collect();
    let mut folders = flush::folders_of(&targets);
    folders.retain(|folder| folder.is_dir());
    flush::names(&folders)?;
    Ok(left)
}

/// Makes one change; false where somebody else has changed the file.
fn finish(step: &Step, folder: &Path) -> io::Result<bool> {
    let staged = step.staged().map(|staged| folder.join(staged));
    let content = staged.as_deref().map(contents).transpose()?.flatten();
    let now = step.target().map(|target| contents(&folder.join(target))).transpose()?.flatten();
    let done = match step {
        Step::Replace { old, new, .. } if now == Some(*old) && content == Some(*new) => false,
        Step::Create { new, .. } if now.is_none() && content == Some(*new) => false,
        Step::Delete { old, .. } if now == Some(*old) => false,
        Step::Folder { .. } => return Ok(true),
        _ => true,
    };
    if !done {
        step::execute(step, folder)?;
        return Ok(true);
    }
    if content.is_some() {
        fs::remove_file(staged.expect("its content was read"))?;
    }
    Ok(match step {
        Step::Replace { new, .. } | Step::Create { new, .. } => now == Some(*new),
        Step::Delete { .. } => now.is_none(),
        Step::Drop { .. } | Step::Folder { .. } => true,
    })
}

/// Removes what was staged, and the folders that were made for it.
pub(super) fn back(steps: &[Step], folder: &Path) -> io::Result<()> {
    for staged in steps.iter().filter_map(Step::staged) {
        gone(fs::remove_file(folder.join(staged)))?;
    }
    for step in steps.iter().rev() {
        if let Step::Folder { path } = step {
            // One that somebody has put something into stays.
            let _ = fs::remove_dir(folder.join(path));
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

/// What tells the file's content apart from others; none where there is no such file.
fn contents(path: &Path) -> io::Result<Option<u64>> {
    let metadata = match fs::symlink_metadata(path) {
        Err(error) if is_missing(&error) => return Ok(None),
        other => other?,
    };
    match metadata.is_file() {
        true => fs::read(path).map(|bytes| Some(digest(&bytes))),
        // Neither a folder nor a link is what a run writes; no content has this number by more than chance.
        false => Ok(Some(0)),
    }
}

/// Whether a step stays below the folder on disk, too: no folder on the way to it is a link.
fn stays_inside(step: &Step, folder: &Path) -> bool {
    let path = match step {
        Step::Folder { path } => path.clone(),
        step => step.staged().or_else(|| step.target().map(Path::to_owned)).unwrap_or_default(),
    };
    let above = path.ancestors().skip(1);
    !above.into_iter().any(|above| folder.join(above).is_symlink())
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
