//! What the caller of the server implements: one function, from bytes to bytes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;

/// Evaluates functions.
pub trait Evaluate: Send + Sync + 'static {
    /// Evaluates one function, on a thread that may block. The answer of a request that is cancelled or late is dropped, but the request
    /// counts as running until this returns.
    fn evaluate(&self, request: &Request) -> Answer;
}

/// A request to evaluate a function.
#[derive(Debug)]
pub struct Request {
    /// The image, from the network.
    pub image: String,
    /// A tag for an image without one; empty for none.
    pub tag: String,
    /// The ResourceList, from the network.
    pub input: Bytes,
    pub(crate) cancelled: Arc<AtomicBool>,
    pub(crate) deadline: Instant,
}

impl Request {
    /// The flag that is set when the client has gone, the time is over or the server ends.
    pub fn cancelled(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.cancelled)
    }

    /// How much time is left.
    pub fn time_left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::SeqCst)
    }
}

/// The answer of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// What answered, for metrics and logs: a word of the server, nothing from the request.
    pub runtime: &'static str,
    /// Standard error.
    pub log: Vec<u8>,
    /// The output, or why there is none.
    pub output: Result<Vec<u8>, Refusal>,
}

/// Why a function has no output, or an output that is not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The server does not have the function.
    NotFound {
        /// The message.
        message: String,
    },
    /// The function ran and failed.
    Failed {
        /// Its exit code; not 0.
        exit_code: i32,
        /// Its output, which may have results.
        output: Vec<u8>,
        /// The message, for clients that read only that.
        message: String,
    },
    /// The function was stopped or did not start.
    Stopped {
        /// The message.
        message: String,
    },
    /// The request took too long.
    TooLate,
    /// The request was cancelled.
    Cancelled,
}
