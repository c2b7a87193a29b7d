//! A plan is carried out: everything is staged and flushed, then listed as decided, then renamed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use krm_core::files::FilesKind;
use krm_core::{Destination, Diagnostic, Plan};

use super::journal::{self, Step};
use super::lock::{Lock, OnDiagnostic, has_journal, shared};
use super::target::{Finder, Target, by_number};
use super::{cannot_write, flush, from_here, recover, rollback, step};
use crate::parallel;

/// How many files are renamed at a time.
const AT_ONCE: Option<NonZeroUsize> = NonZeroUsize::new(4);

/// Makes every change of the plan, or none of them. The lock says where it may.
pub(crate) fn write(plan: &Plan, lock: &Lock, tell: OnDiagnostic<'_>) -> Result<(), Diagnostic> {
    let mut begun = Vec::new();
    for (folder, targets) in units(targets(plan, lock)?) {
        if has_journal(&folder) {
            recover::directory(&folder, tell)?;
        }
        begun.push(Unit::new(folder, targets));
    }
    let prepared = prepare(&mut begun);
    if prepared.is_err() {
        rollback::discard_staged(&mut begun);
    }
    prepared?;
    rename(&mut begun)?;
    finish(&begun)
}

/// The files of the plan. Two names of one file are not two files.
fn targets<'a>(plan: &'a Plan, lock: &Lock) -> Result<Vec<Target<'a>>, Diagnostic> {
    let mut finder = Finder::new(lock);
    let mut found: BTreeMap<PathBuf, Target<'a>> = BTreeMap::new();
    for change in plan.changes() {
        let Destination::File(path) = &change.destination else { continue };
        let in_file = |diagnostic: Diagnostic| diagnostic.in_file(&*change.display_path);
        let target = finder.find(path, change).map_err(in_file)?;
        if let Some(other) = found.get(&target.path) {
            let other = other.change.display_path.clone();
            return Err(in_file(Diagnostic::error(FilesKind::SameFile { other })));
        }
        found.insert(target.path.clone(), target);
    }
    Ok(found.into_values().collect())
}

/// Changes that one journal tells of, in a folder that they are all below.
pub(super) struct Unit<'a> {
    pub(super) folder: PathBuf,
    pub(super) targets: Vec<Target<'a>>,
    /// The folders to be made, and then one step for each target.
    pub(super) steps: Vec<Step>,
    pub(super) journal: Option<journal::Open>,
    /// Which of the targets were changed.
    pub(super) made: Vec<bool>,
}

impl<'a> Unit<'a> {
    fn new(folder: PathBuf, targets: Vec<Target<'a>>) -> Self {
        let relative = |path: &Path| path.strip_prefix(&folder).unwrap_or(path).to_owned();
        let missing = missing_folders(&targets);
        let mut steps: Vec<Step> =
            missing.iter().map(|path| Step::Folder { path: relative(path) }).collect();
        steps.extend(targets.iter().map(|target| target.step(&folder)));
        Self { folder, targets, steps, journal: None, made: Vec::new() }
    }

    /// Each target with its step.
    pub(super) fn files(&self) -> impl Iterator<Item = (&Target<'a>, &Step)> {
        let folders = self.steps.len() - self.targets.len();
        self.targets.iter().zip(&self.steps[folders..])
    }
}

/// One unit, unless there is no writing in the folder that all changes share.
fn units(targets: Vec<Target<'_>>) -> Vec<(PathBuf, Vec<Target<'_>>)> {
    let mut waiting = vec![targets];
    let mut units = Vec::new();
    while let Some(targets) = waiting.pop() {
        let folders = targets.iter().filter_map(|target| there(target.path.parent()?));
        let Some(folder) = folders.reduce(|a, b| shared(&a, &b)) else { continue };
        let mut parts: BTreeMap<Option<_>, Vec<Target<'_>>> = BTreeMap::new();
        if is_writable(&folder) {
            units.push((folder, targets));
            continue;
        }
        for target in targets {
            let below = target.path.strip_prefix(&folder).ok().and_then(|path| {
                let mut parts = path.components();
                parts.next().filter(|_| parts.next().is_some())
            });
            parts.entry(below.map(|part| part.as_os_str().to_owned())).or_default().push(target);
        }
        match parts.len() {
            // Nothing more to be parted: the error comes with the first file.
            1 => units.extend(parts.into_values().map(|targets| (folder.clone(), targets))),
            _ => waiting.extend(parts.into_values()),
        }
    }
    units
}

/// The innermost folder on the way that is there.
fn there(folder: &Path) -> Option<PathBuf> {
    folder.ancestors().find(|folder| folder.is_dir()).map(Path::to_owned)
}

#[cfg(unix)]
fn is_writable(folder: &Path) -> bool {
    rustix::fs::access(folder, rustix::fs::Access::WRITE_OK).is_ok()
}

#[cfg(not(unix))]
fn is_writable(_: &Path) -> bool {
    true
}

/// The folders to be made, outer ones first.
fn missing_folders(targets: &[Target<'_>]) -> BTreeSet<PathBuf> {
    let new = targets.iter().filter(|target| target.metadata.is_none());
    let above = new.flat_map(|target| target.path.ancestors().skip(1));
    let mut missing = BTreeSet::new();
    for folder in above {
        if !missing.contains(folder) && !folder.is_dir() {
            missing.insert(folder.to_owned());
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
        staged.extend(unit.files().filter_map(|(_, step)| Some(unit.folder.join(step.staged()?))));
        // A single rename needs no journal to be whole, only one to be cleaned up after.
        if count > 1 {
            staged.push(unit.folder.join(journal::NAME));
        }
    }
    let folder = units.first().map(|unit| from_here(&unit.folder));
    let unflushed =
        |error: io::Error| cannot_write(&error).in_file(folder.clone().unwrap_or_default());
    if count > 1 { flush::files(&staged) } else { flush::contents(&staged) }.map_err(unflushed)?;
    for unit in &*units {
        let check = |target: &Target<'_>| {
            let told = |diagnostic: Diagnostic| diagnostic.in_file(&*target.change.display_path);
            target.is_as_it_was_read().map_err(told)
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
    unit.journal = Some(journal::begin(&unit.folder, &unit.steps).map_err(failed)?);
    for step in &unit.steps {
        if let Step::Folder { path } = step {
            fs::create_dir(unit.folder.join(path)).map_err(failed)?;
        }
    }
    let (first, again) = by_number(&unit.targets);
    let stage = |target: &&Target<'_>| {
        let Some(text) = &target.change.new else { return Ok(()) };
        content(&target.staged_path(), text, target.metadata.as_ref())
            .map_err(|error| cannot_write(&error).in_file(&*target.change.display_path))
    };
    parallel::map(&first, None, stage).into_iter().collect::<Result<(), _>>()?;
    again.into_iter().try_for_each(|(target, first)| {
        // What were names of one file stay so, where the file system lets them.
        fs::hard_link(first.staged_path(), target.staged_path()).or_else(|_| stage(&target))
    })
}

/// Writes a new file, with the mode and, where allowed, the owner of the one that it stands in for.
pub(super) fn content(path: &Path, text: &str, like: Option<&fs::Metadata>) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    if let Some(like) = like {
        never_wider(&mut options, like);
    }
    let mut file = options.open(path)?;
    file.write_all(text.as_bytes())?;
    like.map_or(Ok(()), |like| dress(&file, like))
}

/// What nobody else may read is not for others to read for a moment, either.
#[cfg(unix)]
fn never_wider(options: &mut fs::OpenOptions, like: &fs::Metadata) {
    use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
    options.mode(like.mode() & 0o700);
}

#[cfg(not(unix))]
fn never_wider(_: &mut fs::OpenOptions, _: &fs::Metadata) {}

#[cfg(unix)]
fn dress(file: &fs::File, like: &fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, fchown};
    let own = file.metadata()?;
    if (own.uid(), own.gid()) != (like.uid(), like.gid()) {
        // Only root may give files away; for all others the file was theirs or becomes theirs.
        let _ = fchown(file, Some(like.uid()), Some(like.gid()));
    }
    if own.mode() == like.mode() { Ok(()) } else { file.set_permissions(like.permissions()) }
}

#[cfg(not(unix))]
fn dress(file: &fs::File, like: &fs::Metadata) -> io::Result<()> {
    file.set_permissions(like.permissions())
}

/// Makes all changes, several at a time, as each of them waits for the disk; where one fails, all are taken back.
pub(super) fn rename(units: &mut [Unit<'_>]) -> Result<(), Diagnostic> {
    for at in 0..units.len() {
        let unit = &mut units[at];
        let steps: Vec<&Step> = unit.files().map(|(_, step)| step).collect();
        let made = parallel::map(&steps, AT_ONCE, |step| step::execute(step, &unit.folder));
        unit.made = made.iter().map(Result::is_ok).collect();
        let failed = made.into_iter().zip(&unit.targets);
        let failed =
            failed.filter_map(|(made, target)| Some((made.err()?, &target.change.display_path)));
        let Some(told) = failed.map(|(error, path)| cannot_write(&error).in_file(&**path)).next()
        else {
            continue;
        };
        return Err(match rollback::roll_back(units) {
            Ok(()) => told,
            Err(error) => told.hint(format!(
                "what was written before cannot be taken back ({}); the next command that writes there will finish it",
                super::io_reason(&error)
            )),
        });
    }
    Ok(())
}

/// The changes are there to stay, and the journals are not needed any more.
fn finish(units: &[Unit<'_>]) -> Result<(), Diagnostic> {
    let changed = |unit: &Unit<'_>| -> Vec<PathBuf> {
        unit.steps.iter().map(|step| unit.folder.join(step.place())).collect()
    };
    let paths: Vec<PathBuf> = units.iter().flat_map(changed).collect();
    let folders = flush::folders_of(&paths);
    flush::names(&folders)
        .and_then(|()| units.iter().try_for_each(|unit| journal::end(&unit.folder)))
        .map_err(|error| cannot_write(&error))
}

/// Runs a plan up to its point of no return, and lets the caller go on from there.
#[cfg(test)]
pub(super) fn interrupted(plan: &Plan, lock: &Lock, then: impl FnOnce(&mut [Unit<'_>])) {
    let mut begun: Vec<Unit<'_>> = units(targets(plan, lock).unwrap())
        .into_iter()
        .map(|(folder, targets)| Unit::new(folder, targets))
        .collect();
    prepare(&mut begun).unwrap();
    then(&mut begun);
}

/// Runs a plan up to the point where everything is staged.
#[cfg(test)]
pub(super) fn killed_before_commit(plan: &Plan, lock: &Lock) {
    for (folder, targets) in units(targets(plan, lock).unwrap()) {
        stage(&mut Unit::new(folder, targets)).unwrap();
    }
}

/// Makes some of the changes and no more.
#[cfg(test)]
pub(super) fn make(unit: &mut Unit<'_>, count: usize) {
    for step in unit.steps.iter().take(count) {
        step::execute(step, &unit.folder).unwrap();
    }
}
