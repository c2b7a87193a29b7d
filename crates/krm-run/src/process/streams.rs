//! The three pipes of a child, served side by side, so that neither end ever waits for the other.

use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::ioctl_fionbio;

use crate::{Limits, Tail};

/// Bytes read in one go.
const CHUNK: usize = 64 * 1024;
/// More than a pipe holds: what is read after a child's end was written before it.
const LEFT_IN_A_PIPE: usize = 16 * 1024 * 1024;

pub(super) struct Streams<'a> {
    stdin: Option<ChildStdin>,
    input: &'a [u8],
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    pub(super) output: Vec<u8>,
    pub(super) tail: Tail,
    most: usize,
    chunk: Vec<u8>,
}

impl<'a> Streams<'a> {
    pub(super) fn new(child: &mut Child, input: &'a [u8], limits: &Limits) -> io::Result<Self> {
        let streams = Self {
            stdin: child.stdin.take(),
            input,
            stdout: child.stdout.take(),
            stderr: child.stderr.take(),
            output: Vec::new(),
            tail: Tail::new(limits.stderr),
            most: limits.output,
            chunk: vec![0; CHUNK],
        };
        streams.stdin.as_ref().map_or(Ok(()), |pipe| ioctl_fionbio(pipe, true))?;
        streams.stdout.as_ref().map_or(Ok(()), |pipe| ioctl_fionbio(pipe, true))?;
        streams.stderr.as_ref().map_or(Ok(()), |pipe| ioctl_fionbio(pipe, true))?;
        Ok(streams)
    }

    /// Whether more was written than anybody wants.
    pub(super) fn is_over(&self) -> bool {
        self.output.len() > self.most
    }

    /// Whether all of the input is written.
    pub(super) fn is_fed(&self) -> bool {
        self.stdin.is_none()
    }

    /// Waits until a pipe is ready, the child ended, or the time is over. Gives whether there is something to do.
    pub(super) fn wait(&self, exit: Option<&OwnedFd>, most: Duration) -> io::Result<bool> {
        let mut wanted = Vec::with_capacity(4);
        wanted.extend(self.stdin.as_ref().map(|pipe| (pipe.as_fd(), PollFlags::OUT)));
        wanted.extend(self.stdout.as_ref().map(|pipe| (pipe.as_fd(), PollFlags::IN)));
        wanted.extend(self.stderr.as_ref().map(|pipe| (pipe.as_fd(), PollFlags::IN)));
        wanted.extend(exit.map(|exit| (exit.as_fd(), PollFlags::IN)));
        let mut wanted: Vec<PollFd<'_>> =
            wanted.into_iter().map(|(fd, flags)| PollFd::from_borrowed_fd(fd, flags)).collect();
        let time = Timespec::try_from(most).map_err(io::Error::other)?;
        match poll(&mut wanted, Some(&time)) {
            Ok(ready) => Ok(ready > 0),
            Err(rustix::io::Errno::INTR) => Ok(true),
            Err(error) => Err(error.into()),
        }
    }

    /// Moves what can be moved now. Gives whether something was read.
    pub(super) fn serve(&mut self) -> bool {
        self.feed();
        let before = (self.output.len(), self.tail.total());
        if let Some(pipe) = &mut self.stdout {
            match read(pipe, &mut self.chunk) {
                Some(0) => self.stdout = None,
                Some(count) => self.output.extend_from_slice(&self.chunk[..count]),
                None => {}
            }
        }
        if let Some(pipe) = &mut self.stderr {
            match read(pipe, &mut self.chunk) {
                Some(0) => self.stderr = None,
                Some(count) => self.tail.push(&self.chunk[..count]),
                None => {}
            }
        }
        if self.is_over() {
            self.stdout = None;
        }
        before != (self.output.len(), self.tail.total())
    }

    /// A child that reads no further is no error: its exit code tells whether it had enough.
    fn feed(&mut self) {
        let Some(pipe) = &mut self.stdin else { return };
        if self.input.is_empty() {
            self.stdin = None;
            return;
        }
        match pipe.write(self.input) {
            Ok(count) => self.input = &self.input[count..],
            Err(error) if is_later(&error) => return,
            Err(_) => self.input = &[],
        }
        if self.input.is_empty() {
            self.stdin = None;
        }
    }

    /// Reads what the child left in the pipes. Somebody who escaped the group may hold them open for ever, so nobody waits.
    pub(super) fn drain(&mut self) {
        self.stdin = None;
        let before = self.tail.total();
        while self.serve() && !self.is_over() {
            if self.tail.total() - before > LEFT_IN_A_PIPE as u64 {
                return;
            }
        }
    }
}

/// The bytes that came, zero at the end, none for later.
fn read(pipe: &mut impl Read, chunk: &mut [u8]) -> Option<usize> {
    match pipe.read(chunk) {
        Ok(count) => Some(count),
        Err(error) if is_later(&error) => None,
        Err(_) => Some(0),
    }
}

fn is_later(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
