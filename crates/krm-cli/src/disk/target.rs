//! The file on disk that a planned change writes to, and whether it may be written.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use krm_core::{Action, Diagnostic, PackagePath, PlannedChange};

use super::attributes::Attributes;
use super::journal::{JournalStep, STAGED, digest};
use super::lock::Lock;
use super::root::{Directory, is_refused};
use super::state::FileState;
use super::{FileKind, cannot_write, random_number};

/// A planned change with the file that it writes to.
#[derive(Debug)]
pub(super) struct WriteTarget<'a> {
    pub(super) change: &'a PlannedChange,
    /// The real path of the file, with symlinks resolved.
    pub(super) path: PathBuf,
    /// The existing file.
    pub(super) original: Option<Original>,
    /// The name of the staged file that holds the new content until it is renamed.
    pub(super) staged: OsString,
}

/// A file that a plan replaces or deletes, as it was when its content was compared with the one that was read.
#[derive(Debug)]
pub(super) struct Original {
    pub(super) attributes: Attributes,
    state: FileState,
    /// Whether the state shows every later change. If not, the content is compared again.
    is_settled: bool,
}

impl WriteTarget<'_> {
    /// The journal entry for this target.
    pub(super) fn step(&self, directory: &Path) -> JournalStep {
        let target = self.path.strip_prefix(directory).unwrap_or(&self.path).to_owned();
        let staged = self.staged.clone();
        let of = |bytes: Option<&[u8]>| digest(bytes.unwrap_or_default());
        let new = self.change.new_bytes();
        let (old, new) = (of(self.change.old_bytes()), of(new.as_deref()));
        match (self.change.action(), &self.original) {
            (Action::Delete, _) => JournalStep::Delete { target, old },
            (_, Some(_)) => JournalStep::Replace { target, staged, old, new },
            (_, None) => JournalStep::Create { target, staged, new },
        }
    }

    /// The path of the staged file.
    pub(super) fn staged_path(&self) -> PathBuf {
        self.path.with_file_name(&self.staged)
    }

    /// What the new file gets from the one that it replaces.
    pub(super) fn attributes(&self) -> Option<&Attributes> {
        self.original.as_ref().map(|original| &original.attributes)
    }

    /// Fails if the file is not as it was read: another program may have written it since, and that must not be overwritten.
    /// A new file is not checked, because creating it never overwrites another one.
    pub(super) fn check_unchanged(
        &self,
        directory: &Directory,
        name: &OsStr,
    ) -> Result<(), Diagnostic> {
        let (Some(original), Some(old)) = (&self.original, self.change.old_bytes()) else {
            return Ok(());
        };
        let is_unchanged = match directory.stat(name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(error) => return Err(cannot_write(&error)),
            // Replacing one hard link of a file changes the state of the others, so only the content counts.
            Ok(now) if original.state.has_other_names() => {
                now.file_id() == original.state.file_id() && has_content(directory, name, old)?
            }
            Ok(now) if now != original.state => false,
            Ok(_) => original.is_settled || has_content(directory, name, old)?,
        };
        if is_unchanged { Ok(()) } else { Err(Diagnostic::error(FileKind::FileChangedMeanwhile)) }
    }
}

fn has_content(directory: &Directory, name: &OsStr, content: &[u8]) -> Result<bool, Diagnostic> {
    let compare = || {
        let (file, metadata) = directory.file(Path::new(name))?;
        is_same(&file, &metadata, content)
    };
    compare().map_err(|error| cannot_write(&error))
}

/// Whether a file has this content.
fn is_same(file: &fs::File, metadata: &fs::Metadata, content: &[u8]) -> io::Result<bool> {
    if metadata.len() != content.len() as u64 {
        return Ok(false);
    }
    let mut bytes = Vec::with_capacity(content.len());
    file.take(metadata.len()).read_to_end(&mut bytes)?;
    Ok(bytes == content)
}

pub(super) type HardLinks<'t, 'a> = Vec<(&'t WriteTarget<'a>, &'t WriteTarget<'a>)>;

/// Each file once, and the further hard links, each with the target that has the same new content.
pub(super) fn by_inode<'t, 'a>(
    targets: &'t [WriteTarget<'a>],
) -> (Vec<&'t WriteTarget<'a>>, HardLinks<'t, 'a>) {
    let mut seen: BTreeMap<(u64, u64), &WriteTarget<'a>> = BTreeMap::new();
    let (mut first, mut again) = (Vec::new(), Vec::new());
    for target in targets {
        let number = target.original.as_ref().and_then(|original| original.state.file_id());
        match number.and_then(|number| seen.get(&number)) {
            Some(other)
                if target.change.new.is_some()
                    && target.change.new_bytes() == other.change.new_bytes() =>
            {
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
    directories: Mutex<BTreeMap<PathBuf, PathBuf>>,
    /// A random number in the names of this run's staged files, so that they differ from those of any other run.
    mark: u64,
}

impl<'a> TargetResolver<'a> {
    pub(super) fn new(lock: &'a Lock) -> Self {
        Self { lock, directories: Mutex::default(), mark: random_number() }
    }

    /// Finds the file of a change. `number` differs from those of all other changes.
    pub(super) fn find<'c>(
        &self,
        path: &PackagePath,
        change: &'c PlannedChange,
        number: usize,
    ) -> Result<WriteTarget<'c>, Diagnostic> {
        let (path, original) = match change.old_bytes() {
            Some(old) => {
                let (path, original) = self.existing(path, old)?;
                (path, Some(original))
            }
            None => (self.missing(path)?, None),
        };
        let staged = format!("{STAGED}{:016x}-{number}", self.mark).into();
        Ok(WriteTarget { change, path, original, staged })
    }

    /// The real path of a file that must exist with this content.
    fn existing(&self, path: &PackagePath, old: &[u8]) -> Result<(PathBuf, Original), Diagnostic> {
        let outside = || Diagnostic::error(FileKind::OutsidePackage);
        let (root, directory) = self.lock.writable().ok_or_else(outside)?;
        let mut path = root.join(path.as_str());
        let open = |path: &Path| {
            let inside = path.strip_prefix(root).map_err(|_| outside())?;
            Ok::<_, Diagnostic>(directory.file(inside))
        };
        let mut opened = open(&path)?;
        // Symlinks that stay inside are followed; the file behind them is written.
        if opened.as_ref().is_err_and(is_refused) {
            path = fs::canonicalize(&path).map_err(|error| cannot_write(&error))?;
            opened = open(&path)?;
        }
        let (file, metadata) = opened.map_err(|error| match error.kind() {
            io::ErrorKind::IsADirectory | io::ErrorKind::InvalidInput => {
                Diagnostic::error(FileKind::NotARegularFile)
            }
            _ => cannot_write(&error),
        })?;
        if metadata.permissions().readonly() {
            return Err(Diagnostic::error(FileKind::ReadOnlyFile));
        }
        let state = FileState::of(&metadata);
        let is_settled = state.is_settled();
        let is_same = is_same(&file, &metadata, old).map_err(|error| cannot_write(&error))?;
        if !is_same {
            return Err(Diagnostic::error(FileKind::FileChangedMeanwhile));
        }
        let attributes = Attributes::of(&file, metadata).map_err(|error| cannot_write(&error))?;
        Ok((path, Original { attributes, state, is_settled }))
    }

    /// The real path of a file that must not exist.
    fn missing(&self, path: &PackagePath) -> Result<PathBuf, Diagnostic> {
        let root = self.lock.writable().map_or(Path::new(""), |(root, _)| root);
        let path = self.resolve(&root.join(path.as_str())).map_err(|error| cannot_write(&error))?;
        // Plans refuse symlinks out of the package, but the disk may have changed since it was read, so the real path is checked again.
        if !self.lock.covers(&path) {
            return Err(Diagnostic::error(FileKind::OutsidePackage));
        }
        match fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_file() => Err(Diagnostic::error(FileKind::FileExists)),
            Ok(_) => Err(Diagnostic::error(FileKind::NotARegularFile)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(path),
            Err(error) => Err(cannot_write(&error)),
        }
    }

    /// The path with all symlinks resolved, also that of a file that does not exist.
    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        let Some(name) = path.file_name() else { return Err(io::ErrorKind::IsADirectory.into()) };
        if path.is_symlink() {
            return fs::canonicalize(path);
        }
        let directory = path.parent().unwrap_or(Path::new(""));
        let mut known = self.directories.lock().unwrap_or_else(PoisonError::into_inner);
        if !known.contains_key(directory) {
            known.insert(directory.to_owned(), real_directory(directory)?);
        }
        Ok(known[directory].join(name))
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
