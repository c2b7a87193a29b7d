//! Errors in block collections and block scalars.

use super::{ErrorContext, shorten};
use crate::error::{SyntaxError, SyntaxErrorKind};
use crate::parser::ErrorKind;
use crate::span::{Span, column};

impl ErrorContext<'_> {
    /// A colon where no key is possible: a second one on a line, or after a line without one.
    pub(super) fn stray_colon(&self) -> SyntaxError {
        let here = self.line(self.at);
        let before = &self.text[here.start as usize..self.at as usize];
        if key_end(before).is_some() {
            return self.error(self.at, SyntaxErrorKind::UnexpectedColon);
        }
        self.missing_colon(here)
            .or_else(|| self.below_a_value(here))
            .unwrap_or_else(|| self.bad_indentation(here))
    }

    pub(super) fn block_structure(&self) -> SyntaxError {
        let here = self.line(self.at);
        let content = here.of(self.text).trim();
        let before = self.text[here.start as usize..self.at as usize].trim_end();
        let directive = self.text[self.document as usize..].trim_start().starts_with('%');
        if directive
            && self.line_before(here).is_some_and(|line| line.of(self.text).starts_with('%'))
        {
            return self.error(here.start, SyntaxErrorKind::MissingDocumentStart);
        }
        if self.text[self.at as usize..].starts_with('*') && before.contains('&') {
            return self.error(self.at, SyntaxErrorKind::AnchorOnAlias);
        }
        if before.ends_with(['}', ']']) && self.at > here.start {
            return self.error(self.at, SyntaxErrorKind::TextAfterBracket);
        }
        if is_item(content) {
            return self.stray_item(here);
        }
        if !content.is_empty()
            && !content.starts_with(['#', '[', '{', '"', '\''])
            && key_end(content).is_none()
        {
            return self.colon_missing_in(here);
        }
        self.missing_colon(here).unwrap_or_else(|| self.bad_indentation(here))
    }

    /// If the line before is not `key: value` and not deeper, its colon is missing.
    fn missing_colon(&self, here: Span) -> Option<SyntaxError> {
        let before = self.line_before(here)?;
        let content = before.of(self.text);
        let is_entry = key_end(content.trim()).is_some() || is_item(content.trim());
        let fits = indent_of(content) <= indent_of(here.of(self.text));
        (!is_entry && fits).then(|| self.colon_missing_in(before))
    }

    fn colon_missing_in(&self, line: Span) -> SyntaxError {
        let content = line.of(self.text);
        let entry = content.trim();
        let glued = entry.find(':').filter(|&colon| !entry[colon + 1..].starts_with(' '));
        let kind = match glued {
            Some(colon) => SyntaxErrorKind::MissingSpaceAfterColon {
                key: shorten(&entry[..colon]).into(),
                value: shorten(&entry[colon + 1..]).into(),
            },
            None => {
                let (key, value) = entry.split_once(' ').unwrap_or((entry, ""));
                SyntaxErrorKind::MissingColon {
                    key: shorten(key).into(),
                    value: shorten(value.trim()).into(),
                }
            }
        };
        let at = line.start + indent_of(content) as u32;
        let mut error = self.error(at, kind);
        error.span.end = line.start + content.trim_end().len() as u32;
        error
    }

    /// The line before has a value, and this line is indented below it.
    fn below_a_value(&self, here: Span) -> Option<SyntaxError> {
        let before = self.line_before(here)?;
        let content = before.of(self.text);
        let entry = content.trim().trim_start_matches("- ");
        let key = &entry[..key_end(entry)?];
        let has_value = entry.len() > key.len() + 1;
        let deeper = indent_of(here.of(self.text)) > indent_of(content);
        (has_value && deeper).then(|| {
            let at = here.start + indent_of(here.of(self.text)) as u32;
            self.error(at, SyntaxErrorKind::NestedBelowValue { key: shorten(key).into() })
        })
    }

    fn stray_item(&self, line: Span) -> SyntaxError {
        let indent = indent_of(line.of(self.text)) as u32;
        let in_mapping =
            self.open.iter().any(|open| open.is_mapping && column(self.text, open.start) == indent);
        if in_mapping {
            return self.error(line.start + indent, SyntaxErrorKind::UnexpectedElement);
        }
        self.bad_indentation(line)
    }

    fn bad_indentation(&self, line: Span) -> SyntaxError {
        let indent = indent_of(line.of(self.text)) as u32;
        let mut columns: Vec<u32> =
            self.open.iter().filter(|c| !c.is_flow).map(|c| column(self.text, c.start)).collect();
        columns.dedup();
        let at = line.start + indent;
        let fits = self.open.iter().rfind(|c| !c.is_flow && column(self.text, c.start) == indent);
        if let Some(fits) = fits {
            let entry = if fits.is_mapping { "key: value" } else { "- element" };
            return self.error(at, SyntaxErrorKind::ExpectedEntry { entry });
        }
        self.error(at, SyntaxErrorKind::WrongIndentation { indent, open: columns })
    }

    /// A block scalar with a wrong header or wrong leading blank lines.
    pub(super) fn block_scalar(&self, kind: &ErrorKind) -> SyntaxError {
        if *kind == ErrorKind::InvalidBlockScalarIndent {
            return self.error(self.at, SyntaxErrorKind::BlockScalarBlankLines);
        }
        let rest = &self.text[self.at as usize..self.line(self.at).end as usize];
        let marks = 1 + rest[1.min(rest.len())..]
            .bytes()
            .take_while(|b| b"0123456789+-".contains(b))
            .count();
        let behind = rest.get(marks..).unwrap_or_default();
        let at = self.at + (marks + behind.len() - behind.trim_start().len()) as u32;
        self.error(at.min(self.line(self.at).end), SyntaxErrorKind::BlockScalarHeader)
    }
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

fn is_item(content: &str) -> bool {
    content == "-" || content.starts_with("- ")
}

/// The end of the key in a `key: value` line; quotes are not considered.
pub(super) fn key_end(line: &str) -> Option<usize> {
    line.find(": ").or_else(|| line.ends_with(':').then(|| line.len() - 1))
}
