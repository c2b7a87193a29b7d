//! Errors in flow collections.

use super::{ErrorContext, block};
use crate::error::{SyntaxError, SyntaxErrorKind};
use crate::parser::ErrorKind;
use crate::span::{Span, line_end};

impl ErrorContext<'_> {
    /// The innermost open bracket.
    fn open_bracket(&self) -> Option<u32> {
        let open = self.open.iter().rfind(|open| open.is_flow);
        open.map(|open| open.start)
    }

    pub(super) fn in_flow_collection(&self, kind: &ErrorKind) -> SyntaxError {
        match kind {
            ErrorKind::MisplacedFlowCollectionEnd => {
                return self.error(self.at, SyntaxErrorKind::UnexpectedClosingBracket);
            }
            ErrorKind::MismatchedFlowCollectionEnd { open, close } => {
                let kind = SyntaxErrorKind::MismatchedBracket { open: *open, close: *close };
                return self.error(self.at, kind);
            }
            ErrorKind::UnclosedFlowCollection { .. } => return self.unclosed(self.at),
            _ => {}
        }
        let at_end = self.text[self.at as usize..].trim_start().is_empty();
        match self.open_bracket() {
            Some(opened) if at_end || self.is_block_entry(opened) => self.unclosed(opened),
            opened => self.missing_comma(opened),
        }
    }

    fn unclosed(&self, opened: u32) -> SyntaxError {
        let is_brace = self.text[opened as usize..].starts_with('{');
        let (open, close) = if is_brace { ('{', '}') } else { ('[', ']') };
        self.error(opened, SyntaxErrorKind::UnclosedBracket { open, close })
    }

    /// Whether the line below an open bracket looks like a block entry. Then the bracket should have been closed before it.
    fn is_block_entry(&self, opened: u32) -> bool {
        let line = self.line(self.at).of(self.text);
        let below = line_end(self.text, opened) < self.at;
        below && block::key_end(line.trim()).is_some() && !line.contains(['}', ']'])
    }

    fn missing_comma(&self, opened: Option<u32>) -> SyntaxError {
        // The parser stops after the first token of what should be a new entry.
        let before = &self.text[self.line(self.at).start as usize..self.at as usize];
        let is_colon = self.text[self.at as usize..].starts_with(':');
        let word = before.rfind([' ', '\t', ',', '[', '{']).map_or(0, |at| at + 1);
        let at = if is_colon { self.line(self.at).start + word as u32 } else { self.at };
        let mut error = self.error(at, SyntaxErrorKind::MissingComma);
        error.related = opened.map(|at| (Span::new(at, at + 1), "opened here"));
        error
    }
}
