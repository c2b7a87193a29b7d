//! Constraints on the order of entries: an anchor must precede its aliases, and the next anchor of the same name.

use std::collections::BTreeMap;

use krm_yaml::{DocumentRef, NodeKind, NodeRef};

/// Pairs of entries of each collection that must keep their order.
#[derive(Debug, Default)]
pub(super) struct AnchorOrder {
    pairs: BTreeMap<usize, Vec<(usize, usize)>>,
}

impl AnchorOrder {
    pub(super) fn of(document: DocumentRef<'_>) -> Self {
        let Some(root) = document.root() else { return Self::default() };
        if !root.descendants().any(|node| node.kind() == NodeKind::Alias) {
            return Self::default();
        }
        let mut builder = Builder::default();
        // For each name: the current anchor and its aliases, which must all precede the next anchor of that name.
        let mut current: BTreeMap<&str, Vec<NodeRef<'_>>> = BTreeMap::new();
        for node in root.descendants() {
            if let Some(target) = node.target() {
                builder.constrain(target, node);
                let name = target.anchor().unwrap_or_default();
                current.entry(name).or_default().push(node);
            }
            if let Some(name) = node.anchor() {
                for before in current.insert(name, vec![node]).unwrap_or_default() {
                    builder.constrain(before, node);
                }
            }
        }
        builder.anchor_order
    }

    /// The pairs of entries of a collection that must keep their order, by index.
    pub(super) fn pairs(&self, collection: NodeRef<'_>) -> &[(usize, usize)] {
        self.pairs.get(&collection.index()).map_or(&[], Vec::as_slice)
    }
}

#[derive(Default)]
struct Builder {
    anchor_order: AnchorOrder,
    /// The children of collections that were visited.
    children: BTreeMap<usize, Vec<usize>>,
}

impl Builder {
    /// Constrains the entries that contain the two nodes, in the innermost collection that contains both.
    fn constrain(&mut self, before: NodeRef<'_>, after: NodeRef<'_>) {
        let mut around = after.parent();
        while let Some(collection) = around.filter(|it| !it.subtree().contains(&before.index())) {
            around = collection.parent();
        }
        // The anchor of a collection always precedes its content.
        let Some(collection) = around.filter(|around| *around != before) else { return };
        let (first, second) = (self.entry(collection, before), self.entry(collection, after));
        if first < second {
            self.anchor_order.pairs.entry(collection.index()).or_default().push((first, second));
        }
    }

    /// The index of the entry that contains a node.
    fn entry(&mut self, collection: NodeRef<'_>, node: NodeRef<'_>) -> usize {
        let children = || collection.children().map(NodeRef::index).collect();
        let children = self.children.entry(collection.index()).or_insert_with(children);
        let at = children.partition_point(|child| *child <= node.index()).saturating_sub(1);
        if collection.kind() == NodeKind::Mapping { at / 2 } else { at }
    }
}
