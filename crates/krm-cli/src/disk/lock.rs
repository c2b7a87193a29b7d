//! One writer at a time: a run holds the folder that it writes in, and all that is below it.
//!
//! The lock is on the folder itself, so that it leaves nothing behind and ends with its process. Folders above are
//! held together with others, so that a writer in a package and one in a package inside it wait for each other.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use krm_core::{Diagnostic, OriginalFile, PackagePath};

use super::{STDIN, from_here, journal, lock_holder, recover};

/// How long a writer waits for another one.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// After this time it says so.
const SILENT_WAIT: Duration = Duration::from_secs(1);

const PAUSE: Duration = Duration::from_millis(10);

/// Says something to people while one waits.
pub(crate) type OnDiagnostic<'a> = &'a mut dyn FnMut(&Diagnostic);

/// The folder that a run may write in, held until it is dropped.
#[derive(Debug, Default)]
pub(crate) struct Lock {
    root: Option<PathBuf>,
    may_write: bool,
    /// The folder and those above it.
    _held: Vec<File>,
}

impl Lock {
    /// The right to write nothing, as for previews and streams.
    pub(crate) fn none() -> Self {
        Self::default()
    }

    /// Holds the folder that all these files and folders are in. What a dead run left there is finished or undone. Names
    /// that lead nowhere are for the reader to tell.
    pub(crate) fn files(names: &[String], tell: OnDiagnostic<'_>) -> Result<Self, Diagnostic> {
        match common_directory(names) {
            Some(root) => hold(&root, LONGEST_WAIT, tell),
            None => Ok(Self::none()),
        }
    }

    /// The same directory, not held: nothing can be written. For previews, whose plans have the same paths.
    pub(crate) fn preview(names: &[String]) -> Self {
        Self { root: common_directory(names), ..Self::default() }
    }

    /// The directory that paths of a plan are relative to.
    pub(super) fn root(&self) -> Option<&Path> {
        self.root.as_deref()
    }

    /// The path of a file that the user named, as plans know it.
    pub(crate) fn package_path(&self, name: &str) -> Result<PackagePath, Diagnostic> {
        let real = std::fs::canonicalize(name).unwrap_or_else(|_| PathBuf::from(name));
        let path = match &self.root {
            Some(root) => real.strip_prefix(root).unwrap_or(&real),
            None => real.file_name().map_or(&*real, Path::new),
        };
        PackagePath::new(&path.to_string_lossy())
            .map_err(|error| Diagnostic::error(error).in_file(name))
    }

    /// A file that the user named, with the content that was read from it.
    pub(crate) fn original(&self, name: &str, text: String) -> Result<OriginalFile, Diagnostic> {
        Ok(match name {
            STDIN => OriginalFile::stdin(super::display_name(STDIN), Some(text)),
            name => OriginalFile::new(self.package_path(name)?, name, Some(text)),
        })
    }

    /// The directory of a package that the user named, or of the file that it consists of, relative to the locked one.
    pub(crate) fn directory_of(&self, name: &str) -> String {
        let directory = folder(Path::new(name)).zip(self.root.as_ref());
        let inside = directory.and_then(|(it, root)| Some(it.strip_prefix(root).ok()?.to_owned()));
        inside.unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Whether a file may be written.
    pub(super) fn covers(&self, path: &Path) -> bool {
        self.may_write && self.root.as_ref().is_some_and(|root| path.starts_with(root))
    }

    /// Finishes or undoes what dead runs left in folders below; whether there was something.
    pub(crate) fn recover(
        &self,
        folders: &[PathBuf],
        tell: OnDiagnostic<'_>,
    ) -> Result<bool, Diagnostic> {
        let own: Vec<&PathBuf> = folders.iter().filter(|folder| self.covers(folder)).collect();
        for folder in &own {
            recover::directory(folder, tell)?;
        }
        Ok(!own.is_empty())
    }
}

/// The innermost directory that all these files and directories are in; none where none of them exists.
fn common_directory(names: &[String]) -> Option<PathBuf> {
    let names = names.iter().filter(|name| *name != STDIN);
    names.filter_map(|name| folder(Path::new(name))).reduce(|a, b| shared(&a, &b))
}

/// The real folder of a file, or the folder itself.
fn folder(path: &Path) -> Option<PathBuf> {
    let real = std::fs::canonicalize(path).ok()?;
    if real.is_dir() { Some(real) } else { real.parent().map(Path::to_owned) }
}

/// The innermost folder that both are in.
pub(super) fn shared(a: &Path, b: &Path) -> PathBuf {
    let both = a.components().zip(b.components()).take_while(|(a, b)| a == b);
    both.map(|(part, _)| part).collect()
}

/// Holds `root`. What a dead run left in it or above it comes first.
fn hold(root: &Path, wait: Duration, tell: OnDiagnostic<'_>) -> Result<Lock, Diagnostic> {
    loop {
        let lock = acquire(root, wait, tell)?;
        let above: Vec<&Path> = root.ancestors().collect();
        let left = above.into_iter().rev().find(|folder| recover::is_due(folder));
        match left {
            None => return Ok(lock),
            Some(folder) if folder == root => recover::directory(folder, tell)?,
            Some(folder) => {
                drop(lock);
                let _above = acquire(folder, wait, tell)?;
                // Somebody else may have been here first.
                if recover::is_due(folder) {
                    recover::directory(folder, tell)?;
                }
            }
        }
    }
}

/// Takes the locks from the top down; everybody takes them in this order, so that no two wait for each other.
fn acquire(root: &Path, wait: Duration, tell: OnDiagnostic<'_>) -> Result<Lock, Diagnostic> {
    let mut waiting = Waiting { since: Instant::now(), longest: wait, looks: 0 };
    let mut held = Vec::new();
    let mut folders: Vec<&Path> = root.ancestors().collect();
    folders.reverse();
    for folder in folders {
        let is_own = folder == root;
        match File::open(folder).map_err(TryLockError::Error).and_then(|file| {
            waiting.lock(&file, is_own, root, tell).map(|outcome| outcome.map(|()| file))
        }) {
            Ok(outcome) => held.push(outcome?),
            // A folder above that is not for us to open is not for us to write in, either.
            Err(_) if !is_own => {}
            Err(_) => tell(&without_lock(root)),
        }
    }
    Ok(Lock { root: Some(root.to_owned()), may_write: true, _held: held })
}

struct Waiting {
    since: Instant,
    longest: Duration,
    /// How often it was asked who holds the lock.
    looks: usize,
}

impl Waiting {
    /// Locks a folder as soon as it is free. The outer error says that there are no locks here, the inner one that
    /// somebody else held it for too long.
    fn lock(
        &mut self,
        file: &File,
        is_own: bool,
        root: &Path,
        tell: OnDiagnostic<'_>,
    ) -> Result<Result<(), Diagnostic>, TryLockError> {
        loop {
            match if is_own { file.try_lock() } else { file.try_lock_shared() } {
                Ok(()) => return Ok(Ok(())),
                Err(TryLockError::WouldBlock) => {}
                Err(error) => return Err(error),
            }
            let is_over = self.since.elapsed() >= self.longest;
            if is_over || self.is_time_to_look() {
                let holder = lock_holder::of(file);
                // `flock FOLDER krm …`: whoever started us holds it for us.
                if holder.as_ref().is_some_and(|holder| lock_holder::is_above(holder.pid)) {
                    return Ok(Ok(()));
                }
                let who = holder.map_or("another program".to_owned(), |holder| holder.to_string());
                if is_over {
                    return Ok(Err(busy(root, &who, self.longest)));
                }
                if self.looks > 1 {
                    let words = format!("waiting for {who}, which writes there");
                    tell(&Diagnostic::untyped_warning(words).in_file(from_here(root)));
                }
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// At once, and again when it takes long.
    fn is_time_to_look(&mut self) -> bool {
        let is_due = match self.looks {
            0 => true,
            1 => self.since.elapsed() >= SILENT_WAIT,
            _ => false,
        };
        self.looks += usize::from(is_due);
        is_due
    }
}

fn busy(root: &Path, who: &str, longest: Duration) -> Diagnostic {
    let words = format!(
        "{who} writes there, and did not end within {} seconds; nothing was written",
        longest.as_secs()
    );
    Diagnostic::untyped_error(words)
        .in_file(from_here(root))
        .hint("wait until it is done, or end it")
}

fn without_lock(root: &Path) -> Diagnostic {
    Diagnostic::untyped_warning(
        "this file system has no locks; see that nobody else writes there meanwhile",
    )
    .in_file(from_here(root))
}

/// Whether a run writes in a folder, or was interrupted there.
pub(crate) fn has_journal(folder: &Path) -> bool {
    folder.join(journal::NAME).symlink_metadata().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn try_hold(folder: &Path) -> Result<Lock, Diagnostic> {
        hold(folder, Duration::ZERO, &mut |_| {})
    }

    #[test]
    fn one_writer_at_a_time_in_a_folder_and_all_below_it() {
        let folder = tempfile::tempdir().unwrap();
        let root = std::fs::canonicalize(folder.path()).unwrap();
        let [a, b, deep] = ["a", "b", "a/deep"].map(|name| root.join(name));
        std::fs::create_dir_all(&deep).unwrap();
        std::fs::create_dir_all(&b).unwrap();
        let held = try_hold(&a).unwrap();
        let busy = try_hold(&a).unwrap_err();
        assert!(busy.message().contains("did not end within 0 seconds"), "{busy:?}");
        assert!(try_hold(&root).is_err(), "the package around it");
        assert!(try_hold(&deep).is_err(), "the package inside it");
        assert!(try_hold(&b).is_ok(), "another folder beside it");
        drop(held);
        assert!(try_hold(&root).is_ok());
    }

    #[test]
    fn a_lock_covers_its_folder_and_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let root = std::fs::canonicalize(folder.path()).unwrap();
        let lock = try_hold(&root).unwrap();
        assert!(lock.covers(&root.join("a/b")));
        assert!(!lock.covers(root.parent().unwrap()));
        assert!(!Lock::none().covers(&root));
    }

    #[test]
    fn files_share_the_innermost_folder_above_them() {
        let shared = |a: &str, b: &str| shared(Path::new(a), Path::new(b));
        assert_eq!(shared("/a/b/c", "/a/b/d"), Path::new("/a/b"));
        assert_eq!(shared("/a/b", "/a/b/c"), Path::new("/a/b"));
        assert_eq!(shared("/a/bc", "/a/b"), Path::new("/a"));
    }
}
