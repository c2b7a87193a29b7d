//! A child process with everything that it starts: one process group, killed as a whole and reaped.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command};
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use crate::function::End;

/// How often a file that somebody still writes is tried, and how long between.
const BUSY: (u32, Duration) = (20, Duration::from_millis(10));

/// A child that leads a group of its own. Dropping it kills the group.
#[derive(Debug)]
pub(super) struct Group {
    child: Child,
    pid: Pid,
    /// Readable when the child ended; none where the system has no such thing.
    exit: Option<OwnedFd>,
    reaped: bool,
}

impl Group {
    pub(super) fn spawn(command: &mut Command) -> io::Result<Self> {
        command.process_group(0);
        let child = spawn(command)?;
        let pid = Pid::from_child(&child);
        Ok(Self { child, pid, exit: exit_of(pid), reaped: false })
    }

    pub(super) fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// What can be waited for together with the pipes.
    pub(super) fn exit(&self) -> Option<&OwnedFd> {
        self.exit.as_ref()
    }

    /// Whether the child ended. It stays a zombie, so that its number is nobody else's until the group is killed.
    pub(super) fn has_ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        match waitid(WaitId::Pid(self.pid), options) {
            Ok(status) => status.is_some(),
            Err(rustix::io::Errno::INTR) => false,
            // Somebody who ignores SIGCHLD has no zombies: it is gone.
            Err(_) => true,
        }
    }

    /// Asks the whole group to end.
    pub(super) fn ask(&self) {
        // It may be gone already, which is what was wanted.
        let _ = kill_process_group(self.pid, Signal::TERM);
    }

    pub(super) fn kill(&self) {
        let _ = kill_process_group(self.pid, Signal::KILL);
    }

    /// Kills what the child left behind, and learns how it ended.
    pub(super) fn reap(&mut self) -> io::Result<End> {
        self.kill();
        let status = self.child.wait();
        self.reaped = true;
        let status = status?;
        Ok(match (status.code(), status.signal()) {
            (Some(code), _) => End::Exit(code),
            (None, Some(signal)) => End::Signal(signal),
            (None, None) => return Err(io::Error::other("how it ended cannot be known")),
        })
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if !self.reaped {
            let _ = self.reap();
        }
    }
}

/// A script that was written a moment ago can be "busy", as another thread's child may still hold it open.
fn spawn(command: &mut Command) -> io::Result<Child> {
    let (times, pause) = BUSY;
    for _ in 1..times {
        match command.spawn() {
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy => {
                std::thread::sleep(pause);
            }
            other => return other,
        }
    }
    command.spawn()
}

#[cfg(target_os = "linux")]
fn exit_of(pid: Pid) -> Option<OwnedFd> {
    rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).ok()
}

#[cfg(not(target_os = "linux"))]
fn exit_of(_: Pid) -> Option<OwnedFd> {
    None
}
