//! Which elements of two lists are one: by a key that all of them have, else by content, else by position.

use std::borrow::Cow;
use std::collections::BTreeMap;

use krm_yaml::NodeRef;

use crate::fingerprint;
use crate::resource::{field, scalar_text};

/// Spec: the fields by which elements are known where nothing says otherwise, in this order.
pub(crate) const KEYS: [&str; 7] =
    ["mountPath", "devicePath", "ip", "type", "topologyKey", "name", "containerPort"];

/// The elements of two lists, side by side.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Aligned<'a> {
    /// Positions in the old and in the new list.
    pub(super) pairs: Vec<(Option<usize>, Option<usize>)>,
    /// The key, and its value for each pair.
    pub(super) key: Option<(&'static str, Vec<Cow<'a, str>>)>,
    /// Whether those that both have stand in another order.
    pub(super) is_reordered: bool,
}

pub(super) fn align<'a>(old: &[NodeRef<'a>], new: &[NodeRef<'a>]) -> Aligned<'a> {
    KEYS.iter().find_map(|key| by_key(key, old, new)).unwrap_or_else(|| by_content(old, new))
}

/// The values of a key, where every element has one and no two have the same.
fn values<'a>(key: &str, list: &[NodeRef<'a>]) -> Option<BTreeMap<Cow<'a, str>, usize>> {
    let mut values = BTreeMap::new();
    for (at, item) in list.iter().enumerate() {
        let value = scalar_text(field(*item, key)?)?;
        if values.insert(value, at).is_some() {
            return None;
        }
    }
    Some(values)
}

fn by_key<'a>(key: &'static str, old: &[NodeRef<'a>], new: &[NodeRef<'a>]) -> Option<Aligned<'a>> {
    if old.is_empty() && new.is_empty() {
        return None;
    }
    let (before, after) = (values(key, old)?, values(key, new)?);
    let mut was: Vec<(usize, &Cow<'a, str>)> = before.iter().map(|(it, at)| (*at, it)).collect();
    was.sort_unstable_by_key(|(at, _)| *at);
    let mut added: Vec<(usize, &Cow<'a, str>)> = after
        .iter()
        .filter(|(it, _)| !before.contains_key(*it))
        .map(|(it, at)| (*at, it))
        .collect();
    added.sort_unstable_by_key(|(at, _)| *at);
    let mut aligned = Aligned::default();
    let mut names = Vec::new();
    for (at, name) in was {
        aligned.pairs.push((Some(at), after.get(name).copied()));
        names.push(name.clone());
    }
    let kept: Vec<usize> = aligned.pairs.iter().filter_map(|(_, new)| *new).collect();
    aligned.is_reordered = !kept.is_sorted();
    for (at, name) in added {
        aligned.pairs.push((None, Some(at)));
        names.push(name.clone());
    }
    aligned.key = Some((key, names));
    Some(aligned)
}

fn by_content<'a>(old: &[NodeRef<'a>], new: &[NodeRef<'a>]) -> Aligned<'a> {
    let prints = |list: &[NodeRef<'_>]| list.iter().map(|it| fingerprint::of(*it)).collect();
    let (old, new): (Vec<u64>, Vec<u64>) = (prints(old), prints(new));
    let mut pairs = Vec::with_capacity(old.len().max(new.len()));
    let (mut from, mut to) = (0, 0);
    for (old_at, new_at) in anchors(&old, &new) {
        between(&old, &new, (from, old_at), (to, new_at), &mut pairs);
        pairs.push((Some(old_at), Some(new_at)));
        (from, to) = (old_at + 1, new_at + 1);
    }
    between(&old, &new, (from, old.len()), (to, new.len()), &mut pairs);
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
