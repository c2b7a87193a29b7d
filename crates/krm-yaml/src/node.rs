//! The node table: sixteen bytes a node, in document order, no allocation per node.
//!
//! A node is known by its index in its document's table. Children follow their
//! parent directly, a mapping's as key, value, key, value. What a node does not
//! hold (where a block collection ends, which comments stand beside it) is read
//! from the text when somebody asks.

use crate::span::Span;

/// How a scalar is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScalarStyle {
    /// `text`, and nothing at all for an empty value.
    Plain,
    /// `'text'`
    SingleQuoted,
    /// `"text"`
    DoubleQuoted,
    /// `|` and lines.
    Literal,
    /// `>` and lines.
    Folded,
}

impl ScalarStyle {
    /// Whether the scalar is a `|` or `>` block.
    pub const fn is_block(self) -> bool {
        matches!(self, Self::Literal | Self::Folded)
    }

    /// Whether the scalar stands in quotes.
    pub const fn is_quoted(self) -> bool {
        matches!(self, Self::SingleQuoted | Self::DoubleQuoted)
    }
}

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NodeKind {
    /// Keys and values.
    Mapping,
    /// Items.
    Sequence,
    /// One value.
    Scalar(ScalarStyle),
    /// `*name`: another node of the document.
    Alias,
}

/// How a collection is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Notation {
    /// By lines and indentation.
    Block,
    /// Within brackets.
    Flow,
    /// A single pair inside a flow sequence, without brackets of its own: `[a: b]`.
    Pair,
}

/// One row of the table.
///
/// Invariant: `start` lies on a character boundary of the source text, and for
/// scalars and aliases so does `start + extent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    /// Where the node's own text begins, after its anchor and tag.
    pub(crate) start: u32,
    /// Scalars and aliases: length in bytes. Collections: the index after the subtree.
    extent: u32,
    /// Index of the parent; the root is its own.
    pub(crate) parent: u32,
    /// Kind (bits 0 to 3), properties (bit 4), key (bit 5), content indentation of a block
    /// scalar (bits 8 to 31).
    meta: u32,
}

const KIND: u32 = 0xf;
const PROPERTIES: u32 = 1 << 4;
const KEY: u32 = 1 << 5;
const INDENT_SHIFT: u32 = 8;
const INDENT_MAX: u32 = u32::MAX >> INDENT_SHIFT;

impl Node {
    pub(crate) fn scalar(span: Span, style: ScalarStyle, indent: u32, parent: u32) -> Self {
        let meta = style as u32 | indent.min(INDENT_MAX) << INDENT_SHIFT;
        Self { start: span.start, extent: span.len(), parent, meta }
    }

    pub(crate) fn alias(span: Span, parent: u32) -> Self {
        Self { start: span.start, extent: span.len(), parent, meta: 5 }
    }

    pub(crate) fn mapping(start: u32, notation: Notation, parent: u32) -> Self {
        Self { start, extent: 0, parent, meta: 6 + notation as u32 }
    }

    pub(crate) fn sequence(start: u32, notation: Notation, parent: u32) -> Self {
        Self { start, extent: 0, parent, meta: 9 + notation as u32 }
    }

    pub(crate) fn kind(self) -> NodeKind {
        match self.meta & KIND {
            0 => NodeKind::Scalar(ScalarStyle::Plain),
            1 => NodeKind::Scalar(ScalarStyle::SingleQuoted),
            2 => NodeKind::Scalar(ScalarStyle::DoubleQuoted),
            3 => NodeKind::Scalar(ScalarStyle::Literal),
            4 => NodeKind::Scalar(ScalarStyle::Folded),
            5 => NodeKind::Alias,
            6..=8 => NodeKind::Mapping,
            _ => NodeKind::Sequence,
        }
    }

    pub(crate) fn is_collection(self) -> bool {
        self.meta & KIND > 5
    }

    /// How the collection is written; scalars and aliases count as flow.
    pub(crate) fn notation(self) -> Notation {
        match self.meta & KIND {
            6 | 9 => Notation::Block,
            8 | 11 => Notation::Pair,
            _ => Notation::Flow,
        }
    }

    /// Content indentation of a block scalar.
    pub(crate) fn indent(self) -> u32 {
        self.meta >> INDENT_SHIFT
    }

    pub(crate) fn has_properties(self) -> bool {
        self.meta & PROPERTIES != 0
    }

    pub(crate) fn mark_properties(&mut self) {
        self.meta |= PROPERTIES;
    }

    /// Whether the node is a key of a mapping.
    pub(crate) fn is_key(self) -> bool {
        self.meta & KEY != 0
    }

    pub(crate) fn mark_key(&mut self) {
        self.meta |= KEY;
    }

    /// Closes a collection: `index` is the one after its last descendant.
    pub(crate) fn close(&mut self, index: u32) {
        self.extent = index;
    }

    /// Whether two nodes are the same but for where their trees begin, in the table and in the text. Nodes
    /// that mean something by what stands elsewhere are like no other.
    pub(crate) fn is_alike(
        &self,
        origin: (u32, u32),
        other: &Self,
        their_origin: (u32, u32),
        is_root: bool,
    ) -> bool {
        let place = |node: &Self, (index, start): (u32, u32)| {
            let parent = if is_root { 0 } else { node.parent - index };
            let extent = if node.is_collection() { node.extent - index } else { node.extent };
            (node.start - start, parent, extent)
        };
        // Whether the root of a tree is a key or an item says nothing of it.
        let mask = if is_root { !KEY } else { u32::MAX };
        self.meta & mask == other.meta & mask
            && !self.has_properties()
            && self.kind() != NodeKind::Alias
            && place(self, origin) == place(other, their_origin)
    }

    /// The span of a scalar or alias.
    pub(crate) fn leaf_span(self) -> Span {
        Span::new(self.start, self.start + self.extent)
    }

    /// The index after the subtree of the node at `index`.
    pub(crate) fn subtree_end(self, index: u32) -> u32 {
        if self.is_collection() { self.extent } else { index + 1 }
    }
}

/// Anchor and tag of a node, kept apart because few nodes have any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Properties {
    pub(crate) node: u32,
    /// `&name`, with the `&`.
    pub(crate) anchor: Option<Span>,
    /// The tag as written.
    pub(crate) tag: Option<Span>,
}

/// Which node an alias stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AliasLink {
    pub(crate) alias: u32,
    pub(crate) target: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_takes_sixteen_bytes() {
        assert_eq!(size_of::<Node>(), 16);
    }

    #[test]
    fn kinds_survive_packing() {
        let flow = Node::sequence(3, Notation::Flow, 0);
        assert_eq!((flow.kind(), flow.notation()), (NodeKind::Sequence, Notation::Flow));
        let pair = Node::mapping(3, Notation::Pair, 0);
        assert_eq!((pair.kind(), pair.notation()), (NodeKind::Mapping, Notation::Pair));
        let mut text = Node::scalar(Span::new(1, 9), ScalarStyle::Folded, 4, 2);
        text.mark_properties();
        assert_eq!(text.kind(), NodeKind::Scalar(ScalarStyle::Folded));
        assert_eq!(
            (text.indent(), text.leaf_span(), text.has_properties()),
            (4, Span::new(1, 9), true)
        );
        assert_eq!(Node::alias(Span::new(0, 2), 0).kind(), NodeKind::Alias);
    }
}
