//! The alignment of the versions of a sequence whose elements have no merge key.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use krm_yaml::NodeRef;

use super::options::OnConflict;
use crate::compare::fingerprint;
use crate::compare::sequences::pair_by_content;

/// How the versions of a sequence are aligned.
pub(super) struct SequencePlan<'a> {
    pub(super) base: Vec<NodeRef<'a>>,
    pub(super) local: Vec<NodeRef<'a>>,
    pub(super) upstream: Vec<NodeRef<'a>>,
    /// Positions in base, local and upstream.
    stable: Vec<[usize; 3]>,
    /// Whether the merge has a base. In a two-way merge the destination takes its place.
    pub(super) has_base: bool,
    /// The regions that upstream changed.
    pub(super) regions: Vec<Region>,
}

/// What lies between two stable elements, without what both sides have at its beginning and end.
pub(super) struct Region {
    pub(super) base: Range<usize>,
    pub(super) local: Range<usize>,
    pub(super) upstream: Range<usize>,
    pub(super) is_conflict: bool,
}

impl<'a> SequencePlan<'a> {
    /// Aligns base, local and upstream; `None` where they have nothing in common, or where a conflict is to be marked: a marker holds a
    /// whole sequence.
    pub(super) fn of(versions: [NodeRef<'a>; 3], on_conflict: OnConflict) -> Option<Self> {
        let [base, local, upstream] = versions.map(|it| it.children().collect::<Vec<_>>());
        let (mut here, mut there) =
            (pair_by_content(&base, &local), pair_by_content(&base, &upstream));
        let across = pair_by_content(&local, &upstream);
        let mut back = vec![None; upstream.len()];
        across.iter().enumerate().for_each(|(at, pair)| {
            if let Some(pair) = pair {
                back[*pair] = Some(at);
            }
        });
        complete(&mut here, &there, &back);
        complete(&mut there, &here, &across);
        let stable: Vec<[usize; 3]> =
            (0..base.len()).filter_map(|at| Some([at, here[at]?, there[at]?])).collect();
        let prints = [&base, &local, &upstream]
            .map(|it| it.iter().map(|node| fingerprint::of(*node)).collect::<Vec<_>>());
        let ends = [[base.len(), local.len(), upstream.len()]];
        let mut regions = Vec::new();
        let mut from = [0; 3];
        for to in stable.iter().chain(&ends) {
            let ranges = [0, 1, 2].map(|version| from[version]..to[version]);
            regions.extend(Region::changed_upstream(&prints, ranges));
            from = to.map(|at| at + 1);
        }
        let has_conflict = regions.iter().any(|region| region.is_conflict);
        let is_whole = !regions.is_empty() && stable.is_empty();
        if is_whole
            || has_conflict && on_conflict == OnConflict::Mark
            || is_ambiguous(&prints, &stable)
            || has_new_duplicates(&prints, &stable, &regions)
        {
            return None;
        }
        Some(Self { base, local, upstream, stable, has_base: true, regions })
    }

    /// Aligns the two versions of a two-way merge.
    pub(super) fn of_two_way(source: NodeRef<'a>, destination: NodeRef<'a>) -> Option<Self> {
        let plan = Self::of([destination, destination, source], OnConflict::Upstream)?;
        Some(Self { has_base: false, ..plan })
    }

    pub(super) fn stable(&self) -> impl Iterator<Item = [usize; 3]> {
        self.stable.iter().copied()
    }
}

/// Pairs elements of base with those of one side through the other side: an element in which both sides changed fields may resemble only
/// the other side's version of it.
fn complete(pairs: &mut [Option<usize>], others: &[Option<usize>], across: &[Option<usize>]) {
    for at in 0..pairs.len() {
        let found = others[at].filter(|_| pairs[at].is_none()).and_then(|other| across[other]);
        let Some(found) = found else { continue };
        let follows = pairs[..at].iter().flatten().next_back().is_none_or(|it| *it < found);
        let precedes = pairs[at..].iter().flatten().next().is_none_or(|it| *it > found);
        if follows && precedes {
            pairs[at] = Some(found);
        }
    }
}

/// Whether both sides changed the sequence, and an element that was added, removed or changed occurs several times. It is not
/// clear which of them it was, and the same merge again could decide otherwise.
fn is_ambiguous(prints: &[Vec<u64>; 3], stable: &[[usize; 3]]) -> bool {
    let [base, local, upstream] = prints;
    if base == local || base == upstream || local == upstream {
        return false;
    }
    let is_untouched = |[old, ours, theirs]: &&[usize; 3]| {
        base[*old] == local[*ours] && base[*old] == upstream[*theirs]
    };
    let untouched: Vec<[usize; 3]> = stable.iter().filter(is_untouched).copied().collect();
    prints.iter().enumerate().any(|(version, prints)| {
        let mut counts: HashMap<u64, usize> = HashMap::new();
        prints.iter().for_each(|print| *counts.entry(*print).or_default() += 1);
        let untouched: HashSet<usize> = untouched.iter().map(|at| at[version]).collect();
        (0..prints.len()).any(|at| !untouched.contains(&at) && counts[&prints[at]] > 1)
    })
}

/// Whether the result would have an element more often than either side, because each side added it in its own way.
fn has_new_duplicates(
    [base, local, upstream]: &[Vec<u64>; 3],
    stable: &[[usize; 3]],
    regions: &[Region],
) -> bool {
    let count = |prints: &mut dyn Iterator<Item = u64>| {
        let mut counts: HashMap<u64, usize> = HashMap::new();
        prints.for_each(|print| *counts.entry(print).or_default() += 1);
        counts
    };
    let replaced: HashSet<usize> = regions.iter().flat_map(|it| it.local.clone()).collect();
    let changed: HashMap<usize, u64> = stable
        .iter()
        .filter(|[old, ours, _]| base[*old] == local[*ours])
        .map(|[_, ours, theirs]| (*ours, upstream[*theirs]))
        .collect();
    let kept = (0..local.len()).filter(|at| !replaced.contains(at));
    let kept = kept.map(|at| changed.get(&at).copied().unwrap_or(local[at]));
    let taken = regions.iter().flat_map(|region| &upstream[region.upstream.clone()]);
    let merged = count(&mut kept.chain(taken.copied()));
    let [ours, theirs] = [local, upstream].map(|prints| count(&mut prints.iter().copied()));
    let most = |print: &u64| ours.get(print).max(theirs.get(print)).copied().unwrap_or_default();
    merged.iter().any(|(print, count)| *count > most(print))
}

impl Region {
    /// A region, where upstream changed it and local did not make the same change.
    fn changed_upstream(
        [base, local, upstream]: &[Vec<u64>; 3],
        [mut old, mut ours, mut theirs]: [Range<usize>; 3],
    ) -> Option<Self> {
        let before = &base[old.clone()];
        if *before == upstream[theirs.clone()] {
            return None;
        }
        let start = ours.start;
        let is_ours_unchanged = *before == local[ours.clone()];
        while !ours.is_empty() && !theirs.is_empty() && local[ours.start] == upstream[theirs.start]
        {
            (ours.start, theirs.start) = (ours.start + 1, theirs.start + 1);
        }
        while !ours.is_empty()
            && !theirs.is_empty()
            && local[ours.end - 1] == upstream[theirs.end - 1]
        {
            (ours.end, theirs.end) = (ours.end - 1, theirs.end - 1);
        }
        // Both sides made the same change, and perhaps one of them another one beside it.
        let is_same = ours.is_empty() && theirs.is_empty();
        if is_same || !is_ours_unchanged && *before == upstream[theirs.clone()] {
            return None;
        }
        let is_conflict = !is_ours_unchanged && *before != local[ours.clone()];
        if is_ours_unchanged {
            old = old.start + ours.start - start..old.start + ours.end - start;
        }
        Some(Self { base: old, local: ours, upstream: theirs, is_conflict })
    }
}
