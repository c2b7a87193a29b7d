//! A child process and its descendants as one process group, which is killed as a whole and reaped.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command};
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use crate::ExecutionEnd;

/// How often and at which interval a busy executable is retried.
const BUSY_RETRIES: (u32, Duration) = (20, Duration::from_millis(10));

/// A child that leads its own process group. Dropping it kills the group.
///
/// Killing only the child would leave its own children behind: a shell script that is stopped in the middle of `sleep` or
/// of a container engine's client.
#[derive(Debug)]
pub(super) struct Group {
    child: Child,
    pid: Pid,
    /// A pidfd, which is readable when the child has exited; none where the system has none.
    exit_fd: Option<OwnedFd>,
    reaped: bool,
}

impl Group {
    pub(super) fn spawn(command: &mut Command) -> io::Result<Self> {
        command.process_group(0);
        let child = spawn(command)?;
        let pid = Pid::from_child(&child);
        Ok(Self { child, pid, exit_fd: open_exit_fd(pid), reaped: false })
    }

    pub(super) fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// A file descriptor that can be polled together with the pipes.
    pub(super) fn exit_fd(&self) -> Option<&OwnedFd> {
        self.exit_fd.as_ref()
    }

    /// Whether the child has exited. It stays a zombie (`NOWAIT`), so that its process id, which is the id of the group,
    /// cannot be reused until the group is killed.
    pub(super) fn has_exited(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        match waitid(WaitId::Pid(self.pid), options) {
            Ok(status) => status.is_some(),
            Err(rustix::io::Errno::INTR) => false,
            // Where SIGCHLD is ignored there are no zombies: the child is gone.
            Err(_) => true,
        }
    }

    /// Sends SIGTERM to the whole group.
    pub(super) fn terminate(&self) {
        // An error means that the group is gone already.
        let _ = kill_process_group(self.pid, Signal::TERM);
    }

    /// Sends SIGKILL to the whole group.
    pub(super) fn kill(&self) {
        let _ = kill_process_group(self.pid, Signal::KILL);
    }

    /// Kills what the child left behind, and reads its exit status.
    pub(super) fn reap(&mut self) -> io::Result<ExecutionEnd> {
        self.kill();
        let status = self.child.wait();
        self.reaped = true;
        let status = status?;
        Ok(match (status.code(), status.signal()) {
            (Some(code), _) => ExecutionEnd::Exited(code),
            (None, Some(signal)) => ExecutionEnd::Signaled(signal),
            (None, None) => return Err(io::Error::other("the exit status is unknown")),
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

/// Starts the command, and retries while the executable is busy (`ETXTBSY`): a child that another thread forked a moment
/// ago may still hold a script open that was just written.
fn spawn(command: &mut Command) -> io::Result<Child> {
    let (times, pause) = BUSY_RETRIES;
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
fn open_exit_fd(pid: Pid) -> Option<OwnedFd> {
    rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).ok()
}

#[cfg(not(target_os = "linux"))]
fn open_exit_fd(_: Pid) -> Option<OwnedFd> {
    None
}
