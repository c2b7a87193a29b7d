//! Plans of changes to files: locked before reading, then previewed or written.

use std::fs;
use std::ops::Deref;
use std::path::{Path, PathBuf};

use krm_core::print::Record;
use krm_core::{
    Action, Destination, Diagnostic, OriginalFile, PackagePath, Plan, PlannedChange, Severity,
};
use krm_yaml::{File, Span, Value};

use crate::cli::Preview;
use crate::commands::kinds::CommandKind;
use crate::console::{Activity, Console, plural};
use crate::disk::{FileKind, Lock};
use crate::{CommandResult, Exit, Failure, disk, loader};

/// The largest number of created and removed files that are named without `--verbose`.
const NAMED_FILES: usize = 20;

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

/// The lock of a directory that a command creates or fills. What was created is removed again if nothing was written to it.
pub(crate) struct DirectoryLock {
    lock: Lock,
    /// The directories that were missing, the innermost first.
    created: Vec<PathBuf>,
}

impl Deref for DirectoryLock {
    type Target = Lock;

    fn deref(&self) -> &Lock {
        &self.lock
    }
}

impl Drop for DirectoryLock {
    fn drop(&mut self) {
        // A directory with files is not removed.
        self.created
            .iter()
            .take_while(|directory| fs::remove_dir(directory).is_ok())
            .for_each(drop);
    }
}

/// Locks a directory for writing, and creates it if it is missing.
pub(crate) fn lock_directory(
    directory: &str,
    preview: &Preview,
    console: &mut Console,
) -> Result<DirectoryLock, Failure> {
    let mut created = Vec::new();
    if !preview.is_on() {
        let is_missing = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
        let missing = Path::new(directory).ancestors().take_while(is_missing);
        created.extend(missing.map(Path::to_owned));
        fs::create_dir_all(directory).map_err(|error| {
            let kind = FileKind::CannotCreate { reason: disk::io_reason(&error) };
            Failure::input(Diagnostic::error(kind).in_file(directory))
        })?;
    }
    let lock = lock(&[directory.to_owned()], preview, console)?;
    Ok(DirectoryLock { lock, created })
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
    let is_file = |change: &&PlannedChange| change.destination != Destination::Stdout;
    if preview.is_on() {
        let exit = match preview_plan(plan, preview, console) {
            // The reader has seen enough, which does not make the check pass: `krm cfg fmt --check | head -1`.
            Err(Failure::ClosedPipe) if preview.check => Exit::Findings,
            exit => exit?,
        };
        console.summary().add_files(plan.changes().map(PlannedChange::action), true);
        return Ok(exit);
    }
    let files: Vec<&PlannedChange> = plan.changes().filter(is_file).collect();
    let activity = Activity::begin(&format!("writing {}", plural(files.len(), "file")));
    disk::write(plan, lock, &mut |diagnostic| console.report(diagnostic))
        .map_err(Failure::input)?;
    drop(activity);
    report_files(&files, console);
    if plan.get(&Destination::Stdout).is_none() {
        console.summary().add_files(files.iter().map(|change| change.action()), false);
    }
    let piped = plan.get(&Destination::Stdout);
    console.data(&piped.and_then(PlannedChange::new_text).unwrap_or_default())?;
    Ok(Exit::Success)
}

/// Names the files that were created or removed; those that changed, and all of very many, with `--verbose`.
fn report_files(files: &[&PlannedChange], console: &mut Console) {
    let is_named = |change: &PlannedChange| {
        console.is_verbose() || matches!(change.action(), Action::Create | Action::Delete)
    };
    let named: Vec<&PlannedChange> =
        files.iter().copied().filter(|change| is_named(change)).collect();
    let shown = if console.is_verbose() { named.len() } else { NAMED_FILES };
    for change in named.iter().take(shown) {
        console.status(&format!("{} {}", verbs(change).1, change.display_path));
    }
    let mut more: Vec<String> = Vec::new();
    for action in [Action::Create, Action::Delete] {
        let rest = named.iter().skip(shown).filter(|change| change.action() == action);
        let rest: Vec<&&PlannedChange> = rest.collect();
        if let Some(first) = rest.first() {
            more.push(format!("{} {}", verbs(first).1, plural(rest.len(), "more file")));
        }
    }
    if !more.is_empty() {
        console.status(&format!("{}; -v names all of them", more.join(", ")));
    }
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
    let (old, new) =
        (change.old.as_deref().unwrap_or_default(), change.new_text().unwrap_or_default());
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
        let (verb, _) = verbs(change);
        if preview.check && console.records(Severity::Error) {
            console.record(&would_change(change));
        }
        if console.json_changes().is_some() {
            let record = change_record(change, preview, console)?;
            console.json_changes().into_iter().for_each(|it| it.push(record.clone()));
        } else if preview.diff {
            console.diff(change)?;
        } else if preview.check {
            console.line(&change.display_path)?;
        } else {
            console.line(&format!("would {verb} {}", change.display_path))?;
        }
    }
    if plan.is_empty() && !preview.check {
        console.detail("nothing would change");
    }
    let differs = preview.check && !plan.is_empty();
    Ok(if differs { Exit::Findings } else { Exit::Success })
}

/// A change for `-o json`: the file, what happens to it, and with `--diff` its unified diff.
fn change_record(
    change: &PlannedChange,
    preview: &Preview,
    console: &Console,
) -> Result<Record<'static>, Failure> {
    let mut record = vec![
        ("file", Value::string(change.display_path.to_string())),
        ("action", Value::from(verbs(change).0)),
    ];
    if preview.diff {
        record.push(("diff", Value::string(console.diff_text(change)?)));
    }
    Ok(record)
}
