//! Turns the front end's errors into words that a user understands.
//!
//! The front end says which rule of the grammar broke, often a line too late.
//! The text around the place tells what a person did: left out a colon, used a
//! tab, forgot a quote.

use crate::SyntaxError;
use crate::front::{ErrorKind, FrontError};
use crate::node::{Node, NodeKind, Notation};
use crate::span::{Span, before_break, column, is_break, line_end, line_start};

/// A collection that was open when the front end stopped.
pub(crate) struct OpenCollection {
    start: u32,
    is_flow: bool,
    is_mapping: bool,
}

impl OpenCollection {
    pub(crate) fn of(node: Node) -> Self {
        Self {
            start: node.start,
            is_flow: node.notation() == Notation::Flow,
            is_mapping: node.kind() == NodeKind::Mapping,
        }
    }
}

/// What is wrong, where, and what to do about it.
pub(crate) fn explain(
    text: &str,
    document: u32,
    error: &FrontError,
    open: &[OpenCollection],
) -> SyntaxError {
    let mut at = error.at.min(text.len() as u32);
    while !text.is_char_boundary(at as usize) {
        at -= 1;
    }
    let scene = Scene { text, document, at, open };
    let mut explained = scene.tab().unwrap_or_else(|| scene.by_kind(&error.kind));
    if explained.hint.is_none() && scene.looks_like_a_template() {
        explained.hint = Some(
            "this looks like a template; render it first, or leave it out with .krmignore"
                .to_owned(),
        );
    }
    explained
}

struct Scene<'a> {
    text: &'a str,
    document: u32,
    at: u32,
    open: &'a [OpenCollection],
}

impl Scene<'_> {
    fn error(&self, at: u32, message: impl Into<String>) -> SyntaxError {
        let end = self.text[at as usize..].chars().next().filter(|&c| c != '\n' && c != '\r');
        let span = Span::new(at, at + end.map_or(0, char::len_utf8) as u32);
        SyntaxError { message: message.into(), span, related: None, hint: None }
    }

    fn line(&self, at: u32) -> Span {
        Span::new(line_start(self.text, at).max(self.document), line_end(self.text, at))
    }

    /// The nearest line before this one that is neither empty nor a comment.
    fn line_before(&self, line: Span) -> Option<Span> {
        let mut start = line.start;
        loop {
            let end = before_break(self.text, start);
            if end == start || end < self.document {
                return None;
            }
            let line = self.line(end);
            let content = line.of(self.text).trim();
            if !content.is_empty() && !content.starts_with('#') {
                return Some(line);
            }
            start = line.start;
        }
    }

    fn looks_like_a_template(&self) -> bool {
        self.line(self.at).of(self.text).contains("{{")
            || self.line_before(self.line(self.at)).is_some_and(|l| l.of(self.text).contains("{{"))
    }

    /// A tab in the indentation of this line or the one before.
    fn tab(&self) -> Option<SyntaxError> {
        let here = self.line(self.at);
        let lines = [Some(here), self.line_before(here)];
        lines.into_iter().flatten().find_map(|line| {
            let content = line.of(self.text);
            let indent = content.len() - content.trim_start_matches([' ', '\t']).len();
            let tab = content[..indent].find('\t')?;
            let mut error = self.error(line.start + tab as u32, "a tab in the indentation");
            error.hint = Some("YAML is indented with spaces: replace the tab".to_owned());
            Some(error)
        })
    }

    fn by_kind(&self, kind: &ErrorKind) -> SyntaxError {
        match kind {
            ErrorKind::UnclosedQuotedScalar => self.unclosed_quote(self.at),
            ErrorKind::DocumentIndicatorInQuotedScalar => self.unclosed_quote(self.at),
            ErrorKind::InvalidTrailingSingleQuotedScalar => self.after_quote('\''),
            ErrorKind::InvalidTrailingDoubleQuotedScalar => self.after_quote('"'),
            ErrorKind::UnknownQuotedScalarEscape => self.escape(),
            ErrorKind::InvalidQuotedScalarHexEscape
            | ErrorKind::InvalidLowSurrogateHexEscape
            | ErrorKind::InvalidLowSurrogate
            | ErrorKind::MissingLowSurrogate
            | ErrorKind::UnpairedLowSurrogate
            | ErrorKind::InvalidUnicodeEscape => {
                self.error(self.at, "a broken \\x, \\u or \\U escape")
            }
            ErrorKind::UnknownAnchor => self.unknown_anchor(),
            ErrorKind::UnexpectedCharacter { character } => self.reserved(*character),
            ErrorKind::RecursionLimitExceeded => self.error(self.at, "nested too deep"),
            ErrorKind::MappingValueNotAllowed | ErrorKind::InvalidColonPlacement => {
                self.stray_colon()
            }
            ErrorKind::SimpleKeyExpected
            | ErrorKind::InvalidSimpleKey
            | ErrorKind::ExpectedBlockMappingKey
            | ErrorKind::InvalidIndentation
            | ErrorKind::ExpectedBlockSequenceEntry
            | ErrorKind::ExpectedDocumentStart => self.block_structure(),
            ErrorKind::BlockSequenceEntryNotAllowed | ErrorKind::BlockEntryInFlowCollection => {
                self.stray_dash()
            }
            ErrorKind::UnclosedFlowCollection { .. }
            | ErrorKind::UnexpectedEofFlowSequence
            | ErrorKind::UnexpectedEofFlowMapping
            | ErrorKind::UnexpectedEofImplicitFlowMapping
            | ErrorKind::ExpectedFlowMappingSeparator
            | ErrorKind::ExpectedFlowSequenceSeparator
            | ErrorKind::InvalidFlowScalarIndent => self.flow(),
            ErrorKind::MismatchedFlowCollectionEnd { open, close } => {
                let mut error = self.error(self.at, format!("`{close}` closes a `{open}`"));
                error.related = self.opened_here();
                error
            }
            ErrorKind::MisplacedFlowCollectionEnd => {
                self.error(self.at, "a closing bracket that closes nothing")
            }
            ErrorKind::CommentInterceptedScalar => {
                let mut error = self.error(self.at, "a comment inside a text of several lines");
                error.hint = Some("move the comment above, or use a `|` block".to_owned());
                error
            }
            ErrorKind::CommentNotSeparated => {
                let mut error = self.error(self.at, "a `#` without a space before it");
                error.hint = Some("put a space before the comment, or quote the value".to_owned());
                error
            }
            ErrorKind::TabNotAllowed
            | ErrorKind::TabInBlockIndentation
            | ErrorKind::TabInIndentation
            | ErrorKind::TabInPlainScalar
            | ErrorKind::TabAtBlockScalarStart
            | ErrorKind::InvalidBlockEntryWhitespace
            | ErrorKind::InvalidMappingValueWhitespace => self.tab_somewhere(kind),
            ErrorKind::InvalidBlockScalarHeader | ErrorKind::ZeroBlockScalarIndent => {
                let mut error = self.error(self.at, "a broken head of a block text");
                error.hint = Some(
                    "after `|` or `>` only `-`, `+`, a digit from 1 to 9 and a comment may stand"
                        .to_owned(),
                );
                error
            }
            ErrorKind::InvalidBlockScalarIndent => self
                .error(self.at, "a line of a block text stands further left than its first line"),
            ErrorKind::DuplicateVersionDirective => self.error(self.at, "a second %YAML line"),
            ErrorKind::UndeclaredTagHandle => {
                self.error(self.at, "a tag whose handle no %TAG line declares")
            }
            ErrorKind::InvalidDocumentEnd => {
                self.error(self.at, "text after the `...` that ends a document")
            }
            ErrorKind::MissingDocumentEndBeforeDirective => {
                self.error(self.at, "a % line inside a document; `...` must end the one before")
            }
            ErrorKind::BomInsideDocument => {
                self.error(self.at, "a byte-order mark inside a document")
            }
            other => self.error(self.at, other.to_string()),
        }
    }

    fn unclosed_quote(&self, at: u32) -> SyntaxError {
        // The front end tells the opening quote, or the place where it gave up.
        let bytes = self.text.as_bytes();
        let is_quote = |at: u32| bytes.get(at as usize).is_some_and(|b| matches!(b, b'"' | b'\''));
        let opened = if is_quote(at) { Some(at) } else { self.quote_before(at) };
        let mut error = self.error(opened.unwrap_or(at), "this quote is never closed");
        error.hint = Some("close it, or double it where it is part of the text".to_owned());
        error
    }

    fn quote_before(&self, at: u32) -> Option<u32> {
        let from = &self.text[self.document as usize..at as usize];
        from.rfind(['"', '\'']).map(|found| self.document + found as u32)
    }

    fn after_quote(&self, quote: char) -> SyntaxError {
        let mut error = self.error(self.at, "text after a closing quote");
        let before = &self.text[self.document as usize..self.at as usize];
        let close = before.rfind(quote);
        let opened = close.and_then(|close| before[..close].rfind(quote));
        if let Some(opened) = opened {
            let at = self.document + opened as u32;
            error.related = Some((Span::new(at, at + 1), "the quote opened here".to_owned()));
        }
        error.hint = Some(match quote {
            '\'' => "write a quote inside single quotes twice: ''".to_owned(),
            _ => "write a quote inside double quotes as \\\", or close the text before".to_owned(),
        });
        error
    }

    fn escape(&self) -> SyntaxError {
        let rest = &self.text[self.at as usize..];
        let from = if rest.starts_with('\\') {
            self.at
        } else {
            let before = &self.text[self.document as usize..self.at as usize];
            before.rfind('\\').map_or(self.at, |found| self.document + found as u32)
        };
        let shown: String = self.text[from as usize..].chars().take(2).collect();
        let mut error = self.error(from, format!("`{shown}` is no escape of a double-quoted text"));
        error.hint = Some("double the backslash, or use single quotes".to_owned());
        error
    }

    fn unknown_anchor(&self) -> SyntaxError {
        let rest = &self.text[self.at as usize..];
        let length = rest
            .find(|c: char| c.is_whitespace() || matches!(c, ',' | ']' | '}'))
            .unwrap_or(rest.len());
        let name = &rest[..length];
        let mut error =
            self.error(self.at, format!("the alias `{name}` names no anchor of this document"));
        error.span.end = self.at + length as u32;
        error.hint = Some(
            "an anchor stands before its aliases: `&name`; quote the value if it is text"
                .to_owned(),
        );
        error
    }

    fn reserved(&self, character: char) -> SyntaxError {
        let mut error = self.error(
            self.at,
            format!("a plain value cannot begin with `{}`", character.escape_default()),
        );
        error.hint = Some("quote the value".to_owned());
        error
    }

    /// A colon where no key can stand: two in one line, or none in the line before.
    fn stray_colon(&self) -> SyntaxError {
        let here = self.line(self.at);
        let before = &self.text[here.start as usize..self.at as usize];
        if key_end(before).is_some() {
            let mut error = self.error(self.at, "a second `: ` in one line");
            error.hint = Some("quote the value if the colon is part of it".to_owned());
            return error;
        }
        self.missing_colon(here).unwrap_or_else(|| self.bad_indent(here))
    }

    /// The line before is no `key: value` and its indentation is the same: its colon is missing.
    fn missing_colon(&self, here: Span) -> Option<SyntaxError> {
        let mut line = here;
        while let Some(before) = self.line_before(line) {
            let content = before.of(self.text).trim();
            let is_entry =
                key_end(content).is_some() || content.starts_with("- ") || content == "-";
            if is_entry {
                // A value that goes on below its key: the last line of it wants to be a key.
                return None;
            }
            if indent_of(before.of(self.text)) <= indent_of(here.of(self.text)) {
                return Some(self.colon_missing_in(before));
            }
            line = before;
        }
        None
    }

    fn colon_missing_in(&self, line: Span) -> SyntaxError {
        let content = line.of(self.text);
        let at = line.start + indent_of(content) as u32;
        let entry = content.trim();
        let (message, hint) = match entry.find(':') {
            Some(colon) if !entry[colon + 1..].starts_with(' ') => (
                format!("a missing space after the colon of `{}`", shorten(entry)),
                "write `key: value`".to_owned(),
            ),
            _ => (format!("a missing colon: `{}` is no `key: value`", shorten(entry)), {
                let (key, value) = entry.split_once(' ').unwrap_or((entry, ""));
                format!("write `{}: {}`", shorten(key), shorten(value.trim())).replace(": `", ":`")
            }),
        };
        let mut error = self.error(at, message);
        error.span.end = line.start + content.trim_end().len() as u32;
        error.hint = Some(hint);
        error
    }

    fn block_structure(&self) -> SyntaxError {
        let here = self.line(self.at);
        let content = here.of(self.text).trim();
        if !content.is_empty()
            && !content.starts_with(['-', '#', '[', '{', '"', '\''])
            && key_end(content).is_none()
        {
            return self.colon_missing_in(here);
        }
        self.missing_colon(here).unwrap_or_else(|| self.bad_indent(here))
    }

    fn bad_indent(&self, line: Span) -> SyntaxError {
        let indent = indent_of(line.of(self.text));
        let mut error = self.error(
            line.start + indent as u32,
            format!("an indentation of {indent} fits nothing above"),
        );
        let mut fitting: Vec<u32> =
            self.open.iter().filter(|c| !c.is_flow).map(|c| column(self.text, c.start)).collect();
        fitting.dedup();
        if fitting.contains(&(indent as u32)) {
            let what = self
                .open
                .iter()
                .rfind(|c| !c.is_flow && column(self.text, c.start) == indent as u32);
            let what = if what.is_some_and(|c| c.is_mapping) { "`key: value`" } else { "`- item`" };
            error.message = format!("{what} was expected here");
        } else if !fitting.is_empty() {
            let columns: Vec<String> = fitting.iter().map(u32::to_string).collect();
            error.hint = Some(format!(
                "indent it by {} spaces, or as deep as its parent's other entries",
                columns.join(" or ")
            ));
        }
        error
    }

    fn stray_dash(&self) -> SyntaxError {
        let mut error = self.error(self.at, "a list item where none can stand");
        error.hint = Some(
            "a list begins on the line after its key, each `- item` at the same indentation"
                .to_owned(),
        );
        error
    }

    fn opened_here(&self) -> Option<(Span, String)> {
        let open = self.open.iter().rfind(|open| open.is_flow)?;
        Some((Span::new(open.start, open.start + 1), "opened here".to_owned()))
    }

    fn flow(&self) -> SyntaxError {
        let opened = self.opened_here();
        let rest = self.text[self.at as usize..].trim_start();
        let bracket = opened.as_ref().map_or("[", |(span, _)| span.of(self.text));
        let close = if bracket == "{" { "}" } else { "]" };
        if rest.is_empty() || self.is_block_entry(self.at) {
            if let Some((span, _)) = opened {
                let mut error = self.error(span.start, format!("this `{bracket}` is never closed"));
                error.hint = Some(format!("add the `{close}`"));
                return error;
            }
            return self.error(self.at, "a bracket that is never closed");
        }
        let mut error = self.error(self.at, format!("expected `,` or `{close}`"));
        error.related = opened;
        error
    }

    /// Whether `at` stands in a line that looks like a block entry: the bracket was forgotten above.
    fn is_block_entry(&self, at: u32) -> bool {
        let line = self.line(at).of(self.text);
        let opened = self.open.iter().rfind(|open| open.is_flow);
        let below = opened.is_some_and(|open| line_end(self.text, open.start) < at);
        below && key_end(line.trim()).is_some() && !line.contains(['}', ']'])
    }

    fn tab_somewhere(&self, kind: &ErrorKind) -> SyntaxError {
        let line = self.line(self.at);
        let tab = line.of(self.text).find('\t').map_or(self.at, |at| line.start + at as u32);
        if self.text.as_bytes().get(tab as usize) != Some(&b'\t') {
            return self.error(self.at, kind.to_string());
        }
        let mut error = self.error(tab, "a tab where only spaces may stand");
        error.hint = Some("replace the tab by spaces".to_owned());
        error
    }
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// Where the key of a `key: value` line ends; quotes are not looked into.
fn key_end(line: &str) -> Option<usize> {
    let bytes = line.as_bytes();
    line.find(": ").or_else(|| (bytes.last() == Some(&b':')).then(|| line.len() - 1))
}

fn shorten(text: &str) -> String {
    let short: String =
        text.chars().take_while(|&c| !u8::try_from(c).is_ok_and(is_break)).take(40).collect();
    if short.len() < text.len() { format!("{short}…") } else { short }
}
