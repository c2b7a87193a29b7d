//! What is known about a field before its value is looked at: the type of its list, and how its mapping merges.

use krm_yaml::NodeRef;

use super::options::ListOptions;
use super::sequences::{KeyField, ListType};
use crate::model::resource::{Resource, is_resource};
use crate::schema::{
    CommentSchema, ListStrategy, MappingStrategy, Schema, Type, schema_from_comment,
};

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

/// What a schema says about the elements of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ListRule {
    /// How they are identified.
    Defined(ListType),
    /// That the server does not identify them, which need not hold for files.
    ServerAtomic,
    /// That lists are united, but neither by which key nor of what type the elements are.
    Union,
    /// That they are functions of a pipeline.
    Functions,
}

/// The schema of a node, as far as a comment or the schema of its resource defines it.
#[derive(Clone, Debug, Default)]
pub(crate) struct FieldSchema<'s> {
    /// The known types, to which comments can refer.
    types: Option<&'s Schema>,
    schema: Option<Type<'s>>,
    /// The rule for the list, from a comment.
    list: Option<ListRule>,
    /// The type of the elements, from a comment.
    item: Option<Type<'s>>,
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
        Self { types: options.schema, schema, ..Self::default() }
    }

    /// This schema, or where there is none the one of a resource that is nested here.
    pub(crate) fn or_resource(&self, options: &ListOptions<'s>, node: NodeRef<'_>) -> Self {
        if self.schema.is_some() { self.clone() } else { Self::of_resource(options, node) }
    }

    pub(crate) fn field(&self, name: &str) -> Self {
        self.below(self.schema.and_then(|schema| schema.field(name)))
    }

    pub(crate) fn item(&self) -> Self {
        self.below(self.item.or_else(|| self.schema.and_then(Type::item)))
    }

    fn below(&self, schema: Option<Type<'s>>) -> Self {
        Self { types: self.types, schema, ..Self::default() }
    }

    /// This schema, overridden by the first of some comments that holds one (`# {"x-kubernetes-list-type": …}`), or that refers
    /// to a known type (`# {"$ref":"#/definitions/io.k8s.api.core.v1.PodSpec"}`).
    pub(crate) fn with_comments(self, comments: impl Iterator<Item = impl AsRef<str>>) -> Self {
        for comment in comments {
            if let Some(found) = comment.as_ref().lines().filter_map(schema_from_comment).next() {
                return self.with_comment(&found);
            }
        }
        self
    }

    fn with_comment(mut self, comment: &CommentSchema) -> Self {
        let definition = |name: Option<&str>| self.types?.definition(name?);
        let (referred, item) =
            (definition(comment.reference()), definition(comment.item_reference()));
        let schema = comment.get();
        let rule = schema.list_strategy().and_then(|strategy| list_rule(schema, strategy));
        self.list = rule.map(|rule| match rule {
            // Who writes a comment means the merge, not the server.
            ListRule::ServerAtomic => ListRule::Defined(ListType::Atomic),
            rule => rule,
        });
        self.mapping = map_strategy(schema.mapping_strategy());
        self.schema = referred.or(self.schema);
        self.item = item;
        self
    }

    pub(crate) fn list(&self) -> Option<ListRule> {
        let from_schema =
            || self.schema.and_then(|schema| list_rule(schema, schema.list_strategy()?));
        self.list.clone().or_else(from_schema)
    }

    pub(crate) fn mapping(&self) -> MapStrategy {
        let from_schema = || map_strategy(self.schema?.mapping_strategy());
        self.mapping.or_else(from_schema).unwrap_or(MapStrategy::Merge)
    }
}

/// The rule for a list; `None` where its schema does not define it.
fn list_rule(schema: Type<'_>, strategy: ListStrategy<'_>) -> Option<ListRule> {
    match strategy {
        ListStrategy::Unknown => None,
        ListStrategy::Replace => Some(ListRule::Defined(ListType::Atomic)),
        ListStrategy::Atomic => Some(ListRule::ServerAtomic),
        ListStrategy::Set => Some(ListRule::Defined(ListType::Set)),
        ListStrategy::Union => Some(ListRule::Union),
        ListStrategy::Functions => Some(ListRule::Functions),
        ListStrategy::Associative(keys) => {
            let key = |name: &str| {
                let default = schema.key_default(name).map(str::to_owned);
                // A default makes the key part of every element, so that another value is another element: UDP beside TCP.
                let is_secondary = keys.is_secondary(name) && default.is_none();
                KeyField { default, is_secondary, ..KeyField::new(name) }
            };
            Some(ListRule::Defined(ListType::Map(keys.iter().map(key).collect())))
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
