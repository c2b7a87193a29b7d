//! The state of a file on disk, to notice that another program changed it.

use std::fs::Metadata;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Timestamps are only as fine as the clock tick of the kernel, at most 10 ms.
const TICK: Duration = Duration::from_millis(20);

/// Some file systems store whole seconds, FAT two of them.
const COARSE: Duration = Duration::from_secs(2);

/// What changes whenever a file is replaced, written, or given other permissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileState {
    device: u64,
    inode: u64,
    size: u64,
    /// How many names the file has.
    links: u64,
    /// When the content was written, in seconds and nanoseconds.
    modified: (i64, i64),
    /// When content or metadata were written. No program can set this time.
    changed: (i64, i64),
}

#[cfg(unix)]
impl FileState {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.size(),
            links: metadata.nlink(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }

    /// The same for the result of a system call. The types of its fields differ between platforms.
    #[allow(clippy::unnecessary_cast)]
    pub(crate) fn of_stat(stat: &rustix::fs::Stat) -> Self {
        Self {
            device: stat.st_dev as u64,
            inode: stat.st_ino as u64,
            size: stat.st_size as u64,
            links: stat.st_nlink as u64,
            modified: (stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            changed: (stat.st_ctime as i64, stat.st_ctime_nsec as i64),
        }
    }
}

#[cfg(not(unix))]
impl FileState {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        let since = |time: SystemTime| time.duration_since(UNIX_EPOCH).unwrap_or_default();
        let modified = metadata.modified().map(since).unwrap_or_default();
        let modified = (modified.as_secs() as i64, i64::from(modified.subsec_nanos()));
        Self { device: 0, inode: 0, size: metadata.len(), links: 1, modified, changed: modified }
    }
}

impl FileState {
    /// Whether the next write is certain to change the state. A file that was written a moment ago can be written again within the
    /// same tick of the clock, which leaves the same times.
    pub(crate) fn is_settled(&self) -> bool {
        self.is_settled_at(SystemTime::now())
    }

    /// Whether every write after a time is certain to change the state.
    pub(crate) fn is_settled_at(&self, time: SystemTime) -> bool {
        let (seconds, nanoseconds) = self.modified.max(self.changed);
        let is_coarse = self.modified.1 == 0 && self.changed.1 == 0;
        let written = UNIX_EPOCH
            + Duration::from_secs(seconds.try_into().unwrap_or(0))
            + Duration::from_nanos(nanoseconds.try_into().unwrap_or(0));
        let age = time.duration_since(written);
        // A time in the future comes from another clock, such as that of a file server.
        age.is_ok_and(|age| age > if is_coarse { COARSE } else { TICK })
    }

    /// The state as numbers, to store it.
    pub(crate) fn numbers(&self) -> [u64; 8] {
        let [(a, b), (c, d)] = [self.modified, self.changed];
        let [a, b, c, d] = [a, b, c, d].map(i64::cast_unsigned);
        [self.device, self.inode, self.size, self.links, a, b, c, d]
    }

    /// The state that was stored.
    pub(crate) fn from_numbers([device, inode, size, links, a, b, c, d]: [u64; 8]) -> Self {
        let [a, b, c, d] = [a, b, c, d].map(u64::cast_signed);
        Self { device, inode, size, links, modified: (a, b), changed: (c, d) }
    }

    /// The device and inode, which all hard links of a file share; none where the system has none.
    pub(crate) fn file_id(&self) -> Option<(u64, u64)> {
        (self.inode != 0).then_some((self.device, self.inode))
    }

    /// Whether there are other hard links to the file.
    pub(crate) fn has_other_names(&self) -> bool {
        self.links > 1
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::ffi::OsStr;
    use std::fs;

    use super::super::root::Directory;
    use super::*;

    #[test]
    fn both_system_calls_return_the_same_state() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        fs::write(&path, "content").unwrap();
        let opened = Directory::open(directory.path()).unwrap();
        let state = opened.stat(OsStr::new("file")).unwrap();
        assert_eq!(state, FileState::of(&fs::metadata(&path).unwrap()));
    }

    #[test]
    fn state_is_settled_once_the_clock_moved_on() {
        let state = |modified: (i64, i64)| FileState {
            device: 1,
            inode: 1,
            size: 1,
            links: 1,
            modified,
            changed: modified,
        };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let now = i64::try_from(now.as_secs()).unwrap();
        assert!(state((now - 10, 0)).is_settled());
        assert!(state((now - 1, 1)).is_settled() || state((now - 2, 1)).is_settled());
        assert!(!state((now - 1, 0)).is_settled(), "whole seconds");
        assert!(!state((now + 60, 5)).is_settled(), "another clock");
    }
}
