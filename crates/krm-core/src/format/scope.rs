//! The parts of a document that are formatted: its resources, except those with the annotation `formatting: none`.

use std::ops::Range;

use krm_yaml::{DocumentRef, NodeKind, NodeRef};

use crate::Diagnostic;
use crate::diagnostics::CommonKind;
use crate::model::resource::{Resource, field, is_resource, list_items};

/// The annotation that turns formatting off for a resource.
const FORMATTING: &str = "config.kubernetes.io/formatting";

/// The nodes of a document that are formatted.
#[derive(Debug, Default)]
pub(super) struct FormatScope<'a> {
    roots: Vec<NodeRef<'a>>,
    /// Subtrees of the roots that are not formatted, in document order.
    excluded: Vec<Range<usize>>,
    /// Whether a resource turns formatting off.
    has_opt_out: bool,
}

impl<'a> FormatScope<'a> {
    pub(super) fn of(document: DocumentRef<'a>) -> Result<Self, Diagnostic> {
        let Some(root) = document.root() else { return Ok(Self::default()) };
        let mut scope = Self::default();
        let items = match root.kind() {
            NodeKind::Sequence => Some(root),
            NodeKind::Mapping if is_resource(root) && is_enabled(root)? => {
                scope.roots.push(root);
                list_items(root).filter(|list| root.subtree().contains(&list.index()))
            }
            _ => None,
        };
        for item in items.into_iter().flat_map(NodeRef::children) {
            let is_own = item.kind() == NodeKind::Mapping && is_resource(item);
            let is_formatted = is_own && is_enabled(item)?;
            scope.has_opt_out |= is_own && !is_formatted;
            match (is_formatted, root.kind()) {
                (true, NodeKind::Sequence) => scope.roots.push(item),
                (false, NodeKind::Mapping) => scope.excluded.push(item.subtree()),
                _ => {}
            }
        }
        Ok(scope)
    }

    /// Whether the whole document is formatted: it has a resource, and none of them turns formatting off.
    pub(super) fn is_whole_document(&self) -> bool {
        !self.roots.is_empty() && !self.has_opt_out
    }

    /// All nodes that are formatted.
    pub(super) fn nodes(&self) -> impl Iterator<Item = NodeRef<'a>> {
        let mut excluded = self.excluded.iter().peekable();
        self.roots.iter().flat_map(|root| root.descendants()).filter(move |node| {
            while excluded.next_if(|range| range.end <= node.index()).is_some() {}
            excluded.peek().is_none_or(|range| !range.contains(&node.index()))
        })
    }

    /// The resources: documents, and items of lists.
    pub(super) fn resources(&self) -> impl Iterator<Item = Resource<'a>> {
        self.nodes().filter(|node| node.kind() == NodeKind::Mapping).filter_map(|node| {
            let parent = node.parent();
            let is_item = parent.is_some_and(|list| list.kind() == NodeKind::Sequence);
            let is_own = parent.is_none() || is_item && is_root_list(parent);
            (is_own && is_resource(node)).then_some(Resource { node, item: None })
        })
    }
}

/// Whether a list is the root of a document, or its `items`.
fn is_root_list(list: Option<NodeRef<'_>>) -> bool {
    let Some(list) = list else { return false };
    list.parent().is_none_or(|around| {
        around.parent().is_none() && list_items(around).is_some_and(|items| items == list)
    })
}

/// Spec: `none` turns formatting off, `standard` is the default, and other values are errors.
fn is_enabled(node: NodeRef<'_>) -> Result<bool, Diagnostic> {
    let annotations = field(node, "metadata").and_then(|metadata| field(metadata, "annotations"));
    let Some(value) = annotations.and_then(|annotations| field(annotations, FORMATTING)) else {
        return Ok(true);
    };
    let text = crate::model::resource::scalar_text(value).unwrap_or_default();
    match &*text {
        "none" => Ok(false),
        "standard" => Ok(true),
        _ => {
            let expected = format!("standard or none for {FORMATTING}");
            let kind = CommonKind::InvalidValue { value: text.into_owned().into(), expected };
            Err(Diagnostic::error(kind).at(node.document().file(), value.span()))
        }
    }
}
