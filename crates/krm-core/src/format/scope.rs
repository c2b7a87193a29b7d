//! What of a document is formatted: its resources, but for those that ask to be left alone.

use std::ops::Range;

use krm_yaml::{DocumentRef, File, NodeKind, NodeRef};

use crate::Diagnostic;
use crate::model::resource::{Resource, field, is_resource, list_items};

/// The annotation that says how a resource is to be formatted.
const FORMATTING: &str = "config.kubernetes.io/formatting";

/// The nodes of a document that may be put in order.
#[derive(Debug, Default)]
pub(super) struct FormatScope<'a> {
    roots: Vec<NodeRef<'a>>,
    /// Nodes inside the roots that are left alone, in order.
    left: Vec<Range<usize>>,
    /// Whether a resource asks to be left alone.
    asks: bool,
}

impl<'a> FormatScope<'a> {
    pub(super) fn of(document: DocumentRef<'a>) -> Result<Self, Diagnostic> {
        let Some(root) = document.root() else { return Ok(Self::default()) };
        let mut scope = Self::default();
        let items = match root.kind() {
            NodeKind::Sequence => Some(root),
            NodeKind::Mapping if is_resource(root) && wants_format(root)? => {
                scope.roots.push(root);
                list_items(root).filter(|list| root.subtree().contains(&list.index()))
            }
            _ => None,
        };
        for item in items.into_iter().flat_map(NodeRef::children) {
            let is_own = item.kind() == NodeKind::Mapping && is_resource(item);
            let is_wanted = is_own && wants_format(item)?;
            scope.asks |= is_own && !is_wanted;
            match (is_wanted, root.kind()) {
                (true, NodeKind::Sequence) => scope.roots.push(item),
                (false, NodeKind::Mapping) => scope.left.push(item.subtree()),
                _ => {}
            }
        }
        Ok(scope)
    }

    /// Whether the whole document may be changed: it has a resource, and nothing in it asks to be left alone.
    pub(super) fn is_whole(&self) -> bool {
        !self.roots.is_empty() && !self.asks
    }

    /// All nodes that may be put in order.
    pub(super) fn nodes(&self) -> impl Iterator<Item = NodeRef<'a>> {
        let mut left = self.left.iter().peekable();
        self.roots.iter().flat_map(|root| root.descendants()).filter(move |node| {
            while left.next_if(|range| range.end <= node.index()).is_some() {}
            left.peek().is_none_or(|range| !range.contains(&node.index()))
        })
    }

    /// The resources: whole documents, and items of lists.
    pub(super) fn resources(&self) -> impl Iterator<Item = Resource<'a>> {
        self.nodes().filter(|node| node.kind() == NodeKind::Mapping).filter_map(|node| {
            let parent = node.parent();
            let is_item = parent.is_some_and(|list| list.kind() == NodeKind::Sequence);
            let is_own = parent.is_none() || is_item && is_root_list(parent);
            (is_own && is_resource(node)).then_some(Resource { node, item: None })
        })
    }
}

/// Whether a list is a document, or the items of one.
fn is_root_list(list: Option<NodeRef<'_>>) -> bool {
    let Some(list) = list else { return false };
    list.parent().is_none_or(|around| {
        around.parent().is_none() && list_items(around).is_some_and(|items| items == list)
    })
}

/// Spec: `none` is left alone, `standard` is the same as nothing, and there is no other value.
fn wants_format(node: NodeRef<'_>) -> Result<bool, Diagnostic> {
    let annotations = field(node, "metadata").and_then(|metadata| field(metadata, "annotations"));
    let Some(value) = annotations.and_then(|annotations| field(annotations, FORMATTING)) else {
        return Ok(true);
    };
    let text = crate::model::resource::scalar_text(value).unwrap_or_default();
    match &*text {
        "none" => Ok(false),
        "standard" => Ok(true),
        _ => Err(illegal(node.document().file(), value, &text)),
    }
}

fn illegal(file: &File, value: NodeRef<'_>, text: &str) -> Diagnostic {
    let message = format!("`{text}` is no value of the annotation {FORMATTING}");
    Diagnostic::untyped_error(message).at(file, value.span()).hint("write standard or none")
}
