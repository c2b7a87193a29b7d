//! The end of every command that writes: a plan is shown, or carried out.

use std::fs;
use std::io;

use krm_core::{Change, Diagnostic, Plan};

use crate::cli::Preview;
use crate::disk::Lock;
use crate::show::Screen;
use crate::{Exit, Failure, Outcome, disk};

/// The right to write, unless a preview is asked for. It is taken before the first file is read, so that nobody else
/// changes what was read.
pub(crate) fn lock(
    files: &[String],
    preview: &Preview,
    screen: &mut Screen,
) -> Result<Lock, Failure> {
    if preview.is_on() {
        return Ok(Lock::nothing());
    }
    Lock::files(files, &mut |diagnostic| screen.tell(diagnostic)).map_err(Failure::input)
}

/// The right to write into a folder, which is made where it is missing.
pub(crate) fn lock_folder(
    folder: &str,
    preview: &Preview,
    screen: &mut Screen,
) -> Result<Lock, Failure> {
    if !preview.is_on() {
        fs::create_dir_all(folder).map_err(|error| cannot("made", folder, &error))?;
    }
    lock(&[folder.to_owned()], preview, screen)
}

/// The content of a file that may be there.
pub(crate) fn content(path: &str) -> Result<Option<String>, Failure> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(cannot("read", path, &error)),
    }
}

fn cannot(what: &str, name: &str, error: &io::Error) -> Failure {
    let words = format!("it cannot be {what}: {}", disk::reason(error));
    Failure::input(Diagnostic::untyped_error(words).in_file(name))
}

/// Shows the plan where a preview is asked for, and writes it otherwise.
pub(crate) fn finish(
    mut plan: Plan,
    preview: &Preview,
    lock: &Lock,
    screen: &mut Screen,
) -> Outcome {
    if preview.is_on() {
        return show(&plan, preview, screen);
    }
    let piped = plan.take(disk::STDIN);
    disk::write(&plan, lock, &mut |diagnostic| screen.tell(diagnostic)).map_err(Failure::input)?;
    for change in plan.changes() {
        let (_, done) = verbs(change);
        screen.note(&format!("{done} {}", change.path));
    }
    screen.print(piped.and_then(|change| change.new).as_deref().unwrap_or_default())?;
    Ok(Exit::Done)
}

/// What is to be done to a file, and what was done.
fn verbs(change: &Change) -> (&'static str, &'static str) {
    match (&change.old, &change.new) {
        (None, _) => ("make", "made"),
        (_, None) => ("remove", "removed"),
        _ => ("change", "changed"),
    }
}

fn show(plan: &Plan, preview: &Preview, screen: &mut Screen) -> Outcome {
    for change in plan.changes() {
        if preview.diff {
            screen.diff(change)?;
        } else if preview.check {
            screen.print(&format!("{}\n", disk::shown(&change.path)))?;
        } else {
            let (verb, _) = verbs(change);
            screen.print(&format!("would {verb} {}\n", disk::shown(&change.path)))?;
        }
    }
    if plan.is_empty() && !preview.check {
        screen.note("nothing would change");
    }
    let differs = preview.check && !plan.is_empty();
    Ok(if differs { Exit::Findings } else { Exit::Done })
}
