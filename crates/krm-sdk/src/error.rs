//! The error type of functions.

use std::any::Any;
use std::fmt;

use krm_core::functions::resource_list::FunctionResult;
use krm_core::{Diagnostic, Severity};

use crate::Resource;
use crate::kinds::FunctionKind;

/// Why a function failed: one or more diagnostics, of which the first is an error.
///
/// Every error of another library becomes one with `?`, and [`Context`] adds what the function was doing:
///
/// ```
/// use krm_sdk::{Context, Error, ResourceList};
///
/// fn scale(list: &mut ResourceList) -> Result<(), Error> {
///     for resource in &mut list.items {
///         let Some(factor) = resource.annotation("example.com/factor") else { continue };
///         let factor: u32 = factor.parse().context("cannot read `example.com/factor`")?;
///         let replicas: u32 = resource.read_at("spec.replicas")?.context("there are no replicas to scale")?;
///         resource.set("spec.replicas", replicas * factor)?;
///     }
///     Ok(())
/// }
///
/// let text = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {annotations: {example.com/factor: x}}\n";
/// let error = scale(&mut krm_sdk::testing::list(&[text])).expect_err("`x` is not a number");
/// assert_eq!(error.to_string(), "cannot read `example.com/factor`: invalid digit found in string");
/// assert_eq!(error.diagnostics[0].id(), "function-error");
/// ```
///
/// As with `anyhow::Error`, the type does not implement [`std::error::Error`] itself, which would forbid this conversion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// What is wrong, with locations and hints.
    pub diagnostics: Vec<Diagnostic>,
    is_reported: bool,
}

impl Error {
    /// An error with a message of the function's own.
    ///
    /// ```
    /// let error = krm_sdk::Error::new("the release is frozen");
    /// assert_eq!(error.to_string(), "the release is frozen");
    /// ```
    pub fn new(message: impl Into<String>) -> Self {
        Diagnostic::error(FunctionKind::Error { message: message.into().into() }).into()
    }

    /// An error with several diagnostics.
    pub fn of_diagnostics(diagnostics: Vec<Diagnostic>) -> Self {
        Self { diagnostics, is_reported: false }
    }

    /// Puts what the function was doing before the message: `cannot read the template: unknown field`.
    #[must_use]
    pub fn context(mut self, context: impl Into<String>) -> Self {
        let context = context.into();
        let with_context = |it: Diagnostic| it.context(context.as_str());
        self.diagnostics = self.diagnostics.into_iter().map(with_context).collect();
        self
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

    /// Names the resource and its file in every diagnostic that names none.
    pub(crate) fn about(mut self, resource: &Resource) -> Self {
        for diagnostic in self.diagnostics.iter_mut().filter(|it| it.resource.is_none()) {
            diagnostic.resource = Some(resource.display_name().into());
            diagnostic.file = resource.path().map(|path| path.as_str().into());
        }
        self
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

/// Any error, with the errors that caused it.
impl<E: std::error::Error + 'static> From<E> for Error {
    fn from(error: E) -> Self {
        let any: &dyn Any = &error;
        if let Some(diagnostic) = any.downcast_ref::<Diagnostic>() {
            return Self::of_diagnostics(vec![diagnostic.clone()]);
        }
        let mut message = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            let cause_message = cause.to_string();
            // An error may include the message of its cause or leave it to `source`. The trait does not say which, and these errors
            // are of any type, so only their text shows it. Nothing but the wording depends on this comparison.
            if !message.contains(&cause_message) {
                message = format!("{message}: {cause_message}");
            }
            source = cause.source();
        }
        Self::new(message)
    }
}

impl From<Error> for Box<dyn std::error::Error + Send + Sync> {
    fn from(error: Error) -> Self {
        error.to_string().into()
    }
}

impl From<Error> for Box<dyn std::error::Error> {
    fn from(error: Error) -> Self {
        error.to_string().into()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let messages: Vec<&str> = self.diagnostics.iter().map(Diagnostic::message).collect();
        f.write_str(&messages.join("; "))
    }
}

/// Adds what the function was doing to an error, and makes an error of a missing value; see [`Error`].
pub trait Context<T> {
    /// Puts a message before that of the error.
    ///
    /// # Errors
    /// The error with its context.
    fn context(self, context: impl Into<String>) -> Result<T, Error>;

    /// The same, with a message that is only made if there is an error.
    ///
    /// # Errors
    /// The error with its context.
    fn with_context<C: Into<String>>(self, context: impl FnOnce() -> C) -> Result<T, Error>;
}

impl<T, E: Into<Error>> Context<T> for Result<T, E> {
    fn context(self, context: impl Into<String>) -> Result<T, Error> {
        self.map_err(|error| error.into().context(context))
    }

    fn with_context<C: Into<String>>(self, context: impl FnOnce() -> C) -> Result<T, Error> {
        self.map_err(|error| error.into().context(context()))
    }
}

impl<T> Context<T> for Option<T> {
    fn context(self, context: impl Into<String>) -> Result<T, Error> {
        self.ok_or_else(|| Error::new(context))
    }

    fn with_context<C: Into<String>>(self, context: impl FnOnce() -> C) -> Result<T, Error> {
        self.ok_or_else(|| Error::new(context()))
    }
}

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
