//! Aligns the elements of two sequences for a diff.

use std::collections::{BTreeMap, BTreeSet};

use krm_yaml::{NodeRef, Segment};

use super::{ElementId, Elements, ListType, align_duplicates};
use crate::compare::fingerprint;

/// The elements of two sequences, side by side.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct AlignedElements {
    pub(crate) pairs: Vec<ElementPair>,
    /// The path segment of each pair, where its merge key is unique.
    pub(crate) segments: Vec<Option<Segment>>,
    /// Whether the elements that both sequences have are in another order.
    pub(crate) is_reordered: bool,
}

/// The positions of an element in the old and in the new sequence.
type ElementPair = (Option<usize>, Option<usize>);

/// Pairs the elements of two sequences: as a merge does, or of an atomic list by content and then by position.
pub(crate) fn align_elements(list_type: &ListType, sequences: [NodeRef<'_>; 2]) -> AlignedElements {
    if *list_type == ListType::Atomic {
        let [old, new]: [Vec<u64>; 2] =
            sequences.map(|it| it.children().map(fingerprint::of).collect());
        return align_by_content(&old, &new);
    }
    let [mut old, mut new] = sequences.map(|it| Elements::of(Some(it), list_type, |_| true));
    align_duplicates(list_type, [&mut old, &mut new]);
    let mut aligned = AlignedElements::default();
    let added = new.ids.iter().enumerate().filter(|(_, id)| old.find(id).is_none());
    let pairs = old.ids.iter().enumerate().map(|(at, id)| (id, (Some(at), new.find(id))));
    let pairs: Vec<(&ElementId, ElementPair)> =
        pairs.chain(added.map(|(at, id)| (id, (None, Some(at))))).collect();
    let kept: Vec<usize> = pairs.iter().filter_map(|(_, (old, new))| old.and(*new)).collect();
    aligned.is_reordered = !kept.is_sorted();
    let shared = shared_keys(pairs.iter().map(|(id, _)| *id));
    for (id, both) in pairs {
        aligned.pairs.push(both);
        aligned.segments.push(segment(id, list_type).filter(|_| !shared.contains(&id.first_key())));
    }
    aligned
}

/// The values of the first merge key that several elements have, which another key distinguishes.
fn shared_keys<'e>(ids: impl Iterator<Item = &'e ElementId>) -> BTreeSet<Option<&'e str>> {
    let (mut seen, mut shared) = (BTreeSet::new(), BTreeSet::new());
    for key in ids.map(ElementId::first_key) {
        if !seen.insert(key) {
            shared.insert(key);
        }
    }
    shared
}

fn segment(id: &ElementId, list_type: &ListType) -> Option<Segment> {
    let (key, value) = (list_type.path_key()?.to_owned(), id.first_key()?.to_owned());
    Some(Segment::Match { key, value })
}

/// Patience diff: elements that are unique in both sequences are anchors, and what lies between two anchors is compared by itself.
fn align_by_content(old: &[u64], new: &[u64]) -> AlignedElements {
    let mut pairs = Vec::with_capacity(old.len().max(new.len()));
    let (mut from, mut to) = (0, 0);
    for (old_at, new_at) in anchors(old, new) {
        align_between(old, new, (from, old_at), (to, new_at), &mut pairs);
        pairs.push((Some(old_at), Some(new_at)));
        (from, to) = (old_at + 1, new_at + 1);
    }
    align_between(old, new, (from, old.len()), (to, new.len()), &mut pairs);
    AlignedElements { pairs, ..AlignedElements::default() }
}

/// The longest run of elements that are unique in both sequences and have the same order in both.
pub(super) fn anchors(old: &[u64], new: &[u64]) -> Vec<(usize, usize)> {
    let unique = |list: &[u64]| {
        let mut places: BTreeMap<u64, Option<usize>> = BTreeMap::new();
        for (at, print) in list.iter().enumerate() {
            places.entry(*print).and_modify(|place| *place = None).or_insert(Some(at));
        }
        places
    };
    let in_new = unique(new);
    let mut both: Vec<(usize, usize)> = unique(old)
        .into_iter()
        .filter_map(|(print, at)| Some((at?, (*in_new.get(&print)?)?)))
        .collect();
    both.sort_unstable();
    longest_increasing(&both)
}

/// The longest subsequence whose second numbers increase.
fn longest_increasing(list: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(list.len());
    for (at, (_, value)) in list.iter().enumerate() {
        let length = ends.partition_point(|end| list[*end].1 < *value);
        before.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        if length == ends.len() {
            ends.push(at);
        } else {
            ends[length] = at;
        }
    }
    let mut run = Vec::new();
    let mut at = ends.last().copied();
    while let Some(here) = at {
        run.push(list[here]);
        at = before[here];
    }
    run.reverse();
    run
}

/// Pairs what lies between two anchors: equal elements from both ends first, the rest by position.
fn align_between(
    old: &[u64],
    new: &[u64],
    (mut from, mut old_end): (usize, usize),
    (mut to, mut new_end): (usize, usize),
    pairs: &mut Vec<ElementPair>,
) {
    while from < old_end && to < new_end && old[from] == new[to] {
        pairs.push((Some(from), Some(to)));
        (from, to) = (from + 1, to + 1);
    }
    let mut tail = Vec::new();
    while from < old_end && to < new_end && old[old_end - 1] == new[new_end - 1] {
        (old_end, new_end) = (old_end - 1, new_end - 1);
        tail.push((Some(old_end), Some(new_end)));
    }
    for at in 0..(old_end - from).max(new_end - to) {
        let place = |start: usize, end: usize| Some(start + at).filter(|at| *at < end);
        pairs.push((place(from, old_end), place(to, new_end)));
    }
    pairs.extend(tail.into_iter().rev());
}
