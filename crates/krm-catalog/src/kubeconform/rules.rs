//! The schema of a value: a built-in type of Kubernetes, or the schema of a CustomResourceDefinition.

use std::borrow::Cow;

use krm_core::schema::{Schema, Type, ValueKind};
use krm_yaml::NodeRef;

use super::limits::Limit;
use crate::lookup::{child, items, text};

/// The type of `metadata`.
const OBJECT_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

/// The schema of one value. Cheap to copy.
#[derive(Clone, Copy, Debug)]
pub(super) enum Rules<'a> {
    /// A type of Kubernetes.
    Kubernetes(Type<'a>),
    /// A schema of a CustomResourceDefinition.
    Custom {
        /// The schema.
        schema: NodeRef<'a>,
        /// The types of Kubernetes, for `metadata`.
        table: &'a Schema,
        /// Whether the value is a resource with `apiVersion`, `kind` and `metadata`.
        is_resource: bool,
    },
}

impl<'a> Rules<'a> {
    /// The allowed JSON Schema types; none if all are allowed.
    pub(super) fn types(self) -> &'static [&'static str] {
        match self {
            Self::Kubernetes(kind) => type_names(kind.value_kind()),
            Self::Custom { is_resource: true, .. } => type_names(ValueKind::Object),
            Self::Custom { schema, .. } if flag(schema, "x-kubernetes-int-or-string") => {
                type_names(ValueKind::IntOrString)
            }
            Self::Custom { schema, .. } => {
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
                found.map_or(&[], |(_, shape)| type_names(*shape))
            }
        }
    }

    /// Whether `null` is allowed even if the field is required.
    pub(super) fn is_nullable(self) -> bool {
        match self {
            Self::Kubernetes(kind) => kind.is_nullable(),
            Self::Custom { schema, .. } => flag(schema, "nullable"),
        }
    }

    /// The required fields.
    pub(super) fn required(self) -> Vec<Cow<'a, str>> {
        match self {
            Self::Kubernetes(kind) => kind.required().map(Cow::from).collect(),
            Self::Custom { schema, .. } => {
                items(schema, "required").filter_map(NodeRef::as_str).collect()
            }
        }
    }

    /// The schema of a field.
    pub(super) fn field(self, name: &str) -> Option<Self> {
        match self {
            Self::Kubernetes(kind) => kind.field(name).map(Self::Kubernetes),
            Self::Custom { table, is_resource: true, .. } if name == "metadata" => {
                table.definition(OBJECT_META).map(Self::Kubernetes)
            }
            Self::Custom { schema, table, .. } => {
                let declared = child(schema, "properties").and_then(|it| child(it, name));
                let values = || child(schema, "additionalProperties");
                Some(custom(declared.or_else(values)?, table))
            }
        }
    }

    /// Whether unknown fields are allowed.
    pub(super) fn allows_unknown_fields(self) -> bool {
        match self {
            Self::Kubernetes(kind) => {
                kind.preserves_unknown_fields() || kind.fields().next().is_none()
            }
            Self::Custom { schema, .. } => {
                flag(schema, "x-kubernetes-preserve-unknown-fields")
                    || flag(schema, "additionalProperties")
                    || child(schema, "properties").is_none()
            }
        }
    }

    /// Whether every resource has a field of this name.
    pub(super) fn is_common_field(self, name: &str) -> bool {
        matches!(self, Self::Custom { is_resource: true, .. })
            && matches!(name, "apiVersion" | "kind" | "metadata")
    }

    /// The schema of the elements.
    pub(super) fn item(self) -> Option<Self> {
        match self {
            Self::Kubernetes(kind) => kind.item().map(Self::Kubernetes),
            Self::Custom { schema, table, .. } => Some(custom(child(schema, "items")?, table)),
        }
    }

    /// The constraints on the value itself.
    pub(super) fn limits(self) -> Vec<Limit<'a>> {
        match self {
            Self::Kubernetes(kind) => {
                let values = kind.enum_values().map(|values| values.map(Cow::from).collect());
                values.map(Limit::OneOf).into_iter().collect()
            }
            Self::Custom { schema, .. } => Limit::of_schema(schema),
        }
    }

    /// The subschemas of `allOf`, `anyOf`, `oneOf` or `not`.
    pub(super) fn branches(self, keyword: &str) -> Vec<Self> {
        let Self::Custom { schema, table, .. } = self else { return Vec::new() };
        if keyword == "not" {
            return child(schema, keyword).into_iter().map(|it| custom(it, table)).collect();
        }
        items(schema, keyword).map(|it| custom(it.resolve(), table)).collect()
    }
}

/// A schema below the root of a resource.
fn custom<'a>(schema: NodeRef<'a>, table: &'a Schema) -> Rules<'a> {
    Rules::Custom { schema, table, is_resource: flag(schema, "x-kubernetes-embedded-resource") }
}

fn type_names(kind: ValueKind) -> &'static [&'static str] {
    match kind {
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
