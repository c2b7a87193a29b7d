//! The lines of a document and their new indentation.

use super::columns::{Column, Columns, is_announced};
use crate::document::DocumentRef;
use crate::node::NodeKind;
use crate::node_ref::NodeRef;
use crate::span::{Span, column, is_first_on_line, line_end, next_line, skip_blanks};
use crate::trivia::Gap;

/// A line: its offset and its new indentation.
pub(super) struct Line {
    pub(super) start: u32,
    pub(super) new: Option<u32>,
    /// The collection whose entry starts on the line.
    pub(super) entry: Option<u32>,
}

/// The lines of a document, and replacements inside them.
pub(super) struct Lines<'a> {
    pub(super) document: DocumentRef<'a>,
    pub(super) text: &'a str,
    pub(super) lines: Vec<Line>,
    /// Indentation indicators in the headers of block scalars.
    marks: Vec<(Span, String)>,
}

impl<'a> Lines<'a> {
    pub(super) fn of(document: DocumentRef<'a>) -> Self {
        let (text, span) = (document.file.text(), document.span());
        let mut lines = Vec::new();
        let mut at = span.start;
        while at < span.end {
            // A byte-order mark precedes the first line.
            let start = if text[at as usize..].starts_with('\u{feff}') { at + 3 } else { at };
            lines.push(Line { start, new: None, entry: None });
            at = next_line(text, start).max(at + 1);
        }
        Self { document, text, lines, marks: Vec::new() }
    }

    /// The line of an offset.
    pub(super) fn line(&self, at: u32) -> usize {
        self.lines.partition_point(|line| line.start <= at).saturating_sub(1)
    }

    /// The indentation of a line.
    pub(super) fn spaces(&self, line: usize) -> u32 {
        let rest = &self.text.as_bytes()[self.lines[line].start as usize..];
        rest.iter().take_while(|byte| **byte == b' ').count() as u32
    }

    /// Whether a line is blank.
    pub(super) fn is_blank(&self, line: usize) -> bool {
        let start = self.lines[line].start;
        let end = line_end(self.text, start);
        skip_blanks(self.text, start, end) == end
    }

    /// Sets the indentation of the line that starts with the token at `at`.
    fn set(&mut self, at: u32, new: u32) {
        if is_first_on_line(self.text, at) {
            let line = self.line(at);
            self.lines[line].new = Some(new);
        }
    }

    /// Sets the indentation of entries to the column of their collection; lines inside a value keep their distance to it.
    pub(super) fn follow(&mut self, columns: &Columns<'a>) {
        for collection in columns.all() {
            for entry in &collection.entries {
                self.set(entry.head, collection.new);
                if entry.own_line {
                    let line = self.line(entry.head);
                    self.lines[line].entry = Some(collection.node.index);
                }
                if let Some(key) = entry.key.filter(|_| is_announced(entry)) {
                    let colon = Gap::from(self.text, key.end()).find(b":", b"");
                    self.set(colon.map_or(entry.head, |colon| colon.start), collection.new);
                }
                for node in entry.key.into_iter().chain([entry.value]) {
                    self.follow_node(node, collection, columns);
                }
            }
        }
    }

    /// Sets the indentation of the lines of a key or a value that is not a block collection, and of its properties.
    fn follow_node(&mut self, node: NodeRef<'a>, around: &Column<'a>, columns: &Columns<'a>) {
        let full = node.full_span().start;
        if full < node.start() && is_first_on_line(self.text, full) {
            let own = columns.get(node.index).unwrap_or(around);
            let new = own.shifted(column(self.text, full)).max(around.new + 1);
            self.keep_entry(full, new);
        }
        if node.is_block() {
            return;
        }
        let from = self.line(full);
        let to = self.line(node.end().max(full + 1) - 1);
        for line in from..=to {
            let begins = line > from || is_first_on_line(self.text, node.start());
            if begins && self.lines[line].new.is_none() && !self.is_blank(line) {
                self.lines[line].new = Some(around.shifted(self.spaces(line)));
            }
        }
    }

    fn keep_entry(&mut self, at: u32, new: u32) {
        let line = self.line(at);
        if self.lines[line].new.is_none() {
            self.lines[line].new = Some(new);
        }
    }

    /// Sets the indentation of the lines of block scalars, and the indicators in their headers.
    pub(super) fn place_block_scalars(&mut self, columns: &Columns<'a>, indent: Option<u32>) {
        let Some(root) = self.document.root() else { return };
        for node in root.descendants() {
            if matches!(node.kind(), NodeKind::Scalar(style) if style.is_block())
                && let Some(around) = columns.around(node)
            {
                self.place_block_scalar(node, around, indent);
            }
        }
    }

    fn place_block_scalar(&mut self, node: NodeRef<'a>, around: &Column<'a>, indent: Option<u32>) {
        let old = node.indent();
        let Some(header) = node.as_scalar().and_then(|scalar| scalar.header()) else { return };
        let kept = around.shifted(old);
        let in_mapping = around.node.kind() == NodeKind::Mapping && old > around.old;
        let wanted = indent.filter(|_| in_mapping).map_or(kept, |indent| around.new + indent);
        let new = self.mark(header, kept, wanted);
        let mut line = self.line(header.start) + 1;
        let last = self.line(node.end().max(header.end) - 1);
        while line < self.lines.len() && (line <= last || self.is_blank(line)) {
            let spaces = self.spaces(line);
            let start = self.lines[line].start;
            // A tab is content.
            let is_empty = line_end(self.text, start) == start + spaces;
            self.lines[line].new = Some(match is_empty && spaces <= old {
                true => spaces.min(new),
                false => (spaces + new).saturating_sub(old),
            });
            line += 1;
        }
    }

    /// Corrects the indentation indicator of a block scalar, and returns the column of its lines.
    fn mark(&mut self, header: Span, kept: u32, wanted: u32) -> u32 {
        let indicators = header.of(self.text);
        let Some((at, digit)) =
            indicators.char_indices().find_map(|(at, c)| Some((at as u32, c.to_digit(10)?)))
        else {
            return wanted;
        };
        match (digit + wanted).checked_sub(kept).filter(|mark| (1..10).contains(mark)) {
            Some(mark) if mark != digit => {
                let start = header.start + at;
                self.marks.push((Span::new(start, start + 1), mark.to_string()));
                wanted
            }
            Some(_) => wanted,
            None => kept,
        }
    }

    /// The text with the new indentation.
    pub(super) fn write(&self) -> String {
        let span = self.document.span();
        let mut out = String::with_capacity(span.len() as usize + 64);
        let mut at = span.start;
        let mut marks = self.marks.iter().peekable();
        for (index, line) in self.lines.iter().enumerate() {
            let Some(new) = line.new else { continue };
            let from = line.start + self.spaces(index);
            self.copy(at, line.start, &mut marks, &mut out);
            out.extend(std::iter::repeat_n(' ', new as usize));
            at = from;
        }
        self.copy(at, span.end, &mut marks, &mut out);
        out
    }

    /// Copies bytes, with the indicators in them corrected.
    fn copy<'m>(
        &self,
        mut at: u32,
        end: u32,
        marks: &mut std::iter::Peekable<impl Iterator<Item = &'m (Span, String)>>,
        out: &mut String,
    ) {
        while let Some((span, mark)) = marks.next_if(|(span, _)| span.start < end) {
            out.push_str(&self.text[at as usize..span.start as usize]);
            out.push_str(mark);
            at = span.end;
        }
        out.push_str(&self.text[at as usize..end as usize]);
    }
}
