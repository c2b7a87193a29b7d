//! Reads what ordinary documents hold straight into a node table, and gives up on everything else.
//!
//! It knows block collections, scalars on one line, `|` and `>` texts, brackets and
//! comments. Anchors, tags, `?` keys, directives, texts over several lines, tabs before
//! content, and whatever could be an error make it give up: everywhere in this module
//! `None` means "not certain". The front end then reads the document, so that there is
//! one parser that knows all of YAML and tells all errors.

mod block_scalar;
mod bytes;
mod flow;
mod scalars;

use crate::node::{CollectionStyle, Indent, Node, ScalarStyle};
use crate::parser::ReadOptions;
use crate::span::Span;
use bytes::Bytes;
use flow::Bracket;

/// The longest key that is certain: YAML 1.2 allows 1024 characters before the colon.
const LONGEST_KEY: usize = 1000;

/// How many bytes of an ordinary text make a node, and for how many nodes there is room from the start.
const BYTES_OF_NODE: usize = 14;
const MOST_AT_ONCE: usize = 4096;

/// A block collection that is not closed yet.
#[derive(Clone, Copy, Debug)]
struct Level {
    column: usize,
    node: u32,
    is_mapping: bool,
}

/// What the next thing on a line is to its collection.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Slot {
    /// A key of the innermost mapping.
    Key,
    /// A dash of the innermost sequence.
    Item,
    /// A value: of a key or dash, or the root.
    Value,
}

/// A document that was read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Read {
    /// `---`, where the document has one.
    pub(crate) marker: Option<Span>,
    /// Where the `---` of the next document stands.
    pub(crate) next: Option<u32>,
}

pub(crate) struct FastParser<'t> {
    bytes: Bytes<'t>,
    /// Where the line begins that is read next.
    at: usize,
    /// The table of the document that is read; kept between documents.
    pub(crate) nodes: Vec<Node>,
    pub(crate) indents: Vec<Indent>,
    open: Vec<Level>,
    brackets: Vec<Bracket>,
    /// Behind a colon or a dash whose value did not come yet.
    missing: Option<usize>,
    /// How deep collections may nest.
    deepest: usize,
}

impl<'t> FastParser<'t> {
    pub(crate) fn new(text: &'t str, options: ReadOptions) -> Self {
        Self {
            bytes: Bytes::new(text),
            at: 0,
            nodes: Vec::with_capacity((text.len() / BYTES_OF_NODE).min(MOST_AT_ONCE)),
            indents: Vec::new(),
            open: Vec::new(),
            brackets: Vec::new(),
            missing: None,
            // Where exactly the limit lies is for the front end to say.
            deepest: usize::from(options.max_depth / 2),
        }
    }

    /// Reads the document at `at`, which is the begin of the text or a `---`.
    pub(crate) fn document(&mut self, at: u32) -> Option<Read> {
        self.at = at as usize;
        self.nodes.clear();
        self.indents.clear();
        self.open.clear();
        self.brackets.clear();
        self.missing = None;
        let mut next = self.lines()?;
        let marker = match next {
            // What stands before the first `---` is no document of its own.
            Some(marker) if self.nodes.is_empty() => {
                self.end_line(marker + 3)?;
                next = self.lines()?;
                Some(Span::new(marker as u32, marker as u32 + 3))
            }
            _ => None,
        };
        while !self.open.is_empty() {
            self.close();
        }
        match marker {
            Some(marker) if self.nodes.is_empty() => {
                self.nodes.push(Node::scalar(Span::empty(marker.end), ScalarStyle::Plain, 0));
            }
            None if self.nodes.is_empty() => return None,
            _ => {}
        }
        Some(Read { marker, next: next.map(|next| next as u32) })
    }

    /// Reads lines up to the next `---`, whose place it gives back, or to the end of the text.
    fn lines(&mut self) -> Option<Option<usize>> {
        loop {
            let start = self.at;
            let first = self.bytes.past_spaces(start);
            match self.bytes.at(first) {
                b'\n' => self.at = first + 1,
                b'\r' => self.at = self.bytes.past_break(first)?,
                b'#' => self.at = self.bytes.past_comment(first)?,
                b'-' if first == start && self.bytes.is_marker(first) => return Some(Some(first)),
                b'.' if first == start && self.bytes.is_marker(first) => return None,
                0 => return self.bytes.is_end(first).then_some(None),
                _ => self.line(start, first)?,
            }
        }
    }

    /// Reads one line of content, and what belongs to its last value.
    fn line(&mut self, start: usize, mut at: usize) -> Option<()> {
        let mut is_dash = self.bytes.is_dash(at);
        let mut slot = self.slot(at - start, is_dash)?;
        while is_dash {
            match slot {
                Slot::Item => {}
                Slot::Key => return None,
                Slot::Value => {
                    let node = Node::sequence(at as u32, CollectionStyle::Block, self.parent());
                    self.open(node, at - start, false)?;
                }
            }
            let content = self.bytes.past_spaces(at + 1);
            if self.bytes.ends_line(content) {
                self.missing = Some(at + 1);
                return self.end_line(content);
            }
            (at, slot) = (content, Slot::Value);
            is_dash = self.bytes.is_dash(at);
        }
        self.entry(start, at, slot)
    }

    /// What a thing at this column is; closes the collections that end before it.
    fn slot(&mut self, column: usize, is_dash: bool) -> Option<Slot> {
        loop {
            let Some(&top) = self.open.last() else {
                // There is one root.
                return self.nodes.is_empty().then_some(Slot::Value);
            };
            if top.column < column {
                return self.missing.take().map(|_| Slot::Value);
            }
            if top.column == column {
                match (is_dash, top.is_mapping) {
                    // A list may stand at the column of its key.
                    (true, true) => return self.missing.take().map(|_| Slot::Value),
                    (true, false) => {
                        self.close_missing_value();
                        return Some(Slot::Item);
                    }
                    (false, true) => {
                        self.close_missing_value();
                        return Some(Slot::Key);
                    }
                    (false, false) => {}
                }
            }
            self.close();
        }
    }

    /// A key with its value, or a value alone.
    fn entry(&mut self, start: usize, at: usize, slot: Slot) -> Option<()> {
        let (end, style) = match self.bytes.at(at) {
            b'|' | b'>' | b'[' | b'{' if slot == Slot::Value => return self.value(at),
            b'"' => (self.bytes.double_quoted(at)?, ScalarStyle::DoubleQuoted),
            b'\'' => (self.bytes.single_quoted(at)?, ScalarStyle::SingleQuoted),
            _ => (self.bytes.plain(at)?, ScalarStyle::Plain),
        };
        let span = Span::new(at as u32, end as u32);
        let colon = self.bytes.past_spaces(end);
        if !self.bytes.is_colon(colon) {
            // The front end knows where a root that is one scalar ends.
            let has_place = slot == Slot::Value && !self.open.is_empty();
            has_place.then(|| self.leaf(span, style))?;
            return self.end_line(end);
        }
        match slot {
            Slot::Item => return None,
            Slot::Key => {}
            Slot::Value => {
                let node = Node::mapping(span.start, CollectionStyle::Block, self.parent());
                self.open(node, at - start, true)?;
            }
        }
        if colon - at > LONGEST_KEY {
            return None;
        }
        self.key(span, style);
        let content = self.bytes.past_spaces(colon + 1);
        if self.bytes.ends_line(content) {
            self.missing = Some(colon + 1);
            return self.end_line(content);
        }
        self.value(content)
    }

    /// A value that begins on the line of its key or dash, or stands alone.
    fn value(&mut self, at: usize) -> Option<()> {
        let (end, style) = match self.bytes.at(at) {
            b'|' | b'>' => return self.block_scalar(at),
            b'[' | b'{' => {
                let end = self.flow_collection(at)?;
                return self.end_line(end);
            }
            b'"' => (self.bytes.double_quoted(at)?, ScalarStyle::DoubleQuoted),
            b'\'' => (self.bytes.single_quoted(at)?, ScalarStyle::SingleQuoted),
            _ => (self.bytes.plain(at)?, ScalarStyle::Plain),
        };
        self.leaf(Span::new(at as u32, end as u32), style);
        self.end_line(end)
    }

    /// Goes on to the next line where nothing but blanks and a comment are left of this one.
    fn end_line(&mut self, at: usize) -> Option<()> {
        let rest = self.bytes.past_spaces(at);
        self.at = match self.bytes.at(rest) {
            b'\n' => rest + 1,
            b'\r' => self.bytes.past_break(rest)?,
            b'#' if self.bytes.at(rest - 1) == b' ' => self.bytes.past_comment(rest)?,
            0 if self.bytes.is_end(rest) => rest,
            _ => return None,
        };
        Some(())
    }

    fn parent(&self) -> u32 {
        self.open.last().map_or(0, |level| level.node)
    }

    fn leaf(&mut self, span: Span, style: ScalarStyle) {
        let node = Node::scalar(span, style, self.parent());
        self.nodes.push(node);
    }

    fn key(&mut self, span: Span, style: ScalarStyle) {
        let mut node = Node::scalar(span, style, self.parent());
        node.mark_key();
        self.nodes.push(node);
    }

    fn open(&mut self, node: Node, column: usize, is_mapping: bool) -> Option<()> {
        if self.open.len() >= self.deepest {
            return None;
        }
        self.open.push(Level { column, node: self.nodes.len() as u32, is_mapping });
        self.nodes.push(node);
        Some(())
    }

    /// Closes the innermost collection.
    fn close(&mut self) {
        self.close_missing_value();
        if let Some(level) = self.open.pop() {
            let end = self.nodes.len() as u32;
            self.nodes[level.node as usize].close(end);
        }
    }

    /// A value that did not come is empty, and stands behind its colon or dash.
    fn close_missing_value(&mut self) {
        if let Some(at) = self.missing.take() {
            self.leaf(Span::empty(at as u32), ScalarStyle::Plain);
        }
    }
}
