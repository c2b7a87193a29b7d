//! Why a function could not do its work, with the place where it is known.

use std::fmt;

use krm_core::Diagnostic;

/// Why a function failed: one or more diagnostics, the first of them an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// What is wrong, with places and hints.
    pub diagnostics: Vec<Diagnostic>,
}

impl Error {
    /// An error in plain words.
    pub fn new(message: impl Into<String>) -> Self {
        Diagnostic::error(message).into()
    }

    /// The same, of this file.
    pub(crate) fn in_file(self, name: &str) -> Self {
        let named = self.diagnostics.into_iter().map(|told| told.in_file(name));
        Self { diagnostics: named.collect() }
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
        let messages: Vec<&str> = self.diagnostics.iter().map(|it| it.message.as_str()).collect();
        f.write_str(&messages.join("; "))
    }
}

impl std::error::Error for Error {}
