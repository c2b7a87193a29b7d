//! What is known about a field before its value is looked at: the type of its list, and how its mapping merges.

use krm_yaml::NodeRef;

use super::options::ListOptions;
use super::sequences::{KeyField, ListType};
use crate::model::resource::{Resource, is_resource};
use crate::schema::{ListStrategy, MappingStrategy, Type, schema_from_comment};

/// How a mapping merges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MapStrategy {
    /// Field by field.
    Merge,
    /// As a whole: `x-kubernetes-patch-strategy: replace`.
    Replace,
    /// Field by field, except that fields which the source does not have are removed where it sets another one of a union.
    RetainKeys,
}

/// The schema of a node, as far as a comment or the schema of its resource defines it.
#[derive(Clone, Debug, Default)]
pub(crate) struct FieldSchema<'s> {
    schema: Option<Type<'s>>,
    /// The type of the list, from a comment.
    list: Option<ListType>,
    /// The strategy of the mapping, from a comment.
    mapping: Option<MapStrategy>,
}

impl<'s> FieldSchema<'s> {
    /// The schema of a resource. Nothing is known about any other node.
    pub(crate) fn of_resource(options: &ListOptions<'s>, node: NodeRef<'_>) -> Self {
        let resource = is_resource(node).then_some(Resource { node, item: None });
        let schema = resource.zip(options.schema).and_then(|(resource, schema)| {
            schema.resource_type(&resource.api_version(), &resource.kind())
        });
        Self { schema, ..Self::default() }
    }

    /// This schema, or where there is none the one of a resource that is nested here.
    pub(crate) fn or_resource(&self, options: &ListOptions<'s>, node: NodeRef<'_>) -> Self {
        if self.schema.is_some() { self.clone() } else { Self::of_resource(options, node) }
    }

    pub(crate) fn field(&self, name: &str) -> Self {
        Self { schema: self.schema.and_then(|schema| schema.field(name)), ..Self::default() }
    }

    pub(crate) fn item(&self) -> Self {
        Self { schema: self.schema.and_then(Type::item), ..Self::default() }
    }

    /// This schema, overridden by the first of some comments that holds one (`# {"x-kubernetes-list-type": …}`).
    pub(crate) fn with_comments(mut self, comments: impl Iterator<Item = impl AsRef<str>>) -> Self {
        for comment in comments {
            if let Some(found) = comment.as_ref().lines().filter_map(schema_from_comment).next() {
                let schema = found.get();
                self.list = schema.list_strategy().and_then(|rule| list_type(schema, rule));
                self.mapping = map_strategy(schema.mapping_strategy());
                return self;
            }
        }
        self
    }

    pub(crate) fn list(&self) -> Option<ListType> {
        let from_schema =
            || self.schema.and_then(|schema| list_type(schema, schema.list_strategy()?));
        self.list.clone().or_else(from_schema)
    }

    pub(crate) fn mapping(&self) -> MapStrategy {
        let from_schema = || map_strategy(self.schema?.mapping_strategy());
        self.mapping.or_else(from_schema).unwrap_or(MapStrategy::Merge)
    }
}

/// The type of a list; `None` where its schema does not define it.
fn list_type(schema: Type<'_>, rule: ListStrategy<'_>) -> Option<ListType> {
    match rule {
        ListStrategy::Unknown => None,
        ListStrategy::Atomic => Some(ListType::Atomic),
        ListStrategy::Set => Some(ListType::Set),
        ListStrategy::Associative(keys) => {
            let key = |name: &str| KeyField {
                name: name.to_owned(),
                default: schema.key_default(name).map(str::to_owned),
            };
            Some(ListType::Map(keys.iter().map(key).collect()))
        }
    }
}

/// How a mapping merges. Compat: `x-kubernetes-map-type: atomic` is about server-side apply; kustomize and kpt merge such a mapping
/// field by field, and so does krm.
fn map_strategy(rule: MappingStrategy) -> Option<MapStrategy> {
    match rule {
        MappingStrategy::Merge | MappingStrategy::Atomic => None,
        MappingStrategy::Replace => Some(MapStrategy::Replace),
        MappingStrategy::RetainKeys => Some(MapStrategy::RetainKeys),
    }
}
