//! What must not change places: an anchor stands before its aliases, and before the next one of its name.

use std::collections::BTreeMap;

use krm_yaml::{DocumentRef, NodeKind, NodeRef};

/// For each collection, which of its entries must stay before which other.
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
        let mut finder = Finder::default();
        // Per name: the anchor that holds now, and everything that must stand before the next one.
        let mut current: BTreeMap<&str, Vec<NodeRef<'_>>> = BTreeMap::new();
        for node in root.descendants() {
            if let Some(target) = node.target() {
                finder.tie(target, node);
                let name = target.anchor().unwrap_or_default();
                current.entry(name).or_default().push(node);
            }
            if let Some(name) = node.anchor() {
                for before in current.insert(name, vec![node]).unwrap_or_default() {
                    finder.tie(before, node);
                }
            }
        }
        finder.anchor_order
    }

    /// The pairs of entries of a collection that keep their order.
    pub(super) fn pairs(&self, collection: NodeRef<'_>) -> &[(usize, usize)] {
        self.pairs.get(&collection.index()).map_or(&[], Vec::as_slice)
    }
}

#[derive(Default)]
struct Finder {
    anchor_order: AnchorOrder,
    /// The children of collections that were looked at.
    children: BTreeMap<usize, Vec<usize>>,
}

impl Finder {
    /// AnchorOrder the entries that hold the two nodes, in the innermost collection that holds both.
    fn tie(&mut self, before: NodeRef<'_>, after: NodeRef<'_>) {
        let mut around = after.parent();
        while let Some(collection) = around.filter(|it| !it.subtree().contains(&before.index())) {
            around = collection.parent();
        }
        // What stands inside the anchored collection comes after its anchor anyway.
        let Some(collection) = around.filter(|around| *around != before) else { return };
        let (first, second) = (self.entry(collection, before), self.entry(collection, after));
        if first < second {
            self.anchor_order.pairs.entry(collection.index()).or_default().push((first, second));
        }
    }

    /// Which entry of a collection holds a node.
    fn entry(&mut self, collection: NodeRef<'_>, node: NodeRef<'_>) -> usize {
        let children = || collection.children().map(NodeRef::index).collect();
        let children = self.children.entry(collection.index()).or_insert_with(children);
        let at = children.partition_point(|child| *child <= node.index()).saturating_sub(1);
        if collection.kind() == NodeKind::Mapping { at / 2 } else { at }
    }
}
