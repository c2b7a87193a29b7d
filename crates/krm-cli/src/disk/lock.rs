//! One writer at a time: a run locks the directory that it writes to, with everything below it.
//!
//! The lock is an advisory lock on the directory itself: it needs no lock file and ends with its process. Parent directories
//! get shared locks, so that a writer in a package and a writer in one of its subpackages wait for each other.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use krm_core::{Diagnostic, OriginalFile, PackagePath};

use super::root::Directory;
use super::{FileKind, STDIN, from_here, io_reason, journal, lock_holder, recover};

/// How long a writer waits for another one.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// How long it waits before it reports that it waits.
const SILENT_WAIT: Duration = Duration::from_secs(1);

const PAUSE: Duration = Duration::from_millis(10);

/// Reports a diagnostic while the lock is waited for.
pub(crate) type OnDiagnostic<'a> = &'a mut dyn FnMut(&Diagnostic);

/// The directory that a run may write to, locked until this is dropped.
#[derive(Debug, Default)]
pub(crate) struct Lock {
    root: Option<PathBuf>,
    /// The same directory, opened and locked; none where nothing may be written.
    directory: Option<Directory>,
    /// Its parents.
    _held: Vec<Directory>,
}

impl Lock {
    /// A lock that covers nothing, for previews and streams.
    pub(crate) fn none() -> Self {
        Self::default()
    }

    /// Locks the directory that all these files and directories are in, and completes or rolls back what a killed run left
    /// there. Names that do not exist are reported by the code that reads them.
    pub(crate) fn files(names: &[String], report: OnDiagnostic<'_>) -> Result<Self, Diagnostic> {
        super::not_interrupted()?;
        match common_directory(names) {
            Some(root) => hold(&root, LONGEST_WAIT, report),
            None => Ok(Self::none()),
        }
    }

    /// The same directory, not held: nothing can be written. For previews, whose plans have the same paths.
    pub(crate) fn preview(names: &[String]) -> Self {
        Self { root: common_directory(names), ..Self::default() }
    }

    /// Whether nobody else can write to the directory.
    pub(crate) fn is_held(&self) -> bool {
        self.directory.is_some()
    }

    /// The directory that paths of a plan are relative to, where it may be written.
    pub(super) fn writable(&self) -> Option<(&Path, &Directory)> {
        self.root.as_deref().zip(self.directory.as_ref())
    }

    /// Opens a directory below the locked one.
    pub(super) fn open_below(&self, directory: &Path) -> io::Result<Directory> {
        let denied = io::ErrorKind::PermissionDenied;
        let (root, opened) = self.writable().ok_or(denied)?;
        opened.directory(directory.strip_prefix(root).map_err(|_| denied)?)
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
            // The pipe of `<(command)` has no path that could be written.
            pipe if super::is_stream(pipe) && std::fs::canonicalize(pipe).is_err() => {
                return Err(Diagnostic::error(FileKind::NotARegularFile).in_file(pipe));
            }
            name => OriginalFile::new(self.package_path(name)?, name, Some(text)),
        })
    }

    /// The directory of a package that the user named, or of the file that it consists of, relative to the locked one.
    pub(crate) fn directory_of(&self, name: &str) -> String {
        let directory = directory(Path::new(name)).zip(self.root.as_ref());
        let inside = directory.and_then(|(it, root)| Some(it.strip_prefix(root).ok()?.to_owned()));
        inside.unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Whether a file may be written.
    pub(super) fn covers(&self, path: &Path) -> bool {
        self.writable().is_some_and(|(root, _)| path.starts_with(root))
    }

    /// Completes or rolls back what killed runs left in directories below. Returns whether there was anything to do.
    pub(crate) fn recover(
        &self,
        directories: &[PathBuf],
        report: OnDiagnostic<'_>,
    ) -> Result<bool, Diagnostic> {
        let own: Vec<&PathBuf> =
            directories.iter().filter(|directory| self.covers(directory)).collect();
        for directory in &own {
            recover::recover_directory((directory, self.open_below(directory)), report)?;
        }
        Ok(!own.is_empty())
    }
}

/// The innermost directory that all these files and directories are in; none where none of them exists.
fn common_directory(names: &[String]) -> Option<PathBuf> {
    let names = names.iter().filter(|name| *name != STDIN);
    names.filter_map(|name| directory(Path::new(name))).reduce(|a, b| shared(&a, &b))
}

/// The real directory of a file, or the directory itself.
fn directory(path: &Path) -> Option<PathBuf> {
    let real = std::fs::canonicalize(path).ok()?;
    if real.is_dir() { Some(real) } else { real.parent().map(Path::to_owned) }
}

/// The innermost directory that both are in.
pub(super) fn shared(a: &Path, b: &Path) -> PathBuf {
    let both = a.components().zip(b.components()).take_while(|(a, b)| a == b);
    both.map(|(part, _)| part).collect()
}

/// Locks `root`, after recovering what a killed run left in it or in its parents.
fn hold(root: &Path, wait: Duration, report: OnDiagnostic<'_>) -> Result<Lock, Diagnostic> {
    loop {
        let lock = acquire(root, wait, report)?;
        let above: Vec<&Path> = root.ancestors().collect();
        let left = above.into_iter().rev().find(|directory| recover::is_due(directory));
        match left {
            None => return Ok(lock),
            Some(directory) if directory == root => {
                recover::recover_directory((root, lock.open_below(root)), report)?;
            }
            Some(directory) => {
                drop(lock);
                let above = acquire(directory, wait, report)?;
                // Another process may have recovered it meanwhile.
                if recover::is_due(directory) {
                    recover::recover_directory((directory, above.open_below(directory)), report)?;
                }
            }
        }
    }
}

/// Takes the locks from the top down. Every run takes them in this order, so there is no deadlock.
fn acquire(root: &Path, wait: Duration, report: OnDiagnostic<'_>) -> Result<Lock, Diagnostic> {
    let mut waiting = Waiting { since: Instant::now(), longest: wait, looks: 0 };
    let mut held: Vec<(&Path, Directory)> = Vec::new();
    let mut directories: Vec<&Path> = root.ancestors().collect();
    directories.reverse();
    for directory in directories {
        let is_own = directory == root;
        // The path was resolved: a symlink on it has been put there since, and is not followed.
        let opened = match held.last() {
            Some((above, opened)) => {
                opened.directory(directory.strip_prefix(above).unwrap_or(directory))
            }
            None => Directory::open(directory),
        };
        let opened = match opened {
            Ok(opened) => opened,
            // A parent that we may not open is one that we cannot write to, either.
            Err(error) if !is_own && error.kind() == io::ErrorKind::PermissionDenied => continue,
            Err(error) => return Err(cannot_lock(directory, &error)),
        };
        match waiting.lock(opened.as_file(), is_own, root, report)? {
            Ok(()) => {}
            Err(error) if !has_no_locks(&error) => return Err(cannot_lock(directory, &error)),
            Err(_) if !is_own => {}
            Err(_) => report(&Diagnostic::warning(FileKind::NoLocks).in_file(from_here(root))),
        }
        held.push((directory, opened));
    }
    let mut held: Vec<Directory> = held.into_iter().map(|(_, opened)| opened).collect();
    Ok(Lock { root: Some(root.to_owned()), directory: held.pop(), _held: held })
}

struct Waiting {
    since: Instant,
    longest: Duration,
    /// How often the holder of the lock was looked up.
    looks: usize,
}

impl Waiting {
    /// Locks a directory as soon as it is free. The inner error is that of the system, the outer one means that another process
    /// held the lock for too long.
    fn lock(
        &mut self,
        file: &File,
        is_own: bool,
        root: &Path,
        report: OnDiagnostic<'_>,
    ) -> Result<io::Result<()>, Diagnostic> {
        loop {
            super::not_interrupted()?;
            match if is_own { file.try_lock() } else { file.try_lock_shared() } {
                Ok(()) => return Ok(Ok(())),
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Ok(Err(error)),
            }
            let is_over = self.since.elapsed() >= self.longest;
            if is_over || self.is_time_to_look() {
                let holder = lock_holder::of(file);
                // `flock DIR krm …`: the parent process holds the lock on our behalf.
                if holder.as_ref().is_some_and(|holder| lock_holder::is_ancestor(holder.pid)) {
                    return Ok(Ok(()));
                }
                let who = holder.map_or("another program".to_owned(), |holder| holder.to_string());
                if is_over {
                    return Err(busy(root, &who, self.longest));
                }
                if self.looks > 1 {
                    let kind = FileKind::WaitingForLock { holder: who };
                    report(&Diagnostic::warning(kind).in_file(from_here(root)));
                }
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Immediately, and once more after `SILENT_WAIT`.
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
    let kind = FileKind::Locked { holder: who.to_owned(), seconds: longest.as_secs() };
    Diagnostic::error(kind).in_file(from_here(root))
}

fn cannot_lock(directory: &Path, error: &io::Error) -> Diagnostic {
    let kind = FileKind::CannotLock { reason: io_reason(error) };
    Diagnostic::error(kind).in_file(from_here(directory))
}

/// Whether an error of a lock means that the file system has none. Any other error could hide another writer.
#[cfg(unix)]
fn has_no_locks(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let number = Errno::from_io_error(error);
    number.is_some_and(|it| {
        [Errno::NOLCK, Errno::NOTSUP, Errno::OPNOTSUPP, Errno::NOSYS].contains(&it)
    })
}

/// Directories cannot be locked on Windows.
#[cfg(not(unix))]
fn has_no_locks(_: &io::Error) -> bool {
    true
}

/// Whether a run is writing to a directory, or was interrupted there.
pub(crate) fn has_journal(directory: &Path) -> bool {
    directory.join(journal::NAME).symlink_metadata().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn try_hold(directory: &Path) -> Result<Lock, Diagnostic> {
        hold(directory, Duration::ZERO, &mut |_| {})
    }

    #[test]
    fn one_writer_at_a_time_in_a_directory_and_below_it() {
        let directory = tempfile::tempdir().unwrap();
        let root = std::fs::canonicalize(directory.path()).unwrap();
        let [a, b, deep] = ["a", "b", "a/deep"].map(|name| root.join(name));
        std::fs::create_dir_all(&deep).unwrap();
        std::fs::create_dir_all(&b).unwrap();
        let held = try_hold(&a).unwrap();
        let busy = try_hold(&a).unwrap_err();
        assert!(matches!(busy.kind(), Some(FileKind::Locked { seconds: 0, .. })), "{busy:?}");
        assert!(try_hold(&root).is_err(), "the package around it");
        assert!(try_hold(&deep).is_err(), "the package inside it");
        assert!(try_hold(&b).is_ok(), "a sibling directory");
        drop(held);
        assert!(try_hold(&root).is_ok());
    }

    #[test]
    fn lock_covers_only_its_directory() {
        let directory = tempfile::tempdir().unwrap();
        let root = std::fs::canonicalize(directory.path()).unwrap();
        let lock = try_hold(&root).unwrap();
        assert!(lock.covers(&root.join("a/b")));
        assert!(!lock.covers(root.parent().unwrap()));
        assert!(!Lock::none().covers(&root));
    }

    #[test]
    fn shared_directory_is_the_innermost_common_parent() {
        let shared = |a: &str, b: &str| shared(Path::new(a), Path::new(b));
        assert_eq!(shared("/a/b/c", "/a/b/d"), Path::new("/a/b"));
        assert_eq!(shared("/a/b", "/a/b/c"), Path::new("/a/b"));
        assert_eq!(shared("/a/bc", "/a/b"), Path::new("/a"));
    }
}
