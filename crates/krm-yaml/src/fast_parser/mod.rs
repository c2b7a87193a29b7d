//! A fast parser for the common subset of YAML, straight into the node table.
//!
//! It handles block collections, scalars on one line, block scalars, flow collections and comments. It gives up on anchors, tags, `?` keys,
//! directives, multi-line scalars, tabs before content, and on whatever could be an error: everywhere in this module `None` means "not
//! certain". The complete parser then reads the document, so only one parser has to know all of YAML and all errors. A document starts at its
//! `---` and does not depend on what precedes it, so the other documents of the file are still parsed fast. The property
//! `quick_is_thorough` compares the results of both.

mod block_scalar;
mod bytes;
mod flow;
mod keys;
mod resume;
mod scalars;

use crate::node::{CollectionStyle, Indent, Node, ScalarStyle};
use crate::parser::ReadOptions;
use crate::span::Span;
use bytes::Bytes;
use flow::Bracket;
pub(crate) use resume::{ChangedRange, parse_changed};

/// The longest key that is certainly valid. Spec: YAML 1.2 allows 1024 characters before the colon of an implicit key.
const LONGEST_KEY: usize = 1000;

/// The average number of bytes per node, for the initial capacity of the table, and the limit of that capacity.
const BYTES_OF_NODE: usize = 14;
const MOST_AT_ONCE: usize = 4096;

/// An open block collection.
#[derive(Clone, Copy, Debug)]
struct Level {
    column: usize,
    node: u32,
    is_mapping: bool,
    /// A bit for each key, from a small hash.
    seen_keys: u64,
}

/// The role of the next token in its collection.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Slot {
    /// A key of the innermost mapping.
    Key,
    /// A dash of the innermost sequence.
    Item,
    /// A value: of a key or dash, or the root.
    Value,
}

/// The result of parsing one document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Read {
    /// `---`, where the document has one.
    pub(crate) marker: Option<Span>,
    /// The offset of the `---` of the next document.
    pub(crate) next: Option<u32>,
    /// Whether no mapping has a key twice; false if that is not certain.
    pub(crate) has_unique_keys: bool,
}

pub(crate) struct FastParser<'t> {
    bytes: Bytes<'t>,
    /// The start of the next line.
    at: usize,
    /// The table of the current document. The allocation is reused for the next one.
    pub(crate) nodes: Vec<Node>,
    pub(crate) indents: Vec<Indent>,
    open: Vec<Level>,
    brackets: Vec<Bracket>,
    /// The offset after a colon or a dash whose value has not been seen yet.
    missing: Option<usize>,
    /// The maximum nesting depth.
    deepest: usize,
    /// Whether a mapping may have a key twice.
    has_repeated_keys: bool,
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
            // The complete parser decides where exactly the limit is.
            deepest: usize::from(options.max_depth / 2),
            has_repeated_keys: false,
        }
    }

    /// Parses the document at `at`, which is the start of the text or of a `---`.
    pub(crate) fn document(&mut self, at: u32) -> Option<Read> {
        self.at = at as usize;
        self.nodes.clear();
        self.indents.clear();
        self.open.clear();
        self.brackets.clear();
        self.missing = None;
        self.has_repeated_keys = false;
        let mut next = self.lines()?;
        let marker = match next {
            // Comments before the first `---` are not a document.
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
        let has_unique_keys = !self.has_repeated_keys;
        Some(Read { marker, next: next.map(|next| next as u32), has_unique_keys })
    }

    /// Parses lines up to the next `---`, whose offset it returns, or up to the end of the text.
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

    /// Parses one line of content, and the further lines of its last value.
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

    /// The role of a token at this column. Closes the collections that end before it.
    fn slot(&mut self, column: usize, is_dash: bool) -> Option<Slot> {
        loop {
            let Some(&top) = self.open.last() else {
                // A document has one root.
                return self.nodes.is_empty().then_some(Slot::Value);
            };
            if top.column < column {
                return self.missing.take().map(|_| Slot::Value);
            }
            if top.column == column {
                match (is_dash, top.is_mapping) {
                    // A sequence may have the same column as its key.
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

    /// Parses a key with its value, or a value.
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
            // A scalar as the root is left to the complete parser.
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

    /// Parses a value on the line of its key or dash, or on a line of its own.
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

    /// Advances to the next line if the rest of this one is empty or a comment.
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
        if let Some(&Level { node, seen_keys, .. }) = self.open.last() {
            let seen_keys = self.compare_key(span, style, node, seen_keys);
            if let Some(level) = self.open.last_mut() {
                level.seen_keys = seen_keys;
            }
        }
        let mut node = Node::scalar(span, style, self.parent());
        node.mark_key();
        self.nodes.push(node);
    }

    fn open(&mut self, node: Node, column: usize, is_mapping: bool) -> Option<()> {
        if self.open.len() >= self.deepest {
            return None;
        }
        let node_index = self.nodes.len() as u32;
        self.open.push(Level { column, node: node_index, is_mapping, seen_keys: 0 });
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

    /// Adds an empty scalar after a colon or dash without a value.
    fn close_missing_value(&mut self) {
        if let Some(at) = self.missing.take() {
            self.leaf(Span::empty(at as u32), ScalarStyle::Plain);
        }
    }
}
