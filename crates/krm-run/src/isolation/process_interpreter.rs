//! The calling side: starts the child, sends the request, and explains how the child ended.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use krm_catalog::interpreter::{Interpreter, Language};
use krm_catalog::kinds::CatalogKind;
use krm_sdk::{Diagnostic, Error};

use super::{INTERPRETER_ARGUMENT, VERSION, exit};
use crate::kinds::signal_name;
use crate::process::RunningChild;
use crate::{Execution, ExecutionEnd, Interrupt, Invocation, Limits, RunKind};

/// Evaluates requests in a child process: the program is started with [`INTERPRETER_ARGUMENT`] and calls [`super::serve()`].
///
/// Time, memory and output are limited, and the child can access nothing but its standard streams.
#[derive(Debug)]
pub struct ProcessInterpreter {
    program: PathBuf,
    limits: Limits,
    interrupt: Interrupt,
    /// A child that waits for its request.
    started: Mutex<Option<RunningChild>>,
}

impl ProcessInterpreter {
    /// An interpreter that starts this program for each request.
    pub fn new(program: &Path, limits: Limits, interrupt: Interrupt) -> Self {
        Self { program: program.to_owned(), limits, interrupt, started: Mutex::new(None) }
    }

    /// Starts the child for the next request, so that it is ready when the request is.
    pub(crate) fn start_ahead(program: &Path, limits: &Limits) -> Option<RunningChild> {
        RunningChild::start(command(program, limits)).ok()
    }

    /// Uses a child that was started ahead.
    pub(crate) fn with_child(self, child: Option<RunningChild>) -> Self {
        Self { started: Mutex::new(child), ..self }
    }

    fn run(&self, request: &str) -> std::io::Result<Execution> {
        let mut invocation = Invocation {
            limits: self.limits,
            interrupt: self.interrupt.clone(),
            ..Invocation::new(request.as_bytes())
        };
        if self.interrupt.is_interrupted() {
            return Ok(Execution::not_started(RunKind::Interrupted));
        }
        let started = self.started.lock().ok().and_then(|mut child| child.take());
        let child = match started {
            Some(child) => child,
            None => RunningChild::start(command(&self.program, &self.limits))?,
        };
        child.finish(&mut invocation)
    }

    /// Why there is no response.
    fn failure(&self, execution: &Execution) -> Diagnostic {
        let limit = self.limits.memory;
        let stderr = execution.stderr.text();
        let last = execution.stderr.last_lines(1).pop().unwrap_or_default();
        let crashed =
            |reason: String| Diagnostic::error(CatalogKind::InterpreterCrashed { reason });
        let code = execution.exit_code().and_then(|code| u8::try_from(code).ok());
        match &execution.end {
            ExecutionEnd::Stopped(kind) => Diagnostic::error(kind.clone()),
            ExecutionEnd::Exited(_) if code == Some(exit::MEMORY) => {
                Diagnostic::error(RunKind::MemoryLimit { limit })
            }
            ExecutionEnd::Exited(_) if code == Some(exit::PANIC) => {
                Diagnostic::error(CatalogKind::InterpreterPanicked { message: last })
            }
            ExecutionEnd::Exited(_) if code == Some(exit::PROTOCOL) => {
                let reason = "the krm program was replaced while it was running".to_owned();
                Diagnostic::error(RunKind::CannotStart { reason })
            }
            ExecutionEnd::Exited(0) => crashed("its response is not UTF-8".to_owned()),
            ExecutionEnd::Exited(code) => crashed(format!("it exited with code {code}")),
            // SIGKILL is not sent by the interpreter: usually the system has too little memory.
            ExecutionEnd::Signaled(number @ 9) => {
                execution.diagnose(RunKind::Signal { number: *number })
            }
            // SIGXCPU: the limit of the child itself, in case nobody watches it.
            ExecutionEnd::Signaled(24) => {
                Diagnostic::error(RunKind::Timeout { limit: self.limits.time })
            }
            // The runtime of Rust aborts for these two reasons, and only its message tells them apart.
            ExecutionEnd::Signaled(_) if stderr.contains("memory allocation of") => {
                Diagnostic::error(RunKind::MemoryLimit { limit })
            }
            ExecutionEnd::Signaled(_) if stderr.contains("has overflowed its stack") => {
                Diagnostic::error(CatalogKind::InterpreterStack)
            }
            ExecutionEnd::Signaled(number) => {
                crashed(format!("it was killed by signal {}", signal_name(*number)))
            }
        }
    }
}

impl Interpreter for ProcessInterpreter {
    fn evaluate(&self, language: &Language, request: &str) -> Result<String, Error> {
        let message = format!("{}\n{request}", language.name);
        let mut execution = self.run(&message).map_err(|error| {
            let reason = format!("cannot start the interpreter: {error}");
            Diagnostic::error(RunKind::CannotStart { reason })
        })?;
        match execution.end {
            ExecutionEnd::Exited(0) => {
                let response = std::mem::take(&mut execution.stdout);
                String::from_utf8(response).map_err(|_| self.failure(&execution).into())
            }
            _ => Err(self.failure(&execution).into()),
        }
    }
}

/// The child gets no environment: nothing of it is meant for scripts. One allocation arena keeps the reserved address space, which
/// the memory limit counts, close to what is used.
fn command(program: &Path, limits: &Limits) -> Command {
    let mut command = Command::new(program);
    let seconds = limits.time.as_secs().saturating_add(2);
    command.arg(INTERPRETER_ARGUMENT).arg(VERSION);
    command.arg(limits.memory.to_string()).arg(seconds.to_string());
    command.env_clear().env("MALLOC_ARENA_MAX", "1");
    command.current_dir("/");
    command
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use krm_sdk::ResourceList;
    use std::time::Duration;

    /// The errors of a script that this shell command evaluates.
    fn errors(command: &str, time: Duration) -> Vec<(&'static str, String)> {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        let program = directory.path().join("interpreter");
        std::fs::write(&program, format!("#!/bin/sh\n{command}\n")).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let limits = Limits { time, ..Limits::default() };
        let interpreter = ProcessInterpreter::new(&program, limits, Interrupt::new());
        let mut list = ResourceList::default();
        let ran = krm_catalog::starlark::run_file_with("a", "x = 1", &mut list, &interpreter);
        let errors = ran.unwrap_err().diagnostics;
        errors.iter().map(|error| (error.id(), error.message().to_owned())).collect()
    }

    #[test]
    fn end_of_the_process_is_explained() {
        let memory = "exceeded the memory limit of 2 GiB";
        let stack = "exceeded the stack of the interpreter: values or calls are nested too deep";
        for (command, id, message) in [
            ("echo x >&2; exit 70", "interpreter-panicked", "the interpreter panicked: x"),
            ("exit 71", "function-memory-limit", memory),
            (
                "echo memory allocation of 9 bytes failed >&2; kill -6 $$",
                "function-memory-limit",
                memory,
            ),
            (
                "echo thread a has overflowed its stack >&2; kill -6 $$",
                "interpreter-stack-overflow",
                stack,
            ),
            ("kill -9 $$", "function-signal", "killed by signal 9 (SIGKILL)"),
            (
                "kill -11 $$",
                "interpreter-crashed",
                "the interpreter crashed: it was killed by signal 11 (SIGSEGV)",
            ),
            ("exit 3", "interpreter-crashed", "the interpreter crashed: it exited with code 3"),
            (
                "printf '\\377'",
                "interpreter-crashed",
                "the interpreter crashed: its response is not UTF-8",
            ),
            (
                "echo hello",
                "interpreter-crashed",
                "the interpreter crashed: its response is incomplete",
            ),
            (
                "exit 72",
                "cannot-start-function",
                "the krm program was replaced while it was running",
            ),
        ] {
            let errors = errors(command, Duration::from_secs(60));
            assert_eq!(errors, [(id, message.to_owned())], "{command}");
        }
        let errors = errors("sleep 60", Duration::from_millis(100));
        assert_eq!(errors, [("function-timeout", "timed out after 0.1 seconds".to_owned())]);
    }

    #[test]
    fn missing_program_is_an_error() {
        let program = Path::new("/nonexistent/krm");
        let interpreter = ProcessInterpreter::new(program, Limits::default(), Interrupt::new());
        let mut list = ResourceList::default();
        let ran = krm_catalog::starlark::run_file_with("a", "x = 1", &mut list, &interpreter);
        assert_eq!(ran.unwrap_err().diagnostics[0].id(), "cannot-start-function");
    }
}
