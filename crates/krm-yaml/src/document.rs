//! One document of a file: its table of nodes and its span.

use crate::node::{AliasLink, Indent, Node, Properties};
use crate::span::Span;
use crate::{File, NodeRef, ReadError, SyntaxError};

/// Which parser made a table.
#[derive(Clone, Copy, Debug, Eq)]
pub(crate) enum ParsedBy {
    /// The fast parser: what it does at a line follows from the table, so that an edited document can be parsed in part. It may have seen
    /// that no mapping has a key twice.
    Fast { has_unique_keys: bool },
    /// The complete one.
    Complete,
    /// The complete one, as a part of a file that is not YAML 1.2 but that Kubernetes accepts.
    Leniently,
}

/// Tables are equal whichever parser made them.
impl PartialEq for ParsedBy {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// The node table of a document. The text belongs to the file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Document {
    /// Its index in the file.
    pub(crate) index: u32,
    pub(crate) nodes: Box<[Node]>,
    /// Sorted by node.
    pub(crate) properties: Box<[Properties]>,
    /// Sorted by alias.
    pub(crate) aliases: Box<[AliasLink]>,
    /// Sorted by node.
    pub(crate) indents: Box<[Indent]>,
    /// All bytes of the document. The spans of the documents of a file cover the whole file without gaps.
    pub(crate) span: Span,
    pub(crate) start_marker: Option<Span>,
    pub(crate) end_marker: Option<Span>,
    pub(crate) error: Option<Box<SyntaxError>>,
    pub(crate) parsed_by: ParsedBy,
}

impl Document {
    /// The content indentation of the block scalar at `node`.
    pub(crate) fn indent(&self, node: u32) -> u32 {
        let found = self.indents.binary_search_by_key(&node, |it| it.node);
        found.map_or(0, |at| self.indents[at].columns)
    }

    /// Whether the block scalars among the nodes of a range have the same indentation as those of a range of another table.
    pub(crate) fn has_same_indents(
        &self,
        own: std::ops::Range<usize>,
        other: &Self,
        their: std::ops::Range<usize>,
    ) -> bool {
        let indents = |table: &'_ Self, range: &std::ops::Range<usize>| {
            let at = |node: usize| table.indents.partition_point(|it| (it.node as usize) < node);
            at(range.start)..at(range.end)
        };
        let (ours, theirs) = (indents(self, &own), indents(other, &their));
        let relative = |it: &Indent, start: usize| (it.node as usize - start, it.columns);
        let one = self.indents[ours].iter().map(|it| relative(it, own.start));
        one.eq(other.indents[theirs].iter().map(|it| relative(it, their.start)))
    }

    /// The table of a part of this document, if that is certain to be what a parse of the part would give.
    fn cut(&self, part: Span) -> Option<Self> {
        let is_inside = |node: &Node| {
            let end = if node.is_collection() { node.start } else { node.leaf_span().end };
            node.start >= part.start && end <= part.end
        };
        // The nodes are in the order of the text. Tag handles may be declared above the part. Without anchors there are no aliases, either.
        let is_certain = self.properties.is_empty()
            && [self.nodes.first(), self.nodes.last()].iter().flatten().all(|it| is_inside(it));
        debug_assert!(!is_certain || self.nodes.iter().all(is_inside));
        is_certain.then(|| Self {
            index: 0,
            nodes: self.nodes.iter().map(|node| node.moved_left(part.start)).collect(),
            properties: Box::default(),
            aliases: Box::default(),
            indents: self.indents.clone(),
            span: Span::new(0, part.len()),
            start_marker: None,
            end_marker: None,
            error: None,
            parsed_by: self.parsed_by,
        })
    }
}

/// A view of one document.
#[derive(Clone, Copy)]
pub struct DocumentRef<'a> {
    pub(crate) file: &'a File,
    /// The table itself instead of its index, because every access to a node goes through it.
    table: &'a Document,
}

impl<'a> DocumentRef<'a> {
    pub(crate) fn new(file: &'a File, table: &'a Document) -> Self {
        Self { file, table }
    }

    #[inline]
    pub(crate) fn table(self) -> &'a Document {
        self.table
    }

    /// The index of the document in its file, from zero.
    pub fn index(self) -> usize {
        self.table.index as usize
    }

    /// The file of the document.
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

    /// `---`, if the document has one.
    pub fn start_marker(self) -> Option<Span> {
        self.table().start_marker
    }

    /// `...`, if the document has one.
    pub fn end_marker(self) -> Option<Span> {
        self.table().end_marker
    }

    /// The span between the markers of the document, including comments and blank lines.
    pub fn content_span(self) -> Span {
        let start = self.start_marker().map_or(self.span().start, |marker| marker.end);
        let end = self.end_marker().map_or(self.span().end, |marker| marker.start);
        Span::new(start, end.max(start))
    }

    /// The directives (`%` lines) of the document.
    pub fn directives(self) -> Vec<&'a str> {
        let Some(marker) = self.start_marker() else { return Vec::new() };
        let text = self.file.text();
        let before = Span::new(self.span().start, marker.start);
        crate::trivia::Gap::new(text, before)
            .filter(|(trivia, _)| *trivia == crate::trivia::Trivia::Directive)
            .map(|(_, span)| span.of(text))
            .collect()
    }

    /// The content of the document as a file of its own; `text` is that content, and `start` its offset in this file. The existing node table
    /// is reused if it is certain to be the same; otherwise the text is parsed.
    ///
    /// ```
    /// let file = krm_yaml::File::parse("a: 1\n---\nb: 2\n".to_owned())?;
    /// let own = file.document(1).expect("a second document").to_file(9, "b: 2\n".to_owned())?;
    /// assert_eq!(own, krm_yaml::File::parse("b: 2\n".to_owned())?);
    /// # Ok::<(), krm_yaml::ReadError>(())
    /// ```
    ///
    /// # Errors
    /// The text is too large.
    pub fn to_file(self, start: u32, text: String) -> Result<File, ReadError> {
        let Some(table) = self.content_at(start, &text).and_then(|part| self.table().cut(part))
        else {
            return File::parse(text);
        };
        let file = File::of_table(text.into(), table);
        debug_assert_eq!(File::parse(file.text().to_owned()).as_ref(), Ok(&file));
        Ok(file)
    }

    /// A part of the document as a file of its own that shares the text, without parsing it. `None` unless it is the whole content of the
    /// document, and the table certain to be the same.
    ///
    /// ```
    /// use krm_yaml::{File, Span};
    ///
    /// let file = File::parse("a: 1\n---\nb: 2\n".to_owned())?;
    /// let own = file.document(1).and_then(|document| document.to_shared_file(Span::new(9, 14)));
    /// assert_eq!(own, Some(File::parse("b: 2\n".to_owned())?));
    /// # Ok::<(), krm_yaml::ReadError>(())
    /// ```
    pub fn to_shared_file(self, part: Span) -> Option<File> {
        let text = self.file.shared_text().part(part)?;
        let part = self.content_at(part.start, &text)?;
        let file = File::of_table(text, self.table().cut(part)?);
        debug_assert_eq!(File::parse(file.text().to_owned()).as_ref(), Ok(&file));
        Some(file)
    }

    /// The span of the text, if it is the whole content of the document and on lines of its own.
    fn content_at(self, start: u32, text: &str) -> Option<Span> {
        let part = Span::new(start, start.checked_add(u32::try_from(text.len()).ok()?)?);
        let source = self.file.text();
        let Span { start: first, end: last } = self.content_span();
        let is_blank = |from: u32, to: u32| {
            source.get(from as usize..to as usize).is_some_and(|it| it.trim().is_empty())
        };
        // The value of a block scalar at the end depends on whether a line break follows.
        let is_cut = part.end != last || !text.ends_with('\n');
        let ends_open = self.table().nodes.last().is_some_and(|node| node.is_block_text());
        // A document with an error ends where the parser recovers, so its text alone may parse differently.
        let has_error = |document: Option<Self>| document.is_some_and(|it| it.error().is_some());
        // Mostly it is the same memory.
        let is_text = |found: &str| std::ptr::eq(found, text) || found == text;
        let is_it = source.get(part.start as usize..part.end as usize).is_some_and(is_text)
            && (start == 0 || source.as_bytes()[start as usize - 1] == b'\n')
            && is_blank(first, part.start)
            && is_blank(part.end, last)
            && !text.starts_with('\u{feff}')
            && !(is_cut && ends_open)
            && self.root().is_some_and(NodeRef::is_collection)
            && !has_error(Some(self))
            && !has_error(self.file.document(self.index() + 1))
            && self.directives().is_empty();
        is_it.then_some(part)
    }

    /// The root node; `None` if the document could not be read.
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

    /// The last node in the order of the text.
    pub fn last_node(self) -> Option<NodeRef<'a>> {
        let last = self.table().nodes.len().checked_sub(1)?;
        Some(self.node(last as u32))
    }

    /// Whether any node has an anchor or a tag, or is an alias.
    pub fn has_properties(self) -> bool {
        !self.table().properties.is_empty() || !self.table().aliases.is_empty()
    }

    /// The number of nodes, including keys.
    pub fn node_count(self) -> usize {
        self.table().nodes.len()
    }

    #[inline]
    pub(crate) fn node(self, index: u32) -> NodeRef<'a> {
        NodeRef { document: self, index }
    }
}
