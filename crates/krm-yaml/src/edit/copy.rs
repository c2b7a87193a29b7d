//! Copies nodes of other documents as they are written there, with their comments.
//!
//! Text is shifted to its new column and never formatted again, so quotes, block scalars and spacing survive a merge.

use super::render::{Rendered, Renderer};
use crate::comment::strip_breaks;
use crate::layout;
use crate::node::{CollectionStyle, NodeKind, ScalarStyle};
use crate::node_ref::{NodeRef, Scalar};
use crate::scalar::lines;
use crate::span::{Span, column, foreign_breaks, is_first_on_line};
use crate::trivia::{Gap, Trivia};

impl Renderer<'_> {
    /// A node as it is written in its document, for an entry that starts at `column`.
    pub(super) fn copy(&self, node: NodeRef<'_>, column: u32) -> Rendered {
        let source = node.source();
        let eol = self.style.line_break;
        let mut head = properties(node);
        if let Some(scalar) = node.as_scalar().filter(|it| foreign_breaks(it.raw()) > 0) {
            let text = self.text(&scalar.value(), ScalarStyle::DoubleQuoted, None);
            let space = if head.is_empty() { "" } else { " " };
            return Rendered { head: format!("{head}{space}{}", text.head), ..Rendered::default() };
        }
        if node.is_block() {
            let inner = match node.kind() {
                NodeKind::Sequence => column + self.style.list_indent(self.near),
                _ => column + self.style.indent(self.near),
            };
            let comment = ahead(node).beside.map(str::to_owned);
            return Rendered { head, comment, lines: copy_block(node, inner) };
        }
        // A flow collection may be indented with tabs, block lines may not; and an implicit pair has no brackets of its own.
        let has_tabs =
            lines(node.text()).skip(1).any(|line| line.trim_start_matches(' ').starts_with('\t'));
        let is_block_text = node.as_scalar().is_some_and(|scalar| scalar.style().is_block());
        if node.collection_style() == CollectionStyle::Pair || has_tabs && !is_block_text {
            return Rendered { head: self.flow_node(node), ..Rendered::default() };
        }
        if !head.is_empty() {
            head.push(' ');
        }
        let ahead = ahead(node);
        if let Some(scalar) = node.as_scalar().filter(|_| is_block_text) {
            let text = self.copy_text(scalar, column);
            // All of them share the line of the block scalar's header.
            let all = ahead.all().map(str::to_owned).chain(text.comment);
            let comment = all.collect::<Vec<_>>().join(" ");
            let comment = Some(comment).filter(|comment| !comment.is_empty());
            return Rendered { head: head + &text.head, comment, ..text };
        }
        let own = layout::comment_beside(source, node.end()).of(source);
        if !ahead.above.is_empty() || ahead.beside.is_some() && !own.is_empty() {
            return self.copy_below(node, &head, &ahead, column);
        }
        let from = i64::from(column_of_entry(node));
        let mut all = lines(node.text()).enumerate().map(|(at, line)| {
            if at == 0 { line.to_owned() } else { shift_line(line, i64::from(column) - from) }
        });
        head.push_str(&all.next().unwrap_or_default());
        for line in all {
            head.push_str(eol);
            head.push_str(&line);
        }
        if node.text().is_empty() && head.trim().is_empty() {
            head = "null".to_owned();
        }
        let comment = ahead.beside.or((!own.is_empty()).then_some(own)).map(str::to_owned);
        Rendered { head, comment, lines: Vec::new() }
    }

    /// A value on the lines below its key or dash, with the comments between them.
    fn copy_below(
        &self,
        node: NodeRef<'_>,
        head: &str,
        ahead: &CommentsBetween<'_>,
        column: u32,
    ) -> Rendered {
        let source = node.source();
        let inner = column + self.style.indent(self.near);
        let indent = " ".repeat(inner as usize);
        let shift = i64::from(inner) - i64::from(column_of_entry(node));
        let text =
            Span::new(node.start(), layout::comment_beside(source, node.end()).end).of(source);
        let value = lines(text).enumerate().map(|(at, line)| match at {
            0 => format!("{indent}{line}"),
            _ => shift_line(line, shift),
        });
        let above = ahead.above.iter().map(|comment| format!("{indent}{comment}"));
        Rendered {
            head: head.trim_end().to_owned(),
            comment: ahead.beside.map(str::to_owned),
            lines: above.chain(value).collect(),
        }
    }

    /// A block scalar, line by line.
    fn copy_text(&self, scalar: Scalar<'_>, column: u32) -> Rendered {
        let node = scalar.node();
        let comment =
            scalar.header().map(|header| layout::comment_beside(node.source(), header.end));
        let comment =
            comment.filter(|span| !span.is_empty()).map(|span| span.of(node.source()).to_owned());
        let marks = scalar.header().map_or("", |header| header.of(node.source()));
        let value = scalar.value();
        // Whether the last line has a line break depends on what follows it, in the source and in the target.
        let ends_its_file = node.end() as usize == node.source().len() && !marks.contains('-');
        if ends_its_file || self.ends_file && value.ends_with('\n') {
            let written = self.text(&value, scalar.style(), self.block_place(column));
            return Rendered { comment, ..written };
        }
        let width = self.style.indent(self.near);
        let shift = i64::from(column + width) - i64::from(node.indent());
        Rendered {
            head: marks
                .chars()
                .map(|c| if c.is_ascii_digit() { digit(width) } else { c })
                .collect(),
            comment,
            lines: lines(scalar.raw()).skip(1).map(|line| shift_line(line, shift)).collect(),
        }
    }

    /// A node in flow style. Its comments cannot be kept there.
    pub(super) fn flow_node(&self, node: NodeRef<'_>) -> String {
        let properties = properties(node);
        let space = if properties.is_empty() { "" } else { " " };
        let text = match node.kind() {
            NodeKind::Scalar(style) => {
                let scalar = node.as_scalar().map(|scalar| scalar.value()).unwrap_or_default();
                let is_text =
                    node.as_scalar().is_some_and(|s| s.resolve() == crate::ScalarType::String);
                // YAML 1.1 reads `on` as a boolean. Quotes would turn it into a string for those readers.
                let is_word = !self.brackets.json
                    && node
                        .as_scalar()
                        .is_some_and(|s| s.resolve_1_1() != crate::ScalarType::String);
                match style {
                    ScalarStyle::Plain if is_text && is_word => scalar.into_owned(),
                    ScalarStyle::Plain if !is_text && scalar.is_empty() => "null".to_owned(),
                    ScalarStyle::Plain if !is_text => self.word(&scalar),
                    style if style.is_block() => self.flow_text(&scalar, ScalarStyle::DoubleQuoted),
                    style => self.flow_text(&scalar, style),
                }
            }
            NodeKind::Alias => node.text().to_owned(),
            NodeKind::Sequence => {
                self.brackets.join('[', node.children().map(|item| self.flow_node(item)), ']')
            }
            NodeKind::Mapping => {
                let entries = node.as_mapping().into_iter().flat_map(|mapping| mapping.entries());
                let entry = |e: crate::Entry<'_>| {
                    self.brackets.entry(&self.of_key().flow_node(e.key), &self.flow_node(e.value))
                };
                self.brackets.join('{', entries.map(entry), '}')
            }
        };
        format!("{properties}{space}{text}")
    }
}

/// The comments between a key or a dash and its value.
#[derive(Default)]
struct CommentsBetween<'a> {
    /// The comment on the line of the key or dash.
    beside: Option<&'a str>,
    /// The comments on the lines below.
    above: Vec<&'a str>,
    /// Where they start, if nothing else is between them and the value.
    start: Option<u32>,
}

impl<'a> CommentsBetween<'a> {
    fn all(&self) -> impl Iterator<Item = &'a str> {
        self.beside.into_iter().chain(self.above.iter().copied())
    }
}

fn ahead(node: NodeRef<'_>) -> CommentsBetween<'_> {
    let source = node.source();
    let in_block = node.parent().is_some_and(NodeRef::is_block);
    let holder = layout::entry(node).filter(|entry| in_block && entry.key != Some(node));
    let Some(holder) = holder else { return CommentsBetween::default() };
    let from = holder.key.map_or(holder.head + 1, NodeRef::end);
    let value = node.children().nth(usize::from(node.kind() == NodeKind::Mapping));
    let first = value.filter(|_| node.is_block()).and_then(layout::entry);
    let to = first.map_or(node.start(), |first| first.start).max(from);
    let gap = Gap::new(source, Span::new(from, to));
    let mut comments =
        gap.filter(|(trivia, _)| *trivia == Trivia::Comment).map(|(_, span)| span).peekable();
    let beside = comments.next_if(|span| !is_first_on_line(source, span.start));
    let above: Vec<Span> = comments.collect();
    let start = above.first().map(|span| span.start);
    CommentsBetween {
        beside: beside.map(|span| span.of(source)),
        above: above.iter().map(|span| span.of(source)).collect(),
        start: start.filter(|start| layout::value_floor(node) <= *start),
    }
}

/// Anchor and tag as written, in their order, separated by one space.
fn properties(node: NodeRef<'_>) -> String {
    let Some(found) = node.properties() else { return String::new() };
    let mut spans: Vec<Span> = [found.anchor, found.tag].into_iter().flatten().collect();
    spans.sort_unstable();
    spans.iter().map(|span| span.of(node.source())).collect::<Vec<_>>().join(" ")
}

fn digit(width: u32) -> char {
    char::from_digit(width.clamp(1, 9), 10).unwrap_or('2')
}

/// The column of the block entry around a node, from which the lines of a multi-line scalar are indented.
fn column_of_entry(node: NodeRef<'_>) -> u32 {
    let text = node.source();
    let mut at = node;
    while let Some(parent) = at.parent() {
        if parent.is_block() {
            return column(text, parent.start());
        }
        at = parent;
    }
    0
}

/// The lines of a block collection as the root of a document: anchor and tag are on a line of their own above its entries.
pub(super) fn copy_root(node: NodeRef<'_>, column: u32) -> Vec<String> {
    let mut lines = copy_block(node, column);
    let properties = properties(node);
    if !properties.is_empty() {
        let comment = ahead(node).beside.map(|comment| format!(" {comment}"));
        let indent = " ".repeat(column as usize);
        lines.insert(0, format!("{indent}{properties}{}", comment.unwrap_or_default()));
    }
    lines
}

/// The lines of a block collection with its comments, shifted to `column`.
pub(super) fn copy_block(node: NodeRef<'_>, to: u32) -> Vec<String> {
    let source = node.source();
    let entries = layout::entries(node);
    let (Some(first), Some(last)) = (entries.first(), entries.last()) else { return Vec::new() };
    let from = column(source, first.head);
    // Comments below the last entry belong to the collection, and end with the entry that contains it.
    let in_block = node.parent().is_some_and(NodeRef::is_block);
    let holder = layout::entry(node).filter(|entry| in_block && entry.key != Some(node));
    let ahead = ahead(node);
    let start = ahead.start.unwrap_or(first.start);
    let text = Span::new(start, holder.map_or(last.tail, |holder| holder.tail)).of(source);
    let shift = i64::from(to) - i64::from(from);
    let begins = (i64::from(column(source, start)) + shift).max(0) as usize;
    let above = ahead.above.into_iter().filter(|_| ahead.start.is_none());
    let above = above.map(|line| format!("{}{line}", " ".repeat(begins)));
    let all = lines(text).enumerate().map(|(at, line)| {
        if at == 0 { format!("{}{line}", " ".repeat(begins)) } else { shift_line(line, shift) }
    });
    above.chain(all).collect()
}

/// Shifts a line to the right or left; an empty line stays empty.
fn shift_line(line: &str, shift: i64) -> String {
    if line.is_empty() {
        return String::new();
    }
    if shift >= 0 {
        return format!("{}{line}", " ".repeat(shift as usize));
    }
    let spaces = line.bytes().take_while(|&b| b == b' ').count();
    line[spaces.min(shift.unsigned_abs() as usize)..].to_owned()
}

/// The comment lines directly above the entry of a node.
pub(super) fn comments_above(node: NodeRef<'_>) -> Vec<String> {
    let in_block =
        node.parent().is_some_and(|parent| parent.collection_style() == CollectionStyle::Block);
    let Some(entry) = layout::entry(node).filter(|_| in_block) else { return Vec::new() };
    let text = Span::new(entry.start, entry.head).of(node.source());
    lines(text).map(str::trim).filter(|line| line.starts_with('#')).map(strip_breaks).collect()
}
