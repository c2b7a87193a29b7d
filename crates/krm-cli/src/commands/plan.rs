//! Plans of changes to files: locked before reading, then previewed or written.

use std::fs;
use std::path::Path;

use krm_core::{
    Action, Destination, Diagnostic, OriginalFile, PackagePath, Plan, PlannedChange, Severity,
};
use krm_yaml::{File, Span};

use crate::cli::Preview;
use crate::commands::kinds::CommandKind;
use crate::console::Console;
use crate::disk::{FileKind, Lock};
use crate::{CommandResult, Exit, Failure, disk, loader};

/// Locks files for writing, unless a preview is requested.
///
/// Call this before the first file is read: a lock taken later would not notice a change between reading and writing.
pub(crate) fn lock(
    files: &[String],
    preview: &Preview,
    console: &mut Console,
) -> Result<Lock, Failure> {
    if preview.is_on() {
        return Ok(Lock::preview(files));
    }
    Lock::files(files, &mut |diagnostic| console.report(diagnostic)).map_err(Failure::input)
}

/// Locks a directory for writing, and creates it if it is missing.
pub(crate) fn lock_directory(
    directory: &str,
    preview: &Preview,
    console: &mut Console,
) -> Result<Lock, Failure> {
    if !preview.is_on() {
        fs::create_dir_all(directory).map_err(|error| {
            let kind = FileKind::CannotCreate { reason: disk::io_reason(&error) };
            Failure::input(Diagnostic::error(kind).in_file(directory))
        })?;
    }
    lock(&[directory.to_owned()], preview, console)
}

/// The content of a file, or none if it does not exist.
pub(crate) fn existing_content(path: &str) -> Result<Option<String>, Failure> {
    disk::read_existing(Path::new(path)).map_err(|error| Failure::input(error.in_file(path)))
}

/// A file in a directory that a command creates or fills.
pub(crate) fn file_in(
    directory: &str,
    name: &str,
    content: Option<String>,
) -> Result<OriginalFile, Failure> {
    let path = PackagePath::new(name).map_err(|error| Failure::input(Diagnostic::error(error)))?;
    Ok(OriginalFile::new(path, loader::join_display_path(directory, name), content))
}

/// Prints the plan if a preview is requested, and writes it otherwise.
pub(crate) fn apply_or_preview(
    plan: &Plan,
    preview: &Preview,
    lock: &Lock,
    console: &mut Console,
) -> CommandResult {
    plan.changes().for_each(|change| console.recorder().add_change(change));
    if preview.is_on() {
        return preview_plan(plan, preview, console);
    }
    disk::write(plan, lock, &mut |diagnostic| console.report(diagnostic))
        .map_err(Failure::input)?;
    let is_file = |change: &&PlannedChange| change.destination != Destination::Stdout;
    for change in plan.changes().filter(is_file) {
        let (_, done) = verbs(change);
        console.detail(&format!("{done} {}", change.display_path));
    }
    let piped = plan.get(&Destination::Stdout);
    console.data(piped.and_then(|change| change.new.as_deref()).unwrap_or_default())?;
    Ok(Exit::Success)
}

/// The verb for a change, and its past participle.
fn verbs(change: &PlannedChange) -> (&'static str, &'static str) {
    match change.action() {
        Action::Create => ("create", "created"),
        Action::Delete => ("remove", "removed"),
        Action::Update | Action::Unchanged => ("change", "changed"),
    }
}

/// A change that `--check` found, at its first line.
fn would_change(change: &PlannedChange) -> Diagnostic {
    let (verb, _) = verbs(change);
    let diagnostic = Diagnostic::error(CommandKind::WouldChange { verb });
    let diagnostic = diagnostic.in_file(&*change.display_path);
    let (old, new) = (change.old.as_deref().unwrap_or(""), change.new.as_deref().unwrap_or(""));
    let Ok(file) = File::parse(old.to_owned()) else { return diagnostic };
    let same = old.lines().zip(new.lines()).take_while(|(old, new)| old == new).count();
    let line = old.split_inclusive('\n').take(same).map(str::len).sum::<usize>();
    // At the end of the file its last line is shown.
    let start = line.min(old.trim_end().len());
    let end = old[start..].find('\n').map_or(old.len(), |length| start + length);
    match (u32::try_from(start), u32::try_from(end)) {
        (Ok(start), Ok(end)) if end > start => diagnostic.at(&file, Span::new(start, end)),
        _ => diagnostic,
    }
}

fn preview_plan(plan: &Plan, preview: &Preview, console: &mut Console) -> CommandResult {
    for change in plan.changes() {
        if preview.diff {
            console.diff(change)?;
        } else if preview.check {
            console.line(&change.display_path)?;
            if console.records(Severity::Error) {
                console.record(&would_change(change));
            }
        } else {
            let (verb, _) = verbs(change);
            console.line(&format!("would {verb} {}", change.display_path))?;
        }
    }
    if plan.is_empty() && !preview.check {
        console.detail("nothing would change");
    }
    let differs = preview.check && !plan.is_empty();
    Ok(if differs { Exit::Findings } else { Exit::Success })
}
