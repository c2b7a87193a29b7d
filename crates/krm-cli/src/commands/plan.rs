//! The end of every command that writes: a plan is shown, or carried out.

use std::fs;
use std::io;

use krm_core::{Change, Diagnostic, Plan};

use crate::cli::Preview;
use crate::console::Console;
use crate::disk::Lock;
use crate::{CommandResult, Exit, Failure, disk};

/// The right to write, unless a preview is asked for. It is taken before the first file is read, so that nobody else
/// changes what was read.
pub(crate) fn lock(
    files: &[String],
    preview: &Preview,
    console: &mut Console,
) -> Result<Lock, Failure> {
    if preview.is_on() {
        return Ok(Lock::none());
    }
    Lock::files(files, &mut |diagnostic| console.report(diagnostic)).map_err(Failure::input)
}

/// The right to write into a folder, which is made where it is missing.
pub(crate) fn lock_directory(
    folder: &str,
    preview: &Preview,
    console: &mut Console,
) -> Result<Lock, Failure> {
    if !preview.is_on() {
        fs::create_dir_all(folder).map_err(|error| cannot("made", folder, &error))?;
    }
    lock(&[folder.to_owned()], preview, console)
}

/// The content of a file that may be there.
pub(crate) fn existing_content(path: &str) -> Result<Option<String>, Failure> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(cannot("read", path, &error)),
    }
}

fn cannot(what: &str, name: &str, error: &io::Error) -> Failure {
    let words = format!("it cannot be {what}: {}", disk::io_reason(error));
    Failure::input(Diagnostic::untyped_error(words).in_file(name))
}

/// Shows the plan where a preview is asked for, and writes it otherwise.
pub(crate) fn apply_or_preview(
    mut plan: Plan,
    preview: &Preview,
    lock: &Lock,
    console: &mut Console,
) -> CommandResult {
    if preview.is_on() {
        return show(&plan, preview, console);
    }
    let piped = plan.take(disk::STDIN);
    disk::write(&plan, lock, &mut |diagnostic| console.report(diagnostic))
        .map_err(Failure::input)?;
    for change in plan.changes() {
        let (_, done) = verbs(change);
        console.detail(&format!("{done} {}", change.path));
    }
    console.print(piped.and_then(|change| change.new).as_deref().unwrap_or_default())?;
    Ok(Exit::Success)
}

/// What is to be done to a file, and what was done.
fn verbs(change: &Change) -> (&'static str, &'static str) {
    match (&change.old, &change.new) {
        (None, _) => ("make", "made"),
        (_, None) => ("remove", "removed"),
        _ => ("change", "changed"),
    }
}

fn show(plan: &Plan, preview: &Preview, console: &mut Console) -> CommandResult {
    for change in plan.changes() {
        if preview.diff {
            console.diff(change)?;
        } else if preview.check {
            console.print(&format!("{}\n", disk::display_name(&change.path)))?;
        } else {
            let (verb, _) = verbs(change);
            console.print(&format!("would {verb} {}\n", disk::display_name(&change.path)))?;
        }
    }
    if plan.is_empty() && !preview.check {
        console.detail("nothing would change");
    }
    let differs = preview.check && !plan.is_empty();
    Ok(if differs { Exit::Findings } else { Exit::Success })
}
