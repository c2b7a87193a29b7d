//! The three pipes of a child, served by one `poll` loop.
//!
//! Writing all of the input before reading deadlocks as soon as both pipes are full, so every transfer is non-blocking.

use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::ioctl_fionbio;

use crate::{Limits, Tail};

/// Bytes per read.
const CHUNK: usize = 64 * 1024;
/// More than any pipe buffers: a process that escaped the group may write to the pipe without end.
const MAX_DRAINED: usize = 16 * 1024 * 1024;

pub(super) struct Streams<'a> {
    stdin: Option<ChildStdin>,
    input: &'a [u8],
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    output: Vec<u8>,
    /// The whole input, while all of the output is the beginning of it. Then `echoed` is its length, and `output` is empty.
    echo_of: Option<&'a [u8]>,
    echoed: usize,
    pub(super) stderr_tail: Tail,
    output_limit: usize,
    chunk: Vec<u8>,
}

impl<'a> Streams<'a> {
    /// With `finds_echo`, output is compared with the input instead of storing it, as long as both are the same.
    pub(super) fn new(
        child: &mut Child,
        input: &'a [u8],
        finds_echo: bool,
        limits: &Limits,
    ) -> io::Result<Self> {
        let streams = Self {
            stdin: child.stdin.take(),
            input,
            stdout: child.stdout.take(),
            stderr: child.stderr.take(),
            output: Vec::new(),
            echo_of: finds_echo.then_some(input),
            echoed: 0,
            stderr_tail: Tail::new(limits.stderr),
            output_limit: limits.output,
            chunk: vec![0; CHUNK],
        };
        streams.stdin.as_ref().map_or(Ok(()), |pipe| ioctl_fionbio(pipe, true))?;
        streams.stdout.as_ref().map_or(Ok(()), |pipe| ioctl_fionbio(pipe, true))?;
        streams.stderr.as_ref().map_or(Ok(()), |pipe| ioctl_fionbio(pipe, true))?;
        Ok(streams)
    }

    /// Whether more was written to standard output than the limit allows.
    pub(super) fn is_too_large(&self) -> bool {
        self.written().len() > self.output_limit
    }

    /// The output so far.
    pub(super) fn written(&self) -> &[u8] {
        self.echo_of.map_or(&self.output, |input| &input[..self.echoed])
    }

    /// Whether the output is the whole input.
    pub(super) fn is_echo(&self) -> bool {
        self.echo_of.is_some_and(|input| !input.is_empty() && self.echoed == input.len())
    }

    /// The output.
    pub(super) fn into_output(self) -> Vec<u8> {
        self.echo_of.map_or(self.output, |input| input[..self.echoed].to_vec())
    }

    /// Adds the first bytes of the chunk to the output.
    fn receive(&mut self, count: usize) {
        let new = &self.chunk[..count];
        if let Some(input) = self.echo_of {
            if input[self.echoed..].starts_with(new) {
                self.echoed += count;
                return;
            }
            self.output = input[..self.echoed].to_vec();
            self.echo_of = None;
        }
        self.output.extend_from_slice(new);
    }

    /// Whether all of the input is written.
    pub(super) fn is_input_written(&self) -> bool {
        self.stdin.is_none()
    }

    /// Waits until a pipe is ready, the child has exited or the timeout is over. Returns whether something is ready.
    pub(super) fn wait(&self, exit_fd: Option<&OwnedFd>, timeout: Duration) -> io::Result<bool> {
        let mut polled = Vec::with_capacity(4);
        polled.extend(self.stdin.as_ref().map(|pipe| (pipe.as_fd(), PollFlags::OUT)));
        polled.extend(self.stdout.as_ref().map(|pipe| (pipe.as_fd(), PollFlags::IN)));
        polled.extend(self.stderr.as_ref().map(|pipe| (pipe.as_fd(), PollFlags::IN)));
        polled.extend(exit_fd.map(|fd| (fd.as_fd(), PollFlags::IN)));
        let mut polled: Vec<PollFd<'_>> =
            polled.into_iter().map(|(fd, flags)| PollFd::from_borrowed_fd(fd, flags)).collect();
        let time = Timespec::try_from(timeout).map_err(io::Error::other)?;
        match poll(&mut polled, Some(&time)) {
            Ok(ready) => Ok(ready > 0),
            Err(rustix::io::Errno::INTR) => Ok(true),
            Err(error) => Err(error.into()),
        }
    }

    /// Moves the bytes that can be moved without waiting. Returns whether something was read.
    pub(super) fn transfer(&mut self) -> bool {
        self.write_input();
        let before = (self.written().len(), self.stderr_tail.total());
        if let Some(pipe) = &mut self.stdout {
            match read(pipe, &mut self.chunk) {
                Some(0) => self.stdout = None,
                Some(count) => self.receive(count),
                None => {}
            }
        }
        if let Some(pipe) = &mut self.stderr {
            match read(pipe, &mut self.chunk) {
                Some(0) => self.stderr = None,
                Some(count) => self.stderr_tail.push(&self.chunk[..count]),
                None => {}
            }
        }
        if self.is_too_large() {
            self.stdout = None;
        }
        before != (self.written().len(), self.stderr_tail.total())
    }

    /// Writes the next part of the input. A child that closes its standard input early is not an error: its exit code
    /// decides whether it failed.
    fn write_input(&mut self) {
        let Some(pipe) = &mut self.stdin else { return };
        if self.input.is_empty() {
            self.stdin = None;
            return;
        }
        match pipe.write(self.input) {
            Ok(count) => self.input = &self.input[count..],
            Err(error) if is_not_ready(&error) => return,
            Err(_) => self.input = &[],
        }
        if self.input.is_empty() {
            self.stdin = None;
        }
    }

    /// Reads what the child left in the pipes, without waiting for their end: a process that escaped the group may hold
    /// them open forever.
    pub(super) fn drain(&mut self) {
        self.stdin = None;
        let before = self.stderr_tail.total();
        while self.transfer() && !self.is_too_large() {
            if self.stderr_tail.total() - before > MAX_DRAINED as u64 {
                return;
            }
        }
    }
}

/// The number of bytes read, zero at the end of the stream, none if there is nothing yet.
fn read(pipe: &mut impl Read, chunk: &mut [u8]) -> Option<usize> {
    match pipe.read(chunk) {
        Ok(count) => Some(count),
        Err(error) if is_not_ready(&error) => None,
        Err(_) => Some(0),
    }
}

fn is_not_ready(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
