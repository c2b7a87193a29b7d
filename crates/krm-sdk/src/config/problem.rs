//! What is wrong with a functionConfig, while it is read: first what serde knows of it, then the place.

use std::fmt;

use krm_yaml::{NodeRef, Path, Segment, Span};
use serde::de::{Error, Expected, Unexpected};

use super::words;

/// One thing that is wrong.
#[derive(Debug, Default)]
pub(super) struct Problem {
    pub(super) message: String,
    pub(super) span: Option<Span>,
    /// The path of the field, once it is known.
    pub(super) field: Option<String>,
    pub(super) hints: Vec<String>,
    kind: Kind,
}

/// What serde told, for which the node says the rest.
#[derive(Debug, Default)]
enum Kind {
    /// All is said.
    #[default]
    Told,
    /// Something else is wanted here.
    Wanted(String),
    /// The type is right, and the value is not.
    Value(String),
    /// A field of this name is not there.
    Missing(&'static str),
}

impl Problem {
    fn of(kind: Kind, message: String) -> Self {
        Self { message, kind, ..Self::default() }
    }

    /// A problem in plain words.
    pub(super) fn told(message: impl Into<String>) -> Self {
        Self::of(Kind::Told, message.into())
    }

    /// Something else is wanted.
    pub(super) fn wanted(what: &str) -> Self {
        Self::of(Kind::Wanted(what.to_owned()), format!("{what} is wanted"))
    }

    #[must_use]
    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// The problem at its node; one that has a place keeps it.
    pub(super) fn at(mut self, node: NodeRef<'_>) -> Self {
        if self.span.is_some() {
            return self;
        }
        let mut path = node.path();
        match std::mem::take(&mut self.kind) {
            Kind::Told => {}
            Kind::Wanted(wanted) => {
                self.message = format!("{wanted} is wanted, and {}", words::there(node));
                self.hints.extend(words::quote_hint(&wanted, node));
            }
            Kind::Value(wanted) => {
                self.message = format!("`{}` will not do: {wanted} is wanted", words::shown(node));
            }
            Kind::Missing(name) => path.push(Segment::Key(name.to_owned())),
        }
        self.placed(node.span(), &path)
    }

    /// The problem of a text that a node holds: told at the node.
    pub(super) fn inside(mut self, node: NodeRef<'_>) -> Self {
        let inner = self.field.take().unwrap_or_default();
        let dot = if inner.is_empty() || inner.starts_with('[') { "" } else { "." };
        self.field = Some(format!("{}{dot}{inner}", node.path()));
        self.span = Some(node.span());
        self
    }

    pub(super) fn placed(mut self, span: Span, path: &Path) -> Self {
        self.span = Some(span);
        self.field = (!path.segments().is_empty()).then(|| path.to_string());
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Problem {}

impl Error for Problem {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::told(message.to_string())
    }

    fn invalid_type(_: Unexpected<'_>, wanted: &dyn Expected) -> Self {
        Self::wanted(&words::wanted(&wanted.to_string()))
    }

    fn invalid_value(_: Unexpected<'_>, wanted: &dyn Expected) -> Self {
        let wanted = words::wanted(&wanted.to_string());
        Self::of(Kind::Value(wanted), String::new())
    }

    fn missing_field(name: &'static str) -> Self {
        Self::of(Kind::Missing(name), format!("`{name}` is missing"))
    }

    fn unknown_field(name: &str, known: &'static [&'static str]) -> Self {
        unknown(format!("`{name}` is no field of the functionConfig"), name, known)
    }

    fn unknown_variant(name: &str, known: &'static [&'static str]) -> Self {
        unknown(format!("`{name}` is none of the values that are known"), name, known)
    }
}

/// A name that nobody knows, with the one that was meant or else all of them.
pub(super) fn unknown(message: String, name: &str, known: &[&str]) -> Problem {
    let problem = Problem::told(message);
    match krm_core::diagnostics::closest_name(known.iter().copied(), name) {
        Some(near) => problem.hint(format!("did you mean `{near}`?")),
        None if known.is_empty() => problem,
        None => problem.hint(format!("known are {}", words::list(known))),
    }
}
