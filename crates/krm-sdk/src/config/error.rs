//! Errors while a functionConfig is read. Serde knows what was expected; the node that adds what was found comes later.

use std::fmt;

use krm_core::diagnostics::{CommonKind, Kind, closest_name};
use krm_yaml::{NodeRef, Path, Segment, Span};
use serde::de::{Error, Expected, Unexpected};

use super::describe::{self, OWNER};
use crate::kinds::{ConfigKind, ResourceKind};

/// One error.
#[derive(Debug)]
pub(super) struct ConfigError {
    cause: Cause,
    pub(super) span: Option<Span>,
    /// The path of the field, once it is known.
    pub(super) field: Option<String>,
    pub(super) hints: Vec<String>,
}

/// What is known of the error: everything, or only what serde reports.
#[derive(Debug)]
enum Cause {
    Complete(Kind),
    WrongType {
        expected: String,
    },
    InvalidValue {
        expected: String,
    },
    MissingField(&'static str),
    /// The type has a reason of its own.
    Rejected(String),
}

/// What is read: it owns missing fields.
#[derive(Debug)]
pub(super) enum Owner {
    Config,
    /// A resource, by its name in messages.
    Resource(String),
}

impl Owner {
    fn name(&self) -> &str {
        match self {
            Self::Config => OWNER,
            Self::Resource(name) => name,
        }
    }
}

impl ConfigError {
    fn of(cause: Cause) -> Self {
        Self { cause, span: None, field: None, hints: Vec::new() }
    }

    pub(super) fn new(kind: impl Into<Kind>) -> Self {
        Self::of(Cause::Complete(kind.into()))
    }

    /// A value that is rejected for a reason of its own.
    pub(super) fn invalid(reason: impl Into<String>) -> Self {
        Self::of(Cause::Rejected(reason.into()))
    }

    pub(super) fn wrong_type(expected: impl Into<String>) -> Self {
        Self::of(Cause::WrongType { expected: expected.into() })
    }

    pub(super) fn unknown_field(name: &str, known: &[&str]) -> Self {
        let error = Self::new(CommonKind::UnknownField { field: name.into(), owner: OWNER.into() });
        match closest_name(known.iter().copied(), name) {
            Some(near) => error.hint(format!("did you mean `{near}`?")),
            None if known.is_empty() => error,
            None => error.hint(format!("use {}", describe::one_of(known))),
        }
    }

    /// A name that is not among the variants of an enum.
    pub(super) fn unknown_value(name: &str, known: &[&str]) -> Self {
        let expected = describe::one_of(known);
        Self::new(CommonKind::InvalidValue { value: name.into(), expected }).suggest(name, known)
    }

    #[must_use]
    pub(super) fn suggest(self, name: &str, known: &[&str]) -> Self {
        match closest_name(known.iter().copied(), name) {
            Some(near) => self.hint(format!("did you mean `{near}`?")),
            None => self,
        }
    }

    #[must_use]
    fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Locates the error at a node, unless it has a location: errors pass through all parents of the node that caused them.
    pub(super) fn at(mut self, node: NodeRef<'_>) -> Self {
        if self.span.is_some() {
            return self;
        }
        let mut path = node.path();
        if let Cause::MissingField(name) = self.cause {
            path.push(Segment::Key(name.to_owned()));
        }
        if let Cause::WrongType { expected } = &self.cause {
            self.hints.extend(describe::quote_hint(expected, node));
        }
        // The owner of a missing field is known only to the caller.
        if !matches!(self.cause, Cause::MissingField(_) | Cause::Rejected(_)) {
            self.cause = Cause::Complete(self.cause.complete(node, &Owner::Config));
        }
        self.located(node.span(), &path)
    }

    /// Moves an error inside a string that holds YAML to the node of the string.
    pub(super) fn inside(mut self, node: NodeRef<'_>) -> Self {
        let inner = self.field.take().unwrap_or_default();
        let dot = if inner.is_empty() || inner.starts_with('[') { "" } else { "." };
        self.field = Some(format!("{}{dot}{inner}", node.path()));
        self.span = Some(node.span());
        self
    }

    pub(super) fn located(mut self, span: Span, path: &Path) -> Self {
        self.span = Some(span);
        self.field = (!path.segments().is_empty()).then(|| path.to_string());
        self
    }

    /// The kind, for an error of what has this root.
    pub(super) fn kind(&self, root: NodeRef<'_>, owner: &Owner) -> Kind {
        self.cause.complete(root, owner)
    }
}

impl Cause {
    fn complete(&self, node: NodeRef<'_>, owner: &Owner) -> Kind {
        match self {
            Self::Complete(kind) => kind.clone(),
            Self::WrongType { expected } => {
                let (expected, found) = (expected.clone(), describe::found(node).into());
                CommonKind::WrongType { expected, found }.into()
            }
            Self::InvalidValue { expected } => {
                let (expected, value) = (expected.clone(), describe::excerpt(node).into());
                CommonKind::InvalidValue { value, expected }.into()
            }
            Self::MissingField(name) => {
                let (field, owner) = ((*name).to_owned(), owner.name().to_owned());
                CommonKind::MissingField { field, owner }.into()
            }
            Self::Rejected(reason) => match owner {
                Owner::Config => ConfigKind::Invalid { reason: reason.clone().into() }.into(),
                Owner::Resource(_) => {
                    ResourceKind::RejectedValue { reason: reason.clone().into() }.into()
                }
            },
        }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.cause)
    }
}

impl std::error::Error for ConfigError {}

impl Error for ConfigError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::invalid(message.to_string())
    }

    fn invalid_type(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::wrong_type(describe::expected(&expected.to_string()))
    }

    fn invalid_value(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let expected = describe::expected(&expected.to_string());
        Self::of(Cause::InvalidValue { expected })
    }

    fn missing_field(name: &'static str) -> Self {
        Self::of(Cause::MissingField(name))
    }

    fn unknown_field(name: &str, known: &'static [&'static str]) -> Self {
        Self::unknown_field(name, known)
    }

    fn unknown_variant(name: &str, known: &'static [&'static str]) -> Self {
        Self::unknown_value(name, known)
    }
}
