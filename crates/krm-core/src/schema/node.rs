//! The data of a schema: nodes for types, indexed by definition name and by kind.

use std::borrow::Cow;
use std::collections::BTreeMap;

/// A string of a schema: borrowed from the embedded table, or owned.
pub(super) type Text = Cow<'static, str>;

/// The index of a node in its tables.
pub(super) type NodeId = u32;

/// The type of a value, as OpenAPI has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ValueKind {
    /// Unknown, or anything is allowed.
    #[default]
    Any,
    /// A string.
    String,
    /// An integer.
    Integer,
    /// A number.
    Number,
    /// A boolean.
    Boolean,
    /// An integer or a string, such as `80` and `http`.
    IntOrString,
    /// A number or a string, such as the quantities `0.5` and `500m`.
    NumberOrString,
    /// A mapping, with declared fields or with values of one type.
    Object,
    /// A sequence.
    Array,
}

/// All variants with their names in the table; those that OpenAPI has are spelled as there.
pub(super) const VALUE_KINDS: [(ValueKind, &str); 9] = [
    (ValueKind::Any, "any"),
    (ValueKind::String, "string"),
    (ValueKind::Integer, "integer"),
    (ValueKind::Number, "number"),
    (ValueKind::Boolean, "boolean"),
    (ValueKind::IntOrString, "int-or-string"),
    (ValueKind::NumberOrString, "number-or-string"),
    (ValueKind::Object, "object"),
    (ValueKind::Array, "array"),
];

impl ValueKind {
    /// The name, as in OpenAPI.
    pub fn name(self) -> &'static str {
        VALUE_KINDS[self as usize].1
    }

    /// The variant for the value of `type`.
    pub(super) fn of_type(name: &str) -> Option<Self> {
        let is_plain = !matches!(name, "any" | "int-or-string" | "number-or-string");
        Self::named(name).filter(|_| is_plain)
    }

    /// The variant with this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        VALUE_KINDS.iter().find(|(_, other)| *other == name).map(|(value_kind, _)| *value_kind)
    }
}

/// `x-kubernetes-list-type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListType {
    Atomic,
    Set,
    Map,
    /// The pipeline of a Kptfile. No keyword of OpenAPI expresses it; only the embedded table has it.
    Functions,
}

/// `x-kubernetes-patch-strategy`: names separated by commas.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PatchStrategy {
    pub(super) merge: bool,
    pub(super) replace: bool,
    pub(super) retain_keys: bool,
}

impl PatchStrategy {
    /// Parses the names; none if one of them is unknown.
    pub(super) fn parse(text: &str) -> Option<Self> {
        text.split(',').try_fold(Self::default(), |mut strategy, name| {
            match name.trim() {
                "merge" => strategy.merge = true,
                "replace" => strategy.replace = true,
                "retainKeys" => strategy.retain_keys = true,
                _ => return None,
            }
            Some(strategy)
        })
    }
}

/// What a schema defines about a value besides its type. Most types have none of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Attributes {
    pub(super) list_type: Option<ListType>,
    /// `x-kubernetes-list-map-keys`.
    pub(super) keys: Vec<Text>,
    pub(super) strategy: PatchStrategy,
    /// `x-kubernetes-patch-merge-key`.
    pub(super) merge_key: Option<Text>,
    /// `x-kubernetes-map-type` is `atomic`.
    pub(super) is_atomic_map: bool,
    pub(super) format: Option<Text>,
    /// The default, if it is a scalar.
    pub(super) default: Option<Text>,
    pub(super) enum_values: Vec<Text>,
    pub(super) is_nullable: bool,
    /// `x-kubernetes-preserve-unknown-fields`, or `additionalProperties: true`.
    pub(super) preserves_unknown_fields: bool,
    /// The value is a resource: it has `apiVersion`, `kind` and `metadata`.
    pub(super) is_resource: bool,
}

/// A type, or a reference to one.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Node {
    pub(super) value_kind: ValueKind,
    /// The referenced definition. It is looked up on demand, so that definitions may be recursive.
    pub(super) reference: Option<Text>,
    /// Sorted by name.
    pub(super) fields: Vec<Field>,
    /// The type of a sequence's elements, or of a mapping's values.
    pub(super) child: Option<NodeId>,
    pub(super) attributes: Option<Box<Attributes>>,
}

impl Node {
    pub(super) fn field(&self, name: &str) -> Option<&Field> {
        let at = self.fields.binary_search_by(|field| (*field.name).cmp(name)).ok()?;
        Some(&self.fields[at])
    }
}

/// A field of a mapping.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Field {
    pub(super) name: Text,
    pub(super) node: NodeId,
    pub(super) is_required: bool,
}

/// Types that refer to each other by index. The first ones are the plain types, at the index of their [`ValueKind`].
#[derive(Clone, Debug)]
pub(super) struct Nodes(Vec<Node>);

impl Nodes {
    pub(super) fn new() -> Self {
        Self(VALUE_KINDS.map(|(value_kind, _)| Node { value_kind, ..Node::default() }).into())
    }

    pub(super) fn get(&self, id: NodeId) -> &Node {
        &self.0[id as usize]
    }

    /// Adds a node. Nodes that have only a type are shared.
    pub(super) fn add(&mut self, node: Node) -> NodeId {
        let is_bare = node.reference.is_none()
            && node.fields.is_empty()
            && node.child.is_none()
            && node.attributes.is_none();
        if is_bare {
            return node.value_kind as NodeId;
        }
        self.0.push(node);
        self.0.len() as NodeId - 1
    }
}

/// Types, indexed by definition name and by kind.
#[derive(Clone, Debug)]
pub(super) struct TypeTables {
    pub(super) nodes: Nodes,
    pub(super) definitions: BTreeMap<Text, NodeId>,
    /// By `apiVersion`, then by `kind`.
    pub(super) kinds: BTreeMap<String, BTreeMap<String, NodeId>>,
}

impl TypeTables {
    pub(super) fn new() -> Self {
        Self { nodes: Nodes::new(), definitions: BTreeMap::new(), kinds: BTreeMap::new() }
    }

    pub(super) fn add_kind(&mut self, api_version: String, kind: String, node: NodeId) {
        self.kinds.entry(api_version).or_default().insert(kind, node);
    }

    pub(super) fn kind(&self, api_version: &str, kind: &str) -> Option<NodeId> {
        self.kinds.get(api_version)?.get(kind).copied()
    }
}
