//! The style of flow collections: padding, separators, and whether they are JSON.

use crate::node::{CollectionStyle, NodeKind, ScalarStyle};
use crate::node_ref::NodeRef;
use crate::span::is_blank;

/// The style of the flow collections around a node.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FlowStyle {
    /// Every string is double-quoted.
    pub(crate) json: bool,
    /// `{ a: 1 }` instead of `{a: 1}`.
    pub(crate) padded: bool,
    /// `{"a":1}` instead of `{"a": 1}`.
    pub(crate) tight_colon: bool,
    /// `[1,2]` instead of `[1, 2]`.
    pub(crate) tight_comma: bool,
}

impl FlowStyle {
    /// The style of a collection. For what it does not show (an empty one has no comma), the nearest collection around it decides.
    pub(crate) fn of(collection: NodeRef<'_>, json: bool) -> Self {
        let around: Vec<NodeRef<'_>> =
            std::iter::successors(Some(collection), |node| node.parent())
                .take_while(|node| node.collection_style() != CollectionStyle::Block)
                .collect();
        let filled = |node: &&NodeRef<'_>| node.children().next().is_some();
        let padded = around.iter().find(filled).is_some_and(|node| is_padded(*node));
        let tight_colon = around.iter().find_map(|node| has_tight_colon(*node)).unwrap_or(false);
        let tight_comma =
            around.iter().find_map(|node| has_tight_comma(*node)).unwrap_or(tight_colon);
        let json = json || around.iter().find_map(|node| is_json_like(*node)).unwrap_or(false);
        Self { json, padded, tight_colon, tight_comma }
    }

    /// A key with its value. Spec: only after a quoted key may the value directly follow the colon.
    pub(crate) fn entry(self, key: &str, value: &str) -> String {
        let is_quoted = key.starts_with(['"', '\'']);
        let colon = if self.tight_colon && is_quoted { ":" } else { ": " };
        format!("{key}{colon}{value}")
    }

    pub(crate) fn comma(self) -> &'static str {
        if self.tight_comma { "," } else { ", " }
    }

    /// Joins entries between brackets.
    pub(crate) fn join(
        self,
        open: char,
        entries: impl Iterator<Item = String>,
        close: char,
    ) -> String {
        let entries: Vec<String> = entries.collect();
        let pad = if self.padded && !entries.is_empty() { " " } else { "" };
        format!("{open}{pad}{}{pad}{close}", entries.join(self.comma()))
    }
}

fn is_padded(node: NodeRef<'_>) -> bool {
    let text = node.source().as_bytes();
    node.collection_style() == CollectionStyle::Flow
        && text.get(node.start() as usize + 1).is_some_and(|&b| is_blank(b))
}

fn has_tight_colon(node: NodeRef<'_>) -> Option<bool> {
    let entry =
        node.as_mapping()?.entries().find(|entry| entry.value.end() > entry.value.start())?;
    let text = node.source().as_bytes();
    let colon = entry.key.end();
    Some(text.get(colon as usize) == Some(&b':') && entry.value.full_span().start == colon + 1)
}

fn has_tight_comma(node: NodeRef<'_>) -> Option<bool> {
    let step = if node.kind() == NodeKind::Mapping { 2 } else { 1 };
    let second = node.children().nth(step)?.full_span().start as usize;
    Some(node.source().as_bytes().get(second.checked_sub(1)?) == Some(&b','))
}

/// Whether all keys are double-quoted; `None` without keys.
fn is_json_like(node: NodeRef<'_>) -> Option<bool> {
    let keys = node.as_mapping()?.entries().map(|entry| entry.key.kind());
    let mut keys = keys.map(|kind| kind == NodeKind::Scalar(ScalarStyle::DoubleQuoted)).peekable();
    keys.peek()?;
    Some(keys.all(|quoted| quoted))
}
