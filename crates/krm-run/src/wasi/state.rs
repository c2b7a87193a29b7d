//! The state of a running module: streams, arguments and limits.

use std::fmt;
use std::time::Instant;

use wasmi::ResourceLimiter;
use wasmi_core::LimiterError;

use super::WasiSettings;
use crate::{Interrupt, Invocation, Limits, RunKind, Tail};

/// Entries of a function table; more than any compiler emits.
const MAX_TABLE_ENTRIES: usize = 1_000_000;

#[derive(Debug)]
pub(super) struct State {
    pub(super) args: Vec<Vec<u8>>,
    pub(super) variables: Vec<Vec<u8>>,
    input: Vec<u8>,
    input_offset: usize,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Tail,
    /// Whether standard input, output and error are open.
    pub(super) open: [bool; 3],
    pub(super) memory: MemoryLimit,
    pub(super) start: Instant,
    limits: Limits,
    interrupt: Interrupt,
}

impl State {
    pub(super) fn new(name: &str, settings: &WasiSettings, invocation: &Invocation<'_>) -> Self {
        let limits = invocation.limits;
        let args = std::iter::once(name).chain(settings.args.iter().map(String::as_str));
        let variables = settings.variables.iter().map(|(name, value)| format!("{name}={value}"));
        Self {
            args: args.map(nul_terminated).collect(),
            variables: variables.map(|variable| nul_terminated(&variable)).collect(),
            input: invocation.input.to_vec(),
            input_offset: 0,
            stdout: Vec::new(),
            stderr: Tail::new(limits.stderr),
            open: [true; 3],
            memory: MemoryLimit { bytes: limits.memory, refused: false, started: false },
            start: Instant::now(),
            limits,
            interrupt: invocation.interrupt.clone(),
        }
    }

    /// Checks the interrupt and the time limit.
    pub(super) fn check(&self) -> Result<(), Stop> {
        if self.interrupt.is_interrupted() {
            return Err(Stop::Limit(RunKind::Interrupted));
        }
        if self.start.elapsed() >= self.limits.time {
            return Err(Stop::Limit(RunKind::Timeout { limit: self.limits.time }));
        }
        Ok(())
    }

    /// Reads from standard input into the memory of the module.
    pub(super) fn read(&mut self, into: &mut [u8]) -> usize {
        let left = &self.input[self.input_offset..];
        let count = left.len().min(into.len());
        into[..count].copy_from_slice(&left[..count]);
        self.input_offset += count;
        count
    }

    pub(super) fn write(&mut self, fd: i32, bytes: &[u8]) -> Result<(), Stop> {
        if fd == 2 {
            self.stderr.push(bytes);
            return Ok(());
        }
        let left = self.limits.output - self.stdout.len();
        self.stdout.extend_from_slice(&bytes[..bytes.len().min(left)]);
        if bytes.len() > left {
            return Err(Stop::Limit(RunKind::OutputTooLarge { limit: self.limits.output }));
        }
        Ok(())
    }
}

/// A string as C expects it.
fn nul_terminated(text: &str) -> Vec<u8> {
    let text = text.split('\0').next().unwrap_or_default();
    [text.as_bytes(), b"\0"].concat()
}

/// Why a module stops.
#[derive(Clone, Debug)]
pub(super) enum Stop {
    /// It called `proc_exit`.
    Exit(i32),
    /// It reached a limit or was interrupted.
    Limit(RunKind),
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exit(code) => write!(f, "exit code {code}"),
            Self::Limit(kind) => kind.fmt(f),
        }
    }
}

impl std::error::Error for Stop {}
impl wasmi::errors::HostError for Stop {}

/// The memory limit, and whether it was reached.
#[derive(Debug)]
pub(super) struct MemoryLimit {
    bytes: u64,
    refused: bool,
    /// Whether the module runs. Tables are created before.
    pub(super) started: bool,
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
        let granted = desired as u64 <= self.bytes;
        // Beyond its own declared maximum a module refuses itself.
        self.refused |= !granted && maximum.is_none_or(|maximum| desired <= maximum);
        Ok(granted)
    }

    fn table_growing(
        &mut self,
        _current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> Result<bool, LimiterError> {
        // wasmi 2.0 loses its position when a table grows at the end of a slice of fuel, and then resumes at an arbitrary
        // instruction. No compiler grows the table of a running program, so that is refused.
        Ok(desired <= MAX_TABLE_ENTRIES && !self.started)
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
