//! The directory that a journal was written for. A journal that came with a clone or a copy belongs to another one.

use std::io;
use std::time::UNIX_EPOCH;

use super::random_number;
use super::root::Directory;

/// What identifies a directory on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    device: u64,
    inode: u64,
    /// When the directory was created, in nanoseconds, where the file system stores it.
    created: Option<u128>,
    /// A random number that the directory carries as long as the journal is in effect, where the file system supports that.
    mark: Option<u64>,
}

impl Identity {
    /// Gives a directory a new mark.
    pub(super) fn mark(directory: &Directory) -> io::Result<Self> {
        let mark = random_number();
        let mark = mark_attribute::set(directory, mark).then_some(mark);
        Ok(Self { mark, ..Self::without_mark(directory)? })
    }

    /// Removes the mark.
    pub(super) fn unmark(directory: &Directory) {
        mark_attribute::remove(directory);
    }

    /// The directory as it is now.
    pub(super) fn of(directory: &Directory) -> io::Result<Self> {
        Ok(Self { mark: mark_attribute::get(directory), ..Self::without_mark(directory)? })
    }

    /// Without an inode, the time of creation is all that is known.
    #[cfg(not(unix))]
    fn without_mark(directory: &Directory) -> io::Result<Self> {
        let created = directory.as_file().metadata()?.created().ok();
        let created = created.and_then(|it| it.duration_since(UNIX_EPOCH).ok());
        Ok(Self { device: 0, inode: 0, created: created.map(|it| it.as_nanos()), mark: None })
    }

    #[cfg(unix)]
    fn without_mark(directory: &Directory) -> io::Result<Self> {
        use std::os::unix::fs::MetadataExt;
        let metadata = directory.as_file().metadata()?;
        let created = metadata.created().ok().and_then(|it| it.duration_since(UNIX_EPOCH).ok());
        let created = created.map(|since| since.as_nanos());
        Ok(Self { device: metadata.dev(), inode: metadata.ino(), created, mark: None })
    }

    /// Whether this identity was recorded for a directory.
    ///
    /// The device number is compared only if there is nothing better: it can change when a file system is mounted again, and a journal
    /// must survive the restart after a crash.
    pub(super) fn is_of(&self, directory: &Directory) -> io::Result<bool> {
        let now = Self::of(directory)?;
        let is_unique = self.mark.is_some() || self.created.is_some();
        // A journal that leaves out what the directory has was not written here.
        let is_same = (self.inode, self.created, self.mark) == (now.inode, now.created, now.mark);
        Ok(is_same && (is_unique || self.device == now.device))
    }

    /// The line of the journal.
    pub(super) fn to_line(&self) -> String {
        let created = self.created.map_or("-".to_owned(), |created| format!("{created:x}"));
        let mark = self.mark.map_or("-".to_owned(), |mark| format!("{mark:016x}"));
        format!("directory {:x} {:x} {created} {mark}", self.device, self.inode)
    }

    pub(super) fn from_line(line: &str) -> Option<Self> {
        let number = |text: &str| u64::from_str_radix(text, 16).ok();
        let columns: Vec<&str> = line.split(' ').collect();
        let ["directory", device, inode, created, mark] = columns.as_slice() else { return None };
        let created = match *created {
            "-" => None,
            created => Some(u128::from_str_radix(created, 16).ok()?),
        };
        let mark = if *mark == "-" { None } else { Some(number(mark)?) };
        Some(Self { device: number(device)?, inode: number(inode)?, created, mark })
    }
}

/// The mark is an extended attribute: it is not a file that could be committed, and neither `git` nor a plain copy carries it along.
#[cfg(target_os = "linux")]
mod mark_attribute {
    use rustix::fs::{XattrFlags, fgetxattr, fremovexattr, fsetxattr};

    use super::Directory;

    const NAME: &str = "user.krm.journal";

    pub(super) fn set(directory: &Directory, mark: u64) -> bool {
        fsetxattr(directory, NAME, &mark.to_le_bytes(), XattrFlags::empty()).is_ok()
    }

    pub(super) fn get(directory: &Directory) -> Option<u64> {
        let mut bytes = [0; 8];
        let length = fgetxattr(directory, NAME, &mut bytes[..]).ok()?;
        (length == bytes.len()).then_some(u64::from_le_bytes(bytes))
    }

    /// A mark that stays is harmless: the next journal gets a new one.
    pub(super) fn remove(directory: &Directory) {
        let _ = fremovexattr(directory, NAME);
    }
}

#[cfg(not(target_os = "linux"))]
mod mark_attribute {
    use super::Directory;

    pub(super) fn set(_: &Directory, _: u64) -> bool {
        false
    }

    pub(super) fn get(_: &Directory) -> Option<u64> {
        None
    }

    pub(super) fn remove(_: &Directory) {}
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn identity_round_trips() {
        for (created, mark) in [(None, None), (Some(u128::MAX), Some(7)), (Some(5), None)] {
            let identity = Identity { device: 1, inode: u64::MAX, created, mark };
            assert_eq!(Identity::from_line(&identity.to_line()), Some(identity));
        }
        for line in ["directory 1 2 3", "directory 1 2 3 x", "directory 1 2 - - -", ""] {
            assert_eq!(Identity::from_line(line), None, "{line}");
        }
    }

    #[test]
    fn another_directory_has_another_identity() {
        let (a, b) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let [a, b] = [a.path(), b.path()].map(|path| Directory::open(path).unwrap());
        let identity = Identity::mark(&a).unwrap();
        assert!(identity.is_of(&a).unwrap());
        assert!(!identity.is_of(&b).unwrap());
        Identity::unmark(&a);
        assert_eq!(identity.is_of(&a).unwrap(), identity.mark.is_none(), "the journal ended");
    }

    #[test]
    fn device_counts_only_where_nothing_else_is_known() {
        let directory = tempfile::tempdir().unwrap();
        let directory = Directory::open(directory.path()).unwrap();
        let now = Identity::without_mark(&directory).unwrap();
        let is_unique = now.created.is_some();
        let remounted = Identity { device: now.device + 1, ..now };
        assert_eq!(remounted.is_of(&directory).unwrap(), is_unique);
        let guessed = Identity { created: None, device: remounted.device - 1, ..remounted };
        assert_eq!(guessed.is_of(&directory).unwrap(), !is_unique, "nothing may be left out");
    }
}
