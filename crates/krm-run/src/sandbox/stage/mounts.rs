//! Mounts of a root that is being built, by open directories: a symlink in an image leads nowhere but into the image.

use std::fs;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

use nix::mount::{MsFlags, mount};
use rustix::fs::{
    Mode, OFlags, ResolveFlags, StatVfsMountFlags, mkdirat, openat, openat2, statvfs,
};
use rustix::io::Errno;

use super::{Failure, failed};

/// The root of the host while the root of the image is built.
pub(super) const OLD: &str = "/old";
/// The root of the image.
pub(super) const NEW: &str = "/new";

/// What exists at a mount point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PointKind {
    Directory,
    File,
}

/// An open directory as the root of paths.
#[derive(Debug)]
pub(super) struct Root {
    fd: OwnedFd,
}

impl Root {
    pub(super) fn open(path: &str) -> Result<Self, Failure> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = rustix::fs::open(path, flags, Mode::empty())
            .map_err(failed(&format!("open {path}")))?;
        Ok(Self { fd })
    }

    /// Opens a path. Symlinks are followed as in a process that has this directory as its root.
    pub(super) fn resolve(&self, path: &Path) -> Result<OwnedFd, Errno> {
        let path = path.strip_prefix("/").unwrap_or(path);
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        openat2(
            &self.fd,
            path,
            OFlags::PATH | OFlags::CLOEXEC,
            Mode::empty(),
            ResolveFlags::IN_ROOT,
        )
    }

    /// Opens a mount point, which is created if it is missing.
    pub(super) fn point(&self, path: &Path, kind: PointKind) -> Result<OwnedFd, Failure> {
        let attempt =
            |error: Errno| Failure::new(format!("cannot create {}: {error}", path.display()));
        let mut current = PathBuf::from("/");
        let mut parent = self.resolve(&current).map_err(attempt)?;
        let mut names = path.components().peekable();
        while let Some(component) = names.next() {
            let name = match component {
                Component::RootDir | Component::CurDir => continue,
                Component::Normal(name) => name,
                _ => return Err(Failure::new(format!("invalid path {}", path.display()))),
            };
            current.push(name);
            let next = match self.resolve(&current) {
                Err(Errno::NOENT) => {
                    if names.peek().is_none() && kind == PointKind::File {
                        let flags =
                            OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NOFOLLOW;
                        openat(&parent, name, flags | OFlags::WRONLY, Mode::from_raw_mode(0o644))
                            .map_err(attempt)?;
                    } else {
                        mkdirat(&parent, name, Mode::from_raw_mode(0o755)).map_err(attempt)?;
                    }
                    self.resolve(&current)
                }
                found => found,
            };
            parent = next.map_err(attempt)?;
        }
        Ok(parent)
    }
}

/// A path that leads to an open file.
pub(super) fn path_of(fd: &OwnedFd) -> PathBuf {
    PathBuf::from(format!("{OLD}/proc/self/fd/{}", fd.as_raw_fd()))
}

/// Mounts a new file system, and returns its root.
pub(super) fn mount_new(
    new: &Root,
    path: &Path,
    (kind, options): (&str, &str),
    flags: MsFlags,
) -> Result<OwnedFd, Failure> {
    let point = new.point(path, PointKind::Directory)?;
    mount(Some(kind), &path_of(&point), Some(kind), flags, Some(options))
        .map_err(failed(&format!("mount {}", path.display())))?;
    new.resolve(path).map_err(failed(&format!("open {}", path.display())))
}

/// Mounts a file or directory of the host with everything that is mounted below it, without set-id programs and devices.
pub(super) fn mount_bind(
    new: &Root,
    (source, path): (&OwnedFd, &Path),
    is_writable: bool,
) -> Result<(), Failure> {
    let source = path_of(source);
    let is_directory = fs::metadata(&source).map_err(failed("read a mount"))?.is_dir();
    let kind = if is_directory { PointKind::Directory } else { PointKind::File };
    let point = new.point(path, kind)?;
    let flags = MsFlags::MS_BIND | MsFlags::MS_REC;
    mount(Some(&source), &path_of(&point), None::<&str>, flags, None::<&str>)
        .map_err(failed(&format!("mount {}", path.display())))?;
    let mounted = new.resolve(path).map_err(failed("open a mount"))?;
    // The flags of a mount do not apply to those below it.
    let top = fs::read_link(path_of(&mounted)).map_err(failed("find a mount"))?;
    for mounted in mounts_at(&top)? {
        remount(&mounted, is_writable)?;
    }
    Ok(())
}

/// The mount points at and below a path.
fn mounts_at(top: &Path) -> Result<Vec<PathBuf>, Failure> {
    use std::os::unix::ffi::OsStringExt;
    let listed = fs::read(format!("{OLD}/proc/self/mountinfo")).map_err(failed("list mounts"))?;
    let points = listed.split(|byte| *byte == b'\n').filter_map(|line| {
        let escaped = line.split(|byte| *byte == b' ').nth(4)?;
        Some(PathBuf::from(std::ffi::OsString::from_vec(unescaped(escaped))))
    });
    Ok(points.filter(|point| point.starts_with(top)).collect())
}

/// Spaces, tabs, line breaks and backslashes are octal numbers in the list of mounts.
fn unescaped(escaped: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(escaped.len());
    let mut at = 0;
    while at < escaped.len() {
        let number = escaped.get(at + 1..at + 4).filter(|_| escaped[at] == b'\\');
        let number =
            number.and_then(|it| u8::from_str_radix(std::str::from_utf8(it).ok()?, 8).ok());
        bytes.push(number.unwrap_or(escaped[at]));
        at += if number.is_some() { 4 } else { 1 };
    }
    bytes
}

/// Narrows the flags of a mount. Those that it has stay, because a user namespace may not remove them.
pub(super) fn remount(path: &Path, is_writable: bool) -> Result<(), Failure> {
    let attempt = format!("make {} read-only", path.display());
    let has = statvfs(path).map_err(failed(&attempt))?.f_flag;
    let mut flags = MsFlags::MS_REMOUNT | MsFlags::MS_BIND | MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    if !is_writable || has.contains(StatVfsMountFlags::RDONLY) {
        flags |= MsFlags::MS_RDONLY;
    }
    if has.contains(StatVfsMountFlags::NOEXEC) {
        flags |= MsFlags::MS_NOEXEC;
    }
    mount(None::<&str>, path, None::<&str>, flags, None::<&str>).map_err(failed(&attempt))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_of_the_list_of_mounts_are_read() {
        assert_eq!(unescaped(br"/a\040b\134040\09"), br"/a b\040\09");
    }
}
