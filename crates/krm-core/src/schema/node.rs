//! The tables behind a schema: nodes for types, and the names and kinds that lead to them.

use std::borrow::Cow;
use std::collections::BTreeMap;

/// Text of a schema: borrowed from the embedded table, or owned.
pub(super) type Text = Cow<'static, str>;

/// The index of a node in its tables.
pub(super) type NodeId = u32;

/// What kind of value a type holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ValueKind {
    /// The schema does not say, or allows anything.
    #[default]
    Any,
    /// Text.
    String,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// True or false.
    Boolean,
    /// A whole number or text, as in `80` and `http`.
    IntOrString,
    /// A number or text, as quantities are: `0.5` and `500m`.
    NumberOrString,
    /// A mapping, with fields or with values of one type.
    Object,
    /// A list.
    Array,
}

/// Every value_kind with its name in the table, plain ones as OpenAPI spells them.
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
    /// The word for it.
    pub fn name(self) -> &'static str {
        VALUE_KINDS[self as usize].1
    }

    /// The value_kind of an OpenAPI `type`.
    pub(super) fn of_type(word: &str) -> Option<Self> {
        let is_plain = !matches!(word, "any" | "int-or-string" | "number-or-string");
        Self::named(word).filter(|_| is_plain)
    }

    /// The value_kind of this name.
    pub(super) fn named(word: &str) -> Option<Self> {
        VALUE_KINDS.iter().find(|(_, name)| *name == word).map(|(value_kind, _)| *value_kind)
    }
}

/// `x-kubernetes-list-type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListType {
    Atomic,
    Set,
    Map,
}

/// `x-kubernetes-patch-strategy`: a list of words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PatchStrategy {
    pub(super) merge: bool,
    pub(super) replace: bool,
    pub(super) retain_keys: bool,
}

impl PatchStrategy {
    /// Reads the words; none where one of them is unknown.
    pub(super) fn parse(words: &str) -> Option<Self> {
        words.split(',').try_fold(Self::default(), |mut strategy, word| {
            match word.trim() {
                "merge" => strategy.merge = true,
                "replace" => strategy.replace = true,
                "retainKeys" => strategy.retain_keys = true,
                _ => return None,
            }
            Some(strategy)
        })
    }
}

/// What a schema says about a value beside its value_kind. Most types say nothing of it.
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
    /// The default, where it is a scalar.
    pub(super) default: Option<Text>,
    pub(super) enum_values: Vec<Text>,
    pub(super) is_nullable: bool,
    /// `x-kubernetes-preserve-unknown-fields`, or `additionalProperties: true`.
    pub(super) preserves_unknown_fields: bool,
    /// A whole resource stands here: it has `apiVersion`, `kind` and `metadata`.
    pub(super) is_resource: bool,
}

/// One type, or one use of a type.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Node {
    pub(super) value_kind: ValueKind,
    /// The definition that it stands for; looked up when somebody asks, so that definitions may name each other in a circle.
    pub(super) reference: Option<Text>,
    /// Sorted by name.
    pub(super) fields: Vec<Field>,
    /// The type of a list's items, or of a mapping's values.
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

/// Types that name each other by number: first one for every value_kind, at the value_kind's own number.
#[derive(Clone, Debug)]
pub(super) struct Nodes(Vec<Node>);

impl Nodes {
    pub(super) fn new() -> Self {
        Self(VALUE_KINDS.map(|(value_kind, _)| Node { value_kind, ..Node::default() }).into())
    }

    pub(super) fn get(&self, id: NodeId) -> &Node {
        &self.0[id as usize]
    }

    /// Adds a node; all that say nothing but their value_kind are one.
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

/// Types that were added, with the names and kinds that lead to them.
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
