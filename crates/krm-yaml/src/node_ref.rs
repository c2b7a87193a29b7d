//! Views of nodes. They borrow from the file and copy nothing.

use std::borrow::Cow;
use std::ops::Range;

use crate::document::DocumentRef;
use crate::node::{self, CollectionStyle, Node, NodeKind, Properties, ScalarStyle};
use crate::scalar::{self, ScalarType};
use crate::span::{Position, Span};
use crate::trivia::Gap;

/// A view of one node.
#[derive(Clone, Copy)]
pub struct NodeRef<'a> {
    pub(crate) document: DocumentRef<'a>,
    pub(crate) index: u32,
}

impl PartialEq for NodeRef<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.index == other.index && std::ptr::eq(self.document.table(), other.document.table())
    }
}

impl std::fmt::Debug for NodeRef<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} {:?}", self.kind(), self.text())
    }
}

impl<'a> NodeRef<'a> {
    #[inline]
    pub(crate) fn node(self) -> Node {
        self.document.table().nodes[self.index as usize]
    }

    #[inline]
    pub(crate) fn source(self) -> &'a str {
        self.document.file.text()
    }

    /// The index of the node in its document, in the order of the text: a parent precedes its children.
    pub fn index(self) -> usize {
        self.index as usize
    }

    /// The previous child of the same parent; for a value of a mapping, its key.
    pub(crate) fn previous(self) -> Option<NodeRef<'a>> {
        let parent = self.parent()?;
        let mut last = self.document.node(self.index - 1);
        while last != parent && last.parent_index() != parent.index {
            last = last.parent()?;
        }
        (last != parent).then_some(last)
    }

    /// The key of a value of a mapping.
    pub fn key(self) -> Option<NodeRef<'a>> {
        let is_value =
            !self.node().is_key() && self.parent().is_some_and(|it| it.kind() == NodeKind::Mapping);
        if is_value { self.previous() } else { None }
    }

    /// The document of the node.
    pub fn document(self) -> DocumentRef<'a> {
        self.document
    }

    /// Mapping, sequence, scalar or alias.
    #[inline]
    pub fn kind(self) -> NodeKind {
        self.node().kind()
    }

    /// The style of a collection; flow style for scalars and aliases.
    pub fn collection_style(self) -> CollectionStyle {
        self.node().collection_style()
    }

    /// Whether this is a collection in block style.
    pub fn is_block(self) -> bool {
        self.node().is_collection() && self.collection_style() == CollectionStyle::Block
    }

    /// Whether this is a mapping or a sequence.
    #[inline]
    pub fn is_collection(self) -> bool {
        self.node().is_collection()
    }

    /// The start of the node's own text, after its anchor and tag.
    #[inline]
    pub fn start(self) -> u32 {
        self.node().start
    }

    /// The end of the node's text. A block collection ends with its last descendant.
    pub fn end(self) -> u32 {
        let table = self.document.table();
        let node = self.node();
        if !node.is_collection() {
            return node.leaf_span().end;
        }
        let mut index = node.subtree_end(self.index) - 1;
        let last = table.nodes[index as usize];
        let mut end = if last.is_collection() { last.start } else { last.leaf_span().end };
        // From the last leaf upward, past the closing bracket of every flow collection that ends there.
        loop {
            let at = table.nodes[index as usize];
            if at.is_collection() && at.collection_style() == CollectionStyle::Flow {
                end = closing_bracket(
                    self.source(),
                    if end <= at.start { at.start + 1 } else { end },
                );
            }
            if index == self.index {
                return end;
            }
            index = self.document.node(index).parent_index();
        }
    }

    /// The span of the node's own text, without anchor and tag.
    pub fn span(self) -> Span {
        Span::new(self.start(), self.end())
    }

    /// The span of the node with its anchor and tag.
    pub fn full_span(self) -> Span {
        let start = self.properties().map_or(self.start(), |p| {
            [p.anchor, p.tag].into_iter().flatten().map(|s| s.start).min().unwrap_or(self.start())
        });
        Span::new(start.min(self.start()), self.end())
    }

    /// The node's own text, as written.
    pub fn text(self) -> &'a str {
        self.span().of(self.source())
    }

    /// The line and column of the node.
    pub fn position(self) -> Position {
        self.document.file.position(self.start())
    }

    /// The parent; `None` for the root.
    pub fn parent(self) -> Option<NodeRef<'a>> {
        (self.index != 0).then(|| self.document.node(self.parent_index()))
    }

    /// The root is its own parent.
    fn parent_index(self) -> u32 {
        node::parent(&self.document.table().nodes, self.index)
    }

    /// The content indentation of a block scalar.
    pub(crate) fn indent(self) -> u32 {
        self.document.table().indent(self.index)
    }

    /// The children in order; those of a mapping as key, value, key, value.
    pub fn children(self) -> Children<'a> {
        let end = if self.is_collection() { self.node().subtree_end(self.index) } else { 0 };
        Children { document: self.document, next: self.index + 1, end }
    }

    /// The indices of the node and of all nodes inside it.
    pub fn subtree(self) -> Range<usize> {
        self.index()..self.node().subtree_end(self.index) as usize
    }

    /// The node and all nodes inside it, in document order.
    pub fn descendants(self) -> impl Iterator<Item = NodeRef<'a>> {
        let nodes = self.index..self.node().subtree_end(self.index);
        nodes.map(move |index| self.document.node(index))
    }

    pub(crate) fn properties(self) -> Option<Properties> {
        if !self.node().has_properties() {
            return None;
        }
        let all = &self.document.table().properties;
        all.binary_search_by_key(&self.index, |p| p.node).ok().map(|at| all[at])
    }

    /// The anchor's name, without the `&`.
    pub fn anchor(self) -> Option<&'a str> {
        Some(&self.properties()?.anchor?.of(self.source())[1..])
    }

    /// The tag as written.
    pub fn tag(self) -> Option<&'a str> {
        Some(self.properties()?.tag?.of(self.source()))
    }

    /// The value of this node, if the node is a key of a mapping.
    ///
    /// ```
    /// let file = krm_yaml::File::parse("a: {b: c}\n".to_owned())?;
    /// let root = file.document(0).and_then(|document| document.root()).expect("a root");
    /// let key = root.children().next().expect("a key");
    /// let value = key.value_of_key().expect("a value");
    /// assert_eq!((value.text(), value.value_of_key()), ("{b: c}", None));
    /// # Ok::<(), krm_yaml::ReadError>(())
    /// ```
    pub fn value_of_key(self) -> Option<NodeRef<'a>> {
        let node = self.node();
        node.is_key().then(|| self.document.node(node.subtree_end(self.index)))
    }

    /// The node that an alias refers to.
    pub fn target(self) -> Option<NodeRef<'a>> {
        if self.kind() != NodeKind::Alias {
            return None;
        }
        let all = &self.document.table().aliases;
        let at = all.binary_search_by_key(&self.index, |link| link.alias).ok()?;
        Some(self.document.node(all[at].target))
    }

    /// The node itself, or the node that it refers to if it is an alias.
    pub fn resolve(self) -> NodeRef<'a> {
        self.target().unwrap_or(self)
    }

    /// Whether two subtrees have the same text, including comments and the text up to their neighbours, and the same nodes. This is false if
    /// they contain aliases, anchors or tags, whose meaning depends on other parts of the document.
    ///
    /// ```
    /// let text = "a: 1\nb:\n  c: 2 # two\nd: [3]\n";
    /// let old = krm_yaml::File::parse(text.to_owned())?;
    /// let new = krm_yaml::File::parse(text.replace("3", "4"))?;
    /// let value = |file, name| {
    ///     let document = krm_yaml::File::document(file, 0);
    ///     document.and_then(|document| document.root()?.as_mapping()?.get(name)).expect("it is there")
    /// };
    /// assert!(value(&old, "b").is_written_as(value(&new, "b")));
    /// assert!(!value(&old, "d").is_written_as(value(&new, "d")));
    /// # Ok::<(), krm_yaml::ReadError>(())
    /// ```
    pub fn is_written_as(self, other: NodeRef<'_>) -> bool {
        let (own, their) = (self.surroundings(), other.surroundings());
        if own.of(self.source()) != their.of(other.source()) {
            return false;
        }
        let rows = other.index.wrapping_sub(self.index);
        let bytes = their.start.wrapping_sub(own.start);
        let (table, other_table) = (self.document.table(), other.document.table());
        let (nodes, others) = (&table.nodes[self.subtree()], &other_table.nodes[other.subtree()]);
        let ([root, nodes @ ..], [other_root, others @ ..]) = (nodes, others) else {
            return false;
        };
        node::have_parents(&table.nodes)
            && node::have_parents(&other_table.nodes)
            && root.is_moved_root(other_root, rows, bytes)
            && node::are_moved(nodes, others, (rows, bytes), (self.index, other.index))
            && table.has_same_indents(self.subtree(), other_table, other.subtree())
    }

    /// Whether the children of this collection with the indices in `range` are written the same in another one, where the first of them
    /// has the index `at`: the same nodes and the same text from the first to the last of them. False in case of doubt, as for
    /// [`NodeRef::is_written_as`].
    pub(crate) fn has_same_children(self, range: Range<u32>, other: NodeRef<'_>, at: u32) -> bool {
        let (table, other_table) = (self.document.table(), other.document.table());
        let moved = |index: u32| at + (index - range.start);
        let (own, their) =
            (range.start as usize..range.end as usize, at as usize..moved(range.end) as usize);
        if moved(range.end) > other.node().subtree_end(other.index)
            || !node::have_parents(&table.nodes)
            || !node::have_parents(&other_table.nodes)
        {
            return false;
        }
        let (nodes, others) = (&table.nodes[own.clone()], &other_table.nodes[their.clone()]);
        let ([first, ..], [.., last]) = (nodes, nodes) else { return true };
        let (rows, start) = (at.wrapping_sub(range.start), others[0].start);
        let bytes = start.wrapping_sub(first.start);
        // A collection that is the last node is empty.
        let end = if last.is_collection() { last.start + 1 } else { last.leaf_span().end };
        let (text, other_text) = (self.source().as_bytes(), other.source().as_bytes());
        let other_end = end.wrapping_add(bytes);
        // The value of a block scalar depends on whether something follows it.
        let ends_alike = !last.is_block_text()
            || ((end as usize) < text.len()) == ((other_end as usize) < other_text.len());
        let other_text = other_text.get(start as usize..other_end as usize);
        let text = text.get(first.start as usize..end as usize);
        ends_alike
            && text.is_some()
            && text == other_text
            && node::are_moved(nodes, others, (rows, bytes), (self.index, other.index))
            && table.has_same_indents(own, other_table, their)
    }

    /// The span from the end of the previous node to the start of the next one.
    fn surroundings(self) -> Span {
        let nodes = &self.document.table().nodes;
        let before = self.index.checked_sub(1).map(|index| nodes[index as usize]);
        let start = match before {
            Some(node) if node.is_collection() => node.start,
            Some(node) => node.leaf_span().end,
            None => self.document.span().start,
        };
        let behind = nodes.get(self.node().subtree_end(self.index) as usize);
        let end = behind.map_or(self.document.span().end, |node| node.start);
        // The node after an empty value may start before it ends: nothing is between them.
        Span::new(start.min(self.start()), end.max(start))
    }

    /// The node as a mapping.
    pub fn as_mapping(self) -> Option<Mapping<'a>> {
        (self.kind() == NodeKind::Mapping).then_some(Mapping(self))
    }

    /// The node as a sequence.
    pub fn as_sequence(self) -> Option<Sequence<'a>> {
        (self.kind() == NodeKind::Sequence).then_some(Sequence(self))
    }

    /// The node as a scalar.
    pub fn as_scalar(self) -> Option<Scalar<'a>> {
        matches!(self.kind(), NodeKind::Scalar(_)).then_some(Scalar(self))
    }

    /// The value of a scalar that is a string.
    pub fn as_str(self) -> Option<Cow<'a, str>> {
        let scalar = self.as_scalar()?;
        let value = scalar.value();
        (scalar.resolve_value(&value) == ScalarType::String).then_some(value)
    }
}

/// The offset after the closing bracket of a flow collection whose last entry ends at `at`.
fn closing_bracket(text: &str, at: u32) -> u32 {
    Gap::from(text, at).find(b"]}", b",:?").map_or(at, |bracket| bracket.end)
}

/// The children of a node, in order.
pub struct Children<'a> {
    document: DocumentRef<'a>,
    next: u32,
    end: u32,
}

impl<'a> Iterator for Children<'a> {
    type Item = NodeRef<'a>;

    fn next(&mut self) -> Option<NodeRef<'a>> {
        (self.next < self.end).then(|| {
            let child = self.document.node(self.next);
            self.next = child.node().subtree_end(self.next);
            child
        })
    }
}

/// A key and its value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry<'a> {
    /// The key.
    pub key: NodeRef<'a>,
    /// The value; an empty plain scalar if nothing is written.
    pub value: NodeRef<'a>,
}

impl Entry<'_> {
    /// Whether the key is the scalar `name`.
    pub fn is(&self, name: &str) -> bool {
        self.key.resolve().as_scalar().is_some_and(|key| key.is(name))
    }
}

/// A view of a mapping.
#[derive(Clone, Copy, Debug)]
pub struct Mapping<'a>(pub(crate) NodeRef<'a>);

impl<'a> Mapping<'a> {
    /// The node.
    pub fn node(self) -> NodeRef<'a> {
        self.0
    }

    /// The entries in order, including duplicate keys.
    pub fn entries(self) -> impl Iterator<Item = Entry<'a>> {
        let mut children = self.0.children();
        std::iter::from_fn(move || {
            let (key, value) = (children.next()?, children.next()?);
            Some(Entry { key, value })
        })
    }

    /// The entry with this key; the last one of duplicates. Compat: Kubernetes' own reader takes the last one, too.
    pub fn entry(self, name: &str) -> Option<Entry<'a>> {
        let document = self.0.document;
        let (nodes, text) = (&*document.table().nodes, self.0.source().as_bytes());
        let mut found = None;
        let (mut at, end) = (self.0.index + 1, self.0.node().subtree_end(self.0.index));
        while at < end {
            let key = nodes[at as usize];
            let value = key.subtree_end(at);
            let is_it = match key.kind() {
                // Most keys are plain, and one byte tells most of them from the name. Functions spend much of their time here.
                NodeKind::Scalar(ScalarStyle::Plain)
                    if !name.is_empty()
                        && ((key.leaf_span().len() as usize) < name.len()
                            || text[key.start as usize] != name.as_bytes()[0]) =>
                {
                    false
                }
                NodeKind::Mapping | NodeKind::Sequence => false,
                _ => document.node(at).resolve().as_scalar().is_some_and(|key| key.is(name)),
            };
            if is_it {
                found = Some(Entry { key: document.node(at), value: document.node(value) });
            }
            at = nodes[value as usize].subtree_end(value);
        }
        found
    }

    /// The value of this key; the last one of duplicates.
    pub fn get(self, name: &str) -> Option<NodeRef<'a>> {
        self.entry(name).map(|entry| entry.value)
    }
}

/// A view of a sequence.
#[derive(Clone, Copy, Debug)]
pub struct Sequence<'a>(pub(crate) NodeRef<'a>);

impl<'a> Sequence<'a> {
    /// The node.
    pub fn node(self) -> NodeRef<'a> {
        self.0
    }

    /// The elements in order.
    pub fn items(self) -> Children<'a> {
        self.0.children()
    }
}

/// A view of a scalar.
#[derive(Clone, Copy, Debug)]
pub struct Scalar<'a>(pub(crate) NodeRef<'a>);

impl<'a> Scalar<'a> {
    /// The node.
    pub fn node(self) -> NodeRef<'a> {
        self.0
    }

    /// The style of the scalar.
    pub fn style(self) -> ScalarStyle {
        match self.0.kind() {
            NodeKind::Scalar(style) => style,
            _ => ScalarStyle::Plain,
        }
    }

    /// The text as written, including quotes or header.
    pub fn raw(self) -> &'a str {
        self.0.node().leaf_span().of(self.0.source())
    }

    /// The text as written, without the check that it is on character boundaries.
    pub(crate) fn raw_bytes(self) -> &'a [u8] {
        &self.0.source().as_bytes()[self.0.node().leaf_span().range()]
    }

    /// The header of a block scalar, such as `|2-`; `None` for other scalars.
    pub(crate) fn header(self) -> Option<Span> {
        let raw = self.raw();
        let length = raw.find([' ', '\t', '\n', '\r', '#']).unwrap_or(raw.len()) as u32;
        let start = self.0.start();
        self.style().is_block().then_some(Span::new(start, start + length))
    }

    /// The value: unquoted, unescaped, folded.
    pub fn value(self) -> Cow<'a, str> {
        let (raw, style) = (self.raw(), self.style());
        // Only the value of a block scalar depends on its indentation and on what follows it.
        if !style.is_block() {
            return scalar::decode(raw, style, 0, true);
        }
        let is_ended = (self.0.end() as usize) < self.0.source().len();
        scalar::decode(raw, style, self.0.indent(), is_ended)
    }

    /// Whether the value equals `text`.
    pub fn is(self, text: &str) -> bool {
        if self.style() != ScalarStyle::Plain {
            return self.value() == text;
        }
        let raw = self.raw();
        // Folding lines shortens a text and keeps its first byte.
        if raw.as_bytes().first() != text.as_bytes().first() || raw.len() < text.len() {
            return false;
        }
        match raw.bytes().any(|byte| matches!(byte, b'\n' | b'\r')) {
            true => self.value() == text,
            false => raw == text,
        }
    }

    /// The type of the value, by its tag or else by the core schema of YAML 1.2.
    pub fn resolve(self) -> ScalarType {
        match self.style() {
            ScalarStyle::Plain => self.resolve_value(&self.value()),
            // The value of other scalars is only decoded if they have a tag.
            _ if self.0.tag().is_none() => ScalarType::String,
            _ => self.resolve_value(&self.value()),
        }
    }

    /// The type of the value, which is decoded already.
    fn resolve_value(self, value: &str) -> ScalarType {
        match self.0.tag() {
            Some(tag) => scalar::resolve_tagged(tag, value, self.style()),
            None if self.style() == ScalarStyle::Plain => scalar::resolve(value),
            None => ScalarType::String,
        }
    }

    /// The type of the value in YAML 1.1, as Kubernetes' own reader implements it.
    pub fn resolve_1_1(self) -> ScalarType {
        match self.0.tag() {
            Some(_) => self.resolve(),
            None if self.style() == ScalarStyle::Plain => scalar::resolve_1_1(&self.value()),
            None => ScalarType::String,
        }
    }
}
