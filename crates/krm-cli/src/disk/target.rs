//! The file on disk that a planned change writes to, and whether it may be written.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use krm_core::{Action, Diagnostic, PackagePath, PlannedChange};

use super::journal::{JournalStep, STAGED, digest};
use super::lock::Lock;
use super::{FileKind, cannot_write, file_id};

/// A planned change with the file that it writes to.
#[derive(Debug)]
pub(super) struct WriteTarget<'a> {
    pub(super) change: &'a PlannedChange,
    /// The real path of the file, with symlinks resolved.
    pub(super) path: PathBuf,
    /// The metadata of the existing file.
    pub(super) metadata: Option<fs::Metadata>,
    /// The name of the staged file that holds the new content until it is renamed.
    pub(super) staged: OsString,
}

impl WriteTarget<'_> {
    /// The journal entry for this target.
    pub(super) fn step(&self, directory: &Path) -> JournalStep {
        let target = self.path.strip_prefix(directory).unwrap_or(&self.path).to_owned();
        let staged = self.staged.clone();
        let of = |text: &Option<String>| digest(text.as_deref().unwrap_or_default().as_bytes());
        let (old, new) = (of(&self.change.old), of(&self.change.new));
        match (self.change.action(), &self.metadata) {
            (Action::Delete, _) => JournalStep::Delete { target, old },
            (_, Some(_)) => JournalStep::Replace { target, staged, old, new },
            (_, None) => JournalStep::Create { target, staged, new },
        }
    }

    /// The path of the staged file.
    pub(super) fn staged_path(&self) -> PathBuf {
        self.path.with_file_name(&self.staged)
    }

    /// Fails if the file is not as it was read: another program may have written it since, and that must not be overwritten.
    pub(super) fn check_unchanged(&self) -> Result<(), Diagnostic> {
        let now = match fs::read(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            other => Some(other.map_err(|error| cannot_write(&error))?),
        };
        if self.change.old.as_deref().map(str::as_bytes) == now.as_deref() {
            return Ok(());
        }
        Err(Diagnostic::error(FileKind::FileChangedMeanwhile))
    }
}

pub(super) type HardLinks<'t, 'a> = Vec<(&'t WriteTarget<'a>, &'t WriteTarget<'a>)>;

/// Each file once, and the further hard links, each with the target that has the same new content.
pub(super) fn by_inode<'t, 'a>(
    targets: &'t [WriteTarget<'a>],
) -> (Vec<&'t WriteTarget<'a>>, HardLinks<'t, 'a>) {
    let mut seen: BTreeMap<(u64, u64), &WriteTarget<'a>> = BTreeMap::new();
    let (mut first, mut again) = (Vec::new(), Vec::new());
    for target in targets {
        let number = target.metadata.as_ref().and_then(file_id);
        match number.and_then(|number| seen.get(&number)) {
            Some(other) if target.change.new.is_some() && target.change.new == other.change.new => {
                again.push((target, *other));
            }
            _ => {
                first.push(target);
                seen.extend(number.map(|number| (number, target)));
            }
        }
    }
    (first, again)
}

/// Resolves the files of planned changes; each directory is looked up once.
pub(super) struct TargetResolver<'a> {
    lock: &'a Lock,
    directories: BTreeMap<PathBuf, PathBuf>,
    /// A random number in the names of this run's staged files, so that they differ from those of any other run.
    mark: u64,
    count: usize,
}

impl<'a> TargetResolver<'a> {
    pub(super) fn new(lock: &'a Lock) -> Self {
        use std::hash::{BuildHasher, RandomState};
        let mark = RandomState::new().hash_one(std::process::id());
        Self { lock, directories: BTreeMap::new(), mark, count: 0 }
    }

    pub(super) fn find<'c>(
        &mut self,
        path: &PackagePath,
        change: &'c PlannedChange,
    ) -> Result<WriteTarget<'c>, Diagnostic> {
        let root = self.lock.root().unwrap_or(Path::new(""));
        let (path, metadata) =
            self.real(&root.join(path.as_str())).map_err(|error| cannot_write(&error))?;
        // Plans refuse symlinks out of the package, but the disk may have changed since it was read, so the real path is checked again.
        if !self.lock.covers(&path) {
            return Err(Diagnostic::error(FileKind::OutsidePackage));
        }
        may_be_written(change, metadata.as_ref())?;
        self.count += 1;
        let staged = format!("{STAGED}{:016x}-{}", self.mark, self.count).into();
        Ok(WriteTarget { change, path, metadata, staged })
    }

    /// The real path of a file and its metadata; no metadata where the file does not exist.
    fn real(&mut self, path: &Path) -> io::Result<(PathBuf, Option<fs::Metadata>)> {
        let Some(name) = path.file_name() else { return Err(io::ErrorKind::IsADirectory.into()) };
        let directory = match path.parent() {
            Some(directory) if !directory.as_os_str().is_empty() => directory,
            _ => Path::new("."),
        };
        if !self.directories.contains_key(directory) {
            self.directories.insert(directory.to_owned(), real_directory(directory)?);
        }
        let path = self.directories[directory].join(name);
        match fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_symlink() => {
                let target = fs::canonicalize(&path)?;
                let metadata = fs::metadata(&target)?;
                Ok((target, Some(metadata)))
            }
            Ok(metadata) => Ok((path, Some(metadata))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok((path, None)),
            Err(error) => Err(error),
        }
    }
}

/// The directory with symlinks and dots resolved; the missing part of it is going to be created.
fn real_directory(directory: &Path) -> io::Result<PathBuf> {
    for above in directory.ancestors() {
        let above = if above.as_os_str().is_empty() { Path::new(".") } else { above };
        match fs::canonicalize(above) {
            // No directory can be created below a dangling symlink.
            Err(error) if error.kind() == io::ErrorKind::NotFound && !above.is_symlink() => {}
            Err(error) => return Err(error),
            Ok(real) => {
                let missing = directory.strip_prefix(above).unwrap_or(directory);
                let is_plain = |part| matches!(part, Component::Normal(_) | Component::CurDir);
                if !missing.components().all(is_plain) {
                    return Err(io::ErrorKind::NotFound.into());
                }
                let missing = missing.components().filter(|part| *part != Component::CurDir);
                return Ok(real.join(missing.collect::<PathBuf>()));
            }
        }
    }
    Err(io::ErrorKind::NotFound.into())
}

fn may_be_written(change: &PlannedChange, there: Option<&fs::Metadata>) -> Result<(), Diagnostic> {
    match (there, &change.old) {
        (None, None) => Ok(()),
        (None, Some(_)) => Err(cannot_write(&io::ErrorKind::NotFound.into())),
        (Some(metadata), _) if !metadata.is_file() => {
            Err(Diagnostic::error(FileKind::NotARegularFile))
        }
        (Some(_), None) => Err(Diagnostic::error(FileKind::FileExists)),
        (Some(metadata), Some(_)) if metadata.permissions().readonly() => {
            Err(Diagnostic::error(FileKind::ReadOnlyFile))
        }
        (Some(_), Some(_)) => Ok(()),
    }
}
