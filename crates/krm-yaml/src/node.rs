//! The node table: twelve bytes per node, in document order, without an allocation per node.
//!
//! A node is identified by its index in the table of its document. Children directly follow their parent; those of a mapping as key, value,
//! key, value. What the table does not contain (the end of a block collection, comments) is computed from the text on request.

use crate::span::Span;

/// The style of a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScalarStyle {
    /// `text`, or nothing at all for an empty value.
    Plain,
    /// `'text'`
    SingleQuoted,
    /// `"text"`
    DoubleQuoted,
    /// `|` and the lines below.
    Literal,
    /// `>` and the lines below.
    Folded,
}

impl ScalarStyle {
    /// Whether the scalar is a block scalar.
    pub const fn is_block(self) -> bool {
        matches!(self, Self::Literal | Self::Folded)
    }

    /// Whether the scalar is quoted.
    pub const fn is_quoted(self) -> bool {
        matches!(self, Self::SingleQuoted | Self::DoubleQuoted)
    }
}

/// The kind of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NodeKind {
    /// Keys and values.
    Mapping,
    /// A sequence of elements.
    Sequence,
    /// A single value.
    Scalar(ScalarStyle),
    /// `*name`, a reference to another node of the document.
    Alias,
}

/// The style of a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CollectionStyle {
    /// Lines with indentation.
    Block,
    /// Within brackets or braces.
    Flow,
    /// A single pair inside a flow sequence, without brackets of its own: `[a: b]`.
    Pair,
}

/// One row of the table.
///
/// Invariant: `start` is on a character boundary of the text, and so is `start + extent` for scalars and aliases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    /// The start of the node's own text, after its anchor and tag.
    pub(crate) start: u32,
    /// Scalars and aliases: length in bytes. Collections: the index after the subtree.
    extent: u32,
    /// Kind (bits 0 to 3), properties (bit 4), key (bit 5), index of the parent (bits 6 to 31). The root is its own parent.
    meta: u32,
}

const KIND: u32 = 0xf;
const ALIAS: u32 = 5;
const PROPERTIES: u32 = 1 << 4;
const KEY: u32 = 1 << 5;
const PARENT_SHIFT: u32 = 6;
/// The parent index of nodes whose parent is at an index that does not fit.
const FAR: u32 = u32::MAX >> PARENT_SHIFT;

impl Node {
    fn new(start: u32, extent: u32, kind: u32, parent: u32) -> Self {
        Self { start, extent, meta: kind | parent.min(FAR) << PARENT_SHIFT }
    }

    pub(crate) fn scalar(span: Span, style: ScalarStyle, parent: u32) -> Self {
        Self::new(span.start, span.len(), style as u32, parent)
    }

    pub(crate) fn alias(span: Span, parent: u32) -> Self {
        Self::new(span.start, span.len(), ALIAS, parent)
    }

    pub(crate) fn mapping(start: u32, notation: CollectionStyle, parent: u32) -> Self {
        Self::new(start, 0, 6 + notation as u32, parent)
    }

    pub(crate) fn sequence(start: u32, notation: CollectionStyle, parent: u32) -> Self {
        Self::new(start, 0, 9 + notation as u32, parent)
    }

    #[inline]
    pub(crate) fn kind(self) -> NodeKind {
        match self.meta & KIND {
            0 => NodeKind::Scalar(ScalarStyle::Plain),
            1 => NodeKind::Scalar(ScalarStyle::SingleQuoted),
            2 => NodeKind::Scalar(ScalarStyle::DoubleQuoted),
            3 => NodeKind::Scalar(ScalarStyle::Literal),
            4 => NodeKind::Scalar(ScalarStyle::Folded),
            ALIAS => NodeKind::Alias,
            6..=8 => NodeKind::Mapping,
            _ => NodeKind::Sequence,
        }
    }

    #[inline]
    pub(crate) fn is_collection(self) -> bool {
        self.meta & KIND > ALIAS
    }

    /// The style of a collection; flow style for scalars and aliases.
    #[inline]
    pub(crate) fn collection_style(self) -> CollectionStyle {
        match self.meta & KIND {
            6 | 9 => CollectionStyle::Block,
            8 | 11 => CollectionStyle::Pair,
            _ => CollectionStyle::Flow,
        }
    }

    /// Whether this is a mapping in flow style, or a pair in a flow sequence.
    #[inline]
    pub(crate) fn is_flow_mapping(self) -> bool {
        matches!(self.meta & KIND, 7 | 8)
    }

    /// Whether this is a block scalar.
    #[inline]
    pub(crate) fn is_block_text(self) -> bool {
        matches!(self.meta & KIND, 3 | 4)
    }

    /// The index of the parent; `None` if it has to be searched for.
    #[inline]
    pub(crate) fn parent(self) -> Option<u32> {
        Some(self.meta >> PARENT_SHIFT).filter(|parent| *parent != FAR)
    }

    #[inline]
    pub(crate) fn has_properties(self) -> bool {
        self.meta & PROPERTIES != 0
    }

    pub(crate) fn mark_properties(&mut self) {
        self.meta |= PROPERTIES;
    }

    /// Whether the node is a key of a mapping.
    #[inline]
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

    /// Whether the other node is this one as [`are_moved`] compares them, as the root of a tree: it does not matter whether it is a key or an
    /// element, and of what.
    pub(crate) fn is_moved_root(&self, other: &Self, rows: u32, bytes: u32) -> bool {
        let mask = KIND | PROPERTIES;
        let extent = if self.is_collection() { rows } else { 0 };
        self.meta & mask == other.meta & mask
            && !self.has_properties()
            && self.meta & KIND != ALIAS
            && self.start.wrapping_add(bytes) == other.start
            && self.extent.wrapping_add(extent) == other.extent
    }

    /// The same node in a text that starts this many bytes later.
    pub(crate) fn moved_left(self, bytes: u32) -> Self {
        Self { start: self.start - bytes, ..self }
    }

    /// The same node this many bytes and rows further (both wrapping), below another parent. The parent is not [`FAR`].
    pub(crate) fn relocated(self, bytes: u32, rows: u32, parent: u32) -> Self {
        let extent =
            if self.is_collection() { self.extent.wrapping_add(rows) } else { self.extent };
        let meta = self.meta & (KIND | PROPERTIES | KEY) | parent << PARENT_SHIFT;
        Self { start: self.start.wrapping_add(bytes), extent, meta }
    }

    /// The span of a scalar or alias.
    #[inline]
    pub(crate) fn leaf_span(self) -> Span {
        Span::new(self.start, self.start + self.extent)
    }

    /// The index after the subtree of the node at `index`.
    #[inline]
    pub(crate) fn subtree_end(self, index: u32) -> u32 {
        if self.is_collection() { self.extent } else { index + 1 }
    }
}

/// The parent of the node at `index`; the root is its own parent.
pub(crate) fn parent(nodes: &[Node], index: u32) -> u32 {
    let around = || {
        let holds = |(at, node): (usize, &Node)| node.subtree_end(at as u32) > index;
        nodes[..index as usize].iter().enumerate().rposition(holds).unwrap_or_default() as u32
    };
    nodes[index as usize].parent().unwrap_or_else(around)
}

/// Whether all nodes of a table have the index of their parent.
pub(crate) fn have_parents(nodes: &[Node]) -> bool {
    nodes.len() <= FAR as usize
}

/// Whether the other nodes are these, moved by a number of rows in the table and of bytes in the text (both wrapping). Children of the node
/// `parent.0` are children of `parent.1` there, and the parents of all others move like them. Nodes whose meaning depends on other positions
/// (aliases, anchors, tags) are never equal. The indentation of block scalars is not compared.
///
/// Both tables must have the indices of all parents ([`have_parents`]).
pub(crate) fn are_moved(
    nodes: &[Node],
    others: &[Node],
    (rows, bytes): (u32, u32),
    parent: (u32, u32),
) -> bool {
    let parent_rows = parent.1.wrapping_sub(parent.0);
    // Without branches, because almost all nodes are equal and an edit compares all nodes of its document.
    let difference = |(node, other): (&Node, &Node)| {
        let extent = if node.is_collection() { rows } else { 0 };
        let up = if node.meta >> PARENT_SHIFT == parent.0 { parent_rows } else { rows };
        (node.start.wrapping_add(bytes) ^ other.start)
            | (node.extent.wrapping_add(extent) ^ other.extent)
            | (node.meta.wrapping_add(up << PARENT_SHIFT) ^ other.meta)
            | (node.meta & PROPERTIES)
            | u32::from(node.meta & KIND == ALIAS)
    };
    nodes.len() == others.len()
        && nodes.iter().zip(others).map(difference).fold(0, |all, one| all | one) == 0
}

/// The anchor and tag of a node, in a table of their own because few nodes have any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Properties {
    pub(crate) node: u32,
    /// `&name`, with the `&`.
    pub(crate) anchor: Option<Span>,
    /// The tag as written.
    pub(crate) tag: Option<Span>,
}

/// The content indentation of a block scalar, in a table of its own because few nodes are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Indent {
    pub(crate) node: u32,
    /// A large number if no line has content, so that all spaces count as indentation.
    pub(crate) columns: u32,
}

impl Indent {
    /// Small enough that columns can be added without overflow.
    const MOST: u32 = u32::MAX >> 8;

    pub(crate) fn new(node: u32, columns: u32) -> Self {
        Self { node, columns: columns.min(Self::MOST) }
    }
}

/// The node that an alias refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AliasLink {
    pub(crate) alias: u32,
    pub(crate) target: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn node_has_twelve_bytes() {
        assert_eq!(size_of::<Node>(), 12);
    }

    #[test]
    fn kinds_survive_packing() {
        let flow = Node::sequence(3, CollectionStyle::Flow, 0);
        assert_eq!(
            (flow.kind(), flow.collection_style()),
            (NodeKind::Sequence, CollectionStyle::Flow)
        );
        let pair = Node::mapping(3, CollectionStyle::Pair, 0);
        assert_eq!(
            (pair.kind(), pair.collection_style()),
            (NodeKind::Mapping, CollectionStyle::Pair)
        );
        let mut text = Node::scalar(Span::new(1, 9), ScalarStyle::Folded, 2);
        text.mark_properties();
        assert_eq!(text.kind(), NodeKind::Scalar(ScalarStyle::Folded));
        assert_eq!(
            (text.parent(), text.leaf_span(), text.has_properties()),
            (Some(2), Span::new(1, 9), true)
        );
        assert_eq!(Node::alias(Span::new(0, 2), 0).kind(), NodeKind::Alias);
    }

    #[test]
    fn distant_parent_is_not_stored() {
        let child = |parent: u32| Node::alias(Span::new(0, 2), parent);
        assert_eq!(child(FAR - 1).parent(), Some(FAR - 1));
        assert_eq!([child(FAR).parent(), child(u32::MAX).parent()], [None, None]);
        assert_eq!(child(u32::MAX).kind(), NodeKind::Alias);
    }

    #[test]
    fn distant_parent_is_found() {
        let leaf = || Node::scalar(Span::new(0, 1), ScalarStyle::Plain, FAR);
        let list = |end: u32| {
            let mut list = Node::sequence(0, CollectionStyle::Flow, FAR);
            list.close(end);
            list
        };
        // [[x, []], y]
        let nodes = [list(5), list(4), leaf(), list(4), leaf()];
        assert_eq!([1, 2, 3, 4].map(|at| parent(&nodes, at)), [0, 1, 1, 0]);
    }
}
