//! The first stage: enters new namespaces, starts process 1 in them, and waits for it.

use std::process::Command;

use nix::sched::{CloneFlags, unshare};
use rustix::process::{Signal, getppid, getuid, set_parent_process_death_signal};

use super::group::Join;
use super::identity::{Identity, Mapper};
use super::{ARGUMENT, Failure, INIT, RUNNING_FILE, VERSION, exit_code, failed};
use crate::sandbox::spec::Spec;

/// All namespaces but the network.
const NAMESPACES: [CloneFlags; 5] = [
    CloneFlags::CLONE_NEWUSER,
    CloneFlags::CLONE_NEWNS,
    CloneFlags::CLONE_NEWPID,
    CloneFlags::CLONE_NEWIPC,
    CloneFlags::CLONE_NEWUTS,
];

pub(super) fn enter(spec: &Spec) -> Result<u8, Failure> {
    die_with_parent(spec)?;
    close_inherited_files()?;
    // Only a process outside of the new user namespace may map a second identity, and only if it is root.
    let mapper = match getuid().is_root() && spec.user != 0 {
        true => Some(Mapper::start(spec)?),
        false => None,
    };
    let identity = Identity::current();
    let mut flags: CloneFlags = NAMESPACES.into_iter().collect();
    if !spec.has_network {
        flags |= CloneFlags::CLONE_NEWNET;
    }
    unshare(flags).map_err(failed("create namespaces"))?;
    match mapper {
        Some(mapper) => mapper.finish()?,
        None => identity.map_to(spec)?,
    }
    let join = Join::new(spec)?;
    let mut child = Command::new(RUNNING_FILE)
        .args([ARGUMENT, VERSION, INIT, &std::process::id().to_string(), &join.number()])
        .spawn()
        .map_err(failed("start process 1"))?;
    join.finish(child.id());
    // The pipes belong to the function: what it closes is closed.
    let _ = [0, 1].map(nix::unistd::close);
    let status = child.wait().map_err(failed("wait for process 1"))?;
    Ok(exit_code(status))
}

/// Ends this process when krm ends, however that happens.
pub(super) fn die_with_parent(spec: &Spec) -> Result<(), Failure> {
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(failed("watch krm"))?;
    let parent = getppid().map(|pid| pid.as_raw_nonzero().get().unsigned_abs());
    match parent == Some(spec.parent) {
        true => Ok(()),
        false => Err(Failure::new("krm has ended")),
    }
}

/// Closes files that whatever started krm left open. krm's own are closed when a program starts.
pub(super) fn close_inherited_files() -> Result<(), Failure> {
    let listed = std::fs::read_dir("/proc/self/fd").map_err(failed("list open files"))?;
    // The directory is one of them, and closed after the list is complete.
    let names: Vec<_> = listed.flatten().map(|entry| entry.file_name()).collect();
    let numbers = names.iter().filter_map(|name| name.to_str()?.parse::<i32>().ok());
    for number in numbers.filter(|number| *number > 2) {
        let _ = nix::unistd::close(number);
    }
    Ok(())
}
