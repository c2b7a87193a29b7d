//! The sandbox built by `bwrap`, for systems that allow it to that program only: the same store, mounts, limits and filter.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use nix::fcntl::{FcntlArg, FdFlag, OFlag, fcntl};

use super::enter::{close_inherited_files, die_with_parent};
use super::{Failure, confine, exit_code, failed, system_calls};
use crate::sandbox::spec::Spec;

/// The sizes of file systems in memory, as in [`super::root`].
const TMP_SIZE: &str = "268435456";

pub(super) fn run(spec: &Spec) -> Result<u8, Failure> {
    die_with_parent(spec)?;
    close_inherited_files()?;
    for file in &spec.cgroup_files {
        std::fs::write(file, "0").map_err(failed("join the control group"))?;
    }
    confine::limit_resources(spec)?;
    let filter = filter()?;
    // Not on the command line, which other users can read: variables are among them.
    let options = memory_file(&arguments(spec)?)?;
    let (status, status_writer) =
        nix::unistd::pipe2(OFlag::O_CLOEXEC).map_err(failed("create a pipe"))?;
    for inherited in [&filter, &options, &status_writer] {
        fcntl(inherited, FcntlArg::F_SETFD(FdFlag::empty())).map_err(failed("pass a file"))?;
    }
    let mut command = Command::new(&spec.bubblewrap);
    command.env_clear().arg("--args").arg(options.as_raw_fd().to_string());
    command.arg("--seccomp").arg(filter.as_raw_fd().to_string());
    command.arg("--json-status-fd").arg(status_writer.as_raw_fd().to_string());
    command.arg("--").args(&spec.command);
    let started = command.spawn();
    drop((filter, options, status_writer));
    let mut child = started.map_err(failed("start bwrap"))?;
    let _ = [0, 1].map(nix::unistd::close);
    let ended = child.wait().map_err(failed("wait for bwrap"))?;
    let mut text = String::new();
    File::from(status).read_to_string(&mut text).map_err(failed("read the status of bwrap"))?;
    // bwrap writes the exit code of the program only if it started one.
    match text.contains("\"exit-code\"") {
        true => Ok(exit_code(ended)),
        false => Err(Failure::new(format!("bwrap exited with code {}", exit_code(ended)))),
    }
}

/// The filter as the kernel reads it.
fn filter() -> Result<OwnedFd, Failure> {
    let program = system_calls::program().map_err(failed("filter system calls"))?;
    let mut bytes = Vec::with_capacity(program.len() * 8);
    for instruction in program {
        bytes.extend_from_slice(&instruction.code.to_ne_bytes());
        bytes.extend_from_slice(&[instruction.jt, instruction.jf]);
        bytes.extend_from_slice(&instruction.k.to_ne_bytes());
    }
    memory_file(&bytes)
}

/// A file without a name with this content, from its start.
fn memory_file(content: &[u8]) -> Result<OwnedFd, Failure> {
    let flags = rustix::fs::MemfdFlags::CLOEXEC;
    let memory = rustix::fs::memfd_create("bwrap", flags).map_err(failed("create a file"))?;
    let mut file = File::from(memory);
    file.write_all(content).and_then(|()| file.rewind()).map_err(failed("create a file"))?;
    Ok(file.into())
}

/// The options of bwrap, each ended by a zero byte.
fn arguments(spec: &Spec) -> Result<Vec<u8>, Failure> {
    let mut arguments: Vec<u8> = Vec::new();
    let mut add = |parts: &[&dyn AsRef<OsStr>]| {
        for part in parts {
            arguments.extend_from_slice(part.as_ref().as_bytes());
            arguments.push(0);
        }
    };
    add(&[&"--unshare-user", &"--unshare-ipc", &"--unshare-pid", &"--unshare-uts"]);
    if !spec.has_network {
        add(&[&"--unshare-net"]);
    }
    add(&[&"--die-with-parent", &"--new-session", &"--cap-drop", &"ALL", &"--hostname", &"krm"]);
    add(&[&"--uid", &spec.user.to_string(), &"--gid", &spec.group.to_string()]);
    for entry in entries(&spec.root)? {
        let (source, target) = (spec.root.join(&entry), Path::new("/").join(&entry));
        match std::fs::read_link(&source) {
            Ok(link) => add(&[&"--symlink", &link, &target]),
            Err(_) => add(&[&"--ro-bind", &source, &target]),
        }
    }
    add(&[&"--proc", &"/proc", &"--dev", &"/dev"]);
    let mut add_tmpfs = |target: &Path| {
        add(&[&"--perms", &"1777", &"--size", &TMP_SIZE, &"--tmpfs", &target]);
    };
    add_tmpfs(Path::new("/tmp"));
    for mount in spec.mounts.iter().filter(|mount| mount.source.is_none()) {
        add_tmpfs(&mount.target);
    }
    for mount in &spec.mounts {
        let Some(source) = &mount.source else { continue };
        let flag = if mount.is_writable { "--bind" } else { "--ro-bind" };
        add(&[&flag, source, &mount.target]);
    }
    if spec.has_network {
        for name in ["/etc/resolv.conf", "/etc/hosts"] {
            add(&[&"--ro-bind-try", &name, &name]);
        }
    }
    for variable in &spec.variables {
        let bytes = variable.as_bytes();
        let at = bytes.iter().position(|byte| *byte == b'=').unwrap_or(bytes.len());
        let value = OsStr::from_bytes(bytes.get(at + 1..).unwrap_or_default());
        add(&[&"--setenv", &OsStr::from_bytes(&bytes[..at]), &value]);
    }
    add(&[&"--remount-ro", &"/", &"--chdir", &spec.working_directory]);
    Ok(arguments)
}

/// The names in the root of the image, in a fixed order. Those that are mounted anew are left out.
fn entries(root: &Path) -> Result<Vec<PathBuf>, Failure> {
    let listed = std::fs::read_dir(root).map_err(failed("read the image"))?;
    let mut names: Vec<PathBuf> = listed
        .map(|entry| Ok(entry?.file_name().into()))
        .collect::<std::io::Result<_>>()
        .map_err(failed("read the image"))?;
    names.retain(|name| !["proc", "dev", "tmp"].iter().any(|own| name == Path::new(own)));
    names.sort();
    Ok(names)
}
