//! What is known of a field before it is looked at: how its list pairs, and whether it is taken whole.

use krm_yaml::NodeRef;

use super::rules::Rules;
use super::work::Work;
use crate::model::resource::{Resource, is_resource};
use crate::schema::{ListStrategy, MappingStrategy, Type, schema_from_comment};

/// How the elements of a list are told apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ListKind {
    /// Not at all: the list is taken whole.
    Whole,
    /// By fields.
    Keyed(Vec<KeyField>),
    /// By their value.
    Set,
    /// By their identity: they are resources.
    Resources,
}

/// One of the fields that tell elements apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeyField {
    pub(crate) name: String,
    /// What an element without the field has.
    pub(crate) default: Option<String>,
}

impl KeyField {
    pub(super) fn new(name: &str) -> Self {
        Self { name: name.to_owned(), default: None }
    }
}

/// How a mapping merges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MapKind {
    /// Field by field.
    Fields,
    /// It is taken whole.
    Whole,
    /// Field by field, and fields that the source does not have make room for new ones.
    RetainKeys,
}

/// The type of a node, as far as a comment or a schema knows it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shape<'s> {
    known: Option<Type<'s>>,
    /// What a comment says of a list.
    list: Option<ListKind>,
    /// What a comment says of a mapping.
    mapping: Option<MapKind>,
}

impl<'s> Shape<'s> {
    /// The type of a resource; nothing is known of any other node.
    pub(crate) fn of_resource(rules: &Rules<'s>, node: NodeRef<'_>) -> Self {
        let resource = is_resource(node).then_some(Resource { node, item: None });
        let known = resource.zip(rules.schema).and_then(|(resource, schema)| {
            schema.resource_type(&resource.api_version(), &resource.kind())
        });
        Self { known, ..Self::default() }
    }

    /// The same, or that of the resource that stands where nothing is known.
    pub(crate) fn or_resource(&self, rules: &Rules<'s>, node: NodeRef<'_>) -> Self {
        if self.known.is_some() { self.clone() } else { Self::of_resource(rules, node) }
    }

    pub(crate) fn field(&self, name: &str) -> Self {
        let known = self.known.and_then(|known| known.field(name));
        Self { known, ..Self::default() }
    }

    pub(crate) fn item(&self) -> Self {
        let known = self.known.and_then(Type::item);
        Self { known, ..Self::default() }
    }

    /// The same with what a comment on one of the entries says.
    pub(super) fn in_comments<'a>(
        self,
        work: &Work<'a, '_>,
        entries: &[(NodeRef<'a>, NodeRef<'a>)],
    ) -> Self {
        let collections = entries.iter().filter(|(_, value)| value.resolve().is_collection());
        let comments = collections.flat_map(|(key, value)| {
            let ground = work.ground(*value);
            let beside = ground.beside(Some(*key), *value).map(str::to_owned);
            beside.into_iter().chain(ground.above(Some(*key), *value))
        });
        self.said(comments)
    }

    /// The same with what the first of some comments says that says something.
    pub(crate) fn said(mut self, comments: impl Iterator<Item = impl AsRef<str>>) -> Self {
        for comment in comments {
            if let Some(said) = comment.as_ref().lines().filter_map(schema_from_comment).next() {
                let known = said.get();
                self.list = known.list_strategy().and_then(|rule| list_kind(known, rule));
                self.mapping = map_kind(known.mapping_strategy());
                return self;
            }
        }
        self
    }

    pub(super) fn list(&self) -> Option<ListKind> {
        let known = || self.known.and_then(|known| list_kind(known, known.list_strategy()?));
        self.list.clone().or_else(known)
    }

    pub(super) fn mapping(&self) -> MapKind {
        let known = || map_kind(self.known?.mapping_strategy());
        self.mapping.or_else(known).unwrap_or(MapKind::Fields)
    }
}

/// How a list of this type pairs; none where its schema is silent.
fn list_kind(known: Type<'_>, rule: ListStrategy<'_>) -> Option<ListKind> {
    match rule {
        ListStrategy::Unknown => None,
        ListStrategy::Atomic => Some(ListKind::Whole),
        ListStrategy::Set => Some(ListKind::Set),
        ListStrategy::Associative(keys) => {
            let key = |name: &str| KeyField {
                name: name.to_owned(),
                default: known.key_default(name).map(str::to_owned),
            };
            Some(ListKind::Keyed(keys.iter().map(key).collect()))
        }
    }
}

/// How a mapping merges; one that is atomic for the server still merges by its fields.
fn map_kind(rule: MappingStrategy) -> Option<MapKind> {
    match rule {
        MappingStrategy::Merge | MappingStrategy::Atomic => None,
        MappingStrategy::Replace => Some(MapKind::Whole),
        MappingStrategy::RetainKeys => Some(MapKind::RetainKeys),
    }
}
