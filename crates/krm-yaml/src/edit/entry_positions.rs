//! Positions and duplicates of entries, looked up once per collection.

use std::collections::{BTreeMap, HashMap};

use crate::Mapping;
use crate::node::NodeKind;
use crate::node_ref::NodeRef;

/// The index of the entry that a node belongs to, with a table per collection.
///
/// Without the table, an edit of each of a hundred thousand entries would take quadratic time.
#[derive(Debug, Default)]
pub(crate) struct EntryPositions {
    children: BTreeMap<(u32, u32), Vec<u32>>,
    /// The values of keys that a mapping has more than once.
    duplicates: BTreeMap<(u32, u32), HashMap<String, Vec<u32>>>,
}

impl EntryPositions {
    pub(super) fn children(&mut self, parent: NodeRef<'_>) -> &[u32] {
        let key = (parent.document.table().index, parent.index);
        let children = || parent.children().map(|child| child.index).collect();
        self.children.entry(key).or_insert_with(children)
    }

    pub(crate) fn entry(&mut self, parent: NodeRef<'_>, node: NodeRef<'_>) -> usize {
        let all = self.children(parent);
        let at = all.partition_point(|&child| child < node.index);
        if parent.kind() == NodeKind::Mapping { at / 2 } else { at }
    }

    /// The values of all entries of a mapping whose key is the one of a value: most often that value alone.
    pub(super) fn entries_with_key_of<'a>(
        &mut self,
        mapping: Mapping<'a>,
        value: NodeRef<'a>,
    ) -> Vec<NodeRef<'a>> {
        let parent = mapping.node();
        let key = (parent.document.table().index, parent.index);
        let duplicates = self.duplicates.entry(key).or_insert_with(|| duplicate_keys(mapping));
        // The key is only looked for where there are duplicates, as few mappings have any.
        let name = (!duplicates.is_empty()).then(|| value.key()?.resolve().as_scalar()).flatten();
        match name.and_then(|name| duplicates.get(&*name.value())) {
            Some(values) => values.iter().map(|at| parent.document.node(*at)).collect(),
            None => vec![value],
        }
    }
}

fn duplicate_keys(mapping: Mapping<'_>) -> HashMap<String, Vec<u32>> {
    let mut values: HashMap<_, Vec<u32>> = HashMap::new();
    for entry in mapping.entries() {
        if let Some(key) = entry.key.resolve().as_scalar() {
            values.entry(key.value()).or_default().push(entry.value.index);
        }
    }
    let repeated = values.into_iter().filter(|(_, values)| values.len() > 1);
    repeated.map(|(key, values)| (key.into_owned(), values)).collect()
}
