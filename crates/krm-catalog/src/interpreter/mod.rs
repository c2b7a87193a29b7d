//! Interpreters of scripts, policies and expressions: text in, text out, so that each can run in a process of its own.
//!
//! The interpreters cannot bound every operation: `"a" * n` allocates what it is asked for, and deep recursion ends the process.
//! So a function prepares a request, hands it to an [`Interpreter`] and reads the response, in this process or in another. Items,
//! locations and diagnostics never leave the calling process, which makes both ways give the same result.

mod in_process;
mod message;
mod nesting;

pub use in_process::{InProcess, panic_message, panicked};
pub use message::{Message, MessageReader};
pub use nesting::{MAX_NESTING, NestingPosition, Syntax, check_nesting};

use krm_sdk::{Diagnostic, Error};

use crate::kinds::CatalogKind;

/// The stack of a thread that evaluates requests. [`MAX_NESTING`] levels need less than a quarter of it in debug builds.
pub const STACK_SIZE: usize = 256 << 20;

/// An interpreted language.
#[derive(Clone, Copy, Debug)]
pub struct Language {
    /// The name, by which another process finds it.
    pub name: &'static str,
    /// Evaluates a request. Request and response are [`Message`]s.
    pub evaluate: fn(&str) -> String,
}

/// The languages of the built-in functions.
pub const LANGUAGES: &[Language] = &[
    #[cfg(feature = "gatekeeper")]
    crate::gatekeeper::LANGUAGE,
    #[cfg(feature = "starlark")]
    crate::starlark::LANGUAGE,
];

/// Where requests are evaluated.
pub trait Interpreter: Sync {
    /// Evaluates a request and returns the response.
    ///
    /// # Errors
    /// If the interpreter crashed or exceeded a limit.
    fn evaluate(&self, language: &Language, request: &str) -> Result<String, Error>;
}

/// The error for a response that cannot be read.
pub fn invalid_response() -> Error {
    let reason = "its response is incomplete".to_owned();
    Diagnostic::error(CatalogKind::InterpreterCrashed { reason }).into()
}

/// The error for a script whose brackets, operators or blocks are nested too deep.
pub fn too_deep(at: NestingPosition) -> Diagnostic {
    Diagnostic::error(CatalogKind::ScriptNesting { limit: at.limit })
}
