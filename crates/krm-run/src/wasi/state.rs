//! What a running module has: its streams, its words, its limits.

use std::fmt;
use std::time::Instant;

use wasmi::ResourceLimiter;
use wasmi_core::LimiterError;

use super::WasiSettings;
use crate::{Interrupt, Limits, Reason, Tail};

/// Functions that a module can call by number; more than any compiler makes.
const MOST_IN_A_TABLE: usize = 1_000_000;

#[derive(Debug)]
pub(super) struct State {
    pub(super) args: Vec<Vec<u8>>,
    pub(super) variables: Vec<Vec<u8>>,
    input: Vec<u8>,
    at: usize,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Tail,
    /// Standard input, output and error, as long as the module did not close them.
    pub(super) open: [bool; 3],
    pub(super) memory: MemoryLimit,
    pub(super) start: Instant,
    limits: Limits,
    interrupt: Interrupt,
}

impl State {
    pub(super) fn new(
        name: &str,
        settings: &WasiSettings,
        input: &[u8],
        limits: &Limits,
        interrupt: &Interrupt,
    ) -> Self {
        let args = std::iter::once(name).chain(settings.args.iter().map(String::as_str));
        let variables = settings.variables.iter().map(|(name, value)| format!("{name}={value}"));
        Self {
            args: args.map(ended).collect(),
            variables: variables.map(|variable| ended(&variable)).collect(),
            input: input.to_vec(),
            at: 0,
            stdout: Vec::new(),
            stderr: Tail::new(limits.stderr),
            open: [true; 3],
            memory: MemoryLimit { most: limits.memory, refused: false, begun: false },
            start: Instant::now(),
            limits: *limits,
            interrupt: interrupt.clone(),
        }
    }

    /// Whether it may go on.
    pub(super) fn check(&self) -> Result<(), Stop> {
        if self.interrupt.is_interrupted() {
            return Err(Stop::Reason(Reason::Interrupted));
        }
        if self.start.elapsed() >= self.limits.time {
            return Err(Stop::Reason(Reason::Timeout(self.limits.time)));
        }
        Ok(())
    }

    /// Fills a part of the module's memory from its standard input.
    pub(super) fn read(&mut self, into: &mut [u8]) -> usize {
        let left = &self.input[self.at..];
        let count = left.len().min(into.len());
        into[..count].copy_from_slice(&left[..count]);
        self.at += count;
        count
    }

    pub(super) fn write(&mut self, fd: i32, bytes: &[u8]) -> Result<(), Stop> {
        if fd == 2 {
            self.stderr.push(bytes);
            return Ok(());
        }
        let room = self.limits.output - self.stdout.len();
        self.stdout.extend_from_slice(&bytes[..bytes.len().min(room)]);
        if bytes.len() > room {
            return Err(Stop::Reason(Reason::TooMuchOutput(self.limits.output)));
        }
        Ok(())
    }
}

/// A text as C wants it.
fn ended(text: &str) -> Vec<u8> {
    let text = text.split('\0').next().unwrap_or_default();
    [text.as_bytes(), b"\0"].concat()
}

/// Why a module does not go on.
#[derive(Clone, Debug)]
pub(super) enum Stop {
    /// It wanted to end.
    Exit(i32),
    /// It was stopped.
    Reason(Reason),
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exit(code) => write!(f, "exit code {code}"),
            Self::Reason(reason) => reason.fmt(f),
        }
    }
}

impl std::error::Error for Stop {}
impl wasmi::errors::HostError for Stop {}

/// How much memory there is, and whether more was wanted.
#[derive(Debug)]
pub(super) struct MemoryLimit {
    most: u64,
    refused: bool,
    /// Whether the module runs. Tables are made before.
    pub(super) begun: bool,
}

impl MemoryLimit {
    pub(super) fn is_refused(&self) -> bool {
        self.refused
    }
}

impl ResourceLimiter for MemoryLimit {
    fn memory_growing(
        &mut self,
        _current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> Result<bool, LimiterError> {
        let granted = desired as u64 <= self.most;
        // One that stays below its own maximum was not refused by us.
        self.refused |= !granted && maximum.is_none_or(|maximum| desired <= maximum);
        Ok(granted)
    }

    fn table_growing(
        &mut self,
        _current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> Result<bool, LimiterError> {
        // wasmi 2.0 forgets its place when a table grows at the end of a slice, and what it resumes then is anything. No
        // compiler grows a table of a program.
        Ok(desired <= MOST_IN_A_TABLE && !self.begun)
    }

    fn instances(&self) -> usize {
        1
    }

    fn tables(&self) -> usize {
        100
    }

    fn memories(&self) -> usize {
        1
    }
}
