//! Errors in quoted scalars.

use super::ErrorContext;
use crate::error::{SyntaxError, SyntaxErrorKind};
use crate::span::Span;

impl ErrorContext<'_> {
    /// The opening quote before the position where the parser stopped.
    fn opening_quote(&self) -> Option<u32> {
        let is_quote = |c: char| matches!(c, '"' | '\'');
        if self.text[self.at as usize..].starts_with(is_quote) {
            return Some(self.at);
        }
        let before = &self.text[self.document as usize..self.at as usize];
        before.rfind(is_quote).map(|found| self.document + found as u32)
    }

    pub(super) fn unclosed_quote(&self) -> SyntaxError {
        self.error(self.opening_quote().unwrap_or(self.at), SyntaxErrorKind::UnclosedQuote)
    }

    pub(super) fn after_quote(&self, quote: char) -> SyntaxError {
        let mut error = self.error(self.at, SyntaxErrorKind::TextAfterQuote { quote });
        let before = &self.text[self.document as usize..self.at as usize];
        let opened = before.rfind(quote).and_then(|close| before[..close].rfind(quote));
        error.related = opened.map(|opened| {
            let at = self.document + opened as u32;
            (Span::new(at, at + 1), "opened here")
        });
        error
    }

    /// The first invalid escape sequence of a double-quoted scalar.
    pub(super) fn escape(&self) -> SyntaxError {
        let opened = self.opening_quote().unwrap_or(self.at);
        let mut rest = self.text[opened as usize..].char_indices().skip(1);
        while let Some((at, c)) = rest.next() {
            if c != '\\' {
                continue;
            }
            let Some((_, code)) = rest.next() else { break };
            let at = opened + at as u32;
            if let Some(error) = self.bad_escape(at, code) {
                return error;
            }
        }
        self.error(self.at, SyntaxErrorKind::BrokenEscape)
    }

    fn bad_escape(&self, at: u32, code: char) -> Option<SyntaxError> {
        let digits = match code {
            'x' => 2,
            'u' => 4,
            'U' => 8,
            '0' | 'a' | 'b' | 't' | '\t' | 'n' | 'v' | 'f' | 'r' | 'e' | ' ' | '"' | '/' | '\\' => {
                return None;
            }
            'N' | '_' | 'L' | 'P' | '\n' | '\r' => return None,
            other => {
                return Some(self.error(at, SyntaxErrorKind::UnknownEscape { code: other }));
            }
        };
        let hex = self.text[at as usize + 2..].chars().take_while(char::is_ascii_hexdigit).count();
        let code_point = self.text.get(at as usize + 2..at as usize + 2 + digits);
        let is_character = code_point
            .and_then(|hex| u32::from_str_radix(hex, 16).ok())
            .is_some_and(|code| char::from_u32(code).is_some());
        if hex < digits {
            return Some(self.error(at, SyntaxErrorKind::IncompleteEscape { code, digits }));
        }
        (!is_character).then(|| self.error(at, SyntaxErrorKind::InvalidEscape))
    }
}
