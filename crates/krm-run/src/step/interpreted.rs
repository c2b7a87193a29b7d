//! Functions that need an interpreter: the function itself runs here, its interpreter in a process of its own where that is possible.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use krm_catalog::interpreter::Interpreter;
use krm_catalog::{BuiltinRelease, Host, Run};
use krm_sdk::{Error, ResourceList};

use super::in_process::CallOutput;
use crate::isolation::{ProcessInterpreter, ThreadInterpreter};
use crate::process::RunningChild;
use crate::{Interrupt, Limits};

/// A script or a built-in function that needs an interpreter.
pub struct Interpreted {
    function: Interpretation,
    /// The program that evaluates scripts; see [`crate::serve`]. Without one they are evaluated in this process.
    program: Option<PathBuf>,
    started: Mutex<Option<RunningChild>>,
}

enum Interpretation {
    Builtin(BuiltinRelease),
    Script { name: String, text: Arc<str> },
}

impl Interpreted {
    /// A built-in function; none if it needs no interpreter.
    pub(crate) fn builtin(builtin: BuiltinRelease, program: Option<PathBuf>) -> Option<Self> {
        let is_interpreted = matches!(builtin.function.run, Run::Interpreted(_));
        is_interpreted.then(|| Self::new(Interpretation::Builtin(builtin), program))
    }

    /// A Starlark script of a file.
    pub(crate) fn script(name: &str, text: &str, program: Option<PathBuf>) -> Self {
        let (name, text) = (name.to_owned(), text.into());
        Self::new(Interpretation::Script { name, text }, program)
    }

    fn new(function: Interpretation, program: Option<PathBuf>) -> Self {
        Self { function, program, started: Mutex::new(None) }
    }

    pub(crate) fn name(&self) -> &str {
        match &self.function {
            Interpretation::Builtin(builtin) => builtin.function.name,
            Interpretation::Script { name, .. } => name,
        }
    }

    pub(crate) fn builtin_release(&self) -> Option<&BuiltinRelease> {
        match &self.function {
            Interpretation::Builtin(builtin) => Some(builtin),
            Interpretation::Script { .. } => None,
        }
    }

    /// Starts the process of the interpreter, which then waits for its request.
    pub(super) fn start_ahead(&self, limits: &Limits) {
        if let (Some(program), Ok(mut started)) = (&self.program, self.started.lock()) {
            *started = ProcessInterpreter::start_ahead(program, limits);
        }
    }

    /// Runs the function on this thread, which waits for the interpreter.
    pub(crate) fn call(
        &self,
        mut list: ResourceList,
        limits: &Limits,
        interrupt: &Interrupt,
    ) -> CallOutput {
        let mut run = |interpreter: &dyn Interpreter| {
            catch_unwind(AssertUnwindSafe(|| self.run(&mut list, interpreter)))
        };
        let (limits, interrupt) = (*limits, interrupt.clone());
        let result = match &self.program {
            Some(program) => {
                let started = self.started.lock().ok().and_then(|mut child| child.take());
                // It starts while the request is made.
                let started = started.or_else(|| ProcessInterpreter::start_ahead(program, &limits));
                let process = ProcessInterpreter::new(program, limits, interrupt);
                run(&process.with_child(started))
            }
            None => run(&ThreadInterpreter { limits, interrupt }),
        };
        (result, list)
    }

    fn run(&self, list: &mut ResourceList, interpreter: &dyn Interpreter) -> Result<(), Error> {
        match &self.function {
            Interpretation::Builtin(builtin) => {
                builtin.call_with(list, Host { interpreter, ..Host::default() })
            }
            Interpretation::Script { name, text } => {
                krm_catalog::starlark::run_file_with(name, text, list, interpreter)
            }
        }
    }
}
