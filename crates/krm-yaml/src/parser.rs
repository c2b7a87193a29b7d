//! The interface to the parser library: a stream of events with byte spans.
//!
//! No other module knows the library (`granit-parser`). Events are passed on as they are; `table_builder` corrects spans that are of no use to
//! an editor.

use granit_parser::{
    Event as Raw, Parser as RawParser, ScalarStyle as RawStyle, StrInput, StructureStyle,
};

pub(crate) use granit_parser::ErrorKind;

use crate::node::ScalarStyle;
use crate::span::Span;

/// The properties of a node: an anchor (by number, zero for none) and a tag.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Props {
    pub(crate) anchor: u32,
    pub(crate) tag: Option<Span>,
}

impl Props {
    pub(crate) fn any(self) -> bool {
        self.anchor != 0 || self.tag.is_some()
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// The span covers `---` if the start is explicit, and is empty otherwise.
    DocumentStart(Span),
    /// The span covers `...` if the end is explicit, and is empty otherwise.
    DocumentEnd(Span),
    /// The span of a block scalar starts at its first character of content. `blank`: it contains only line breaks.
    Scalar {
        span: Span,
        style: ScalarStyle,
        blank: bool,
        props: Props,
    },
    Alias {
        span: Span,
        anchor: u32,
    },
    MappingStart {
        span: Span,
        flow: bool,
        props: Props,
    },
    SequenceStart {
        span: Span,
        flow: bool,
        props: Props,
    },
    CollectionEnd(Span),
    /// Follows the node with the anchor; the span covers `&name`.
    Anchor {
        span: Span,
        number: u32,
    },
}

/// Why the parser stopped, and where.
#[derive(Debug)]
pub(crate) struct ParserError {
    pub(crate) kind: ErrorKind,
    pub(crate) at: u32,
}

/// The default of [`ReadOptions::max_depth`].
pub(crate) const MAX_DEPTH: u16 = 256;

/// Options for parsing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadOptions {
    /// Refuse what YAML 1.2 forbids but Kubernetes' own reader accepts, such as flow collections and quoted scalars whose lines are indented too
    /// little. Compat: the default is to read every file that Kubernetes reads.
    pub strict: bool,
    /// The maximum nesting depth of block collections and of flow collections.
    pub max_depth: u16,
    /// Use the complete parser for all documents, even for those that the fast parser can handle. The result is the same, which tests check.
    pub thorough: bool,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { strict: false, max_depth: MAX_DEPTH, thorough: false }
    }
}

/// A stream of events over one text.
pub(crate) struct Parser<'a> {
    parser: RawParser<'a, StrInput<'a>>,
    /// The offset of the parsed text in the whole text.
    base: u32,
}

impl<'a> Parser<'a> {
    pub(crate) fn new(text: &'a str, options: ReadOptions) -> Self {
        Self::starting_at(text, 0, options)
    }

    /// The events of a text starting at a `---`, with offsets in the whole text.
    pub(crate) fn starting_at(text: &'a str, base: u32, options: ReadOptions) -> Self {
        let options = granit_parser::options! {
            strict_indentation: options.strict,
            emit_anchor_events: true,
            emit_comments: false,
            flow_nesting_limit: usize::from(options.max_depth),
            block_nesting_limit: usize::from(options.max_depth),
        };
        let rest = &text[base as usize..];
        Self { parser: RawParser::new_from_str_with_options(rest, options), base }
    }

    /// The next event; `None` at the end of the stream.
    pub(crate) fn next(&mut self) -> Option<Result<Event, ParserError>> {
        loop {
            let (raw, raw_span) = match self.parser.next_event()? {
                Ok(next) => next,
                Err(error) => {
                    let at = self.base + error.marker().byte_offset().unwrap_or_default() as u32;
                    return Some(Err(ParserError { kind: error.kind().clone(), at }));
                }
            };
            let span = byte_span(&raw_span, self.base);
            return Some(Ok(match raw {
                Raw::Scalar(value, style, anchor, _) => Event::Scalar {
                    span,
                    style: scalar_style(style),
                    blank: value.bytes().all(|b| b == b'\n'),
                    props: props(anchor, &raw_span, self.base),
                },
                Raw::MappingStart(style, anchor, _) => Event::MappingStart {
                    span,
                    flow: style == StructureStyle::Flow,
                    props: props(anchor, &raw_span, self.base),
                },
                Raw::SequenceStart(style, anchor, _) => Event::SequenceStart {
                    span,
                    flow: style == StructureStyle::Flow,
                    props: props(anchor, &raw_span, self.base),
                },
                Raw::MappingEnd | Raw::SequenceEnd => Event::CollectionEnd(span),
                Raw::Alias(anchor) => Event::Alias { span, anchor: anchor as u32 },
                Raw::Anchor(number, _) => Event::Anchor { span, number: number as u32 },
                Raw::DocumentStart(explicit, _) => {
                    Event::DocumentStart(if explicit { span } else { Span::empty(span.start) })
                }
                Raw::DocumentEnd => Event::DocumentEnd(span),
                _ => continue,
            }));
        }
    }

    /// Continues with the next document after an error. False if there is none.
    pub(crate) fn recover(&mut self) -> bool {
        self.parser.proceed_next_document().unwrap_or(false)
    }
}

fn byte_span(span: &granit_parser::Span, base: u32) -> Span {
    let start = span.start.byte_offset().unwrap_or_default() as u32;
    let end = span.end.byte_offset().unwrap_or_default() as u32;
    Span::new(base + start, base + end.max(start))
}

fn props(anchor: usize, span: &granit_parser::Span, base: u32) -> Props {
    Props { anchor: anchor as u32, tag: span.tag_span().map(|tag| byte_span(&tag, base)) }
}

fn scalar_style(style: RawStyle) -> ScalarStyle {
    match style {
        RawStyle::Plain => ScalarStyle::Plain,
        RawStyle::SingleQuoted => ScalarStyle::SingleQuoted,
        RawStyle::DoubleQuoted => ScalarStyle::DoubleQuoted,
        RawStyle::Literal => ScalarStyle::Literal,
        RawStyle::Folded => ScalarStyle::Folded,
    }
}
