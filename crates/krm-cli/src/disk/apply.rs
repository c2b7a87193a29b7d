//! Writes a plan: new contents are staged and flushed, the journal is committed, and the staged files are renamed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use krm_core::files::FilesKind;
use krm_core::{Destination, Diagnostic, Plan};

use super::journal::{self, JournalStep};
use super::lock::{Lock, OnDiagnostic, has_journal, shared};
use super::target::{TargetResolver, WriteTarget, by_inode};
use super::{cannot_write, flush, from_here, recover, rollback, step};
use crate::parallel;

/// How many files are renamed at a time.
const AT_ONCE: Option<NonZeroUsize> = NonZeroUsize::new(4);

/// Makes every change of the plan, or none of them, within the directory of the lock.
pub(crate) fn write(plan: &Plan, lock: &Lock, report: OnDiagnostic<'_>) -> Result<(), Diagnostic> {
    let mut begun = Vec::new();
    for (directory, targets) in units(targets(plan, lock)?) {
        if has_journal(&directory) {
            recover::recover_directory(&directory, report)?;
        }
        begun.push(Unit::new(directory, targets));
    }
    let prepared = prepare(&mut begun);
    if prepared.is_err() {
        rollback::discard_staged(&mut begun);
    }
    prepared?;
    rename(&mut begun)?;
    finish(&begun)
}

/// The files of the plan. Two paths that resolve to one file are an error.
fn targets<'a>(plan: &'a Plan, lock: &Lock) -> Result<Vec<WriteTarget<'a>>, Diagnostic> {
    let mut resolver = TargetResolver::new(lock);
    let mut found: BTreeMap<PathBuf, WriteTarget<'a>> = BTreeMap::new();
    for change in plan.changes() {
        let Destination::File(path) = &change.destination else { continue };
        let in_file = |diagnostic: Diagnostic| diagnostic.in_file(&*change.display_path);
        let target = resolver.find(path, change).map_err(in_file)?;
        if let Some(other) = found.get(&target.path) {
            let other = other.change.display_path.clone();
            return Err(in_file(Diagnostic::error(FilesKind::SameFile { other })));
        }
        found.insert(target.path.clone(), target);
    }
    Ok(found.into_values().collect())
}

/// The changes of one journal, in a directory that they are all below.
pub(super) struct Unit<'a> {
    pub(super) directory: PathBuf,
    pub(super) targets: Vec<WriteTarget<'a>>,
    /// The directories to create, followed by one step for each target.
    pub(super) steps: Vec<JournalStep>,
    pub(super) journal: Option<journal::Open>,
    /// Which of the targets were renamed or deleted already.
    pub(super) executed: Vec<bool>,
}

impl<'a> Unit<'a> {
    fn new(directory: PathBuf, targets: Vec<WriteTarget<'a>>) -> Self {
        let relative = |path: &Path| path.strip_prefix(&directory).unwrap_or(path).to_owned();
        let missing = missing_directories(&targets);
        let mut steps: Vec<JournalStep> = missing
            .iter()
            .map(|path| JournalStep::CreateDirectory { path: relative(path) })
            .collect();
        steps.extend(targets.iter().map(|target| target.step(&directory)));
        Self { directory, targets, steps, journal: None, executed: Vec::new() }
    }

    /// Each target with its step.
    pub(super) fn files(&self) -> impl Iterator<Item = (&WriteTarget<'a>, &JournalStep)> {
        let directories = self.steps.len() - self.targets.len();
        self.targets.iter().zip(&self.steps[directories..])
    }
}

/// One unit, unless the directory that all changes share is not writable: then one for each writable directory below.
fn units(targets: Vec<WriteTarget<'_>>) -> Vec<(PathBuf, Vec<WriteTarget<'_>>)> {
    let mut waiting = vec![targets];
    let mut units = Vec::new();
    while let Some(targets) = waiting.pop() {
        let directories = targets.iter().filter_map(|target| there(target.path.parent()?));
        let Some(directory) = directories.reduce(|a, b| shared(&a, &b)) else { continue };
        let mut parts: BTreeMap<Option<_>, Vec<WriteTarget<'_>>> = BTreeMap::new();
        if is_writable(&directory) {
            units.push((directory, targets));
            continue;
        }
        for target in targets {
            let below = target.path.strip_prefix(&directory).ok().and_then(|path| {
                let mut parts = path.components();
                parts.next().filter(|_| parts.next().is_some())
            });
            parts.entry(below.map(|part| part.as_os_str().to_owned())).or_default().push(target);
        }
        match parts.len() {
            // Cannot be split further: writing the first file reports the error.
            1 => units.extend(parts.into_values().map(|targets| (directory.clone(), targets))),
            _ => waiting.extend(parts.into_values()),
        }
    }
    units
}

/// The innermost parent that exists.
fn there(directory: &Path) -> Option<PathBuf> {
    directory.ancestors().find(|directory| directory.is_dir()).map(Path::to_owned)
}

#[cfg(unix)]
fn is_writable(directory: &Path) -> bool {
    rustix::fs::access(directory, rustix::fs::Access::WRITE_OK).is_ok()
}

#[cfg(not(unix))]
fn is_writable(_: &Path) -> bool {
    true
}

/// The directories to create, outer ones first.
fn missing_directories(targets: &[WriteTarget<'_>]) -> BTreeSet<PathBuf> {
    let new = targets.iter().filter(|target| target.metadata.is_none());
    let above = new.flat_map(|target| target.path.ancestors().skip(1));
    let mut missing = BTreeSet::new();
    for directory in above {
        if !missing.contains(directory) && !directory.is_dir() {
            missing.insert(directory.to_owned());
        }
    }
    missing
}

/// Everything up to the first rename.
fn prepare(units: &mut [Unit<'_>]) -> Result<(), Diagnostic> {
    let count: usize = units.iter().map(|unit| unit.steps.len()).sum();
    for unit in units.iter_mut() {
        stage(unit)?;
    }
    let mut staged = Vec::new();
    for unit in &*units {
        staged
            .extend(unit.files().filter_map(|(_, step)| Some(unit.directory.join(step.staged()?))));
        // A single rename is atomic by itself. Its journal only serves to clean up, so it is not flushed.
        if count > 1 {
            staged.push(unit.directory.join(journal::NAME));
        }
    }
    let directory = units.first().map(|unit| from_here(&unit.directory));
    let unflushed =
        |error: io::Error| cannot_write(&error).in_file(directory.clone().unwrap_or_default());
    if count > 1 { flush::files(&staged) } else { flush::contents(&staged) }.map_err(unflushed)?;
    for unit in &*units {
        let check = |target: &WriteTarget<'_>| {
            let in_file = |error: Diagnostic| error.in_file(&*target.change.display_path);
            target.check_unchanged().map_err(in_file)
        };
        parallel::map(&unit.targets, None, check).into_iter().collect::<Result<(), _>>()?;
    }
    for journal in units.iter_mut().filter(|_| count > 1).filter_map(|unit| unit.journal.as_mut()) {
        journal.commit().map_err(unflushed)?;
    }
    Ok(())
}

/// Writes the new contents beside their targets.
fn stage(unit: &mut Unit<'_>) -> Result<(), Diagnostic> {
    let first =
        unit.targets.first().map(|target| target.change.display_path.clone()).unwrap_or_default();
    let failed = |error: io::Error| cannot_write(&error).in_file(&*first);
    unit.journal = Some(journal::begin(&unit.directory, &unit.steps).map_err(failed)?);
    for step in &unit.steps {
        if let JournalStep::CreateDirectory { path } = step {
            fs::create_dir(unit.directory.join(path)).map_err(failed)?;
        }
    }
    let (first, again) = by_inode(&unit.targets);
    let stage = |target: &&WriteTarget<'_>| {
        let Some(text) = &target.change.new else { return Ok(()) };
        content(&target.staged_path(), text, target.metadata.as_ref())
            .map_err(|error| cannot_write(&error).in_file(&*target.change.display_path))
    };
    parallel::map(&first, None, stage).into_iter().collect::<Result<(), _>>()?;
    again.into_iter().try_for_each(|(target, first)| {
        // Hard links stay hard links, where the file system supports them.
        fs::hard_link(first.staged_path(), target.staged_path()).or_else(|_| stage(&target))
    })
}

/// Writes a new file with the mode and, where allowed, the owner of the file that it replaces.
pub(super) fn content(path: &Path, text: &str, like: Option<&fs::Metadata>) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    if let Some(like) = like {
        never_wider(&mut options, like);
    }
    let mut file = options.open(path)?;
    file.write_all(text.as_bytes())?;
    like.map_or(Ok(()), |like| copy_ownership(&file, like))
}

/// The staged file is never more accessible than the original, not even for a moment.
#[cfg(unix)]
fn never_wider(options: &mut fs::OpenOptions, like: &fs::Metadata) {
    use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
    options.mode(like.mode() & 0o700);
}

#[cfg(not(unix))]
fn never_wider(_: &mut fs::OpenOptions, _: &fs::Metadata) {}

#[cfg(unix)]
fn copy_ownership(file: &fs::File, like: &fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, fchown};
    let own = file.metadata()?;
    if (own.uid(), own.gid()) != (like.uid(), like.gid()) {
        // Only root may change the owner; other users keep or take ownership.
        let _ = fchown(file, Some(like.uid()), Some(like.gid()));
    }
    if own.mode() == like.mode() { Ok(()) } else { file.set_permissions(like.permissions()) }
}

#[cfg(not(unix))]
fn copy_ownership(file: &fs::File, like: &fs::Metadata) -> io::Result<()> {
    file.set_permissions(like.permissions())
}

/// Renames all staged files, several at a time because each waits for the disk. If one fails, all are rolled back.
pub(super) fn rename(units: &mut [Unit<'_>]) -> Result<(), Diagnostic> {
    for at in 0..units.len() {
        let unit = &mut units[at];
        let steps: Vec<&JournalStep> = unit.files().map(|(_, step)| step).collect();
        let results = parallel::map(&steps, AT_ONCE, |step| step::execute(step, &unit.directory));
        unit.executed = results.iter().map(Result::is_ok).collect();
        let failed = results.into_iter().zip(&unit.targets);
        let failed = failed
            .filter_map(|(result, target)| Some((result.err()?, &target.change.display_path)));
        let Some(error) = failed.map(|(error, path)| cannot_write(&error).in_file(&**path)).next()
        else {
            continue;
        };
        return Err(match rollback::roll_back(units) {
            Ok(()) => error,
            Err(cause) => error.hint(format!(
                "files written before cannot be rolled back ({}); the next command that writes here completes the run",
                super::io_reason(&cause)
            )),
        });
    }
    Ok(())
}

/// Flushes the renames and removes the journals.
fn finish(units: &[Unit<'_>]) -> Result<(), Diagnostic> {
    let changed = |unit: &Unit<'_>| -> Vec<PathBuf> {
        unit.steps.iter().map(|step| unit.directory.join(step.place())).collect()
    };
    let paths: Vec<PathBuf> = units.iter().flat_map(changed).collect();
    let directories = flush::directories_of(&paths);
    flush::names(&directories)
        .and_then(|()| units.iter().try_for_each(|unit| journal::end(&unit.directory)))
        .map_err(|error| cannot_write(&error))
}

/// Runs a plan up to its commit, and lets the caller continue from there.
#[cfg(test)]
pub(super) fn interrupted(plan: &Plan, lock: &Lock, then: impl FnOnce(&mut [Unit<'_>])) {
    let mut begun: Vec<Unit<'_>> = units(targets(plan, lock).unwrap())
        .into_iter()
        .map(|(directory, targets)| Unit::new(directory, targets))
        .collect();
    prepare(&mut begun).unwrap();
    then(&mut begun);
}

/// Runs a plan up to the point where everything is staged.
#[cfg(test)]
pub(super) fn killed_before_commit(plan: &Plan, lock: &Lock) {
    for (directory, targets) in units(targets(plan, lock).unwrap()) {
        stage(&mut Unit::new(directory, targets)).unwrap();
    }
}

/// Makes some of the changes and no more.
#[cfg(test)]
pub(super) fn make(unit: &mut Unit<'_>, count: usize) {
    for step in unit.steps.iter().take(count) {
        step::execute(step, &unit.directory).unwrap();
    }
}
