//! Why a function could not do its work, with the place where it is known.

use std::fmt;

use krm_core::Diagnostic;
use krm_core::functions::resource_list::FunctionResult;

/// Why a function failed: one or more diagnostics, the first of them an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// What is wrong, with places and hints.
    pub diagnostics: Vec<Diagnostic>,
}

impl Error {
    /// An error in plain words.
    pub fn new(message: impl Into<String>) -> Self {
        Diagnostic::untyped_error(message).into()
    }

    /// The same, of this file.
    pub(crate) fn in_file(self, name: &str) -> Self {
        let named = self.diagnostics.into_iter().map(|told| told.in_file(name));
        Self { diagnostics: named.collect() }
    }

    /// What a function said before it failed, and then why it did, where that is not among it.
    pub fn results(&self, said: Vec<FunctionResult>) -> Vec<FunctionResult> {
        let is_new = |it: &&Diagnostic| said.iter().all(|result| result.message != it.message());
        let why = self.diagnostics.iter().filter(is_new);
        let why: Vec<_> = why.map(|it| FunctionResult::new(it.severity, it.message())).collect();
        said.into_iter().chain(why).collect()
    }
}

impl From<Diagnostic> for Error {
    fn from(diagnostic: Diagnostic) -> Self {
        Self { diagnostics: vec![diagnostic] }
    }
}

impl From<Vec<Diagnostic>> for Error {
    fn from(diagnostics: Vec<Diagnostic>) -> Self {
        Self { diagnostics }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let messages: Vec<&str> = self.diagnostics.iter().map(|it| it.message()).collect();
        f.write_str(&messages.join("; "))
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use krm_core::Severity;

    use super::*;

    #[test]
    fn why_it_failed_is_said_once() {
        let error = Error::new("no name");
        let messages = |said: &[(Severity, &str)]| {
            let said = said.iter().map(|(severity, words)| FunctionResult::new(*severity, *words));
            let results = error.results(said.collect()).into_iter();
            results.map(|it| format!("{}: {}", it.severity.name(), it.message)).collect::<Vec<_>>()
        };
        assert_eq!(messages(&[]), ["error: no name"]);
        assert_eq!(messages(&[(Severity::Info, "no name")]), ["info: no name"]);
        assert_eq!(messages(&[(Severity::Info, "hm")]), ["info: hm", "error: no name"]);
    }
}
