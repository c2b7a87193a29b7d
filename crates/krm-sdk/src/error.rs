//! The error type of functions.

use std::fmt;

use krm_core::functions::resource_list::FunctionResult;
use krm_core::{Diagnostic, Severity};

use crate::kinds::FunctionKind;

/// Why a function failed: one or more diagnostics, of which the first is an error.
///
/// ```
/// use krm_sdk::Error;
///
/// let error = Error::new("the release is frozen");
/// assert_eq!(error.to_string(), "the release is frozen");
/// assert_eq!(error.diagnostics[0].id(), "function-error");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// What is wrong, with locations and hints.
    pub diagnostics: Vec<Diagnostic>,
    is_reported: bool,
}

impl Error {
    /// An error with a message of the function's own.
    pub fn new(message: impl Into<String>) -> Self {
        Diagnostic::error(FunctionKind::Error { message: message.into().into() }).into()
    }

    /// Marks the error as reported: the function has added results that say the same.
    #[must_use]
    pub fn reported(mut self) -> Self {
        self.is_reported = true;
        self
    }

    /// Whether the function has added results that say the same.
    pub fn is_reported(&self) -> bool {
        self.is_reported
    }

    /// Names the file of every diagnostic.
    pub(crate) fn in_file(mut self, name: &str) -> Self {
        let located = self.diagnostics.into_iter().map(|diagnostic| diagnostic.in_file(name));
        self.diagnostics = located.collect();
        self
    }

    /// The results of a failed function: those it added before, followed by the error unless it is [`reported`](Self::reported). Then
    /// the last result says why the function failed, so it is an error whatever severity the function gave it.
    pub fn results(&self, mut added: Vec<FunctionResult>) -> Vec<FunctionResult> {
        let has_error = added.iter().any(|result| result.severity == Severity::Error);
        if let Some(cause) = added.last_mut().filter(|_| self.is_reported && !has_error) {
            cause.severity = Severity::Error;
        }
        let errors = self.diagnostics.iter().filter(|_| !self.is_reported);
        let errors = errors.map(|error| FunctionResult::new(error.severity, error.message()));
        added.extend(errors);
        added
    }
}

impl From<Diagnostic> for Error {
    fn from(diagnostic: Diagnostic) -> Self {
        vec![diagnostic].into()
    }
}

impl From<Vec<Diagnostic>> for Error {
    fn from(diagnostics: Vec<Diagnostic>) -> Self {
        Self { diagnostics, is_reported: false }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let messages: Vec<&str> = self.diagnostics.iter().map(Diagnostic::message).collect();
        f.write_str(&messages.join("; "))
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reported_error_is_not_added_to_results() {
        let added = vec![FunctionResult::new(Severity::Info, "no name")];
        let messages = |error: Error| {
            let results = error.results(added.clone()).into_iter();
            results
                .map(|result| format!("{}: {}", result.severity.name(), result.message))
                .collect::<Vec<_>>()
        };
        assert_eq!(messages(Error::new("failed")), ["info: no name", "error: failed"]);
        assert_eq!(messages(Error::new("no name").reported()), ["error: no name"]);
    }
}
