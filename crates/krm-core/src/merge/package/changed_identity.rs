//! Pairs resources whose identity one side changed: by kind and name, and by the position in their file.
//!
//! Without this, a resource to which upstream adds a namespace would be a deleted and an added one, and local's edits would be lost.

use std::collections::{BTreeMap, BTreeSet};

use super::unit::{MergeUnit, UnitVersion};
use crate::compare::PairedBy;
use crate::files::arrangement::ResourcePosition;

const UPSTREAM: usize = 1;
const LOCAL: usize = 2;

/// Joins units of a three-way merge of which one side changed the identity.
pub(super) fn join_three_way(units: &mut Vec<MergeUnit<'_>>, by_path: bool) {
    join_by_kind_and_name(units, by_path);
    join_by_position(units);
}

/// Joins units of a two-way merge where the source names no namespace, or no group.
pub(super) fn join_two_way(units: &mut Vec<MergeUnit<'_>>, by_path: bool) {
    let mut same: BTreeMap<(String, String, String), Vec<usize>> = BTreeMap::new();
    for (at, unit) in units.iter().enumerate() {
        for key in unit.sides().iter().flatten().filter_map(|it| kind_and_name(it, by_path)) {
            same.entry(key).or_default().push(at);
        }
    }
    let mut joins = Joins::default();
    for (at, unit) in units.iter().enumerate() {
        let (Some(source), None) = (unit.upstream, unit.local) else { continue };
        let Some(key) = kind_and_name(&source, by_path) else { continue };
        let (Some([one, other]), true) = (same.get(&key).map(Vec::as_slice), source.is_partial())
        else {
            continue;
        };
        joins.add(units, &[if *one == at { *other } else { *one }, at], PairedBy::KindAndName);
    }
    joins.apply(units);
}

/// Joins units that have the same kind and name, where no package has several of them.
///
/// Two additions are not joined: they are different resources, unless base has one that both of them come from.
fn join_by_kind_and_name(units: &mut Vec<MergeUnit<'_>>, by_path: bool) {
    if units.iter().all(is_complete) {
        return;
    }
    let mut same: BTreeMap<(String, String, String), Vec<usize>> = BTreeMap::new();
    for (at, unit) in units.iter().enumerate() {
        for version in unit.sides().into_iter().flatten() {
            let Some(key) = kind_and_name(&version, by_path) else { continue };
            let group = same.entry(key).or_default();
            if group.last() != Some(&at) {
                group.push(at);
            }
        }
    }
    let mut groups: Vec<Vec<usize>> = same.into_values().filter(|it| it.len() > 1).collect();
    groups.sort();
    let mut joins = Joins::default();
    let has_base = |group: &&Vec<usize>| group.iter().any(|at| units[*at].base.is_some());
    for group in groups.iter().filter(has_base) {
        joins.add(units, group, PairedBy::KindAndName);
    }
    joins.apply(units);
}

/// Joins a unit that a side does not have with one that only this side has, at the same position of the same file.
fn join_by_position(units: &mut Vec<MergeUnit<'_>>) {
    let mut added: BTreeMap<(usize, &str, ResourcePosition), usize> = BTreeMap::new();
    // What both sides have added is paired already. As a candidate it would only prevent the join of what one side has.
    let is_added = |unit: &MergeUnit<'_>| {
        unit.base.is_none() && (unit.upstream.is_none() || unit.local.is_none())
    };
    for (at, unit) in units.iter().enumerate().filter(|(_, unit)| is_added(unit)) {
        for (side, version) in unit.sides().iter().enumerate().skip(UPSTREAM) {
            if let Some(version) = version {
                added.insert((side, version.file.path.as_str(), version.spot), at);
            }
        }
    }
    if added.is_empty() {
        return;
    }
    let mut joins = Joins::default();
    for (at, unit) in units.iter().enumerate() {
        let Some(base) = unit.base else { continue };
        let mut group = vec![at];
        for side in [UPSTREAM, LOCAL].into_iter().filter(|side| unit.sides()[*side].is_none()) {
            let key = (side, base.file.path.as_str(), base.spot);
            let Some(other) = added.get(&key).copied() else { continue };
            let version = units[other].sides()[side];
            if version.is_some_and(|version| is_compatible(&base, &version)) {
                group.push(other);
            }
        }
        group.dedup();
        if group.len() > 1 {
            joins.add(units, &group, PairedBy::Position);
        }
    }
    joins.apply(units);
}

/// Whether two versions at the same position can be the same resource: their kinds and names agree as far as both have them.
///
/// A resource with another name is another resource. If the names differed, a resource that replaces one of the same kind would get
/// its local edits.
fn is_compatible(base: &UnitVersion<'_>, other: &UnitVersion<'_>) -> bool {
    let kinds = [base.kind(), other.kind()];
    let names = [base.name(), other.name()];
    let has_same_kind = kinds[0] == kinds[1];
    match names[0] == names[1] {
        true => has_same_kind || kinds.iter().any(|kind| kind.is_empty()),
        false => has_same_kind && names.iter().any(|name| name.is_empty()),
    }
}

/// What a unit is found by although its group or namespace changed; `None` without a kind or name.
fn kind_and_name(version: &UnitVersion<'_>, by_path: bool) -> Option<(String, String, String)> {
    let (kind, name) = (version.kind(), version.name());
    let is_named = !kind.is_empty() && !name.is_empty() && !version.file.path.is_package_file();
    let path = if by_path { version.file.path.as_str() } else { "" };
    is_named.then(|| (kind.into_owned(), name.into_owned(), path.to_owned()))
}

fn is_complete(unit: &MergeUnit<'_>) -> bool {
    unit.sides().iter().all(Option::is_some)
}

/// Units that are joined once all of them are known.
#[derive(Default)]
pub(super) struct Joins<'a> {
    joined: BTreeMap<usize, MergeUnit<'a>>,
    /// Units that are part of another one.
    absorbed: BTreeSet<usize>,
}

impl<'a> Joins<'a> {
    /// Joins a group, unless a side would have it twice.
    pub(super) fn add(&mut self, units: &[MergeUnit<'a>], group: &[usize], paired_by: PairedBy) {
        let is_free = |at: &usize| !self.absorbed.contains(at) && !self.joined.contains_key(at);
        let mut sides = [None; 3];
        for side in group.iter().flat_map(|at| units[*at].sides().into_iter().enumerate()) {
            let (at, Some(version)) = side else { continue };
            if sides[at].replace(version).is_some() {
                return;
            }
        }
        if !group.iter().all(is_free) {
            return;
        }
        self.joined.insert(group[0], MergeUnit::new(sides, paired_by));
        self.absorbed.extend(&group[1..]);
    }

    /// Leaves units out.
    pub(super) fn absorb(&mut self, units: &[usize]) {
        self.absorbed.extend(units);
    }

    pub(super) fn apply(self, units: &mut Vec<MergeUnit<'a>>) {
        let Self { mut joined, absorbed } = self;
        let mut at = 0;
        units.retain_mut(|unit| {
            if let Some(new) = joined.remove(&at) {
                *unit = new;
            }
            at += 1;
            !absorbed.contains(&(at - 1))
        });
    }
}
