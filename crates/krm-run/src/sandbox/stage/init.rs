//! Process 1 of the sandbox: builds the root, gives up everything, and becomes the program of the image.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::process::CommandExt;
use std::process::Command;

use nix::sys::socket::{
    AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, sendto, socket,
};
use rustix::process::{Signal, set_parent_process_death_signal, setsid};

use super::group::Joining;
use super::{Failure, confine, failed, root};
use crate::sandbox::spec::Spec;

/// The name of the machine inside: always the same, so that a function cannot depend on it.
const HOST_NAME: &str = "krm";

pub(super) fn init(spec: &Spec, parent: &str, pipe: &str) -> Result<u8, Failure> {
    // Of the host's /proc: the parent is outside of the new one.
    let mut status = File::open("/proc/self/status").map_err(failed("open /proc/self/status"))?;
    die_with(parent, &mut status)?;
    let joining = Joining::take(pipe)?;
    // Without a terminal there is none to type into.
    setsid().map_err(failed("start a session"))?;
    let facts = root::build(spec)?;
    nix::unistd::sethostname(HOST_NAME).map_err(failed("set the host name"))?;
    if !spec.has_network {
        enable_loopback().map_err(failed("enable the loopback interface"))?;
    }
    joining.wait()?;
    confine::drop_privileges(spec)?;
    // A change of the user resets the signal.
    die_with(parent, &mut status)?;
    drop(status);
    confine::limit_resources(spec)?;
    super::system_calls::install().map_err(failed("filter system calls"))?;
    if spec.is_check {
        let text = format!("proc: {}\n", facts.has_proc);
        return match std::io::stdout().write_all(text.as_bytes()) {
            Ok(()) => Ok(0),
            Err(error) => Err(Failure::new(error)),
        };
    }
    Err(become_program(spec))
}

/// Replaces this process. Returns only if that fails.
fn become_program(spec: &Spec) -> Failure {
    let Some((program, arguments)) = spec.command.split_first() else {
        return Failure { is_program: true, message: "the image has no command".to_owned() };
    };
    let mut command = Command::new(program);
    command.args(arguments).env_clear().current_dir(&spec.working_directory);
    for variable in &spec.variables {
        use std::os::unix::ffi::OsStrExt;
        let bytes = variable.as_bytes();
        let at = bytes.iter().position(|byte| *byte == b'=').unwrap_or(bytes.len());
        let name = std::ffi::OsStr::from_bytes(&bytes[..at]);
        let value = std::ffi::OsStr::from_bytes(bytes.get(at + 1..).unwrap_or_default());
        command.env(name, value);
    }
    let error = command.exec();
    let message = format!("cannot start `{}`: {error}", program.to_string_lossy());
    Failure { is_program: true, message }
}

/// Ends this process when the first stage ends, and with it the whole namespace.
fn die_with(parent: &str, status: &mut File) -> Result<(), Failure> {
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(failed("watch the first stage"))?;
    // It may have ended before the signal was set.
    let mut text = String::new();
    let read = status.seek(SeekFrom::Start(0)).and_then(|_| status.read_to_string(&mut text));
    read.map_err(failed("read /proc/self/status"))?;
    let current = text.lines().find_map(|line| line.strip_prefix("PPid:"));
    match current.is_some_and(|current| current.trim() == parent) {
        true => Ok(()),
        false => Err(Failure::new("the first stage has ended")),
    }
}

/// Switches the loopback interface on, as container engines do: a request over netlink, which has no safe wrapper.
fn enable_loopback() -> nix::Result<()> {
    const RTM_NEWLINK: u16 = 16;
    const NLM_F_REQUEST: u16 = 1;
    const LOOPBACK: i32 = 1;
    const IFF_UP: u32 = 1;
    let mut message = Vec::with_capacity(32);
    // Header: length, type, flags, sequence, port.
    message.extend_from_slice(&32_u32.to_ne_bytes());
    message.extend_from_slice(&RTM_NEWLINK.to_ne_bytes());
    message.extend_from_slice(&NLM_F_REQUEST.to_ne_bytes());
    message.extend_from_slice(&[0; 8]);
    // Interface: family, padding and type; index, flags, which flags to change.
    message.extend_from_slice(&[0; 4]);
    message.extend_from_slice(&LOOPBACK.to_ne_bytes());
    message.extend_from_slice(&IFF_UP.to_ne_bytes());
    message.extend_from_slice(&IFF_UP.to_ne_bytes());
    let netlink = socket(
        AddressFamily::Netlink,
        SockType::Raw,
        SockFlag::SOCK_CLOEXEC,
        SockProtocol::NetlinkRoute,
    )?;
    use std::os::fd::AsRawFd;
    sendto(netlink.as_raw_fd(), &message, &NetlinkAddr::new(0, 0), MsgFlags::empty()).map(|_| ())
}
