//! A control group for one function, where krm may create one: it limits memory and processes of the function as a whole.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use crate::Limits;

const MOUNT: &str = "/sys/fs/cgroup";
/// The prefix of the names of groups: the process id of krm and a number follow.
const PREFIX: &str = "krm-function-";
/// How often and at which interval the removal of a group is tried: its last process may not be gone completely.
const ATTEMPTS: (u32, Duration) = (20, Duration::from_millis(2));

/// The directories of a group, one per hierarchy. Dropping it removes them.
#[derive(Debug)]
pub(crate) struct Group {
    directories: Vec<PathBuf>,
}

impl Group {
    /// Creates a group; none where that is not allowed.
    pub(super) fn create(limits: &Limits) -> Option<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("{PREFIX}{}-{number}", std::process::id());
        let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
        let (memory, processes) = (limits.memory.to_string(), limits.processes.to_string());
        match (hierarchy(&groups, "memory"), hierarchy(&groups, "pids")) {
            (Some(memory_parent), Some(pids_parent)) => {
                let mut group = Self { directories: Vec::new() };
                let directory = group.add(&memory_parent, &name)?;
                fs::write(directory.join("memory.limit_in_bytes"), &memory).ok()?;
                // Where swap is counted.
                let _ = fs::write(directory.join("memory.memsw.limit_in_bytes"), &memory);
                let directory = group.add(&pids_parent, &name)?;
                fs::write(directory.join("pids.max"), &processes).ok()?;
                Some(group)
            }
            _ => {
                let own = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
                let parents = [Path::new(MOUNT).join(own), MOUNT.into()];
                let parent = parents.iter().find(|parent| distributes(parent))?;
                let mut group = Self { directories: Vec::new() };
                let directory = group.add(parent, &name)?;
                fs::write(directory.join("memory.max"), &memory).ok()?;
                let _ = fs::write(directory.join("memory.swap.max"), "0");
                fs::write(directory.join("pids.max"), &processes).ok()?;
                Some(group)
            }
        }
    }

    fn add(&mut self, parent: &Path, name: &str) -> Option<PathBuf> {
        let directory = parent.join(name);
        if fs::create_dir(&directory).is_err() {
            return None;
        }
        remove_stale(parent);
        self.directories.push(directory.clone());
        Some(directory)
    }

    /// The files by which a process joins the group.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        self.directories.iter().map(|directory| directory.join("cgroup.procs")).collect()
    }
}

/// The directory of a hierarchy of version 1 in which krm itself is.
fn hierarchy(groups: &str, controller: &str) -> Option<PathBuf> {
    let path = groups.lines().find_map(|line| {
        let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
        controllers.split(',').any(|it| it == controller).then_some(path)
    })?;
    let directory = Path::new(MOUNT).join(controller).join(path.trim_start_matches('/'));
    directory.is_dir().then_some(directory)
}

/// Whether groups in this directory of version 2 have limits. Only the root may have processes as well.
fn distributes(directory: &Path) -> bool {
    let read = |name: &str| fs::read_to_string(directory.join(name)).unwrap_or_default();
    let control = read("cgroup.subtree_control");
    let has = |name: &str| control.split_whitespace().any(|it| it == name);
    has("memory") && has("pids")
}

/// Removes groups of processes that were killed. A group with processes cannot be removed.
fn remove_stale(parent: &Path) {
    let names = fs::read_dir(parent).into_iter().flatten().flatten().map(|it| it.file_name());
    for name in names {
        let pid = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.split('-').next());
        let is_stale = pid.is_some_and(|pid| !Path::new("/proc").join(pid).exists());
        if is_stale {
            let _ = fs::remove_dir(parent.join(&name));
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for directory in &self.directories {
            let (times, pause) = ATTEMPTS;
            for _ in 0..times {
                if fs::remove_dir(directory).is_ok() {
                    break;
                }
                thread::sleep(pause);
            }
        }
    }
}
