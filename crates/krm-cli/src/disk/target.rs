//! Where a planned change takes place on disk, and whether it may.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use krm_core::{Action, Diagnostic, PackagePath, PlannedChange};

use super::journal::{STAGED, Step, digest};
use super::lock::Lock;
use super::{cannot_write, file_id};

/// A change with the file that it is made to.
#[derive(Debug)]
pub(super) struct Target<'a> {
    pub(super) change: &'a PlannedChange,
    /// The file itself, where the name leads to it through links.
    pub(super) path: PathBuf,
    /// Of the file that is there.
    pub(super) metadata: Option<fs::Metadata>,
    /// The name of its new content until then.
    pub(super) staged: OsString,
}

impl Target<'_> {
    /// What the journal says about it.
    pub(super) fn step(&self, folder: &Path) -> Step {
        let target = self.path.strip_prefix(folder).unwrap_or(&self.path).to_owned();
        let staged = self.staged.clone();
        let of = |text: &Option<String>| digest(text.as_deref().unwrap_or_default().as_bytes());
        let (old, new) = (of(&self.change.old), of(&self.change.new));
        match (self.change.action(), &self.metadata) {
            (Action::Delete, _) => Step::Delete { target, old },
            (_, Some(_)) => Step::Replace { target, staged, old, new },
            (_, None) => Step::Create { target, staged, new },
        }
    }

    /// Where its new content is until then.
    pub(super) fn staged_path(&self) -> PathBuf {
        self.path.with_file_name(&self.staged)
    }

    /// Somebody else may have written since; their work is not ours to overwrite.
    pub(super) fn is_as_it_was_read(&self) -> Result<(), Diagnostic> {
        let now = match fs::read(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            other => Some(other.map_err(|error| cannot_write(&error))?),
        };
        if self.change.old.as_deref().map(str::as_bytes) == now.as_deref() {
            return Ok(());
        }
        Err(Diagnostic::untyped_error(
            "the file changed on disk while it was edited; nothing was written",
        )
        .hint("run the command again"))
    }
}

pub(super) type Again<'t, 'a> = Vec<(&'t Target<'a>, &'t Target<'a>)>;

/// Each file once, and its further names, with the target that has the same new content.
pub(super) fn by_number<'t, 'a>(targets: &'t [Target<'a>]) -> (Vec<&'t Target<'a>>, Again<'t, 'a>) {
    let mut seen: BTreeMap<(u64, u64), &Target<'a>> = BTreeMap::new();
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

/// Finds the files of changes; folders that many of them are in are looked up once.
pub(super) struct Finder<'a> {
    lock: &'a Lock,
    folders: BTreeMap<PathBuf, PathBuf>,
    /// Sets the staged files of this run apart from those of any other.
    mark: u64,
    count: usize,
}

impl<'a> Finder<'a> {
    pub(super) fn new(lock: &'a Lock) -> Self {
        use std::hash::{BuildHasher, RandomState};
        let mark = RandomState::new().hash_one(std::process::id());
        Self { lock, folders: BTreeMap::new(), mark, count: 0 }
    }

    pub(super) fn find<'c>(
        &mut self,
        path: &PackagePath,
        change: &'c PlannedChange,
    ) -> Result<Target<'c>, Diagnostic> {
        let root = self.lock.root().unwrap_or(Path::new(""));
        let (path, metadata) =
            self.real(&root.join(path.as_str())).map_err(|error| cannot_write(&error))?;
        if !self.lock.covers(&path) {
            let words =
                "this leads out of the folder that the command works on, and is not written";
            return Err(Diagnostic::untyped_error(words));
        }
        may_be_written(change, metadata.as_ref())?;
        self.count += 1;
        let staged = format!("{STAGED}{:016x}-{}", self.mark, self.count).into();
        Ok(Target { change, path, metadata, staged })
    }

    /// The file behind a name, and what is known of it; nothing where there is none.
    fn real(&mut self, path: &Path) -> io::Result<(PathBuf, Option<fs::Metadata>)> {
        let Some(name) = path.file_name() else { return Err(io::ErrorKind::IsADirectory.into()) };
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        if !self.folders.contains_key(folder) {
            self.folders.insert(folder.to_owned(), real_folder(folder)?);
        }
        let path = self.folders[folder].join(name);
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

/// The folder without links and dots; what is missing of it is to be made.
fn real_folder(folder: &Path) -> io::Result<PathBuf> {
    for above in folder.ancestors() {
        let above = if above.as_os_str().is_empty() { Path::new(".") } else { above };
        match fs::canonicalize(above) {
            // A link that leads nowhere is no place for a folder.
            Err(error) if error.kind() == io::ErrorKind::NotFound && !above.is_symlink() => {}
            Err(error) => return Err(error),
            Ok(real) => {
                let missing = folder.strip_prefix(above).unwrap_or(folder);
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
            Err(Diagnostic::untyped_error("only regular files are written")
                .hint("`-` reads standard input and writes standard output"))
        }
        (Some(_), None) => Err(Diagnostic::untyped_error(
            "there is such a file already, and it is not overwritten",
        )),
        (Some(metadata), Some(_)) if metadata.permissions().readonly() => {
            Err(Diagnostic::untyped_error("the file is read-only")
                .hint("make it writable, or write a copy"))
        }
        (Some(_), Some(_)) => Ok(()),
    }
}
