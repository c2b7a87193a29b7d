//! One document of a file: its table of nodes, and where it stands.

use crate::node::{AliasLink, Indent, Node, Properties};
use crate::span::Span;
use crate::{File, NodeRef, SyntaxError};

/// A document's table. It holds no text: that is the file's.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Document {
    pub(crate) nodes: Box<[Node]>,
    /// Sorted by node.
    pub(crate) properties: Box<[Properties]>,
    /// Sorted by alias.
    pub(crate) aliases: Box<[AliasLink]>,
    /// Sorted by node.
    pub(crate) indents: Box<[Indent]>,
    /// All bytes of the document; the documents of a file follow one another without a gap.
    pub(crate) span: Span,
    pub(crate) start_marker: Option<Span>,
    pub(crate) end_marker: Option<Span>,
    pub(crate) error: Option<Box<SyntaxError>>,
}

impl Document {
    /// How far the lines of the `|` or `>` text at `node` are indented.
    pub(crate) fn indent(&self, node: u32) -> u32 {
        let found = self.indents.binary_search_by_key(&node, |it| it.node);
        found.map_or(0, |at| self.indents[at].columns)
    }
}

/// A view of one document.
#[derive(Clone, Copy)]
pub struct DocumentRef<'a> {
    pub(crate) file: &'a File,
    pub(crate) index: u32,
}

impl<'a> DocumentRef<'a> {
    pub(crate) fn table(self) -> &'a Document {
        &self.file.documents[self.index as usize]
    }

    /// Which document of its file this is, from zero.
    pub fn index(self) -> usize {
        self.index as usize
    }

    /// The file that the document stands in.
    pub fn file(self) -> &'a File {
        self.file
    }

    /// All bytes of the document, with its directives, markers and comments.
    pub fn span(self) -> Span {
        self.table().span
    }

    /// The document's text, with its directives, markers and comments.
    pub fn text(self) -> &'a str {
        self.span().of(self.file.text())
    }

    /// `---`, where the document has one.
    pub fn start_marker(self) -> Option<Span> {
        self.table().start_marker
    }

    /// `...`, where the document has one.
    pub fn end_marker(self) -> Option<Span> {
        self.table().end_marker
    }

    /// The `%` lines before the document.
    pub fn directives(self) -> Vec<&'a str> {
        let Some(marker) = self.start_marker() else { return Vec::new() };
        let text = self.file.text();
        let before = Span::new(self.span().start, marker.start);
        crate::gap::Gap::new(text, before)
            .filter(|(trivia, _)| *trivia == crate::gap::Trivia::Directive)
            .map(|(_, span)| span.of(text))
            .collect()
    }

    /// The root node; none where the document could not be read.
    pub fn root(self) -> Option<NodeRef<'a>> {
        (!self.table().nodes.is_empty()).then_some(NodeRef { document: self, index: 0 })
    }

    /// Why the document could not be read.
    pub fn error(self) -> Option<&'a SyntaxError> {
        self.table().error.as_deref()
    }

    /// The aliases of the document, in order.
    pub fn aliases(self) -> impl Iterator<Item = NodeRef<'a>> {
        self.table().aliases.iter().map(move |link| self.node(link.alias))
    }

    /// The nodes that have an anchor, in order.
    pub fn anchored(self) -> impl Iterator<Item = NodeRef<'a>> {
        let anchored = self.table().properties.iter().filter(|it| it.anchor.is_some());
        anchored.map(move |it| self.node(it.node))
    }

    /// Number of nodes, keys among them.
    pub fn node_count(self) -> usize {
        self.table().nodes.len()
    }

    pub(crate) fn node(self, index: u32) -> NodeRef<'a> {
        NodeRef { document: self, index }
    }
}
