//! Finds the process that holds a lock, where the system shows it.

/// Another process that holds a lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Holder {
    pub(super) pid: u32,
    /// The program and its subcommands; none where another user's command line is not visible.
    pub(super) command: Option<String>,
}

impl std::fmt::Display for Holder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.command {
            Some(command) => write!(f, "`{command}` (process {})", self.pid),
            None => write!(f, "process {}", self.pid),
        }
    }
}

/// How many arguments of a command line are shown at most. Only those before the first flag or path: the rest may be confidential.
#[cfg(target_os = "linux")]
const MOST_ARGUMENTS: usize = 3;

#[cfg(target_os = "linux")]
mod system {
    use std::fs;
    use std::os::unix::fs::MetadataExt;

    use super::{Holder, MOST_ARGUMENTS};

    /// The first other process that holds a lock on the file.
    pub(crate) fn of(file: &fs::File) -> Option<Holder> {
        let metadata = file.metadata().ok()?;
        let locks = fs::read_to_string("/proc/locks").ok()?;
        let id = inode(metadata.dev(), metadata.ino());
        let pid = pids(&locks, &id).find(|pid| *pid != std::process::id())?;
        Some(Holder { pid, command: command(pid) })
    }

    /// Whether a process is an ancestor of this one.
    pub(crate) fn is_ancestor(pid: u32) -> bool {
        let mut at = std::process::id();
        // A limit in case of a race: no chain of processes is this long.
        for _ in 0..1000 {
            let Some(parent) = parent(at) else { return false };
            if parent == pid {
                return true;
            }
            at = parent;
        }
        false
    }

    fn parent(pid: u32) -> Option<u32> {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("PPid:"))?;
        line.trim().parse().ok().filter(|parent| *parent != 0)
    }

    /// The id of a file in `/proc/locks`.
    pub(super) fn inode(device: u64, inode: u64) -> String {
        let major = (device >> 8) & 0xfff | (device >> 32) & !0xfff;
        let minor = device & 0xff | (device >> 12) & 0xffff_ff00;
        format!("{major:02x}:{minor:02x}:{inode}")
    }

    /// The processes that hold a lock on the file. Lines of waiting processes have an arrow in the second column.
    pub(super) fn pids<'a>(locks: &'a str, id: &'a str) -> impl Iterator<Item = u32> + 'a {
        locks.lines().filter_map(move |line| {
            let columns: Vec<&str> = line.split_whitespace().collect();
            match columns.as_slice() {
                [_, "FLOCK", _, _, pid, file, ..] if *file == id => pid.parse().ok(),
                _ => None,
            }
        })
    }

    fn command(pid: u32) -> Option<String> {
        let bytes = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let text = String::from_utf8_lossy(&bytes);
        let mut arguments = text.split('\0').filter(|argument| !argument.is_empty());
        let program = arguments.next()?.rsplit('/').next()?.to_owned();
        let is_plain = |argument: &&str| argument.chars().all(|c| c.is_ascii_alphanumeric());
        let subcommands =
            arguments.take_while(is_plain).take(MOST_ARGUMENTS - 1).map(str::to_owned);
        Some(std::iter::once(program).chain(subcommands).collect::<Vec<_>>().join(" "))
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use super::Holder;

    /// Only Linux shows the holders of locks.
    pub(crate) fn of(_: &std::fs::File) -> Option<Holder> {
        None
    }

    /// Only Linux shows the holders of locks.
    pub(crate) fn is_ancestor(_: u32) -> bool {
        false
    }
}

pub(super) use system::{is_ancestor, of};

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn waiting_processes_do_not_hold_the_lock() {
        let locks = "1: FLOCK  ADVISORY  WRITE 77 fe:00:12 0 EOF\n1: -> FLOCK  ADVISORY  WRITE 78 fe:00:12 0 EOF\n2: POSIX  ADVISORY  READ 79 fe:00:12 0 EOF\n";
        assert_eq!(system::pids(locks, "fe:00:12").collect::<Vec<_>>(), [77]);
        assert_eq!(system::inode(0xfe00, 12), "fe:00:12");
    }

    #[test]
    fn the_one_who_started_us_is_ancestor() {
        assert!(is_ancestor(std::os::unix::process::parent_id()));
        assert!(!is_ancestor(std::process::id()));
    }
}
