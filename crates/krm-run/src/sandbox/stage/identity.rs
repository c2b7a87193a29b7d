//! Who the function is outside of its user namespace.
//!
//! A user other than root can map one identity, its own: to the kernel the function is that user, without capabilities and with nothing
//! but its own root to see. root maps itself, for the preparations, and the user of the function. It does not map itself to `nobody`: a
//! process that is root outside owns the files of `/proc/sys`, whatever it is called inside.

use std::fs;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};

use caps::{CapSet, Capability};
use rustix::process::{getgid, getuid};

use super::{ARGUMENT, FAILED, Failure, MAP, RUNNING_FILE, VERSION, failed};
use crate::sandbox::spec::Spec;

/// The user and group of this process. Inside a new namespace they are unknown until they are mapped.
#[derive(Clone, Copy, Debug)]
pub(super) struct Identity {
    user: u32,
    group: u32,
}

impl Identity {
    pub(super) fn current() -> Self {
        Self { user: getuid().as_raw(), group: getgid().as_raw() }
    }

    /// Maps this identity to that of the function, for this process, which has just entered a new user namespace.
    pub(super) fn map_to(self, spec: &Spec) -> Result<(), Failure> {
        let write = |name: &str, text: String| {
            let path = format!("/proc/self/{name}");
            fs::write(&path, text).map_err(|error| failed(&format!("write {path}"))(error))
        };
        // The kernel demands this before a user other than root may map a group.
        write("setgroups", "deny".to_owned())?;
        write("uid_map", format!("{} {} 1\n", spec.user, self.user))?;
        write("gid_map", format!("{} {} 1\n", spec.group, self.group))?;
        keep_capabilities()
    }
}

/// Passes on the capabilities in the new namespaces that process 1 needs: a user other than root would lose them when it starts.
fn keep_capabilities() -> Result<(), Failure> {
    let needed = [
        Capability::CAP_SYS_ADMIN,
        Capability::CAP_SETPCAP,
        Capability::CAP_NET_ADMIN,
        // For the directories that the kernel creates for an overlay.
        Capability::CAP_DAC_OVERRIDE,
        Capability::CAP_FOWNER,
    ];
    for set in [CapSet::Inheritable, CapSet::Ambient] {
        caps::set(None, set, &needed.into_iter().collect()).map_err(failed("keep capabilities"))?;
    }
    Ok(())
}

/// A process outside of the user namespace that maps identities for this one.
#[derive(Debug)]
pub(super) struct Mapper {
    process: Child,
}

impl Mapper {
    /// Starts the process, before this one enters its namespaces.
    pub(super) fn start(spec: &Spec) -> Result<Self, Failure> {
        let numbers = [std::process::id(), spec.user, spec.group].map(|it| it.to_string());
        let process = Command::new(RUNNING_FILE)
            .args([ARGUMENT, VERSION, MAP])
            .args(numbers)
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn();
        Ok(Self { process: process.map_err(failed("start a process"))? })
    }

    /// Maps the identities, after this process has entered its namespaces.
    pub(super) fn finish(mut self) -> Result<(), Failure> {
        if let Some(mut pipe) = self.process.stdin.take() {
            pipe.write_all(b"\n").map_err(failed("map users"))?;
        }
        let output = self.process.wait_with_output().map_err(failed("map users"))?;
        match output.status.success() {
            true => Ok(()),
            false => {
                let reason = String::from_utf8_lossy(&output.stderr);
                Err(Failure::new(format!("cannot map users: {}", reason.trim())))
            }
        }
    }
}

/// The process of a [`Mapper`]: waits for a byte, and maps root and the user of the function.
pub(super) fn serve_map(arguments: &[&str]) -> u8 {
    let [pid, user, group] = arguments else { return FAILED };
    let mut byte = [0];
    // Without a byte the other process has ended before it entered its namespaces.
    if !matches!(std::io::stdin().read(&mut byte), Ok(1)) {
        return FAILED;
    }
    let map = |name: &str, id: &str| {
        fs::write(format!("/proc/{pid}/{name}"), format!("0 0 1\n{id} {id} 1\n"))
    };
    match map("uid_map", user).and_then(|()| map("gid_map", group)) {
        Ok(()) => 0,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "{error}");
            FAILED
        }
    }
}
