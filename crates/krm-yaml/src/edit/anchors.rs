//! Anchors: refuses edits that would change the value of an alias elsewhere, or leave an alias without its anchor.

use super::lower::CollectionChange;
use super::{DocumentEdit, EditError, EditErrorKind, SmallMap};
use crate::document::DocumentRef;
use crate::node::NodeKind;
use crate::node_ref::NodeRef;

/// Refuses changes to shared values unless they are allowed, and removals of anchors that are still in use.
pub(crate) fn check(
    document: DocumentRef<'_>,
    edit: &DocumentEdit<'_>,
    changes: &SmallMap<CollectionChange<'_>>,
    allow_shared: bool,
) -> Result<(), EditError> {
    let links = &document.table().aliases;
    if links.is_empty() {
        return Ok(());
    }
    if !allow_shared {
        for index in changes.keys().chain(edit.values.keys()).chain(edit.keys.keys()) {
            let mut node = Some(document.node(index));
            while let Some(at) = node {
                refuse_shared(at)?;
                node = at.parent();
            }
        }
    }
    let mut targets: Vec<(u32, u32)> = links.iter().map(|link| (link.target, link.alias)).collect();
    targets.sort_unstable();
    for (index, change) in changes.iter() {
        let collection = document.node(index);
        let width = if collection.kind() == NodeKind::Mapping { 2 } else { 1 };
        for (at, child) in collection.children().enumerate() {
            if change.removed.contains(&(at / width)) {
                refuse_orphans(child, false, &targets)?;
            }
        }
    }
    for index in edit.values.keys() {
        refuse_orphans(document.node(index), true, &targets)?;
    }
    Ok(())
}

/// Refuses a change to a node that an alias refers to.
fn refuse_shared(node: NodeRef<'_>) -> Result<(), EditError> {
    let Some(anchor) = node.anchor() else { return Ok(()) };
    let links = &node.document.table().aliases;
    let Some(link) = links.iter().find(|link| link.target == node.index) else { return Ok(()) };
    let line = node.document.node(link.alias).position().line;
    Err(EditError::at(node, EditErrorKind::Shared { anchor: anchor.to_owned(), line }))
}

/// Refuses to remove or replace a node if an alias outside of it refers to an anchor inside it.
fn refuse_orphans(
    node: NodeRef<'_>,
    keeps_own: bool,
    targets: &[(u32, u32)],
) -> Result<(), EditError> {
    let subtree = node.index..node.node().subtree_end(node.index);
    let from = targets.partition_point(|&(target, _)| target < subtree.start);
    for &(target, alias) in
        targets[from..].iter().take_while(|(target, _)| subtree.contains(target))
    {
        let own = keeps_own && target == node.index;
        if !subtree.contains(&alias) && !own {
            let anchor = node.document.node(target).anchor().unwrap_or_default();
            let line = node.document.node(alias).position().line;
            let kind = EditErrorKind::AnchorInUse { anchor: anchor.to_owned(), line };
            return Err(EditError::at(node, kind));
        }
    }
    Ok(())
}
