//! What a function changed, resource by resource.

use std::collections::BTreeMap;

use krm_core::functions::resource_list::Item;

/// A resource that a function changed, added or removed.
#[derive(Clone, Debug)]
pub struct ItemChange {
    /// Before the run; none for a new resource.
    pub before: Option<Item>,
    /// After the run; none for a removed resource.
    pub after: Option<Item>,
}

/// The changes between two lists of items, in the order of the first; new ones come last.
pub fn changes_between(before: &[Item], after: &[Item]) -> Vec<ItemChange> {
    // Most functions return the same items in the same order.
    if before.len() == after.len()
        && before.iter().zip(after).all(|(old, new)| key(old) == key(new))
    {
        let differs = |(old, new): &(&Item, &Item)| !is_same(old, new);
        let changed = before.iter().zip(after).filter(differs);
        let change = |(old, new): (&Item, &Item)| (Some(old.clone()), Some(new.clone()));
        return changed.map(change).map(|(before, after)| ItemChange { before, after }).collect();
    }
    let mut unpaired: BTreeMap<ItemKey<'_>, Vec<usize>> = BTreeMap::new();
    for (at, item) in after.iter().enumerate().rev() {
        unpaired.entry(key(item)).or_default().push(at);
    }
    let mut is_paired = vec![false; after.len()];
    let mut changes = Vec::new();
    for old in before {
        let found = unpaired.get_mut(&key(old)).and_then(Vec::pop);
        let new = found.map(|at| &after[at]);
        found.into_iter().for_each(|at| is_paired[at] = true);
        if new.is_none_or(|new| !is_same(old, new)) {
            changes.push(ItemChange { before: Some(old.clone()), after: new.cloned() });
        }
    }
    let added = after.iter().zip(is_paired).filter(|(_, is_paired)| !is_paired);
    changes.extend(added.map(|(item, _)| ItemChange { before: None, after: Some(item.clone()) }));
    changes
}

/// What identifies an item across a run: its index among the items that were read, or else its file and index there.
type ItemKey<'a> = (Option<usize>, Option<(&'a str, Option<usize>)>);

fn key(item: &Item) -> ItemKey<'_> {
    match item.origin {
        Some(origin) => (Some(origin), None),
        None => (None, item.path.as_ref().map(|path| (path.as_str(), item.index))),
    }
}

fn is_same(old: &Item, new: &Item) -> bool {
    let has_same_place = old.path == new.path && old.index == new.index;
    has_same_place && new.file().shared_text() == old.file().shared_text()
}
