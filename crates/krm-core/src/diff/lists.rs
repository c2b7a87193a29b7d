//! Which elements of two lists are one: as a merge pairs them; of a list that merges take whole, by content, then by position.

use std::collections::{BTreeMap, BTreeSet};

use krm_yaml::{NodeRef, Segment};

use crate::compare::fingerprint;
use crate::merge::node::{ElementId, Elements, ListKind};

/// The elements of two lists, side by side.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Aligned {
    pub(super) pairs: Vec<Both>,
    /// The step to each pair, where its key tells it from all others.
    pub(super) steps: Vec<Option<Segment>>,
    /// Whether those that both have stand in another order.
    pub(super) is_reordered: bool,
}

/// Positions in the old and in the new list.
type Both = (Option<usize>, Option<usize>);

pub(super) fn align<'a>(kind: &ListKind, lists: [NodeRef<'a>; 2]) -> Aligned {
    if *kind == ListKind::Whole {
        let [old, new]: [Vec<u64>; 2] =
            lists.map(|list| list.children().map(fingerprint::of).collect());
        return by_content(&old, &new);
    }
    let [old, new] = lists.map(|list| Elements::of(Some(list), kind, |_| true));
    let mut aligned = Aligned::default();
    let came = new.ids.iter().enumerate().filter(|(_, id)| old.find(id).is_none());
    let pairs = old.ids.iter().enumerate().map(|(at, id)| (id, (Some(at), new.find(id))));
    let pairs: Vec<(&ElementId, Both)> =
        pairs.chain(came.map(|(at, id)| (id, (None, Some(at))))).collect();
    let kept: Vec<usize> = pairs.iter().filter_map(|(_, (old, new))| old.and(*new)).collect();
    aligned.is_reordered = !kept.is_sorted();
    let shared = shared_keys(pairs.iter().map(|(id, _)| *id));
    for (id, both) in pairs {
        aligned.pairs.push(both);
        aligned.steps.push(step(id, kind).filter(|_| !shared.contains(&id.first_key())));
    }
    aligned
}

/// The values of the first key that more than one element has: others tell these apart.
fn shared_keys<'e>(ids: impl Iterator<Item = &'e ElementId>) -> BTreeSet<Option<&'e str>> {
    let (mut seen, mut shared) = (BTreeSet::new(), BTreeSet::new());
    for key in ids.map(ElementId::first_key) {
        if !seen.insert(key) {
            shared.insert(key);
        }
    }
    shared
}

fn step(id: &ElementId, kind: &ListKind) -> Option<Segment> {
    let ListKind::Keyed(keys) = kind else { return None };
    let value = id.first_key()?.to_owned();
    Some(Segment::Match { key: keys.first()?.name.clone(), value })
}

fn by_content(old: &[u64], new: &[u64]) -> Aligned {
    let mut pairs = Vec::with_capacity(old.len().max(new.len()));
    let (mut from, mut to) = (0, 0);
    for (old_at, new_at) in anchors(old, new) {
        between(old, new, (from, old_at), (to, new_at), &mut pairs);
        pairs.push((Some(old_at), Some(new_at)));
        (from, to) = (old_at + 1, new_at + 1);
    }
    between(old, new, (from, old.len()), (to, new.len()), &mut pairs);
    Aligned { pairs, ..Aligned::default() }
}

/// Elements that each list has once: the longest row of them that stands in the same order in both.
fn anchors(old: &[u64], new: &[u64]) -> Vec<(usize, usize)> {
    let once = |list: &[u64]| {
        let mut places: BTreeMap<u64, Option<usize>> = BTreeMap::new();
        for (at, print) in list.iter().enumerate() {
            places.entry(*print).and_modify(|place| *place = None).or_insert(Some(at));
        }
        places
    };
    let there = once(new);
    let mut both: Vec<(usize, usize)> = once(old)
        .into_iter()
        .filter_map(|(print, at)| Some((at?, (*there.get(&print)?)?)))
        .collect();
    both.sort_unstable();
    longest_rising(&both)
}

/// The longest subsequence whose second numbers rise.
fn longest_rising(list: &[(usize, usize)]) -> Vec<(usize, usize)> {
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
    let mut row = Vec::new();
    let mut at = ends.last().copied();
    while let Some(here) = at {
        row.push(list[here]);
        at = before[here];
    }
    row.reverse();
    row
}

/// Between two anchors: equal ends first, the rest by position.
fn between(
    old: &[u64],
    new: &[u64],
    (mut from, mut old_end): (usize, usize),
    (mut to, mut new_end): (usize, usize),
    pairs: &mut Vec<(Option<usize>, Option<usize>)>,
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
