//! Joining the control group of the function. The kernel may take longer for that than for everything else, so the first stage moves
//! process 1, which builds the root meanwhile and waits for it before the program starts.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};

use nix::fcntl::{FcntlArg, FdFlag, OFlag, fcntl};

use super::{Failure, failed};
use crate::sandbox::spec::Spec;

/// What the first stage writes when process 1 has joined.
const JOINED: &str = "joined";

/// A pipe from the first stage to process 1.
#[derive(Debug)]
pub(super) struct Join {
    reader: OwnedFd,
    writer: OwnedFd,
    /// Open before process 1 changes the root of both.
    files: Vec<File>,
}

impl Join {
    /// Creates the pipe. Process 1 inherits the end that it reads from.
    pub(super) fn new(spec: &Spec) -> Result<Self, Failure> {
        let files = spec.cgroup_files.iter().map(|file| File::options().write(true).open(file));
        let files = files.collect::<Result<_, _>>().map_err(failed("join the control group"))?;
        let (reader, writer) =
            nix::unistd::pipe2(OFlag::O_CLOEXEC).map_err(failed("create a pipe"))?;
        fcntl(&reader, FcntlArg::F_SETFD(FdFlag::empty())).map_err(failed("pass a pipe"))?;
        Ok(Self { reader, writer, files })
    }

    /// The number of the end that process 1 reads from.
    pub(super) fn number(&self) -> String {
        self.reader.as_raw_fd().to_string()
    }

    /// Moves process 1, which has this id here, and tells it how that went.
    pub(super) fn finish(mut self, pid: u32) {
        drop(self.reader);
        let pid = pid.to_string();
        let joined = self.files.iter_mut().try_for_each(|file| file.write_all(pid.as_bytes()));
        let text = joined.map_or_else(|error| error.to_string(), |()| JOINED.to_owned());
        // If process 1 has ended already, nobody waits.
        let _ = File::from(self.writer).write_all(text.as_bytes());
    }
}

/// The end of the pipe in process 1.
#[derive(Debug)]
pub(super) struct Joining {
    reader: File,
}

impl Joining {
    /// Takes the end with this number, which the program must not inherit.
    pub(super) fn take(number: &str) -> Result<Self, Failure> {
        let attempt = failed::<std::io::Error>("open a pipe");
        let reader = File::open(format!("/proc/self/fd/{number}")).map_err(&attempt)?;
        let number: i32 = number.parse().map_err(failed("open a pipe"))?;
        nix::unistd::close(number).map_err(failed("close a pipe"))?;
        Ok(Self { reader })
    }

    /// Waits until this process has joined.
    pub(super) fn wait(mut self) -> Result<(), Failure> {
        let mut text = String::new();
        self.reader.read_to_string(&mut text).map_err(failed("join the control group"))?;
        match text == JOINED {
            true => Ok(()),
            false => Err(failed("join the control group")(text)),
        }
    }
}
