//! Block scalars: header, indentation and end.

use super::FastParser;
use crate::node::{Indent, ScalarStyle};
use crate::span::Span;

/// The indicators after `|` or `>`.
struct Header {
    keep: bool,
    indentation: Option<usize>,
    /// The offset after the last indicator.
    end: usize,
}

/// A line of a block scalar.
enum Line {
    /// Only spaces up to this offset, at most as many as the indentation.
    Empty(usize),
    /// Content up to this offset.
    Content(usize),
    /// A line after the block scalar.
    Other,
}

impl FastParser<'_> {
    /// Parses the block scalar at `head`.
    pub(super) fn block_scalar(&mut self, head: usize) -> Option<()> {
        let column = self.open.last()?.column;
        let style = match self.bytes.at(head) {
            b'|' => ScalarStyle::Literal,
            _ => ScalarStyle::Folded,
        };
        let header = self.header(head)?;
        self.end_line(header.end)?;
        let indent = match header.indentation {
            Some(indentation) => column + indentation,
            None => self.indentation(column)?,
        };
        let end = self.scalar_lines(indent, header.keep)?;
        let span = Span::new(head as u32, end as u32);
        self.indents.push(Indent::new(self.nodes.len() as u32, indent as u32));
        self.leaf(span, style);
        Some(())
    }

    fn header(&self, head: usize) -> Option<Header> {
        let mut header = Header { keep: false, indentation: None, end: head + 1 };
        let mut has_sign = false;
        loop {
            match self.bytes.at(header.end) {
                sign @ (b'+' | b'-') if !has_sign => {
                    has_sign = true;
                    header.keep = sign == b'+';
                }
                digit @ b'1'..=b'9' if header.indentation.is_none() => {
                    header.indentation = Some(usize::from(digit - b'0'));
                }
                b' ' | b'\n' | b'\r' => return Some(header),
                _ => return None,
            }
            header.end += 1;
        }
    }

    /// The indentation of the first line with content. `None` if it is not deeper than the collection, or less deep than an empty line above.
    fn indentation(&self, column: usize) -> Option<usize> {
        let mut start = self.at;
        let mut widest = 0;
        loop {
            let first = self.bytes.past_spaces(start);
            match self.bytes.at(first) {
                b'\n' | b'\r' => {
                    widest = widest.max(first - start);
                    start = self.bytes.past_break(first)?;
                }
                0 => return None,
                _ => {
                    let indent = first - start;
                    return (indent > column && indent >= widest).then_some(indent);
                }
            }
        }
    }

    /// Skips the lines of a block scalar and returns the end of the last one, without its line break. `None` if there is no content.
    fn scalar_lines(&mut self, indent: usize, keep: bool) -> Option<usize> {
        let mut last = None;
        loop {
            match self.scalar_line(indent)? {
                Line::Empty(end) => {
                    if keep && last.is_some() {
                        last = Some(end);
                    }
                    self.at = self.bytes.past_break(end)?;
                }
                Line::Content(end) => {
                    last = Some(end);
                    if self.bytes.is_end(end) {
                        self.at = end;
                        return last;
                    }
                    self.at = self.bytes.past_break(end)?;
                }
                Line::Other => return last,
            }
        }
    }

    fn scalar_line(&self, indent: usize) -> Option<Line> {
        let mut at = self.at;
        while at - self.at < indent && self.bytes.at(at) == b' ' {
            at += 1;
        }
        match self.bytes.at(at) {
            b'\n' | b'\r' => Some(Line::Empty(at)),
            0 => self.bytes.is_end(at).then_some(Line::Other),
            _ if at - self.at < indent => Some(Line::Other),
            _ => self.bytes.line_end(at).map(Line::Content),
        }
    }
}
