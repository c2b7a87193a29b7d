//! The position of a resource in the input, and the layout in which new text is written there.

use krm_core::Diagnostic;
use krm_core::functions::resource_list::Item;
use krm_core::print::json;
use krm_yaml::{Comment, EditErrorKind, NodeRef, Span, Value};

/// The bytes of a resource, including its comments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ItemSlot {
    /// The bytes that are replaced: whole lines in block style, the collection in flow style, or a document after its marker.
    pub(super) span: Span,
    /// The document that contains the resource.
    pub(super) document: Span,
    /// How new text is written.
    pub(super) layout: Layout,
}

/// How the text of a resource is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// An element in block style: the columns of the dash and of the content, and how many of its leading comments are above the dash;
    /// none if all of them are.
    Block(usize, usize, Option<usize>),
    /// An element in flow style, with its lines after the first indented to a column.
    Flow(usize),
    /// A document.
    Document,
}

impl ItemSlot {
    /// The slot of an item of a list; `comments` are those of its document.
    pub(super) fn of_item(node: NodeRef<'_>, comments: &[Comment<'_>]) -> Option<Self> {
        let file = node.document().file();
        let source = file.text();
        let document = node.document().span();
        if !node.parent()?.is_block() {
            let layout = Layout::Flow(indentation(file.line_at(node.start()).of(source)));
            return Some(Self { span: node.full_span(), document, layout });
        }
        let content = node.full_span().start;
        let inside = |owner: NodeRef<'_>| node.subtree().contains(&owner.index());
        let own = || comments.iter().filter(|comment| comment.owner.is_some_and(inside));
        let (mut start, mut end) = (content, node.end());
        for comment in own() {
            start = start.min(comment.span.start);
            end = end.max(comment.span.end);
        }
        let dash = dash(node)?;
        let above = own().filter(|comment| comment.span.start < dash).count();
        let is_below = file.line_at(dash) != file.line_at(content);
        let column = |at: u32| (at - file.line_at(at).start) as usize;
        let layout = Layout::Block(column(dash), column(content), is_below.then_some(above));
        let start = file.line_at(start.min(dash)).start;
        let end = line_end(source, end);
        let end = if keeps_line_breaks(node) { past_blank_lines(source, end) } else { end };
        Some(Self { span: Span::new(start, end), document, layout })
    }

    /// The slot of a document: everything after its marker.
    pub(super) fn of_document(root: NodeRef<'_>) -> Self {
        let document = root.document();
        let text = document.file().text();
        let marker = document.start_marker();
        let start = marker.map_or(document.span().start, |marker| marker.end);
        let rest = &text[start as usize..];
        let skip = if rest.starts_with("\r\n") { 2 } else { u32::from(rest.starts_with('\n')) };
        let skip = if marker.is_some() { skip } else { 0 };
        let end = document.end_marker().map_or(document.span().end, |marker| marker.start);
        let (span, layout) = (Span::new(start + skip, end), Layout::Document);
        Self { span, document: document.span(), layout }
    }
}

/// The offset of the dash of an element in block style, which is on the line of the element or, with nothing but comments and
/// properties between them, on a line above it. None if something precedes it, as in `- - a`.
fn dash(node: NodeRef<'_>) -> Option<u32> {
    let file = node.document().file();
    let mut line = file.line_at(node.full_span().start);
    loop {
        let text = line.of(file.text());
        let at = indentation(text);
        match text[at..].bytes().next() {
            Some(b'-') => return Some(line.start + at as u32),
            _ if line.start <= node.parent()?.start() => return None,
            _ => line = file.line_at(line.start - 1),
        }
    }
}

/// Whether the last value is a block scalar with `+`, to which the blank lines after it belong.
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

/// The end of the line of `at`, after its line break.
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

impl Layout {
    /// The same layout for a new item.
    pub(super) fn for_new_item(self) -> Self {
        match self {
            Self::Block(dash, column, _) => Self::Block(dash, column, None),
            other => other,
        }
    }

    /// The text of an item in this layout. In flow style a block-style item is written as JSON, which has no comments.
    pub(super) fn write(self, item: &Item) -> Result<String, Diagnostic> {
        Ok(match self {
            Self::Block(dash, column, above) => as_element(&text_of(item)?, dash, column, above),
            Self::Flow(column) => match item.root().is_block() {
                true => json::of_node(item.root())?,
                false => indented(item.root().text(), column),
            },
            Self::Document => ensure_trailing_newline(item.text().to_owned()),
        })
    }
}

/// The text without document markers. A document with directives is written in flow style, where tag handles are resolved.
fn text_of(item: &Item) -> Result<String, Diagnostic> {
    let document = item.root().document();
    if !document.directives().is_empty() {
        let flow = json::flow(&Value::Node(item.root()));
        let flow = flow.map_err(|error| Diagnostic::error(EditErrorKind::from(error)))?;
        return Ok(ensure_trailing_newline(flow));
    }
    let slot = ItemSlot::of_document(item.root()).span;
    let above = Span::new(document.span().start, slot.start).of(item.text());
    let above: String =
        above.lines().filter(|it| it.starts_with('#')).map(|it| format!("{it}\n")).collect();
    let text = slot.of(item.text()).trim_start_matches(['\u{feff}', '\n']);
    Ok(above + &ensure_trailing_newline(text.to_owned()))
}

pub(super) fn ensure_trailing_newline(mut text: String) -> String {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push_str(if text.contains("\r\n") { "\r\n" } else { "\n" });
    }
    text
}

/// Indents the text: the first `above` leading comments to the dash, the next line after the dash, and the rest to the content column.
fn as_element(text: &str, dash: usize, column: usize, above: Option<usize>) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 4);
    let (mut is_above, mut left) = (true, above.unwrap_or(usize::MAX));
    for line in text.split_inclusive('\n') {
        let is_comment = line.starts_with('#');
        let lead = match is_above {
            _ if line.trim_end_matches(['\n', '\r']).is_empty() => String::new(),
            true if is_comment && left > 0 => {
                left -= 1;
                " ".repeat(dash)
            }
            true => {
                is_above = false;
                let gap = if is_comment { 1 } else { column - dash - 1 };
                format!("{}-{}", " ".repeat(dash), " ".repeat(gap))
            }
            false => " ".repeat(column),
        };
        out.push_str(&lead);
        out.push_str(line);
    }
    out
}

fn indented(text: &str, column: usize) -> String {
    let lead = " ".repeat(column);
    let line = |(at, line): (usize, &str)| {
        if at == 0 || line.trim().is_empty() { line.to_owned() } else { format!("{lead}{line}") }
    };
    text.split_inclusive('\n').enumerate().map(line).collect()
}
