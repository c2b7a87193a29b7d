//! Turns parser errors into errors that say what is wrong with the document.
//!
//! The parser reports the violated rule of the grammar, often a line too late. The text around that position shows what the author did: left
//! out a colon, used a tab, forgot a quote.

mod block;
mod flow;
mod quotes;

use crate::error::{SyntaxError, SyntaxErrorKind};
use crate::node::{CollectionStyle, Node, NodeKind};
use crate::parser::{ErrorKind, ParserError, ReadOptions};
use crate::span::{Span, before_break, is_break, line_end, line_start, next_line};

/// A collection that was open when the parser stopped.
pub(crate) struct OpenCollection {
    start: u32,
    is_flow: bool,
    is_mapping: bool,
}

impl OpenCollection {
    pub(crate) fn of(node: Node) -> Self {
        Self {
            start: node.start,
            is_flow: node.collection_style() == CollectionStyle::Flow,
            is_mapping: node.kind() == NodeKind::Mapping,
        }
    }
}

/// The error to report for a parser error.
pub(crate) fn explain(
    text: &str,
    document: u32,
    error: &ParserError,
    open: &[OpenCollection],
    options: ReadOptions,
) -> SyntaxError {
    let mut at = error.at.min(text.len() as u32);
    while !text.is_char_boundary(at as usize) {
        at -= 1;
    }
    let context = ErrorContext { text, document: document.min(at), at, open, options };
    let explained = context
        .conflict_marker()
        .or_else(|| context.tab_in_indentation())
        .unwrap_or_else(|| context.by_kind(&error.kind));
    SyntaxError { is_template: context.looks_like_a_template(), ..explained }
}

/// The position where the parser stopped, and its surroundings.
struct ErrorContext<'a> {
    text: &'a str,
    /// The start of the document.
    document: u32,
    at: u32,
    open: &'a [OpenCollection],
    options: ReadOptions,
}

impl ErrorContext<'_> {
    /// The first of git's conflict markers in the document: whatever the parser stopped at, this has to be resolved first.
    fn conflict_marker(&self) -> Option<SyntaxError> {
        let document = &self.text[self.document as usize..];
        let is_start = |line: &str| line.starts_with("<<<<<<< ");
        let ends = |line: &str| line.starts_with(">>>>>>> ");
        let mut at = self.document;
        let mut lines = document.split_inclusive('\n');
        let start = lines.find(|line| {
            let is_it = is_start(line);
            at += if is_it { 0 } else { line.len() as u32 };
            is_it
        })?;
        lines.any(ends).then(|| {
            let mut error = self.error(at, SyntaxErrorKind::ConflictMarker);
            error.span.end = at + start.trim_end().len() as u32;
            error
        })
    }

    /// An error at one character.
    fn error(&self, at: u32, kind: SyntaxErrorKind) -> SyntaxError {
        let next = self.text[at as usize..].chars().next();
        let next = next.filter(|&c| !u8::try_from(c).is_ok_and(is_break));
        let span = Span::new(at, at + next.map_or(0, char::len_utf8) as u32);
        SyntaxError::new(kind, span)
    }

    fn line(&self, at: u32) -> Span {
        Span::new(line_start(self.text, at).max(self.document), line_end(self.text, at))
    }

    /// The nearest line above that is neither empty nor a comment.
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
        let here = self.line(self.at);
        [Some(here), self.line_before(here)]
            .into_iter()
            .flatten()
            .any(|line| line.of(self.text).contains("{{"))
    }

    /// A tab in the indentation of this line, the one above or the one below.
    fn tab_in_indentation(&self) -> Option<SyntaxError> {
        let here = self.line(self.at);
        let below = next_line(self.text, here.end);
        let lines = [Some(here), self.line_before(here), Some(self.line(below))];
        lines.into_iter().flatten().find_map(|line| {
            let content = line.of(self.text);
            let indent = content.len() - content.trim_start_matches([' ', '\t']).len();
            if indent == content.len() {
                return None;
            }
            let tab = line.start + content[..indent].find('\t')? as u32;
            Some(self.error(tab, SyntaxErrorKind::TabIndentation))
        })
    }

    fn by_kind(&self, kind: &ErrorKind) -> SyntaxError {
        use ErrorKind as Kind;
        match kind {
            Kind::UnclosedQuotedScalar
            | Kind::DocumentIndicatorInQuotedScalar
            | Kind::InvalidQuotedScalarIndent => self.unclosed_quote(),
            Kind::InvalidTrailingSingleQuotedScalar => self.after_quote('\''),
            Kind::InvalidTrailingDoubleQuotedScalar => self.after_quote('"'),
            Kind::UnknownQuotedScalarEscape
            | Kind::InvalidQuotedScalarHexEscape
            | Kind::InvalidLowSurrogateHexEscape
            | Kind::InvalidLowSurrogate
            | Kind::MissingLowSurrogate
            | Kind::UnpairedLowSurrogate
            | Kind::InvalidUnicodeEscape => self.escape(),
            Kind::UnclosedFlowCollection { .. }
            | Kind::UnexpectedEofFlowSequence
            | Kind::UnexpectedEofFlowMapping
            | Kind::UnexpectedEofImplicitFlowMapping
            | Kind::ExpectedFlowMappingSeparator
            | Kind::ExpectedFlowSequenceSeparator
            | Kind::InvalidFlowScalarIndent
            | Kind::MisplacedFlowCollectionEnd
            | Kind::MismatchedFlowCollectionEnd { .. }
            | Kind::BlockEntryInFlowCollection => self.in_flow_collection(kind),
            Kind::MappingValueNotAllowed | Kind::InvalidColonPlacement => {
                if self.open.last().is_some_and(|open| open.is_flow) {
                    return self.in_flow_collection(kind);
                }
                self.stray_colon()
            }
            Kind::SimpleKeyExpected
            | Kind::InvalidSimpleKey
            | Kind::ExpectedBlockMappingKey
            | Kind::InvalidIndentation
            | Kind::ExpectedBlockSequenceEntry
            | Kind::ExpectedDocumentStart
            | Kind::BlockSequenceEntryNotAllowed => self.block_structure(),
            Kind::InvalidBlockScalarHeader
            | Kind::ZeroBlockScalarIndent
            | Kind::InvalidBlockScalarIndent => self.block_scalar(kind),
            Kind::TabNotAllowed
            | Kind::TabInBlockIndentation
            | Kind::TabInIndentation
            | Kind::TabInPlainScalar
            | Kind::TabAtBlockScalarStart
            | Kind::InvalidBlockEntryWhitespace
            | Kind::InvalidMappingValueWhitespace => self.tab_elsewhere(kind),
            Kind::RecursionLimitExceeded => {
                let limit = self.options.max_depth.into();
                self.error(self.at, SyntaxErrorKind::NestingTooDeep { limit })
            }
            Kind::UnknownAnchor => self.unknown_anchor(),
            Kind::UnexpectedCharacter { character } => self.unexpected(*character),
            _ => self.plainly(kind),
        }
    }

    /// Errors that do not depend on the surrounding text.
    fn plainly(&self, kind: &ErrorKind) -> SyntaxError {
        use ErrorKind as Kind;
        let kind = match kind {
            Kind::CommentInterceptedScalar => SyntaxErrorKind::CommentInScalar,
            Kind::CommentNotSeparated => SyntaxErrorKind::MissingSpaceBeforeComment,
            Kind::DuplicateVersionDirective => SyntaxErrorKind::DuplicateYamlDirective,
            Kind::UndeclaredTagHandle => SyntaxErrorKind::UndeclaredTagHandle,
            Kind::InvalidDocumentEnd => SyntaxErrorKind::TextAfterDocumentEnd,
            Kind::MissingDocumentEndBeforeDirective => SyntaxErrorKind::DirectiveInDocument,
            Kind::BomInsideDocument => SyntaxErrorKind::ByteOrderMark,
            other => SyntaxErrorKind::Invalid { reason: other.to_string() },
        };
        self.error(self.at, kind)
    }

    fn unknown_anchor(&self) -> SyntaxError {
        let rest = &self.text[self.at as usize..];
        let is_end = |c: char| c.is_whitespace() || matches!(c, ',' | ']' | '}');
        let length = rest.find(is_end).unwrap_or(rest.len());
        let name = rest[..length].trim_start_matches('*').into();
        let mut error = self.error(self.at, SyntaxErrorKind::UndefinedAnchor { name });
        error.span.end = self.at + length as u32;
        error
    }

    fn unexpected(&self, character: char) -> SyntaxError {
        if !character.is_control() {
            return self.error(self.at, SyntaxErrorKind::ReservedCharacter { character });
        }
        let found = self.text[self.at as usize..].find(character);
        let at = self.at + found.unwrap_or(0) as u32;
        self.error(at, SyntaxErrorKind::ControlCharacter { code: u32::from(character) })
    }

    fn tab_elsewhere(&self, kind: &ErrorKind) -> SyntaxError {
        let line = self.line(self.at);
        let Some(tab) = line.of(self.text).find('\t') else {
            return self.error(self.at, SyntaxErrorKind::Invalid { reason: kind.to_string() });
        };
        let at = line.start + tab as u32;
        self.error(at, SyntaxErrorKind::UnexpectedTab)
    }
}

/// The start of a text, short enough for a message.
fn shorten(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let short: String = line.chars().take(40).collect();
    if short.len() < text.len() { format!("{short}…") } else { short }
}
