//! Writes a plan: new contents are staged and flushed, the journal is committed, and the staged files are renamed.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use krm_core::files::FilesKind;
use krm_core::{Destination, Diagnostic, Plan};

use super::attributes::Attributes;
use super::journal::{self, JournalStep};
use super::lock::{Lock, OnDiagnostic, has_journal, shared};
use super::open_directories::OpenDirectories;
use super::rollback::RollbackError;
use super::root::Directory;
use super::target::{TargetResolver, WriteTarget, by_inode};
use super::{
    FileKind, cannot_write, flush, from_here, io_reason, not_interrupted, recover, rollback,
    secret_access, step,
};
use crate::interrupt::UninterruptedSection;
use crate::parallel;

/// How many files are renamed at a time.
const AT_ONCE: Option<NonZeroUsize> = NonZeroUsize::new(4);

/// Makes every change of the plan, or none of them, within the directory of the lock.
pub(crate) fn write(plan: &Plan, lock: &Lock, report: OnDiagnostic<'_>) -> Result<(), Diagnostic> {
    let mut targets = targets(plan, lock)?;
    if targets.is_empty() {
        return Ok(());
    }
    let narrowed = secret_access::narrow(&mut targets);
    let _section = UninterruptedSection::begin();
    let mut begun = Vec::new();
    for (directory, targets) in units(targets) {
        if has_journal(&directory) {
            recover::recover_directory((&directory, lock.open_below(&directory)), report)?;
        }
        begun.push(Unit::new(lock, directory, targets)?);
    }
    if let Err(error) = prepare(&mut begun) {
        return Err(match rollback::discard_staged(&mut begun) {
            Ok(()) => error,
            Err(cause) => error.hint(format!(
                "staged files cannot be removed ({}); the next command that writes here removes them",
                io_reason(&cause)
            )),
        });
    }
    rename(&mut begun)?;
    narrowed.iter().for_each(report);
    finish(&begun)
}

/// The files of the plan. Two paths that resolve to one file are an error.
fn targets<'a>(plan: &'a Plan, lock: &Lock) -> Result<Vec<WriteTarget<'a>>, Diagnostic> {
    let resolver = TargetResolver::new(lock);
    let files = plan.changes().filter_map(|change| match &change.destination {
        Destination::File(path) => Some((path, change)),
        Destination::Stdout => None,
    });
    let files: Vec<_> = files.enumerate().collect();
    let targets = parallel::map(&files, None, |(at, (path, change))| {
        let target = resolver.find(path, change, at + 1);
        target.map_err(|diagnostic| diagnostic.in_file(&*change.display_path))
    });
    let mut found: BTreeMap<PathBuf, WriteTarget<'a>> = BTreeMap::new();
    for target in targets {
        let target = target?;
        if let Some(other) = found.get(&target.path) {
            let other = other.change.display_path.clone();
            let error = Diagnostic::error(FilesKind::SameFile { other });
            return Err(error.in_file(&*target.change.display_path));
        }
        found.insert(target.path.clone(), target);
    }
    Ok(found.into_values().collect())
}

/// The changes of one journal, in a directory that they are all below.
pub(super) struct Unit<'a> {
    pub(super) directory: PathBuf,
    /// The same directory, to which all paths of steps are relative.
    pub(super) opened: Directory,
    pub(super) targets: Vec<WriteTarget<'a>>,
    /// The directories to create, followed by one step for each target.
    pub(super) steps: Vec<JournalStep>,
    pub(super) journal: Option<journal::Open>,
    /// Which of the targets were renamed or deleted already.
    pub(super) executed: Vec<bool>,
}

impl<'a> Unit<'a> {
    fn new(
        lock: &Lock,
        directory: PathBuf,
        targets: Vec<WriteTarget<'a>>,
    ) -> Result<Self, Diagnostic> {
        let opened = lock.open_below(&directory);
        let opened = opened.map_err(|error| cannot_write(&error).in_file(from_here(&directory)))?;
        let relative = |path: &Path| path.strip_prefix(&directory).unwrap_or(path).to_owned();
        let missing = missing_directories(&targets);
        let mut steps: Vec<JournalStep> = missing
            .iter()
            .map(|path| JournalStep::CreateDirectory { path: relative(path) })
            .collect();
        steps.extend(targets.iter().map(|target| target.step(&directory)));
        Ok(Self { directory, opened, targets, steps, journal: None, executed: Vec::new() })
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
        let directories = targets.iter().filter_map(|target| match target.original {
            Some(_) => target.path.parent().map(Path::to_owned),
            None => there(target.path.parent()?),
        });
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
    let new = targets.iter().filter(|target| target.original.is_none());
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
    for unit in &*units {
        let mut staged: Vec<PathBuf> = unit.files().filter_map(|(_, step)| step.staged()).collect();
        // A single rename is atomic by itself. Its journal only serves to clean up, so it is not flushed.
        let flushed = match count > 1 {
            true => {
                staged.push(journal::NAME.into());
                flush::files(&unit.opened, &staged)
            }
            false => flush::contents(&unit.opened, &staged),
        };
        flushed.map_err(|failed| {
            let path = unit.directory.join(failed.path);
            cannot_write(&failed.error).in_file(named(units, &path))
        })?;
    }
    // From here on the run is completed, whatever signal arrives.
    not_interrupted()?;
    for unit in units.iter_mut().filter(|_| count > 1) {
        let path = unit.directory.join(journal::NAME);
        let failed = |error: io::Error| cannot_write(&error).in_file(from_here(&path));
        unit.journal.as_mut().map_or(Ok(()), journal::Open::commit).map_err(failed)?;
    }
    Ok(())
}

/// The name that messages give a path: of the target, where it is the file that was staged for it.
fn named(units: &[Unit<'_>], path: &Path) -> String {
    let mut targets = units.iter().flat_map(|unit| &unit.targets);
    let target = targets.find(|target| target.path == path || target.staged_path() == path);
    target.map_or_else(|| from_here(path), |target| target.change.display_path.to_string())
}

/// Writes the new contents beside their targets.
fn stage(unit: &mut Unit<'_>) -> Result<(), Diagnostic> {
    let first =
        unit.targets.first().map(|target| target.change.display_path.clone()).unwrap_or_default();
    let failed = |error: io::Error| cannot_write(&error).in_file(&*first);
    unit.journal = Some(journal::begin(&unit.opened, &unit.steps).map_err(failed)?);
    let directories = OpenDirectories::below(&unit.opened);
    for step in &unit.steps {
        if let JournalStep::CreateDirectory { path } = step {
            let parent = directories.parent(path);
            let created = parent.and_then(|(parent, name)| parent.create_directory(name));
            created.map_err(failed)?;
        }
    }
    let (first, again) = by_inode(&unit.targets);
    let relative =
        |path: PathBuf| path.strip_prefix(&unit.directory).map_or(path.clone(), Path::to_owned);
    let stage = |target: &&WriteTarget<'_>| {
        not_interrupted()?;
        let Some(bytes) = target.change.new_bytes() else { return Ok(()) };
        let (staged, executable) = (relative(target.staged_path()), target.change.executable);
        content(&unit.opened, &staged, &bytes, target.attributes(), executable)
            .map_err(|error| cannot_write(&error).in_file(&*target.change.display_path))
    };
    parallel::map(&first, None, stage).into_iter().collect::<Result<(), _>>()?;
    again.into_iter().try_for_each(|(target, first)| {
        let [from, to] = [first, target].map(|it| relative(it.staged_path()));
        let link = || {
            let ((from_directory, from), (directory, to)) =
                (directories.parent(&from)?, directories.parent(&to)?);
            from_directory.hard_link(from, &directory, to)
        };
        // Hard links stay hard links, where the file system supports them.
        link().or_else(|_: io::Error| stage(&target))
    })
}

/// Writes a new file with the attributes of the file that it replaces.
pub(super) fn content(
    directory: &Directory,
    path: &Path,
    bytes: &[u8],
    like: Option<&Attributes>,
    executable: Option<bool>,
) -> io::Result<()> {
    // The staged file is never more accessible than the original, not even for a moment.
    let new = || mode_of_new(bytes, executable);
    let mode = like.map_or_else(new, Attributes::private_mode);
    let mut file = directory.create(path, mode)?;
    file.write_all(bytes)?;
    let Some(like) = like else { return Ok(()) };
    like.copy_to(&file)?;
    executable.map_or(Ok(()), |executable| set_executable(&file, executable))
}

/// Whoever may read the file may run it, or nobody may.
#[cfg(unix)]
fn set_executable(file: &std::fs::File, executable: bool) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mut permissions = file.metadata()?.permissions();
    let mode = permissions.mode();
    let readers = (mode & 0o444) >> 2;
    permissions.set_mode(if executable { mode | readers } else { mode & !0o111 });
    file.set_permissions(permissions)
}

#[cfg(not(unix))]
fn set_executable(_: &std::fs::File, _: bool) -> io::Result<()> {
    Ok(())
}

/// The mode of a new file, before the umask. Scripts are executable. Only its owner may read the values of Secrets.
fn mode_of_new(bytes: &[u8], executable: Option<bool>) -> u32 {
    if executable.unwrap_or_else(|| bytes.starts_with(b"#!/")) {
        return 0o777;
    }
    if secret_access::count(bytes) > 0 { 0o600 } else { 0o666 }
}

/// Renames all staged files, several at a time because each waits for the disk. If one fails, all are rolled back.
pub(super) fn rename(units: &mut [Unit<'_>]) -> Result<(), Diagnostic> {
    for at in 0..units.len() {
        let unit = &mut units[at];
        let directories = OpenDirectories::below(&unit.opened);
        let files: Vec<_> = unit.files().collect();
        let results = parallel::map(&files, AT_ONCE, |(target, step)| {
            let in_file = |error: Diagnostic| error.in_file(&*target.change.display_path);
            change(target, step, &directories).map_err(in_file)
        });
        drop(directories);
        unit.executed = results.iter().map(Result::is_ok).collect();
        let Some(error) = results.into_iter().find_map(Result::err) else { continue };
        return Err(match rollback::roll_back(units) {
            Ok(()) => error,
            Err(RollbackError::NotBegun(cause)) => error.hint(format!(
                "files written before cannot be rolled back ({}); the next command that writes here completes the run",
                io_reason(&cause)
            )),
            Err(RollbackError::NotFinished(cause)) => error.hint(format!(
                "not all files written before are rolled back ({}); the next command that writes here completes that",
                io_reason(&cause)
            )),
        });
    }
    Ok(())
}

/// Makes one change, if the file is still the one that was read.
fn change(
    target: &WriteTarget<'_>,
    step: &JournalStep,
    directories: &OpenDirectories<'_>,
) -> Result<(), Diagnostic> {
    let (directory, name) =
        directories.parent(step.place()).map_err(|error| cannot_write(&error))?;
    target.check_unchanged(&directory, name)?;
    step::execute(step, directories).map_err(|error| cannot_write(&error))
}

/// Flushes the renames and removes the journals.
pub(super) fn finish(units: &[Unit<'_>]) -> Result<(), Diagnostic> {
    // The journal stays if the flush fails: after a crash it says what was to be written.
    for unit in units {
        let paths: Vec<PathBuf> = unit.steps.iter().map(|step| step.place().to_owned()).collect();
        flush::names(&unit.opened, &flush::directories_of(&paths)).map_err(|failed| {
            // A directory was flushed, and the user knows the file in it.
            let file = paths.iter().find(|path| path.parent() == Some(&failed.path));
            let kind = FileKind::CannotFlush { reason: io_reason(&failed.error) };
            let path = unit.directory.join(file.unwrap_or(&failed.path));
            Diagnostic::error(kind).in_file(named(units, &path))
        })?;
    }
    units.iter().try_for_each(|unit| {
        step::remove_emptied_directories(&unit.steps, &OpenDirectories::below(&unit.opened));
        journal::end(&unit.opened).map_err(|error| {
            let kind = FileKind::JournalLeft { reason: io_reason(&error) };
            Diagnostic::error(kind).in_file(from_here(&unit.directory.join(journal::NAME)))
        })
    })
}

/// Runs a plan up to its commit, and lets the caller continue from there.
#[cfg(test)]
pub(super) fn interrupted(plan: &Plan, lock: &Lock, then: impl FnOnce(&mut [Unit<'_>])) {
    let mut begun: Vec<Unit<'_>> = units(targets(plan, lock).unwrap())
        .into_iter()
        .map(|(directory, targets)| Unit::new(lock, directory, targets).unwrap())
        .collect();
    prepare(&mut begun).unwrap();
    then(&mut begun);
}

/// Resolves the files of a plan, and lets the caller continue from there with a function that stages them, or rolls back.
#[cfg(test)]
pub(super) fn resolved(
    plan: &Plan,
    lock: &Lock,
    then: impl FnOnce(&mut dyn FnMut() -> Result<(), Diagnostic>),
) {
    let mut units = units(targets(plan, lock).unwrap());
    then(&mut move || {
        let units = units.drain(..).map(|(at, targets)| Unit::new(lock, at, targets));
        let mut begun = units.collect::<Result<Vec<_>, _>>()?;
        prepare(&mut begun).inspect_err(|_| _ = rollback::discard_staged(&mut begun))
    });
}

/// Runs a plan up to the point where everything is staged.
#[cfg(test)]
pub(super) fn killed_before_commit(plan: &Plan, lock: &Lock) {
    for (directory, targets) in units(targets(plan, lock).unwrap()) {
        stage(&mut Unit::new(lock, directory, targets).unwrap()).unwrap();
    }
}

/// Makes some of the changes and no more.
#[cfg(test)]
pub(super) fn make(unit: &mut Unit<'_>, count: usize) {
    let directories = OpenDirectories::below(&unit.opened);
    for step in unit.steps.iter().take(count) {
        step::execute(step, &directories).unwrap();
    }
}
