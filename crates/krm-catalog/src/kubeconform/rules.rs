//! The schema of a value: a built-in type of Kubernetes, a schema of a CustomResourceDefinition, or a JSON Schema.

use std::borrow::Cow;

use krm_core::schema::{Schema, Type, ValueKind};
use krm_yaml::NodeRef;

use super::limits::Limit;
use super::locations::Documents;
use crate::lookup::{child, items, text};

/// The type of `metadata`.
const OBJECT_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

/// The maximum number of references that are followed, because schemas can refer to each other in a cycle.
const MAX_REFERENCES: usize = 32;

/// All types in the order of kubeconform's messages.
const TYPES: [&str; 7] = ["null", "boolean", "number", "integer", "string", "array", "object"];

/// The schema of one value. Cheap to copy.
#[derive(Clone, Copy)]
pub(super) enum Rules<'a> {
    /// A type of Kubernetes.
    Kubernetes(Type<'a>),
    /// A schema in a document.
    Schema(SchemaNode<'a>),
}

/// A schema in a document.
#[derive(Clone, Copy)]
pub(super) struct SchemaNode<'a> {
    node: NodeRef<'a>,
    dialect: Dialect<'a>,
    /// Whether the value is a resource with `apiVersion`, `kind` and `metadata`. Only in CustomResourceDefinitions.
    is_resource: bool,
}

/// What the keywords of a schema mean.
#[derive(Clone, Copy)]
pub(super) enum Dialect<'a> {
    /// A CustomResourceDefinition.
    Crd {
        /// The types of Kubernetes, for `metadata`.
        table: &'a Schema,
    },
    /// A file with a JSON Schema.
    Json {
        /// The files that were read.
        documents: &'a Documents,
        /// The path of the file, which references are relative to.
        path: &'a str,
    },
}

impl<'a> SchemaNode<'a> {
    /// A schema, after following its references.
    pub(super) fn new(node: NodeRef<'a>, dialect: Dialect<'a>) -> Self {
        let mut at = Self { node: node.resolve(), dialect, is_resource: false };
        let Dialect::Json { documents, .. } = dialect else {
            let is_resource = flag(at.node, "x-kubernetes-embedded-resource");
            return Self { is_resource, ..at };
        };
        for _ in 0..MAX_REFERENCES {
            let Dialect::Json { path, .. } = at.dialect else { break };
            let target = text(at.node, "$ref").and_then(|it| documents.resolve(path, &it));
            let Some((path, node)) = target else { break };
            at = Self { node, dialect: Dialect::Json { documents, path }, is_resource: false };
        }
        at
    }

    /// The same for a value that is a resource.
    pub(super) fn as_resource(self) -> Self {
        Self { is_resource: true, ..self }
    }

    fn is_json(self) -> bool {
        matches!(self.dialect, Dialect::Json { .. })
    }

    fn below(self, node: NodeRef<'a>) -> Rules<'a> {
        Rules::Schema(Self::new(node, self.dialect))
    }

    fn types(self) -> Vec<&'static str> {
        if !self.is_json() && flag(self.node, "x-kubernetes-int-or-string") {
            return type_names(ValueKind::IntOrString).to_vec();
        }
        let one = text(self.node, "type").into_iter();
        let all: Vec<Cow<'_, str>> =
            one.chain(items(self.node, "type").filter_map(NodeRef::as_str)).collect();
        TYPES.into_iter().filter(|name| all.iter().any(|it| it == name)).collect()
    }

    fn field(self, name: &str) -> Option<Rules<'a>> {
        if let (true, "metadata", Dialect::Crd { table }) = (self.is_resource, name, self.dialect) {
            return table.definition(OBJECT_META).map(Rules::Kubernetes);
        }
        let declared = child(self.node, "properties").and_then(|it| child(it, name));
        let by_pattern = || {
            let mut patterns = child(self.node, "patternProperties")?.as_mapping()?.entries();
            patterns.find_map(|entry| {
                let pattern = regex_lite::Regex::new(&entry.key.as_str()?).ok()?;
                pattern.is_match(name).then(|| entry.value.resolve())
            })
        };
        let values = || child(self.node, "additionalProperties");
        Some(self.below(declared.or_else(by_pattern).or_else(values)?))
    }

    /// Whether a field that is not declared is allowed.
    fn allows_unknown_fields(self, is_strict: bool) -> bool {
        let additional = text(self.node, "additionalProperties");
        match self.dialect {
            // Compat: strictness of a JSON Schema is in the schema; kubeconform only selects another file by it.
            Dialect::Json { .. } => additional.is_none_or(|it| it != "false"),
            Dialect::Crd { .. } => {
                !is_strict
                    || flag(self.node, "x-kubernetes-preserve-unknown-fields")
                    || additional.is_some_and(|it| it == "true")
                    || child(self.node, "properties").is_none()
            }
        }
    }
}

impl<'a> Rules<'a> {
    /// The allowed JSON Schema types besides null; none if all are allowed.
    pub(super) fn types(self) -> Vec<&'static str> {
        match self {
            Self::Kubernetes(kind) => type_names(kind.value_kind()).to_vec(),
            Self::Schema(SchemaNode { is_resource: true, .. }) => vec!["object"],
            Self::Schema(schema) => schema.types(),
        }
    }

    /// Whether `null` is allowed, in a field that is optional or not.
    pub(super) fn is_nullable(self, is_optional: bool) -> bool {
        match self {
            // Compat: the schemas of Kubernetes' kinds that kubeconform uses allow null for optional fields, as the API server does.
            Self::Kubernetes(kind) => is_optional || kind.is_nullable(),
            Self::Schema(schema) if schema.is_json() => schema.types().contains(&"null"),
            // Spec: null of a field that is not nullable is dropped before defaults are set, if there is a default.
            Self::Schema(schema) => {
                let has_default =
                    schema.node.as_mapping().is_some_and(|it| it.get("default").is_some());
                flag(schema.node, "nullable") || is_optional && has_default
            }
        }
    }

    /// The required fields.
    pub(super) fn required(self) -> Vec<Cow<'a, str>> {
        match self {
            Self::Kubernetes(kind) => kind.required().map(Cow::from).collect(),
            Self::Schema(schema) => {
                items(schema.node, "required").filter_map(NodeRef::as_str).collect()
            }
        }
    }

    /// The schema of a field.
    pub(super) fn field(self, name: &str) -> Option<Self> {
        match self {
            Self::Kubernetes(kind) => kind.field(name).map(Self::Kubernetes),
            Self::Schema(schema) => schema.field(name),
        }
    }

    /// Whether a field that is not declared is allowed.
    pub(super) fn allows_unknown_field(self, name: &str, is_strict: bool) -> bool {
        match self {
            Self::Kubernetes(kind) => {
                !is_strict || kind.preserves_unknown_fields() || kind.fields().next().is_none()
            }
            Self::Schema(schema) => {
                let is_common = matches!(name, "apiVersion" | "kind" | "metadata");
                schema.is_resource && is_common || schema.allows_unknown_fields(is_strict)
            }
        }
    }

    /// The schema of the elements.
    pub(super) fn item(self) -> Option<Self> {
        match self {
            Self::Kubernetes(kind) => kind.item().map(Self::Kubernetes),
            Self::Schema(schema) => Some(schema.below(child(schema.node, "items")?)),
        }
    }

    /// The constraints on the value itself.
    pub(super) fn limits(self) -> Vec<Limit<'a>> {
        match self {
            Self::Kubernetes(kind) => {
                let format = kind.format().map(|it| Limit::Format(it.into()));
                format.into_iter().collect()
            }
            Self::Schema(schema) => Limit::of_schema(schema.node),
        }
    }

    /// The subschemas of `allOf`, `anyOf`, `oneOf` or `not`.
    pub(super) fn branches(self, keyword: &str) -> Vec<Self> {
        let Self::Schema(schema) = self else { return Vec::new() };
        if keyword == "not" {
            return child(schema.node, keyword).into_iter().map(|it| schema.below(it)).collect();
        }
        items(schema.node, keyword).map(|it| schema.below(it)).collect()
    }
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
