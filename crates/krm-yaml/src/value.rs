//! Values: the meaning of a subtree, and input of edits.

mod convert;

use std::borrow::Cow;

use crate::expansion::ExpansionError;
use crate::node::NodeKind;
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

    /// The number of bytes of all strings and numbers, and of nodes that own their text. Borrowed nodes do not count.
    pub fn text_length(&self) -> usize {
        match self {
            Self::Null | Self::Bool(_) | Self::Node(_) => 0,
            Self::Number(text) | Self::String(text) => text.len(),
            Self::Sequence(items) => items.iter().map(Self::text_length).sum(),
            Self::Mapping(entries) => {
                entries.iter().map(|(key, value)| key.text_length() + value.text_length()).sum()
            }
            Self::OwnedNode(node) => node.node().text().len(),
        }
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
