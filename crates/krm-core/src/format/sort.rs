//! The sorted order of the entries of a collection.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use krm_yaml::NodeRef;

use super::anchor_order::AnchorOrder;
use super::field_order::{FieldOrder, order_of};

/// A collection, and the sorted order of its entries.
#[derive(Debug)]
pub(super) struct Reordering<'a> {
    pub(super) node: NodeRef<'a>,
    pub(super) order: Vec<usize>,
}

/// A node that cannot be sorted.
#[derive(Debug)]
pub(super) struct SkippedNode<'a> {
    pub(super) node: NodeRef<'a>,
    pub(super) reason: String,
}

/// The reordering that sorts the fields of a mapping; none if they are sorted.
pub(super) fn of_fields<'a>(
    mapping: NodeRef<'a>,
    anchor_order: &AnchorOrder,
) -> Result<Option<Reordering<'a>>, SkippedNode<'a>> {
    if in_order(mapping) {
        return Ok(None);
    }
    let skip = |node, reason: String| Err(SkippedNode { node, reason });
    let mut keys: Vec<FieldOrder<'a>> = Vec::new();
    for entry in mapping.as_mapping().into_iter().flat_map(|mapping| mapping.entries()) {
        match order_of(entry.key) {
            Some(order) => keys.push(order),
            None => return skip(entry.key, "a key is not a scalar".to_owned()),
        }
    }
    let sorted = sorted(&keys, anchor_order.pairs(mapping));
    if let Some(pair) = sorted.windows(2).find(|pair| keys[pair[0]] == keys[pair[1]]) {
        let second = mapping.children().nth(2 * pair[0].max(pair[1])).unwrap_or(mapping);
        return skip(second, format!("duplicate key `{}`", keys[pair[0]].1));
    }
    Ok(reordering(mapping, sorted))
}

/// The reordering that sorts the elements of a list by these keys; none if they are sorted.
pub(super) fn of_items<'a>(
    list: NodeRef<'a>,
    keys: &[impl Ord],
    anchor_order: &AnchorOrder,
) -> Option<Reordering<'a>> {
    reordering(list, sorted(keys, anchor_order.pairs(list)))
}

fn reordering(node: NodeRef<'_>, order: Vec<usize>) -> Option<Reordering<'_>> {
    (!order.is_sorted()).then_some(Reordering { node, order })
}

/// Whether the keys of a mapping are sorted and unique.
fn in_order(mapping: NodeRef<'_>) -> bool {
    let mut before: Option<FieldOrder<'_>> = None;
    let entries = mapping.as_mapping().into_iter().flat_map(|mapping| mapping.entries());
    entries.enumerate().all(|(at, entry)| {
        let order = order_of(entry.key);
        let after = match (&before, &order) {
            (Some(before), Some(order)) => before <= order,
            _ => at == 0,
        };
        before = order;
        after
    })
}

/// The sorted order in which the entries of every pair keep their order: a topological sort that prefers small keys.
fn sorted<T: Ord>(keys: &[T], pairs: &[(usize, usize)]) -> Vec<usize> {
    let mut waiting = vec![0_usize; keys.len()];
    let mut after: Vec<Vec<usize>> =
        vec![Vec::new(); if pairs.is_empty() { 0 } else { keys.len() }];
    for &(first, second) in pairs {
        waiting[second] += 1;
        after[first].push(second);
    }
    let free = (0..keys.len()).filter(|at| waiting[*at] == 0);
    let mut ready: BinaryHeap<Reverse<(&T, usize)>> =
        free.map(|at| Reverse((&keys[at], at))).collect();
    let mut order = Vec::with_capacity(keys.len());
    while let Some(Reverse((_, at))) = ready.pop() {
        order.push(at);
        for &next in after.get(at).into_iter().flatten() {
            waiting[next] -= 1;
            if waiting[next] == 0 {
                ready.push(Reverse((&keys[next], next)));
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constrained_entries_keep_their_order() {
        assert_eq!(sorted(&["c", "b", "a"], &[]), [2, 1, 0]);
        assert_eq!(sorted(&["c", "b", "a"], &[(0, 2)]), [1, 0, 2]);
        assert_eq!(sorted(&["b", "a", "b"], &[]), [1, 0, 2]);
    }
}
