//! The style of a document: indentation, sequences, quotes, line breaks.
//!
//! New text follows the nearest example in document order, because documents mix styles: files are assembled from parts of different authors.

use std::cell::OnceCell;

use crate::document::DocumentRef;
use crate::layout::EntryLayout;
use crate::node::{CollectionStyle, NodeKind, ScalarStyle};
use crate::node_ref::NodeRef;
use crate::scalar::{ScalarType, json_scalar};
use crate::span::{column, is_first_on_line, line_start, skip_blanks};

/// The indentation of a document without an example.
const INDENT: u32 = 2;

/// How far an example is searched for before all examples of the document are collected.
const NEAR: u32 = 64;

/// The style of one document.
pub(crate) struct DocumentStyle<'a> {
    document: DocumentRef<'a>,
    /// Examples are collected on the first request, each kind by itself, because most edits need few of them.
    indents: Examples<u32>,
    lists: Examples<u32>,
    quotes: Examples<char>,
    unit: OnceCell<Option<String>>,
    /// The line break.
    pub(crate) line_break: &'static str,
    /// Whether the document is JSON.
    pub(crate) json: bool,
    /// Whether all its scalars are valid JSON. Then a new `0x10` is written as `16`, so that JSON stays JSON.
    pub(crate) json_scalars: bool,
}

/// The examples of one kind in a document, sorted by node.
type Examples<T> = OnceCell<Vec<(u32, T)>>;

impl<'a> DocumentStyle<'a> {
    pub(crate) fn of(document: DocumentRef<'a>) -> Self {
        let text = document.file.text();
        let document_text = document.text();
        let crlf = |text: &str| text.find('\n').map(|at| text[..at].ends_with('\r'));
        let is_crlf = crlf(document_text).or_else(|| crlf(text)).unwrap_or(false);
        let json = is_json(document);
        Self {
            document,
            indents: OnceCell::new(),
            lists: OnceCell::new(),
            quotes: OnceCell::new(),
            unit: OnceCell::new(),
            line_break: if is_crlf { "\r\n" } else { "\n" },
            json,
            json_scalars: json && has_json_scalars(document),
        }
    }

    fn nodes(&self) -> impl Iterator<Item = NodeRef<'a>> + use<'a> {
        let document = self.document;
        (0..document.table().nodes.len() as u32).map(move |index| document.node(index))
    }

    /// The nearest example of one kind.
    fn nearest<T: Copy>(
        &self,
        node: u32,
        examples: &Examples<T>,
        example: impl Fn(NodeRef<'a>) -> Option<T>,
    ) -> Option<T> {
        if examples.get().is_none() {
            // It is usually a few nodes away, and at the same distance the one before counts.
            let count = self.document.table().nodes.len() as u32;
            for distance in 0..NEAR {
                let around = [node.checked_sub(distance), node.checked_add(distance)];
                let mut nodes = around.into_iter().flatten().filter(|index| *index < count);
                if let Some(found) = nodes.find_map(|index| example(self.document.node(index))) {
                    return Some(found);
                }
            }
        }
        nearest(self.all(examples, example), node)
    }

    fn all<'e, T>(
        &self,
        examples: &'e Examples<T>,
        example: impl Fn(NodeRef<'a>) -> Option<T>,
    ) -> &'e [(u32, T)] {
        let all = || self.nodes().filter_map(|node| Some((node.index, example(node)?))).collect();
        examples.get_or_init(all)
    }

    /// The indentation of mappings near `node`.
    pub(crate) fn indent(&self, node: u32) -> u32 {
        self.nearest(node, &self.indents, mapping_indent).unwrap_or_else(|| {
            // An indented sequence is an example, too.
            let list = self.nearest(node, &self.lists, sequence_indent);
            list.filter(|&deeper| deeper > 0).unwrap_or(INDENT)
        })
    }

    /// The indentation of sequences near `node`.
    pub(crate) fn list_indent(&self, node: u32) -> u32 {
        self.nearest(node, &self.lists, sequence_indent).unwrap_or(0)
    }

    /// The indentation of flow collections over several lines.
    pub(crate) fn unit(&self) -> &str {
        self.unit.get_or_init(|| self.nodes().find_map(unit_of)).as_deref().unwrap_or("  ")
    }

    pub(crate) fn quote(&self, node: u32) -> char {
        self.nearest(node, &self.quotes, quote).unwrap_or('"')
    }
}

/// The quotes of a scalar.
fn quote(node: NodeRef<'_>) -> Option<char> {
    match node.kind() {
        NodeKind::Scalar(ScalarStyle::SingleQuoted) => Some('\''),
        NodeKind::Scalar(ScalarStyle::DoubleQuoted) => Some('"'),
        _ => None,
    }
}

/// The indentation of a mapping relative to the one around it.
fn mapping_indent(node: NodeRef<'_>) -> Option<u32> {
    let deeper = (node.kind() == NodeKind::Mapping).then(|| indent_in_mapping(node))?;
    deeper.filter(|deeper| *deeper > 0)
}

/// The indentation of a sequence relative to its key.
fn sequence_indent(node: NodeRef<'_>) -> Option<u32> {
    (node.kind() == NodeKind::Sequence).then(|| indent_in_mapping(node))?
}

/// The indentation of a block collection relative to the block mapping around it.
fn indent_in_mapping(node: NodeRef<'_>) -> Option<u32> {
    let parent = node.parent().filter(|_| node.is_block())?;
    let text = node.source();
    let deeper = || column(text, node.start()).saturating_sub(column(text, parent.start()));
    (parent.is_block() && parent.kind() == NodeKind::Mapping).then(deeper)
}

/// The style of the entries of one collection.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EntryStyle {
    /// The quotes of its keys, if all have the same.
    pub(crate) key_style: Option<ScalarStyle>,
    /// The quotes of its elements, if all have the same.
    pub(crate) item_style: Option<ScalarStyle>,
    /// The distance from a dash to a collection on its line.
    pub(crate) dash: Option<u32>,
    /// Whether every entry is on a line of its own.
    pub(crate) over_lines: bool,
}

impl EntryStyle {
    /// The style of the entries of a block mapping, as far as new entries follow it.
    pub(crate) fn of_keys<'a>(keys: impl Iterator<Item = NodeRef<'a>>) -> Self {
        Self { key_style: shared_quotes(keys), ..Self::default() }
    }

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

/// The quotes of all nodes, if they have the same.
fn shared_quotes<'a>(nodes: impl Iterator<Item = NodeRef<'a>>) -> Option<ScalarStyle> {
    let mut styles = nodes.map(|node| match node.kind() {
        NodeKind::Scalar(style) if style.is_quoted() => Some(style),
        _ => None,
    });
    let first = styles.next()??;
    styles.all(|style| style == Some(first)).then_some(first)
}

/// The indentation of the entries of a flow collection relative to the line of its opening bracket.
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

/// The whitespace at the start of the line of `at`.
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

/// Whether a document is written as JSON: flow collections and double quotes only.
fn is_json(document: DocumentRef<'_>) -> bool {
    let nodes = || (0..document.table().nodes.len() as u32).map(|index| document.node(index));
    let is_text = |node: NodeRef<'_>| node.kind() == NodeKind::Scalar(ScalarStyle::DoubleQuoted);
    let is_flow = |root: NodeRef<'_>| root.is_collection() && !root.is_block();
    // `[1, 2]` is both; only quotes are evidence of JSON.
    if !document.root().is_some_and(|root| is_flow(root) && nodes().any(is_text)) {
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

/// Whether a document that looks like JSON is valid JSON: its keys are strings, and it uses nothing that only YAML has.
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
