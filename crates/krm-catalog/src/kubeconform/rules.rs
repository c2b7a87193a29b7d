//! What a schema asks of a value: Kubernetes' own types from the table, those of custom resources as their definition writes them.

use std::borrow::Cow;

use krm_core::schema::{Schema, Type, ValueKind};
use krm_yaml::NodeRef;

use super::limits::Limit;
use crate::lookup::{child, items, text};

/// The definition of every resource's `metadata`.
const OBJECT_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

/// The rules for one value: a view that is cheap to copy.
#[derive(Clone, Copy, Debug)]
pub(super) enum Rules<'a> {
    /// A type of the table.
    Known(Type<'a>),
    /// A schema as it is written in a CustomResourceDefinition.
    Written {
        /// The schema.
        schema: NodeRef<'a>,
        /// What knows the type of `metadata`.
        table: &'a Schema,
        /// Whether a whole resource stands here, with `apiVersion`, `kind` and `metadata`.
        is_resource: bool,
    },
}

impl<'a> Rules<'a> {
    /// The types that a value may have, as schemas call them; none where all will do.
    pub(super) fn types(self) -> &'static [&'static str] {
        match self {
            Self::Known(kind) => of_shape(kind.value_kind()),
            Self::Written { is_resource: true, .. } => of_shape(ValueKind::Object),
            Self::Written { schema, .. } if flag(schema, "x-kubernetes-int-or-string") => {
                of_shape(ValueKind::IntOrString)
            }
            Self::Written { schema, .. } => {
                let name = text(schema, "type").unwrap_or_default();
                let named = [
                    ("string", ValueKind::String),
                    ("integer", ValueKind::Integer),
                    ("number", ValueKind::Number),
                    ("boolean", ValueKind::Boolean),
                    ("object", ValueKind::Object),
                    ("array", ValueKind::Array),
                ];
                let found = named.iter().find(|(word, _)| *word == name);
                found.map_or(&[], |(_, shape)| of_shape(*shape))
            }
        }
    }

    /// Whether `null` is a value of it even where the field must be there.
    pub(super) fn is_nullable(self) -> bool {
        match self {
            Self::Known(kind) => kind.is_nullable(),
            Self::Written { schema, .. } => flag(schema, "nullable"),
        }
    }

    /// The names of the fields that must be there.
    pub(super) fn required(self) -> Vec<Cow<'a, str>> {
        match self {
            Self::Known(kind) => kind.required().map(Cow::from).collect(),
            Self::Written { schema, .. } => {
                items(schema, "required").filter_map(NodeRef::as_str).collect()
            }
        }
    }

    /// The rules for a field.
    pub(super) fn field(self, name: &str) -> Option<Self> {
        match self {
            Self::Known(kind) => kind.field(name).map(Self::Known),
            Self::Written { table, is_resource: true, .. } if name == "metadata" => {
                table.definition(OBJECT_META).map(Self::Known)
            }
            Self::Written { schema, table, .. } => {
                let declared = child(schema, "properties").and_then(|it| child(it, name));
                let values = || child(schema, "additionalProperties");
                Some(written(declared.or_else(values)?, table))
            }
        }
    }

    /// Whether fields that nobody declared are fine.
    pub(super) fn is_open(self) -> bool {
        match self {
            Self::Known(kind) => kind.preserves_unknown_fields() || kind.fields().next().is_none(),
            Self::Written { schema, .. } => {
                flag(schema, "x-kubernetes-preserve-unknown-fields")
                    || flag(schema, "additionalProperties")
                    || child(schema, "properties").is_none()
            }
        }
    }

    /// Whether this name is one of every resource's.
    pub(super) fn is_implied(self, name: &str) -> bool {
        matches!(self, Self::Written { is_resource: true, .. })
            && matches!(name, "apiVersion" | "kind" | "metadata")
    }

    /// The rules for the items of a list.
    pub(super) fn item(self) -> Option<Self> {
        match self {
            Self::Known(kind) => kind.item().map(Self::Known),
            Self::Written { schema, table, .. } => Some(written(child(schema, "items")?, table)),
        }
    }

    /// What else is asked of the value itself.
    pub(super) fn limits(self) -> Vec<Limit<'a>> {
        match self {
            Self::Known(kind) => {
                let values = kind.enum_values().map(|values| values.map(Cow::from).collect());
                values.map(Limit::OneOf).into_iter().collect()
            }
            Self::Written { schema, .. } => Limit::written(schema),
        }
    }

    /// Schemas of which all, any, exactly one or none must fit.
    pub(super) fn branches(self, word: &str) -> Vec<Self> {
        let Self::Written { schema, table, .. } = self else { return Vec::new() };
        if word == "not" {
            return child(schema, word).into_iter().map(|it| written(it, table)).collect();
        }
        items(schema, word).map(|it| written(it.resolve(), table)).collect()
    }
}

/// The rules of a schema below the root of a resource.
fn written<'a>(schema: NodeRef<'a>, table: &'a Schema) -> Rules<'a> {
    Rules::Written { schema, table, is_resource: flag(schema, "x-kubernetes-embedded-resource") }
}

fn of_shape(shape: ValueKind) -> &'static [&'static str] {
    match shape {
        ValueKind::Any => &[],
        ValueKind::String => &["string"],
        ValueKind::Integer => &["integer"],
        ValueKind::Number => &["number"],
        ValueKind::Boolean => &["boolean"],
        ValueKind::IntOrString => &["integer", "string"],
        ValueKind::NumberOrString => &["number", "string"],
        ValueKind::Object => &["object"],
        ValueKind::Array => &["array"],
    }
}

fn flag(node: NodeRef<'_>, name: &str) -> bool {
    text(node, name).is_some_and(|it| it == "true")
}
