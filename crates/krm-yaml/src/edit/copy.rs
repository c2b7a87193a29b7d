//! Nodes of other documents, taken over as they stand there, with their comments.

use super::render::{Rendered, Renderer};
use crate::comment::strip_breaks;
use crate::layout;
use crate::node::{NodeKind, Notation, ScalarStyle};
use crate::scalar::lines;
use crate::span::{Span, column};
use crate::view::NodeRef;

impl Renderer<'_> {
    /// A node as it stands in its document, under an entry that begins at `column`.
    pub(super) fn copy(&self, node: NodeRef<'_>, column: u32) -> Rendered {
        let source = node.source();
        let eol = self.manners.line_break;
        let properties = Span::new(node.full_span().start, node.start()).of(source);
        let properties = properties.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut head = properties;
        if node.is_block() {
            let inner = match node.kind() {
                NodeKind::Sequence => column + self.manners.list_indent(self.near),
                _ => column + self.manners.indent(self.near),
            };
            let comment = layout::comment_beside(source, layout::value_floor(node));
            let comment = (!comment.is_empty()).then(|| comment.of(source).to_owned());
            return Rendered { head, comment, lines: copy_block(node, inner) };
        }
        if !head.is_empty() {
            head.push(' ');
        }
        let block = node.as_scalar().filter(|scalar| scalar.style().is_block());
        if let Some(scalar) = block {
            let width = self.manners.indent(self.near);
            let mut all = lines(scalar.raw());
            let header = all.next().unwrap_or_default();
            let (marks, comment) =
                header.split_at(header.find([' ', '\t']).unwrap_or(header.len()));
            let marks: String =
                marks.chars().map(|c| if c.is_ascii_digit() { digit(width) } else { c }).collect();
            head.push_str(&marks);
            let shift = i64::from(column + width) - i64::from(node.node().indent());
            let comment = comment.trim();
            return Rendered {
                head,
                comment: (!comment.is_empty()).then(|| comment.to_owned()),
                lines: all.map(|line| shift_line(line, shift)).collect(),
            };
        }
        if lines(node.text()).skip(1).any(|line| line.trim_start_matches(' ').starts_with('\t')) {
            // Brackets may be indented with tabs, lines of a block may not.
            return Rendered { head: self.flow_node(node), ..Rendered::default() };
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
        let comment = layout::comment_beside(source, node.end());
        Rendered {
            head,
            comment: (!comment.is_empty()).then(|| comment.of(source).to_owned()),
            lines: Vec::new(),
        }
    }

    /// A node of some document inside brackets. Its comments cannot stand there.
    pub(super) fn flow_node(&self, node: NodeRef<'_>) -> String {
        let properties = Span::new(node.full_span().start, node.start()).of(node.source()).trim();
        let space = if properties.is_empty() { "" } else { " " };
        let text = match node.kind() {
            NodeKind::Scalar(style) => {
                let scalar = node.as_scalar().map(|scalar| scalar.value()).unwrap_or_default();
                let is_text =
                    node.as_scalar().is_some_and(|s| s.resolve() == crate::Resolved::String);
                match style {
                    ScalarStyle::Plain if !is_text && scalar.is_empty() => "null".to_owned(),
                    ScalarStyle::Plain if !is_text => scalar.into_owned(),
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
                    self.brackets.entry(&self.flow_node(e.key), &self.flow_node(e.value))
                };
                self.brackets.join('{', entries.map(entry), '}')
            }
        };
        format!("{properties}{space}{text}")
    }
}

fn digit(width: u32) -> char {
    char::from_digit(width.clamp(1, 9), 10).unwrap_or('2')
}

/// The column of the block entry around a node; what a text of several lines is indented from.
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

/// The lines of a block collection, with its comments, moved to begin at `column`.
pub(super) fn copy_block(node: NodeRef<'_>, to: u32) -> Vec<String> {
    let source = node.source();
    let entries = layout::entries(node);
    let (Some(first), Some(last)) = (entries.first(), entries.last()) else { return Vec::new() };
    let from = column(source, first.head);
    // Comments below the last entry are the collection's: they end with the entry that holds it.
    let holder = node.parent().filter(|parent| parent.is_block()).map(layout::entries);
    let holder = holder.and_then(|all| all.into_iter().find(|entry| entry.value == node));
    let text = Span::new(first.start, holder.map_or(last.tail, |holder| holder.tail)).of(source);
    let shift = i64::from(to) - i64::from(from);
    let begins = (i64::from(column(source, first.start)) + shift).max(0) as usize;
    lines(text)
        .enumerate()
        .map(|(at, line)| {
            if at == 0 { format!("{}{line}", " ".repeat(begins)) } else { shift_line(line, shift) }
        })
        .collect()
}

/// A line moved to the right or the left; an empty one stays empty.
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

/// The comment lines directly above the entry that holds a node.
pub(super) fn comments_above(node: NodeRef<'_>) -> Vec<String> {
    let Some(parent) = node.parent().filter(|parent| parent.notation() == Notation::Block) else {
        return Vec::new();
    };
    let entry = layout::entries(parent).into_iter().find(|entry| entry.value == node);
    let Some(entry) = entry else { return Vec::new() };
    let text = Span::new(entry.start, entry.head).of(node.source());
    lines(text).map(str::trim).filter(|line| line.starts_with('#')).map(strip_breaks).collect()
}
