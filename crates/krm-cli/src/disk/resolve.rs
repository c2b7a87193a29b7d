//! Opens a path below a directory, without leaving the directory.

use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path};

use rustix::fs::{self as sys, Mode, OFlags};
use rustix::io::Errno;

/// Opens a relative path without following any symlink. `EXDEV` means that it leaves the directory, `ELOOP` that there is a symlink on it.
pub(super) fn open(
    root: BorrowedFd<'_>,
    path: &Path,
    flags: OFlags,
    mode: Mode,
) -> Result<OwnedFd, Errno> {
    match at_once(root, path, flags, mode) {
        Some(result) => result,
        None => step_by_step(root, path, flags, mode),
    }
}

/// One system call. None where it is missing, or where it cannot decide because something is being renamed.
#[cfg(target_os = "linux")]
fn at_once(
    root: BorrowedFd<'_>,
    path: &Path,
    flags: OFlags,
    mode: Mode,
) -> Option<Result<OwnedFd, Errno>> {
    use std::sync::atomic::{AtomicBool, Ordering};

    use rustix::fs::ResolveFlags;
    static IS_MISSING: AtomicBool = AtomicBool::new(false);
    #[cfg(test)]
    if tests::IS_FORCED.get() {
        return None;
    }
    if IS_MISSING.load(Ordering::Relaxed) {
        return None;
    }
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    match sys::openat2(root, path, flags, mode, resolve) {
        Err(Errno::NOSYS) => {
            IS_MISSING.store(true, Ordering::Relaxed);
            None
        }
        // Sandboxes that do not know the call report `EPERM`. If the file is the reason, the other way reports the same.
        Err(Errno::PERM | Errno::AGAIN) => None,
        result => Some(result),
    }
}

#[cfg(not(target_os = "linux"))]
fn at_once(_: BorrowedFd<'_>, _: &Path, _: OFlags, _: Mode) -> Option<Result<OwnedFd, Errno>> {
    None
}

/// Opens one component after the other. Directories on the way stay open, so that `..` leads back to the one that the path came from,
/// even if that was moved meanwhile.
fn step_by_step(
    root: BorrowedFd<'_>,
    path: &Path,
    flags: OFlags,
    mode: Mode,
) -> Result<OwnedFd, Errno> {
    let mut above: Vec<OwnedFd> = Vec::new();
    let mut left = path.components().filter(|it| *it != Component::CurDir).peekable();
    while let Some(component) = left.next() {
        let here = above.last().map_or(root, AsFd::as_fd);
        let name = match component {
            Component::Normal(name) => name,
            Component::ParentDir if above.pop().is_some() => continue,
            _ => return Err(Errno::XDEV),
        };
        let is_last = left.peek().is_none();
        let flags = if is_last { flags } else { ON_THE_WAY };
        match sys::openat(here, name, flags | OFlags::NOFOLLOW | OFlags::CLOEXEC, mode) {
            Ok(fd) if is_last => return Ok(fd),
            Ok(fd) => above.push(fd),
            // A symlink where a directory is expected is reported as either of these.
            Err(Errno::NOTDIR) if is_symlink(here, name) => return Err(Errno::LOOP),
            Err(error) => return Err(error),
        }
    }
    // The path ends with `..`, or is empty.
    let here = above.last().map_or(root, AsFd::as_fd);
    sys::openat(here, ".", flags | OFlags::CLOEXEC, mode)
}

/// A directory on the way needs no permission to read it.
#[cfg(target_os = "linux")]
const ON_THE_WAY: OFlags = OFlags::PATH.union(OFlags::DIRECTORY);

#[cfg(not(target_os = "linux"))]
const ON_THE_WAY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY);

fn is_symlink(directory: BorrowedFd<'_>, name: &OsStr) -> bool {
    sys::readlinkat(directory, name, Vec::new()).is_ok()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::fs;
    use std::io::Read;
    use std::os::unix::fs::symlink;

    use super::super::root::{Directory, is_refused};
    use super::*;

    thread_local! {
        /// Behaves as a kernel without `openat2`.
        pub(super) static IS_FORCED: Cell<bool> = const { Cell::new(false) };
    }

    /// Runs a test with the system call, and with the walk that replaces it.
    fn both_ways(test: impl Fn(&Directory, &Path)) {
        for is_forced in [false, true] {
            IS_FORCED.set(is_forced);
            let temporary = tempfile::tempdir().unwrap();
            let root = temporary.path().join("root");
            fs::create_dir_all(root.join("a/b")).unwrap();
            fs::write(root.join("a/b/file"), "inside").unwrap();
            fs::write(temporary.path().join("secret"), "outside").unwrap();
            test(&Directory::open(&root).unwrap(), &root);
        }
        IS_FORCED.set(false);
    }

    fn read(root: &Directory, path: &str) -> std::io::Result<String> {
        let mut text = String::new();
        root.file(Path::new(path))?.0.read_to_string(&mut text)?;
        Ok(text)
    }

    #[test]
    fn paths_stay_below_the_directory() {
        both_ways(|root, _| {
            assert_eq!(read(root, "a/b/file").unwrap(), "inside");
            assert_eq!(read(root, "a/../a/./b/file").unwrap(), "inside");
            for path in ["../secret", "a/../../secret", "/etc/passwd"] {
                assert!(is_refused(&read(root, path).unwrap_err()), "{path}");
            }
            for path in ["", ".", "a", "a/b/.."] {
                root.directory(Path::new(path)).unwrap();
                let error = read(root, path).unwrap_err();
                assert_eq!(error.kind(), std::io::ErrorKind::IsADirectory, "{path}");
            }
            let error = read(root, "a/none").unwrap_err();
            assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
            let error = read(root, "a/b/file/x").unwrap_err();
            assert_eq!(error.kind(), std::io::ErrorKind::NotADirectory);
        });
    }

    #[test]
    fn symlinks_that_stay_below_are_refused() {
        both_ways(|root, path| {
            symlink("b/file", path.join("a/link")).unwrap();
            symlink("a", path.join("directory")).unwrap();
            symlink("../../directory/link", path.join("a/b/chain")).unwrap();
            for name in ["a/link", "directory/b/file", "directory/link", "a/b/chain"] {
                assert!(is_refused(&read(root, name).unwrap_err()), "{name}");
            }
        });
    }

    #[test]
    fn symlinks_that_leave_or_never_end_are_refused() {
        both_ways(|root, path| {
            symlink("../secret", path.join("out")).unwrap();
            symlink("..", path.join("up")).unwrap();
            symlink(path.join("a"), path.join("absolute")).unwrap();
            symlink("loop", path.join("loop")).unwrap();
            symlink("/proc/self/root", path.join("magic")).unwrap();
            let names = [
                "out",
                "up/secret",
                "up/root/a/b/file",
                "absolute/b/file",
                "loop",
                "loop/x",
                "magic/etc",
            ];
            for name in names {
                assert!(is_refused(&read(root, name).unwrap_err()), "{name}");
            }
        });
    }

    #[test]
    fn only_regular_files_are_read_and_pipes_do_not_block() {
        both_ways(|root, path| {
            rustix::fs::mkfifoat(sys::CWD, path.join("pipe"), Mode::RUSR).unwrap();
            let error = read(root, "pipe").unwrap_err();
            assert_eq!(error.to_string(), "not a regular file");
        });
    }

    #[test]
    fn files_are_created_below_the_directory_only() {
        both_ways(|root, path| {
            symlink("..", path.join("up")).unwrap();
            symlink("../created", path.join("a/out")).unwrap();
            root.create(Path::new("a/b/new"), 0o600).unwrap();
            for name in ["up/new", "../new", "a/out", "a/b/new"] {
                root.create(Path::new(name), 0o600).unwrap_err();
            }
            assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 2);
        });
    }

    #[test]
    fn names_are_single_components() {
        both_ways(|root, path| {
            for name in ["a/b", "..", ".", "", "/", "a/"] {
                let name = OsStr::new(name);
                assert!(root.stat(name).is_err(), "{}", name.display());
                assert!(root.remove_directory(name).is_err());
                assert!(root.rename(OsStr::new("a"), name).is_err());
            }
            assert!(root.rename_new(OsStr::new("a"), OsStr::new("a")).is_err());
            root.rename_new(OsStr::new("a"), OsStr::new("c")).unwrap();
            assert!(path.join("c/b/file").is_file());
        });
    }
}
