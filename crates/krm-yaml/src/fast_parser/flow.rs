//! Flow collections, on one or several lines.

use super::{FastParser, LONGEST_KEY};
use crate::node::{CollectionStyle, Node, ScalarStyle};
use crate::span::Span;

/// An open flow collection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bracket {
    node: u32,
    closing: u8,
    seen_keys: u64,
}

impl FastParser<'_> {
    /// Parses the flow collection at `start` and returns the offset after it.
    pub(super) fn flow_collection(&mut self, start: usize) -> Option<usize> {
        let mut at = self.open_bracket(start)?;
        loop {
            at = self.flow_entry(at)?;
            // An entry is followed by a comma and another entry, or by the closing bracket.
            loop {
                let Some(bracket) = self.brackets.last() else { return Some(at) };
                at = self.flow_gap(at)?;
                match self.bytes.at(at) {
                    b',' => break,
                    byte if byte == bracket.closing => at = self.close_bracket(at),
                    _ => return None,
                }
            }
            at += 1;
        }
    }

    /// Opens a collection, parses one entry, or closes a collection without further entries.
    fn flow_entry(&mut self, at: usize) -> Option<usize> {
        let mut at = self.flow_gap(at)?;
        loop {
            let bracket = *self.brackets.last()?;
            if self.bytes.at(at) == bracket.closing {
                return Some(self.close_bracket(at));
            }
            if bracket.closing == b'}' {
                at = self.flow_key(at, bracket)?;
            }
            match self.bytes.at(at) {
                b'[' | b'{' => {
                    at = self.open_bracket(at)?;
                    at = self.flow_gap(at)?;
                }
                _ => {
                    let (end, style) = self.flow_scalar(at)?;
                    let span = Span::new(at as u32, end as u32);
                    self.nodes.push(Node::scalar(span, style, bracket.node));
                    return Some(end);
                }
            }
        }
    }

    /// Parses a key and its colon, and returns the start of the value.
    fn flow_key(&mut self, at: usize, bracket: Bracket) -> Option<usize> {
        let (end, style) = self.flow_scalar(at)?;
        let colon = self.bytes.past_spaces(end);
        // Spec: after a quoted key, the value may follow the colon directly.
        let has_colon = match style {
            ScalarStyle::Plain => self.bytes.is_colon(colon),
            _ => self.bytes.at(colon) == b':',
        };
        if !has_colon || colon - at > LONGEST_KEY {
            return None;
        }
        let span = Span::new(at as u32, end as u32);
        let seen_keys = self.compare_key(span, style, bracket.node, bracket.seen_keys);
        if let Some(bracket) = self.brackets.last_mut() {
            bracket.seen_keys = seen_keys;
        }
        let mut node = Node::scalar(span, style, bracket.node);
        node.mark_key();
        self.nodes.push(node);
        self.flow_gap(colon + 1)
    }

    fn flow_scalar(&self, at: usize) -> Option<(usize, ScalarStyle)> {
        Some(match self.bytes.at(at) {
            b'"' => (self.bytes.double_quoted(at)?, ScalarStyle::DoubleQuoted),
            b'\'' => (self.bytes.single_quoted(at)?, ScalarStyle::SingleQuoted),
            _ => (self.bytes.plain_in_flow(at)?, ScalarStyle::Plain),
        })
    }

    /// Skips whitespace, line breaks and comments.
    fn flow_gap(&self, mut at: usize) -> Option<usize> {
        loop {
            at = self.bytes.past_spaces(at);
            match self.bytes.at(at) {
                b'\n' | b'\r' => {
                    at = self.bytes.past_break(at)?;
                    if self.bytes.is_marker(at) {
                        return None;
                    }
                }
                b'#' if matches!(self.bytes.at(at - 1), b' ' | b'\n') => {
                    at = self.bytes.line_end(at)?;
                }
                _ => return Some(at),
            }
        }
    }

    fn open_bracket(&mut self, at: usize) -> Option<usize> {
        if self.brackets.len() >= self.deepest {
            return None;
        }
        let parent = self.brackets.last().map_or_else(|| self.parent(), |bracket| bracket.node);
        let start = at as u32;
        let (node, closing) = match self.bytes.at(at) {
            b'[' => (Node::sequence(start, CollectionStyle::Flow, parent), b']'),
            _ => (Node::mapping(start, CollectionStyle::Flow, parent), b'}'),
        };
        self.brackets.push(Bracket { node: self.nodes.len() as u32, closing, seen_keys: 0 });
        self.nodes.push(node);
        Some(at + 1)
    }

    fn close_bracket(&mut self, at: usize) -> usize {
        if let Some(bracket) = self.brackets.pop() {
            let end = self.nodes.len() as u32;
            self.nodes[bracket.node as usize].close(end);
        }
        at + 1
    }
}
