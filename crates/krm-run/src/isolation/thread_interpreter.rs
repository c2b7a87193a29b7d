//! Evaluating requests on a thread of this process, for libraries that have no program to start.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use krm_catalog::interpreter::{Interpreter, Language, STACK_SIZE, panicked};
use krm_sdk::{Diagnostic, Error};

use crate::{Interrupt, Limits, RunKind};

/// How often the interrupt is polled.
const TICK: Duration = Duration::from_millis(50);

/// Evaluates requests within a time limit. A thread that exceeds it or is interrupted cannot be stopped from outside: it is
/// abandoned and ends with the process. Memory is not limited.
#[derive(Clone, Debug)]
pub(crate) struct ThreadInterpreter {
    pub(crate) limits: Limits,
    pub(crate) interrupt: Interrupt,
}

impl Interpreter for ThreadInterpreter {
    fn evaluate(&self, language: &Language, request: &str) -> Result<String, Error> {
        let (sender, receiver) = mpsc::channel();
        let (evaluate, request) = (language.evaluate, request.to_owned());
        let work = move || {
            // An error means that the thread was abandoned.
            let _ = sender.send(catch_unwind(AssertUnwindSafe(|| evaluate(&request))));
        };
        let thread = thread::Builder::new().stack_size(STACK_SIZE).spawn(work);
        let waited = match thread {
            Ok(_) => wait(&receiver, self.limits.time, &self.interrupt),
            Err(error) => Err(RunKind::CannotStart { reason: error.to_string() }),
        };
        waited.map_err(Diagnostic::error)?.map_err(|panic| panicked(&*panic).into())
    }
}

/// Waits until the thread sends its result, its time is over or it is interrupted.
pub(crate) fn wait<T>(
    receiver: &Receiver<T>,
    limit: Duration,
    interrupt: &Interrupt,
) -> Result<T, RunKind> {
    let start = Instant::now();
    loop {
        if interrupt.is_interrupted() {
            return Err(RunKind::Interrupted);
        }
        let left = limit.saturating_sub(start.elapsed());
        match receiver.recv_timeout(left.min(TICK)) {
            Ok(output) => return Ok(output),
            Err(RecvTimeoutError::Timeout) if left.is_zero() => {
                return Err(RunKind::Timeout { limit });
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(RunKind::Crashed {
                    reason: "its thread ended without a result".to_owned(),
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(evaluate: fn(&str) -> String, milliseconds: u64, interrupt: &Interrupt) -> &'static str {
        let limits = Limits { time: Duration::from_millis(milliseconds), ..Limits::default() };
        let interpreter = ThreadInterpreter { limits, interrupt: interrupt.clone() };
        let language = Language { name: "test", evaluate };
        interpreter.evaluate(&language, "").unwrap_err().diagnostics[0].id()
    }

    #[test]
    fn thread_is_stopped_and_may_panic() {
        let endless = |_: &str| loop {
            thread::sleep(Duration::from_secs(1));
        };
        assert_eq!(id(endless, 100, &Interrupt::new()), "function-timeout");
        assert_eq!(id(|_| panic!("on purpose"), 60_000, &Interrupt::new()), "interpreter-panicked");
        let interrupt = Interrupt::new();
        interrupt.interrupt();
        assert_eq!(id(endless, 60_000, &interrupt), "function-interrupted");
    }
}
