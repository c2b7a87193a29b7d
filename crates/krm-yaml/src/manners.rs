//! The manners of a document: how wide it indents, how it writes lists, which quotes it uses.
//!
//! New text takes after the nearest example in document order.

use crate::document::DocumentRef;
use crate::node::{NodeKind, Notation, ScalarStyle};
use crate::scalar::Resolved;
use crate::span::column;
use crate::view::NodeRef;

/// What is usual where a document shows no example.
const INDENT: u32 = 2;

/// The examples of one document, each list sorted by node.
pub(crate) struct Manners {
    /// How much deeper a mapping stands than the one around it.
    indents: Vec<(u32, u32)>,
    /// How much deeper a list stands than its key.
    lists: Vec<(u32, u32)>,
    quotes: Vec<(u32, char)>,
    /// The line break.
    pub(crate) line_break: &'static str,
    /// Whether the document is JSON.
    pub(crate) json: bool,
}

impl Manners {
    pub(crate) fn of(document: DocumentRef<'_>) -> Self {
        let text = document.file.text();
        let document_text = document.text();
        let crlf = |text: &str| text.find('\n').map(|at| text[..at].ends_with('\r'));
        let is_crlf = crlf(document_text).or_else(|| crlf(text)).unwrap_or(false);
        let mut manners = Self {
            indents: Vec::new(),
            lists: Vec::new(),
            quotes: Vec::new(),
            line_break: if is_crlf { "\r\n" } else { "\n" },
            json: is_json(document),
        };
        for index in 0..document.table().nodes.len() as u32 {
            manners.learn(document.node(index));
        }
        manners
    }

    fn learn(&mut self, node: NodeRef<'_>) {
        let text = node.source();
        if let NodeKind::Scalar(style) = node.kind() {
            match style {
                ScalarStyle::SingleQuoted => self.quotes.push((node.index, '\'')),
                ScalarStyle::DoubleQuoted => self.quotes.push((node.index, '"')),
                _ => {}
            }
            return;
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

    /// How much deeper a mapping near `node` stands than the one around it.
    pub(crate) fn indent(&self, node: u32) -> u32 {
        nearest(&self.indents, node).unwrap_or_else(|| {
            // A list that is indented shows the width, too.
            nearest(&self.lists, node).filter(|&deeper| deeper > 0).unwrap_or(INDENT)
        })
    }

    /// How much deeper a list near `node` stands than its key.
    pub(crate) fn list_indent(&self, node: u32) -> u32 {
        nearest(&self.lists, node).unwrap_or(0)
    }

    pub(crate) fn quote(&self, node: u32) -> char {
        nearest(&self.quotes, node).unwrap_or('"')
    }
}

fn nearest<T: Copy>(examples: &[(u32, T)], node: u32) -> Option<T> {
    let at = examples.partition_point(|&(example, _)| example < node);
    let before = at.checked_sub(1).map(|at| examples[at]);
    let after = examples.get(at).copied();
    match (before, after) {
        (Some((b, before)), Some((a, after))) => Some(if node - b <= a - node { before } else { after }),
        (before, after) => before.or(after).map(|(_, example)| example),
    }
}

/// Whether a document is written as JSON: brackets and double quotes only.
fn is_json(document: DocumentRef<'_>) -> bool {
    let Some(root) = document.root() else { return false };
    if !root.is_collection() || root.notation() != Notation::Flow || root.children().next().is_none() {
        return false;
    }
    (0..document.table().nodes.len() as u32).map(|index| document.node(index)).all(|node| {
        match node.kind() {
            NodeKind::Scalar(ScalarStyle::DoubleQuoted) => true,
            NodeKind::Scalar(ScalarStyle::Plain) => {
                node.as_scalar().is_some_and(|s| s.resolve() != Resolved::String && !s.raw().is_empty())
            }
            NodeKind::Scalar(_) | NodeKind::Alias => false,
            _ => node.notation() == Notation::Flow,
        }
    })
}
