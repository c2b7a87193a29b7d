//! Where in the text a resource stands, and how a new text is written there.

use krm_core::functions::resource_list::Item;
use krm_core::print::json;
use krm_yaml::{Comment, NodeRef, Span, Value};

/// The bytes of a resource, with the comments that are its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    /// What is replaced: whole lines in a block list, the brackets in a flow list, what follows the marker of a document.
    pub(super) span: Span,
    /// All bytes of the document that holds it.
    pub(super) document: Span,
    /// How far the text stands from the left.
    pub(super) manner: Manner,
}

/// How the text of a resource is put into its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
    /// Behind a dash at a column, with its lines at another.
    Dash(usize, usize),
    /// In brackets, with lines after the first one moved to a column.
    Brackets(usize),
    /// A document.
    Document,
}

impl Slot {
    /// The place of an item of a list; `comments` are those of its document.
    pub(super) fn of_item(node: NodeRef<'_>, comments: &[Comment<'_>]) -> Option<Self> {
        let source = node.document().file().text();
        let document = node.document().span();
        if !node.parent()?.is_block() {
            let line = node.document().file().line_at(node.start());
            let manner = Manner::Brackets(indentation(line.of(source)));
            return Some(Self { span: node.full_span(), document, manner });
        }
        let inside = |owner: NodeRef<'_>| node.subtree().contains(&owner.index());
        let own = comments.iter().filter(|comment| comment.owner.is_some_and(inside));
        let (mut start, mut end) = (node.full_span().start, node.end());
        for comment in own {
            start = start.min(comment.span.start);
            end = end.max(comment.span.end);
        }
        let dash = node.document().file().line_at(node.full_span().start);
        let columns =
            dash.of(source).find('-').filter(|at| dash.of(source)[..*at].trim().is_empty());
        let column = node.full_span().start - dash.start;
        let start = node.document().file().line_at(start).start;
        let end = line_end(source, end);
        let end = if keeps_line_breaks(node) { past_blank_lines(source, end) } else { end };
        let manner = Manner::Dash(columns?, column as usize);
        Some(Self { span: Span::new(start, end), document, manner })
    }

    /// The place of a document: all that follows its marker.
    pub(super) fn of_document(root: NodeRef<'_>) -> Self {
        let document = root.document();
        let text = document.file().text();
        let marker = document.start_marker();
        let start = marker.map_or(document.span().start, |marker| marker.end);
        let rest = &text[start as usize..];
        let skip = if rest.starts_with("\r\n") { 2 } else { u32::from(rest.starts_with('\n')) };
        let skip = if marker.is_some() { skip } else { 0 };
        let end = document.end_marker().map_or(document.span().end, |marker| marker.start);
        let (span, manner) = (Span::new(start + skip, end), Manner::Document);
        Self { span, document: document.span(), manner }
    }
}

/// Whether the last value is a `|+` or `>+` text: blank lines behind it are its own.
fn keeps_line_breaks(node: NodeRef<'_>) -> bool {
    let last = node.descendants().last().and_then(NodeRef::as_scalar);
    let block = last.filter(|scalar| scalar.style().is_block());
    let header = block.and_then(|scalar| scalar.raw().lines().next());
    header.is_some_and(|header| header.split('#').next().is_some_and(|marks| marks.contains('+')))
}

fn past_blank_lines(text: &str, at: u32) -> u32 {
    let lines = text[at as usize..].split_inclusive('\n');
    let blank = lines.take_while(|line| line.trim().is_empty() && line.ends_with('\n'));
    at + blank.map(str::len).sum::<usize>() as u32
}

/// After the line break that ends the line of `at`.
fn line_end(text: &str, at: u32) -> u32 {
    let before = at as usize;
    if text[..before].ends_with('\n') {
        return at;
    }
    text[before..].find('\n').map_or(text.len() as u32, |found| at + found as u32 + 1)
}

pub(super) fn indentation(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

impl Manner {
    /// The text of an item as it stands in this place. Comments that have no room in brackets are left out.
    pub(super) fn write(self, item: &Item) -> String {
        match self {
            Self::Dash(dash, column) => behind_dash(&text_of(item), dash, column),
            Self::Brackets(column) => match item.root().is_block() {
                true => json::write(&Value::Node(item.root())),
                false => moved(item.root().text(), column),
            },
            Self::Document => ended(item.text().to_owned()),
        }
    }
}

/// The text without markers; one with directives is written out.
fn text_of(item: &Item) -> String {
    let document = item.root().document();
    if !document.directives().is_empty() {
        return ended(json::flow(&Value::Node(item.root())));
    }
    let slot = Slot::of_document(item.root()).span;
    let above = Span::new(document.span().start, slot.start).of(item.text());
    let above: String =
        above.lines().filter(|it| it.starts_with('#')).map(|it| format!("{it}\n")).collect();
    above + &ended(slot.of(item.text()).trim_start_matches(['\u{feff}', '\n']).to_owned())
}

pub(super) fn ended(mut text: String) -> String {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push_str(if text.contains("\r\n") { "\r\n" } else { "\n" });
    }
    text
}

/// Comments above stay above the dash; the first line gets it, and the others stand below its text.
fn behind_dash(text: &str, dash: usize, column: usize) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 4);
    let mut is_above = true;
    for line in text.split_inclusive('\n') {
        let is_blank = line.trim_end_matches(['\n', '\r']).is_empty();
        let is_comment = is_above && line.starts_with('#');
        let lead = match (is_blank, is_above, is_comment) {
            (true, _, _) => String::new(),
            (_, true, true) => " ".repeat(dash),
            (_, true, false) => {
                is_above = false;
                format!("{}-{}", " ".repeat(dash), " ".repeat(column - dash - 1))
            }
            _ => " ".repeat(column),
        };
        out.push_str(&lead);
        out.push_str(line);
    }
    out
}

fn moved(text: &str, column: usize) -> String {
    let lead = " ".repeat(column);
    let line = |(at, line): (usize, &str)| {
        if at == 0 || line.trim().is_empty() { line.to_owned() } else { format!("{lead}{line}") }
    };
    text.split_inclusive('\n').enumerate().map(line).collect()
}
