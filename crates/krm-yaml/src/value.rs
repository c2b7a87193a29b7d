//! Values: the meaning of a subtree, and input of edits.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::node::{NodeKind, ScalarStyle};
use crate::node_ref::NodeRef;
use crate::owned_node::OwnedNode;
use crate::scalar::{ScalarType, json_scalar};

/// A value to write, or a value that was read.
#[derive(Clone, Debug)]
pub enum Value<'a> {
    /// Null.
    Null,
    /// A boolean.
    Bool(bool),
    /// A number as it is written, so that no digit is lost.
    Number(Cow<'a, str>),
    /// A string.
    String(Cow<'a, str>),
    /// A sequence.
    Sequence(Vec<Value<'a>>),
    /// A mapping, in order.
    Mapping(Vec<(Value<'a>, Value<'a>)>),
    /// A node of any document, copied as it is written there, with its comments.
    Node(NodeRef<'a>),
    /// The same for a node that owns its text.
    OwnedNode(OwnedNode),
}

/// A subtree is too large or too deep after its aliases are expanded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpansionError {
    /// The maximum number of nodes.
    pub limit: usize,
}

impl std::fmt::Display for ExpansionError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "aliases expand to more than {} nodes or {EXPANSION_DEPTH} levels", self.limit)
    }
}

impl std::error::Error for ExpansionError {}

impl<'a> Value<'a> {
    /// A string.
    pub fn string(text: impl Into<Cow<'a, str>>) -> Self {
        Self::String(text.into())
    }

    /// An integer.
    pub fn int(number: i64) -> Self {
        Self::Number(number.to_string().into())
    }

    /// The value of a plain scalar.
    pub fn plain(text: impl Into<Cow<'a, str>>) -> Self {
        let text = text.into();
        match crate::scalar::resolve(&text) {
            ScalarType::Null => Self::Null,
            ScalarType::Bool(value) => Self::Bool(value),
            ScalarType::Int(_) | ScalarType::Float(_) => Self::Number(text),
            ScalarType::String => Self::String(text),
        }
    }

    /// A value that does not borrow. Nodes are converted to their values.
    pub fn into_owned(self) -> Result<Value<'static>, ExpansionError> {
        Ok(match self {
            Self::Null => Value::Null,
            Self::Bool(value) => Value::Bool(value),
            Self::Number(text) => Value::Number(text.into_owned().into()),
            Self::String(text) => Value::String(text.into_owned().into()),
            Self::Sequence(items) => {
                Value::Sequence(items.into_iter().map(Self::into_owned).collect::<Result<_, _>>()?)
            }
            Self::Mapping(entries) => {
                let owned =
                    |(key, value): (Self, Self)| Ok((key.into_owned()?, value.into_owned()?));
                Value::Mapping(entries.into_iter().map(owned).collect::<Result<_, _>>()?)
            }
            Self::Node(node) => node.to_value()?.into_owned()?,
            Self::OwnedNode(graft) => graft.node().to_value()?.into_owned()?,
        })
    }

    /// The node, if the value is one.
    pub fn node(&self) -> Option<NodeRef<'_>> {
        match self {
            Self::Node(node) => Some(*node),
            Self::OwnedNode(graft) => Some(graft.node()),
            _ => None,
        }
    }

    /// Whether this is a non-empty mapping or sequence.
    pub(crate) fn is_filled_collection(&self) -> bool {
        match self {
            Self::Sequence(items) => !items.is_empty(),
            Self::Mapping(entries) => !entries.is_empty(),
            other => other
                .node()
                .is_some_and(|node| node.is_collection() && node.children().next().is_some()),
        }
    }

    /// Whether a node has this value, and no anchor or tag that the value does not have.
    fn is_written_by(&self, node: NodeRef<'_>, json: bool) -> bool {
        let is_bare = self.node().is_some() || node.properties().is_none();
        is_bare && self.is_meant_by(node, json)
    }

    /// Whether a node has this value. With `json`, scalars other than keys may be spelled as in JSON.
    pub(crate) fn is_meant_by(&self, node: NodeRef<'_>, json: bool) -> bool {
        match self {
            Self::Node(other) => same_meaning(*other, node, json),
            Self::OwnedNode(graft) => same_meaning(graft.node(), node, json),
            Self::Sequence(items) => {
                node.kind() == NodeKind::Sequence
                    && node.children().count() == items.len()
                    && node.children().zip(items).all(|(node, item)| item.is_written_by(node, json))
            }
            Self::Mapping(entries) => {
                node.kind() == NodeKind::Mapping
                    && node.children().count() == entries.len() * 2
                    && node
                        .children()
                        .zip(entries.iter().flat_map(|(key, value)| [(key, false), (value, json)]))
                        .all(|(node, (value, json))| value.is_written_by(node, json))
            }
            _ => node
                .as_scalar()
                .is_some_and(|scalar| self.is_meant_by_text(&scalar.value(), scalar.resolve())),
        }
    }

    /// Whether a scalar with this text and type has this value.
    pub(crate) fn is_meant_by_text(&self, text: &str, resolved: ScalarType) -> bool {
        match (self, resolved) {
            (Self::Null, ScalarType::Null) => true,
            (Self::Bool(value), ScalarType::Bool(other)) => *value == other,
            (Self::Number(number), other @ (ScalarType::Int(_) | ScalarType::Float(_))) => {
                // A plus sign does not matter, and JSON has none.
                text == number.strip_prefix('+').unwrap_or(number)
                    || text == *number
                    || (other != ScalarType::Int(None) && crate::scalar::resolve(number) == other)
            }
            (Self::String(wanted), ScalarType::String) => text == *wanted,
            _ => false,
        }
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Self::String(text.into())
    }
}

impl From<bool> for Value<'_> {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for Value<'_> {
    fn from(number: i64) -> Self {
        Self::int(number)
    }
}

impl<'a> From<NodeRef<'a>> for Value<'a> {
    fn from(node: NodeRef<'a>) -> Self {
        Self::Node(node)
    }
}

/// Whether two nodes are equal: kinds, values, types, tags, order; aliases by their target. With `json`, the second may be spelled as in JSON.
fn same_meaning(a: NodeRef<'_>, b: NodeRef<'_>, json: bool) -> bool {
    if a.tag() != b.tag() && !(a.kind() == NodeKind::Alias || b.kind() == NodeKind::Alias) {
        return false;
    }
    match (a.as_scalar(), b.as_scalar()) {
        (Some(a), Some(b)) => {
            // An empty scalar, `~` and `null` are equal.
            let (resolved, old, new) = (a.resolve(), a.value(), b.value());
            let is_word = || {
                json && resolved != ScalarType::String
                    && json_scalar(&old).is_some_and(|it| it == new)
            };
            resolved == b.resolve() && (resolved == ScalarType::Null || old == new || is_word())
        }
        (None, None) => {
            if a.kind() == NodeKind::Alias || b.kind() == NodeKind::Alias {
                return a.kind() == b.kind() && a.text() == b.text();
            }
            let (mut left, mut right) = (a.children(), b.children());
            a.kind() == b.kind()
                && loop {
                    match (left.next(), right.next()) {
                        (None, None) => break true,
                        (Some(a), Some(b)) if same_meaning(a, b, json && !a.node().is_key()) => {}
                        _ => break false,
                    }
                }
        }
        _ => false,
    }
}

/// The maximum number of nodes after aliases are expanded.
const EXPANSION_LIMIT: usize = 10_000_000;

/// The maximum depth after aliases are expanded; more than a document can nest by itself.
pub(crate) const EXPANSION_DEPTH: usize = 1000;

impl<'a> NodeRef<'a> {
    /// The value of the subtree, with aliases expanded, merge keys applied, and the last of duplicate keys.
    ///
    /// The expansion of a small document can be huge; it is limited, so that this is an error instead of exhausting memory.
    pub fn to_value(self) -> Result<Value<'a>, ExpansionError> {
        let own = self.document.node_count();
        let mut budget = EXPANSION_LIMIT.min(own.saturating_mul(1000).max(10_000));
        let limit = budget;
        expand(self, &mut budget, EXPANSION_DEPTH).ok_or(ExpansionError { limit })
    }
}

fn expand<'a>(node: NodeRef<'a>, budget: &mut usize, depth: usize) -> Option<Value<'a>> {
    *budget = budget.checked_sub(1)?;
    let depth = depth.checked_sub(1)?;
    let node = node.resolve();
    Some(match node.kind() {
        NodeKind::Scalar(_) => {
            node.as_scalar().map_or(Value::Null, |scalar| match scalar.resolve() {
                ScalarType::Null => Value::Null,
                ScalarType::Bool(value) => Value::Bool(value),
                ScalarType::Int(_) | ScalarType::Float(_) => Value::Number(scalar.value()),
                ScalarType::String => Value::String(scalar.value()),
            })
        }
        NodeKind::Sequence => {
            let items = node.children().map(|item| expand(item, budget, depth));
            Value::Sequence(items.collect::<Option<_>>()?)
        }
        NodeKind::Mapping => {
            let mut entries = Entries::default();
            let mut merged = Vec::new();
            for entry in node.as_mapping()?.entries() {
                let value = expand(entry.value, budget, depth)?;
                let key = entry.key.as_scalar();
                if entry.is("<<") && key.is_some_and(|key| key.style() == ScalarStyle::Plain) {
                    merged.push(value);
                } else {
                    entries.put(expand(entry.key, budget, depth)?, value, true);
                }
            }
            for source in merged {
                entries.inherit(source);
            }
            Value::Mapping(entries.list)
        }
        // An alias to itself: `resolve` returns the same node.
        NodeKind::Alias => return None,
    })
}

/// The entries of a mapping while it is expanded; the last of duplicate keys counts.
#[derive(Default)]
struct Entries<'a> {
    list: Vec<(Value<'a>, Value<'a>)>,
    /// The index of each string key.
    index: BTreeMap<Cow<'a, str>, usize>,
}

impl<'a> Entries<'a> {
    /// Adds an entry, or replaces the existing one if `replace` is true.
    fn put(&mut self, key: Value<'a>, value: Value<'a>, replace: bool) {
        if let Value::String(name) = &key {
            match self.index.entry(name.clone()) {
                Entry::Occupied(at) => {
                    if replace {
                        self.list[*at.get()].1 = value;
                    }
                    return;
                }
                Entry::Vacant(free) => free.insert(self.list.len()),
            };
        }
        self.list.push((key, value));
    }

    /// Adds the entries of a merge key that the mapping itself does not have.
    fn inherit(&mut self, source: Value<'a>) {
        match source {
            Value::Sequence(sources) => sources.into_iter().for_each(|source| self.inherit(source)),
            Value::Mapping(entries) => {
                entries.into_iter().for_each(|(key, value)| self.put(key, value, false));
            }
            _ => {}
        }
    }
}
