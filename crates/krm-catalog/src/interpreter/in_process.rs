//! Evaluating requests in this process, on a thread whose stack has a known size.

use std::any::Any;
use std::thread;

use krm_sdk::{Diagnostic, Error};

use super::{Interpreter, Language, STACK_SIZE};
use crate::kinds::CatalogKind;

/// Evaluates requests on a thread of this process: for libraries and tests. Memory is not limited, and a script whose values are
/// nested too deep ends the process.
#[derive(Clone, Copy, Debug, Default)]
pub struct InProcess;

impl Interpreter for InProcess {
    fn evaluate(&self, language: &Language, request: &str) -> Result<String, Error> {
        let evaluated = thread::scope(|scope| {
            let thread = thread::Builder::new().stack_size(STACK_SIZE);
            let handle = thread.spawn_scoped(scope, || (language.evaluate)(request));
            handle.map(thread::ScopedJoinHandle::join)
        });
        match evaluated {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(panic)) => Err(panicked(&*panic).into()),
            Err(error) => Err(Error::new(format!("cannot start a thread: {error}"))),
        }
    }
}

/// The error for a panic of an interpreter.
pub fn panicked(panic: &(dyn Any + Send)) -> Diagnostic {
    let message = panic_message(panic).lines().next().unwrap_or_default().to_owned();
    Diagnostic::error(CatalogKind::InterpreterPanicked { message })
}

/// The message of a panic.
pub fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("no message")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panic_is_an_error() {
        let language = Language { name: "none", evaluate: |_| panic!("on purpose") };
        let error = InProcess.evaluate(&language, "").unwrap_err();
        assert_eq!(error.diagnostics[0].id(), "interpreter-panicked");
        assert_eq!(error.to_string(), "the interpreter panicked: on purpose");
    }
}
