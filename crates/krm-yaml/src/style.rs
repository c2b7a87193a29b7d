//! The style of a document: how wide it indents, how it writes lists, which quotes it uses.
//!
//! New text takes after the nearest example in document order.

use std::cell::OnceCell;

use crate::document::DocumentRef;
use crate::layout::EntryLayout;
use crate::node::{CollectionStyle, NodeKind, ScalarStyle};
use crate::node_ref::NodeRef;
use crate::scalar::{ScalarType, json_scalar};
use crate::span::{column, is_first_on_line, line_start, skip_blanks};

/// What is usual where a document shows no example.
const INDENT: u32 = 2;

/// How one document is written.
pub(crate) struct DocumentStyle<'a> {
    document: DocumentRef<'a>,
    /// Looked for when the first is asked for: an edit that only moves things needs none.
    examples: OnceCell<Examples>,
    /// The line break.
    pub(crate) line_break: &'static str,
    /// Whether the document is JSON.
    pub(crate) json: bool,
    /// Whether it has JSON's words only, so that a `0x10` that comes into it is written as `16`.
    pub(crate) json_scalars: bool,
}

/// The examples of one document, each list sorted by node.
#[derive(Default)]
struct Examples {
    /// How much deeper a mapping stands than the one around it.
    indents: Vec<(u32, u32)>,
    /// How much deeper a list stands than its key.
    lists: Vec<(u32, u32)>,
    quotes: Vec<(u32, char)>,
    /// What brackets over several lines are indented by.
    unit: Option<String>,
}

impl<'a> DocumentStyle<'a> {
    pub(crate) fn of(document: DocumentRef<'a>) -> Self {
        let text = document.file.text();
        let document_text = document.text();
        let crlf = |text: &str| text.find('\n').map(|at| text[..at].ends_with('\r'));
        let is_crlf = crlf(document_text).or_else(|| crlf(text)).unwrap_or(false);
        let json = is_json(document);
        Self {
            document,
            examples: OnceCell::new(),
            line_break: if is_crlf { "\r\n" } else { "\n" },
            json,
            json_scalars: json && has_json_scalars(document),
        }
    }

    fn examples(&self) -> &Examples {
        self.examples.get_or_init(|| {
            let mut examples = Examples::default();
            for index in 0..self.document.table().nodes.len() as u32 {
                examples.collect(self.document.node(index));
            }
            examples
        })
    }

    /// How much deeper a mapping near `node` stands than the one around it.
    pub(crate) fn indent(&self, node: u32) -> u32 {
        let examples = self.examples();
        nearest(&examples.indents, node).unwrap_or_else(|| {
            // A list that is indented shows the width, too.
            nearest(&examples.lists, node).filter(|&deeper| deeper > 0).unwrap_or(INDENT)
        })
    }

    /// How much deeper a list near `node` stands than its key.
    pub(crate) fn list_indent(&self, node: u32) -> u32 {
        nearest(&self.examples().lists, node).unwrap_or(0)
    }

    /// What brackets over several lines are indented by.
    pub(crate) fn unit(&self) -> &str {
        self.examples().unit.as_deref().unwrap_or("  ")
    }

    pub(crate) fn quote(&self, node: u32) -> char {
        nearest(&self.examples().quotes, node).unwrap_or('"')
    }
}

impl Examples {
    fn collect(&mut self, node: NodeRef<'_>) {
        let text = node.source();
        if let NodeKind::Scalar(style) = node.kind() {
            match style {
                ScalarStyle::SingleQuoted => self.quotes.push((node.index, '\'')),
                ScalarStyle::DoubleQuoted => self.quotes.push((node.index, '"')),
                _ => {}
            }
            return;
        }
        if self.unit.is_none() {
            self.unit = unit_of(node);
        }
        let Some(parent) = node.parent() else { return };
        if !node.is_block() || !parent.is_block() || parent.kind() != NodeKind::Mapping {
            return;
        }
        let deeper = column(text, node.start()).saturating_sub(column(text, parent.start()));
        match node.kind() {
            NodeKind::Mapping if deeper > 0 => self.indents.push((node.index, deeper)),
            NodeKind::Sequence => self.lists.push((node.index, deeper)),
            _ => {}
        }
    }
}

/// How the entries of one collection are written.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EntryStyle {
    /// The quotes around its keys, where all of them have the same.
    pub(crate) key_style: Option<ScalarStyle>,
    /// The quotes around its items, where all of them have the same.
    pub(crate) item_style: Option<ScalarStyle>,
    /// How far behind its dash a collection begins.
    pub(crate) dash: Option<u32>,
    /// Whether every entry stands on a line of its own.
    pub(crate) over_lines: bool,
}

impl EntryStyle {
    pub(crate) fn of(entries: &[EntryLayout<'_>]) -> Self {
        let items = || entries.iter().filter(|entry| entry.key.is_none()).map(|entry| entry.value);
        let behind_dash = |entry: &EntryLayout<'_>| {
            let width = entry.value.start().checked_sub(entry.head);
            width.filter(|width| {
                entry.key.is_none() && entry.value.is_block() && (2..10).contains(width)
            })
        };
        Self {
            key_style: shared_quotes(entries.iter().filter_map(|entry| entry.key)),
            item_style: shared_quotes(items()),
            dash: entries.iter().find_map(behind_dash),
            over_lines: !entries.is_empty() && entries.iter().all(|entry| entry.own_line),
        }
    }
}

/// The quotes that all nodes have.
fn shared_quotes<'a>(nodes: impl Iterator<Item = NodeRef<'a>>) -> Option<ScalarStyle> {
    let mut styles = nodes.map(|node| match node.kind() {
        NodeKind::Scalar(style) if style.is_quoted() => Some(style),
        _ => None,
    });
    let first = styles.next()??;
    styles.all(|style| style == Some(first)).then_some(first)
}

/// By how much the entries of a flow collection stand deeper than the line that opens it.
fn unit_of(node: NodeRef<'_>) -> Option<String> {
    let text = node.source();
    if node.collection_style() != CollectionStyle::Flow {
        return None;
    }
    let first = node.children().next()?.full_span().start;
    if !is_first_on_line(text, first) {
        return None;
    }
    let indent = indentation(text, first).strip_prefix(indentation(text, node.start()))?;
    (!indent.is_empty()).then(|| indent.to_owned())
}

/// The blanks that begin the line of `at`.
pub(crate) fn indentation(text: &str, at: u32) -> &str {
    let start = line_start(text, at);
    &text[start as usize..skip_blanks(text, start, at) as usize]
}

fn nearest<T: Copy>(examples: &[(u32, T)], node: u32) -> Option<T> {
    let at = examples.partition_point(|&(example, _)| example < node);
    let before = at.checked_sub(1).map(|at| examples[at]);
    let after = examples.get(at).copied();
    match (before, after) {
        (Some((b, before)), Some((a, after))) => {
            Some(if node - b <= a - node { before } else { after })
        }
        (before, after) => before.or(after).map(|(_, example)| example),
    }
}

/// Whether a document is written as JSON: brackets and double quotes only.
fn is_json(document: DocumentRef<'_>) -> bool {
    let nodes = || (0..document.table().nodes.len() as u32).map(|index| document.node(index));
    let is_text = |node: NodeRef<'_>| node.kind() == NodeKind::Scalar(ScalarStyle::DoubleQuoted);
    let root = document.root();
    // `[1, 2]` could be either; only quotes tell.
    if !root.is_some_and(|root| root.is_collection() && nodes().any(is_text)) {
        return false;
    }
    nodes().all(|node| match node.kind() {
        NodeKind::Scalar(ScalarStyle::Plain) => {
            let scalar = node.as_scalar();
            scalar.is_some_and(|s| s.resolve() != ScalarType::String && !s.raw().is_empty())
        }
        NodeKind::Scalar(_) => is_text(node),
        NodeKind::Alias => false,
        _ => node.collection_style() == CollectionStyle::Flow,
    })
}

/// Whether a document that looks like JSON is JSON: its keys are texts, and nothing is spelled or marked as only YAML does.
fn has_json_scalars(document: DocumentRef<'_>) -> bool {
    let mut nodes = (0..document.table().nodes.len() as u32).map(|index| document.node(index));
    let all_are_words =
        nodes.all(|node| match node.as_scalar().filter(|it| it.style() == ScalarStyle::Plain) {
            _ if node.node().has_properties() => false,
            Some(it) => !node.node().is_key() && json_scalar(it.raw()).as_deref() == Some(it.raw()),
            None => true,
        });
    all_are_words && document.comments().is_empty()
}
