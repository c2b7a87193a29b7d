//! The limits of a function: time, output, memory, processes and steps.

use std::time::Duration;

const MIB: u64 = 1024 * 1024;

/// What a function may use before it is stopped.
///
/// ```
/// use std::time::Duration;
/// use krm_run::Limits;
///
/// let limits = Limits { time: Duration::from_secs(10), ..Limits::default() };
/// assert_eq!(limits.memory, 2 * 1024 * 1024 * 1024);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The duration of a run, for every runtime; five minutes. Pulling an image does not count.
    pub time: Duration,
    /// Bytes of standard output, for every runtime; 256 MiB. A function that writes more fails.
    pub output: usize,
    /// Bytes of standard error that are kept, for every runtime; the last 64 KiB. A function may write more.
    pub stderr: usize,
    /// Bytes of memory, for containers, WASI modules, and scripts and policies in a process of their own; 2 GiB.
    pub memory: u64,
    /// Processes and threads, for containers; 512.
    pub processes: u32,
    /// Steps of the interpreter, for WASI modules; 10^12, which no useful function reaches in its time.
    pub steps: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            time: Duration::from_secs(300),
            output: 256 * MIB as usize,
            stderr: 64 * 1024,
            memory: 2048 * MIB,
            processes: 512,
            steps: 1_000_000_000_000,
        }
    }
}
