//! Fields of a resource that functions add or drop without changing it.
//!
//! Spec: the orchestrator's annotations (path, index, id) travel with each item and are not part of the resource.
//! Compat: functions written in Go drop fields that are `null`, and print `creationTimestamp: null` for a time that was never set.
//! A `null` in any other place is a value that the function set.

use krm_yaml::NodeRef;

use crate::compare::fields::{Field, Fields};
use crate::functions::resource_list::annotations::is_wire_annotation;
use crate::model::resource::is_null;

/// How deep in a resource a mapping is, as far as it matters for the annotations of the orchestrator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResourceLevel {
    /// The resource itself.
    Root,
    /// Its `metadata`.
    Metadata,
    /// Its `metadata.annotations`.
    Annotations,
    /// Anything else.
    Other,
}

impl ResourceLevel {
    /// The level of a field.
    pub(crate) fn child(self, name: &str) -> Self {
        match (self, name) {
            (Self::Root, "metadata") => Self::Metadata,
            (Self::Metadata, "annotations") => Self::Annotations,
            _ => Self::Other,
        }
    }

    /// Whether a field is part of the resource, and not an annotation of the orchestrator.
    pub(crate) fn is_own_field(self, name: &str) -> bool {
        self != Self::Annotations || !is_wire_annotation(name)
    }

    /// Whether a `null` was sent as a mapping, because the annotations of the orchestrator needed one, and nothing else is in it.
    pub(crate) fn is_filled_null(self, sent: NodeRef<'_>, returned: NodeRef<'_>) -> bool {
        is_null(sent) && self.has_no_own_fields(returned)
    }

    /// Whether a value holds only what the orchestrator or Go added.
    pub(crate) fn has_no_own_fields(self, value: NodeRef<'_>) -> bool {
        if !matches!(self, Self::Metadata | Self::Annotations) || value.as_mapping().is_none() {
            return false;
        }
        Fields::of(value, true).iter().all(|(name, field)| is_ignorable_addition(name, field, self))
    }
}

/// Whether a field that was returned but not sent is not a change.
pub(crate) fn is_ignorable_addition(name: &str, field: Field<'_>, level: ResourceLevel) -> bool {
    !level.is_own_field(name)
        || level.child(name).has_no_own_fields(field.value)
        || name == "creationTimestamp" && is_null(field.value.resolve())
}

/// Whether a field that was sent but not returned is not a change.
pub(crate) fn is_ignorable_removal(name: &str, field: Field<'_>, level: ResourceLevel) -> bool {
    let is_empty = field.value.children().next().is_none();
    !level.is_own_field(name)
        || is_null(field.value.resolve())
        || !is_empty && level.child(name).has_no_own_fields(field.value)
}
