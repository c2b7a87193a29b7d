//! Builds the node tables of a text from parser events, in one pass.
//!
//! Some spans of the parser are of no use to an editor: a block scalar starts after its header, an empty value before its colon, a sequence
//! that is not indented at its first element. They are corrected here. Invariants: `start` of a node is the start of its own text, and
//! the spans of the documents cover the file.

use crate::document::{Document, ParsedBy};
use crate::error_help::{OpenCollection, explain};
use crate::node::{AliasLink, CollectionStyle, Indent, Node, NodeKind, Properties, ScalarStyle};
use crate::parser::{Event, Parser, ParserError, Props, ReadOptions};
use crate::span::{Span, before_break, column, line_end, line_start, next_line, skip_blanks};
use crate::trivia::{Gap, Trivia};

/// Larger node tables are not copied.
const MAX_COPIED_NODES: usize = 100_000;

/// An open collection.
struct Open {
    node: u32,
    /// Whether the next child of a mapping is a key.
    key_next: bool,
}

/// Builds the documents of one text.
pub(crate) struct Builder<'t> {
    text: &'t str,
    options: ReadOptions,
    documents: Vec<Document>,
    /// Whether a document is open.
    in_document: bool,
    /// The start of the current document.
    document_start: u32,
    /// Buffers for the current document, reused for the next one.
    nodes: Vec<Node>,
    properties: Vec<Properties>,
    aliases: Vec<AliasLink>,
    indents: Vec<Indent>,
    /// The nodes of the anchors of the current document, by number.
    anchors: Vec<(u32, u32)>,
    start_marker: Option<Span>,
    open: Vec<Open>,
    /// The end of the last leaf, bracket or marker.
    cursor: u32,
}

impl<'t> Builder<'t> {
    pub(crate) fn new(text: &'t str, options: ReadOptions) -> Self {
        Self {
            text,
            options,
            documents: Vec::new(),
            in_document: false,
            document_start: 0,
            nodes: Vec::new(),
            properties: Vec::new(),
            aliases: Vec::new(),
            indents: Vec::new(),
            anchors: Vec::new(),
            start_marker: None,
            open: Vec::new(),
            cursor: 0,
        }
    }

    /// Parses documents from `at` up to a `---` that does not depend on what precedes it, or up to the end of the text. `None` on an error.
    pub(crate) fn take_documents(&mut self, at: u32) -> Option<Option<u32>> {
        let mut front = Parser::starting_at(self.text, at, self.options);
        let mut is_between = false;
        while let Some(next) = front.next() {
            match next.ok()? {
                Event::DocumentStart(span) if is_between => return Some(Some(span.start)),
                event => {
                    self.take(event);
                    // Directives may follow `...`.
                    is_between = !self.in_document
                        && self.documents.last().is_some_and(|last| last.end_marker.is_none());
                }
            }
        }
        Some(None)
    }

    /// Stores a document from finished nodes. The buffers are returned for reuse.
    pub(crate) fn store_nodes(
        &mut self,
        nodes: &mut Vec<Node>,
        indents: &mut Vec<Indent>,
        has_unique_keys: bool,
    ) {
        let mut swap = |own: &mut Self| {
            std::mem::swap(&mut own.nodes, nodes);
            std::mem::swap(&mut own.indents, indents);
        };
        swap(self);
        self.store(None, None);
        if let Some(last) = self.documents.last_mut() {
            last.parsed_by = ParsedBy::Fast { has_unique_keys };
        }
        swap(self);
    }

    pub(crate) fn take(&mut self, event: Event) {
        match event {
            Event::Scalar { span, style, blank, props } => {
                let (span, indent) = match style {
                    ScalarStyle::Literal | ScalarStyle::Folded => self.block_scalar(span, blank),
                    ScalarStyle::Plain if span.is_empty() => (self.empty_scalar(span, props), 0),
                    _ => (span, 0),
                };
                let node = self.push(Node::scalar(span, style, self.parent()), props);
                if matches!(style, ScalarStyle::Literal | ScalarStyle::Folded) {
                    self.indents.push(Indent::new(node, indent));
                }
                self.cursor = span.end;
            }
            Event::MappingStart { span, flow, props } => {
                let notation = match flow {
                    true if span.of(self.text) == "{" => CollectionStyle::Flow,
                    true => CollectionStyle::Pair,
                    false => CollectionStyle::Block,
                };
                self.push_open(Node::mapping(span.start, notation, self.parent()), props);
                self.cursor = self.cursor.max(span.end);
            }
            Event::SequenceStart { span, flow, props } => {
                let start = if flow { span.start } else { self.first_dash(span.start) };
                let notation = if flow { CollectionStyle::Flow } else { CollectionStyle::Block };
                self.push_open(Node::sequence(start, notation, self.parent()), props);
                self.cursor = self.cursor.max(if flow { span.end } else { start });
            }
            Event::CollectionEnd(span) => self.close(span),
            Event::Alias { span, anchor } => {
                let alias =
                    self.push(Node::alias(span, self.parent()), Props { anchor: 0, tag: None });
                let found = self.anchors.binary_search_by_key(&anchor, |&(number, _)| number);
                let target = found.map_or(alias, |at| self.anchors[at].1);
                self.aliases.push(AliasLink { alias, target });
                self.cursor = span.end;
            }
            Event::Anchor { span, number } => {
                if let Some(last) = self.properties.last_mut() {
                    last.anchor = Some(span);
                    self.anchors.push((number, last.node));
                }
            }
            Event::DocumentStart(span) => self.start_document(span),
            Event::DocumentEnd(span) => self.end_document(span),
        }
    }

    fn parent(&self) -> u32 {
        self.open.last().map_or(0, |open| open.node)
    }

    fn push(&mut self, mut node: Node, props: Props) -> u32 {
        let index = self.nodes.len() as u32;
        if props.any() {
            node.mark_properties();
            self.properties.push(Properties { node: index, anchor: None, tag: props.tag });
        }
        if let Some(open) = self.open.last_mut() {
            if open.key_next && self.nodes[open.node as usize].kind() == NodeKind::Mapping {
                node.mark_key();
            }
            open.key_next = !open.key_next;
        }
        self.nodes.push(node);
        index
    }

    fn push_open(&mut self, node: Node, props: Props) {
        let index = self.push(node, props);
        self.open.push(Open { node: index, key_next: true });
    }

    fn close(&mut self, span: Span) {
        let end = self.nodes.len() as u32;
        if let Some(open) = self.open.pop() {
            let node = &mut self.nodes[open.node as usize];
            node.close(end);
            if node.collection_style() == CollectionStyle::Flow {
                self.cursor = span.end;
            }
        }
    }

    /// The span of a block scalar from its `|` or `>` to the end of its last line of content, without the last line break, and its content
    /// indentation. Blank lines after it belong to it only if the header says keep (`+`). A block scalar without content has no
    /// indentation of its own: all spaces of its lines count as indentation.
    fn block_scalar(&self, content: Span, blank: bool) -> (Span, u32) {
        let text = self.text;
        let Some(head) = Gap::from(text, self.cursor).find(b"|>", b":-?,") else {
            return (content, 0);
        };
        let rest = &text[head.end as usize..];
        let marks = rest.bytes().take_while(|b| matches!(b, b'0'..=b'9' | b'+' | b'-')).count();
        let head_end = head.end + marks as u32;
        let first = next_line(text, head_end);
        // The content that the parser reports starts right after the indentation.
        let indent = if blank { u32::MAX } else { column(text, content.start) };
        let keep = rest[..marks].contains('+');
        let mut end = self.end_of_lines(content.end);
        if end < first || (blank && !keep) {
            return (Span::new(head.start, head_end), indent);
        }
        loop {
            let start = line_start(text, end).max(first);
            let line = &text[start as usize..end as usize];
            let is_empty = line.len() <= indent as usize && line.bytes().all(|b| b == b' ');
            // Spaces at the end of the file without a line break are not a line.
            let counts = keep && !(is_empty && !blank && end as usize == text.len());
            let above = before_break(text, start);
            if counts || !is_empty || above < first || above == start {
                return (Span::new(head.start, end), indent);
            }
            end = above;
        }
    }

    /// The end of the last line before `at`. Spaces before a comment at `at` do not count as a line.
    fn end_of_lines(&self, at: u32) -> u32 {
        let start = line_start(self.text, at);
        let is_lead = skip_blanks(self.text, start, at) == at && line_end(self.text, at) != at;
        before_break(self.text, if is_lead { start } else { at })
    }

    /// The position of an empty scalar: after its colon, or after its dash.
    fn empty_scalar(&self, span: Span, props: Props) -> Span {
        let is_value = self.is_in_mapping() && self.open.last().is_some_and(|open| !open.key_next);
        let is_block_item = self.open.last().is_some_and(|open| {
            let node = self.nodes[open.node as usize];
            node.kind() == NodeKind::Sequence && node.collection_style() == CollectionStyle::Block
        });
        if !props.any() && self.is_in_mapping() && !is_value {
            return Span::empty(self.empty_key(span));
        }
        if props.any() || !(is_value || is_block_item) {
            return Span::empty(span.start.max(self.cursor));
        }
        if is_block_item {
            let dash = Gap::from(self.text, self.cursor).find(b"-", b"");
            return Span::empty(dash.map_or(span.start.max(self.cursor), |dash| dash.end));
        }
        let colon = Gap::from(self.text, self.cursor).find(b":", b"");
        Span::empty(colon.map_or(self.cursor, |colon| colon.end))
    }

    /// The position of an empty key: after its `?`, and not where the parser expected it.
    fn empty_key(&self, span: Span) -> u32 {
        let reported = span.start.max(self.cursor);
        let gap = Gap::new(self.text, Span::new(self.cursor, reported));
        let marks = gap.filter(|(trivia, _)| *trivia == Trivia::Indicator(b'?'));
        marks.last().map_or(reported, |(_, mark)| mark.end)
    }

    /// The first dash of a sequence. For one that is not indented, the parser reports the position of the first element instead.
    fn first_dash(&self, reported: u32) -> u32 {
        if !self.is_in_mapping() {
            return reported;
        }
        let dash = Gap::from(self.text, self.cursor).find(b"-", b":?");
        dash.map_or(reported, |dash| dash.start)
    }

    /// Whether the innermost open collection is in flow style.
    pub(crate) fn is_in_flow_collection(&self) -> bool {
        let open = self.open.last().map(|open| self.nodes[open.node as usize]);
        open.is_some_and(|node| node.collection_style() != CollectionStyle::Block)
    }

    fn is_in_mapping(&self) -> bool {
        let open = self.open.last();
        open.is_some_and(|open| self.nodes[open.node as usize].kind() == NodeKind::Mapping)
    }

    pub(crate) fn start_document(&mut self, span: Span) {
        if self.in_document {
            self.store(None, None);
        }
        let explicit = !span.is_empty();
        // The text before the marker belongs to the previous document, unless that one was ended by `...`.
        if let Some(last) = self.documents.last_mut() {
            let boundary = match last.end_marker {
                Some(marker) => next_line(self.text, marker.end),
                None => line_start(self.text, span.start),
            };
            last.span.end = boundary.max(last.span.start);
            self.document_start = last.span.end;
        }
        self.start_marker = explicit.then_some(span);
        self.in_document = true;
        self.cursor = if explicit { span.end } else { self.document_start };
    }

    fn end_document(&mut self, span: Span) {
        let explicit = self.text[span.start as usize..].starts_with("...") && !span.is_empty();
        self.store(explicit.then_some(span), None);
    }

    pub(crate) fn fail(&mut self, error: &ParserError) {
        let open: Vec<OpenCollection> = self
            .open
            .iter()
            .map(|open| OpenCollection::of(self.nodes[open.node as usize]))
            .collect();
        if !self.in_document
            && let Some(last) = self.documents.last_mut()
        {
            // The error is before the start of the document was reported.
            let marker = last.end_marker;
            last.span.end = marker.map_or(self.cursor, |m| next_line(self.text, m.end));
            self.document_start =
                last.span.end.max(line_start(self.text, error.at.max(self.cursor)));
            last.span.end = self.document_start;
        }
        let explained = explain(self.text, self.document_start, error, &open, self.options);
        self.nodes.clear();
        self.properties.clear();
        self.aliases.clear();
        self.indents.clear();
        self.store(None, Some(explained));
    }

    fn store(&mut self, end_marker: Option<Span>, error: Option<crate::SyntaxError>) {
        let nodes = self.take_nodes();
        self.documents.push(Document {
            index: self.documents.len() as u32,
            nodes,
            properties: self.properties.as_slice().into(),
            aliases: self.aliases.as_slice().into(),
            indents: self.indents.as_slice().into(),
            span: Span::new(self.document_start, self.text.len() as u32),
            start_marker: self.start_marker,
            end_marker,
            error: error.map(Box::new),
            parsed_by: ParsedBy::Complete,
        });
        self.nodes.clear();
        self.properties.clear();
        self.aliases.clear();
        self.indents.clear();
        self.anchors.clear();
        self.open.clear();
        self.start_marker = None;
        self.in_document = false;
    }

    /// The nodes of the document. The buffer is kept for the next one, unless it is so large that two of them would matter.
    fn take_nodes(&mut self) -> Box<[Node]> {
        match self.nodes.len() > MAX_COPIED_NODES {
            true => std::mem::take(&mut self.nodes).into_boxed_slice(),
            false => self.nodes.as_slice().into(),
        }
    }

    pub(crate) fn finish(mut self) -> Vec<Document> {
        if self.in_document {
            self.store(None, None);
        }
        self.documents.shrink_to_fit();
        self.documents
    }
}
