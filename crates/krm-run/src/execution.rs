//! What a runtime observed of one run: output, standard error, duration and how it ended.

use std::time::Duration;

use krm_core::Diagnostic;

use crate::function_run::in_context;
use crate::kinds::signal_name;
use crate::{Image, RunKind, Tail};

/// How many lines of standard error a diagnostic quotes.
const QUOTED_LINES: usize = 10;

/// One run of a function by a runtime.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Execution {
    /// Standard output. A function that failed may have written results to it.
    pub stdout: Vec<u8>,
    /// The end of standard error.
    pub stderr: Tail,
    /// From start to end; zero for a function that was not started.
    pub duration: Duration,
    /// The image that ran, for a container.
    pub image: Option<Image>,
    /// How it ended.
    pub end: ExecutionEnd,
}

/// How an execution ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExecutionEnd {
    /// The function exited with this code.
    Exited(i32),
    /// It was killed by this signal.
    #[cfg_attr(not(unix), allow(dead_code, reason = "only processes receive signals"))]
    Signaled(i32),
    /// It was not started, or krm stopped it.
    Stopped(RunKind),
}

impl Execution {
    /// A function that was not started.
    pub(crate) fn not_started(kind: RunKind) -> Self {
        Self {
            stdout: Vec::new(),
            stderr: Tail::default(),
            duration: Duration::ZERO,
            image: None,
            end: ExecutionEnd::Stopped(kind),
        }
    }

    /// The same execution with another verdict, such as that of a container engine about its own exit code.
    pub(crate) fn stopped(self, kind: RunKind) -> Self {
        Self { end: ExecutionEnd::Stopped(kind), ..self }
    }

    /// The exit code, where it had one.
    pub fn exit_code(&self) -> Option<i32> {
        match self.end {
            ExecutionEnd::Exited(code) => Some(code),
            ExecutionEnd::Signaled(_) | ExecutionEnd::Stopped(_) => None,
        }
    }

    /// The output of a function that exited with 0 and wrote UTF-8.
    ///
    /// # Errors
    /// Why the execution failed.
    pub fn output(&self) -> Result<&str, RunKind> {
        self.check_end()?;
        std::str::from_utf8(&self.stdout)
            .map_err(|error| RunKind::OutputNotUtf8 { offset: error.valid_up_to() })
    }

    /// Like [`Execution::output`], without a copy. After an error the output is still here.
    pub(crate) fn take_output(&mut self) -> Result<String, RunKind> {
        self.check_end()?;
        String::from_utf8(std::mem::take(&mut self.stdout)).map_err(|error| {
            let offset = error.utf8_error().valid_up_to();
            self.stdout = error.into_bytes();
            RunKind::OutputNotUtf8 { offset }
        })
    }

    fn check_end(&self) -> Result<(), RunKind> {
        match &self.end {
            ExecutionEnd::Exited(0) if self.stdout.iter().all(u8::is_ascii_whitespace) => {
                Err(RunKind::EmptyOutput)
            }
            ExecutionEnd::Exited(0) => Ok(()),
            ExecutionEnd::Exited(code) => Err(RunKind::ExitCode { code: *code }),
            ExecutionEnd::Signaled(number) => Err(RunKind::Signal { number: *number }),
            ExecutionEnd::Stopped(kind) => Err(kind.clone()),
        }
    }

    /// The error with the last lines of standard error, and what they suggest.
    pub fn diagnose(&self, error: RunKind) -> Diagnostic {
        let hint = self.hint(&error);
        let diagnostic = diagnostic(error);
        let diagnostic = match quote_stderr(&self.stderr) {
            Some(note) => diagnostic.note(note),
            None => diagnostic,
        };
        hint.into_iter().fold(diagnostic, Diagnostic::hint)
    }

    /// The error with the label of the function; see [`crate::label`].
    pub fn failure(&self, error: RunKind, label: &str) -> Diagnostic {
        in_context(self.diagnose(error), label)
    }

    fn hint(&self, error: &RunKind) -> Option<String> {
        let killed = "the process was killed, usually because of too little memory";
        match error {
            // A shell and a container engine report 128 + the number of the signal.
            RunKind::ExitCode { code: 137 } if self.image.is_some() => {
                Some(format!("{killed}; use --memory to allow more memory"))
            }
            RunKind::ExitCode { code: 137 } | RunKind::Signal { number: 9 } => {
                Some(killed.to_owned())
            }
            RunKind::ExitCode { code: code @ 129..=159 } => {
                let signal = signal_name(code - 128);
                Some(format!("exit codes above 128 usually stand for a signal, here {signal}"))
            }
            _ => None,
        }
    }
}

/// An error with the facts that its message leaves out.
pub(crate) fn diagnostic(error: RunKind) -> Diagnostic {
    let reasons = match &error {
        RunKind::NoEngine { reason } => vec![reason.clone()],
        RunKind::NoRuntime { reasons } => reasons.clone(),
        _ => Vec::new(),
    };
    reasons.into_iter().fold(Diagnostic::error(error), Diagnostic::note)
}

/// The last lines of standard error, for a note.
pub(crate) fn quote_stderr(stderr: &Tail) -> Option<String> {
    let lines = stderr.last_lines(QUOTED_LINES);
    (!lines.is_empty()).then(|| format!("last lines of stderr:\n  | {}", lines.join("\n  | ")))
}
