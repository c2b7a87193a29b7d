//! Pairs the elements of several versions that have the same merge keys: by content, by secondary keys, by similarity, then in order.
//!
//! Counting alone would pair the second of two equal elements with the first after an insertion before it, and so remove what only
//! local has when upstream removes the other one.

use std::collections::HashMap;
use std::hash::Hash;

use krm_yaml::{NodeKind, NodeRef};

use super::merge_keys::ListType;
use super::pair_by_key::{ElementKey, Elements};
use crate::compare::equality::{Equality, is_equal};
use crate::compare::fields::Fields;
use crate::compare::fingerprint;

/// Comparing every element with every other one is quadratic. Lists with more duplicates pair in order, after equal elements.
const MAX_COMPARISONS: usize = 4096;

/// Similarity only has to tell elements apart, so deep values count as different.
const MAX_DEPTH: usize = 16;

/// Numbers the elements with the same merge keys so that counterparts have the same number. The versions are base, local and
/// upstream, or a destination and its patch.
pub(crate) fn align_duplicates<const N: usize>(
    list_type: &ListType,
    mut versions: [&mut Elements<'_>; N],
) {
    if !versions.iter().any(|version| version.has_duplicates) {
        return;
    }
    for positions in groups(&versions).iter().filter(|group| group.iter().any(|it| it.len() > 1)) {
        let nodes = |version: usize| -> Vec<NodeRef<'_>> {
            positions[version].iter().map(|at| versions[version].nodes[*at]).collect()
        };
        let group = Group { list_type, versions: (0..N).map(nodes).collect() };
        let numbers = if N == 3 { group.three_way() } else { group.two_way() };
        for (version, numbered) in numbers.into_iter().enumerate() {
            let elements = &mut *versions[version];
            let guessed = numbered.guessed.map(|at| elements.nodes[positions[version][at]]);
            elements.duplicate = elements.duplicate.or(guessed);
            for (at, number) in positions[version].iter().zip(numbered.numbers) {
                elements.renumber(*at, number);
            }
        }
    }
    versions.iter_mut().for_each(|version| version.reindex());
}

/// The positions of the elements with the same keys in each version, in the order of the first version that has them.
fn groups<const N: usize>(versions: &[&mut Elements<'_>; N]) -> Vec<[Vec<usize>; N]> {
    let mut found: Vec<[Vec<usize>; N]> = Vec::new();
    let mut numbers: HashMap<&ElementKey, usize> = HashMap::new();
    for (version, elements) in versions.iter().enumerate() {
        for (at, id) in elements.ids.iter().enumerate() {
            let number = *numbers.entry(&id.key).or_insert(found.len());
            if number == found.len() {
                found.push(std::array::from_fn(|_| Vec::new()));
            }
            found[number][version].push(at);
        }
    }
    found
}

/// The elements of all versions with one merge key.
struct Group<'a, 'l> {
    list_type: &'l ListType,
    versions: Vec<Vec<NodeRef<'a>>>,
}

/// The result for one version.
struct Numbered {
    numbers: Vec<usize>,
    /// The first element that could be the counterpart of several others.
    guessed: Option<usize>,
}

/// Which elements of two versions are counterparts. Each belongs to one pair at most.
#[derive(Clone)]
struct Pairs {
    /// The position in the second version, for each element of the first.
    right: Vec<Option<usize>>,
    /// The position in the first version, for each element of the second.
    left: Vec<Option<usize>>,
}

impl Pairs {
    fn new(left: usize, right: usize) -> Self {
        Self { right: vec![None; left], left: vec![None; right] }
    }

    fn add(&mut self, left: usize, right: usize) {
        (self.right[left], self.left[right]) = (Some(right), Some(left));
    }

    fn remove(&mut self, left: usize) {
        let right = self.right[left].take();
        right.into_iter().for_each(|right| self.left[right] = None);
    }
}

impl Group<'_, '_> {
    /// A destination and its patch, or two versions that are compared: all elements of the smaller one have a counterpart.
    fn two_way(&self) -> Vec<Numbered> {
        let (old, new) = (self.versions[0].len(), self.versions[1].len());
        let mut pairs = Pairs::new(old, new);
        self.pair_equal([0, 1], &mut pairs, |_, _| true);
        let guessed = self.pair_similar([0, 1], &mut pairs, |_, _| true);
        let added =
            pairs.left.iter().scan(old, |next, left| Some(left.unwrap_or_else(|| bump(next))));
        let numbers = added.collect();
        vec![Numbered { numbers: (0..old).collect(), guessed: None }, Numbered { numbers, guessed }]
    }

    /// Base, local and upstream. An element that base does not have in the same form is the counterpart of one of base only if the
    /// other side has that one, too: otherwise what local added would go with what upstream removed.
    fn three_way(&self) -> Vec<Numbered> {
        let [base, local, upstream] = [0, 1, 2].map(|version| self.versions[version].len());
        let (mut ours, mut theirs) = (Pairs::new(base, local), Pairs::new(base, upstream));
        self.pair_equal([0, 1], &mut ours, |_, _| true);
        self.pair_equal([0, 2], &mut theirs, |_, _| true);
        let mut agreed = Pairs::new(local, upstream);
        let (old_ours, old_theirs) = (ours.clone(), theirs.clone());
        self.pair_equal([1, 2], &mut agreed, |at, other| {
            old_ours.left[at].is_none() && old_theirs.left[other].is_none()
        });
        let is_open = |at: usize| old_ours.right[at].is_none() && old_theirs.right[at].is_none();
        let is_agreed = |other: usize| agreed.left[other].is_some();
        // A merge that is repeated finds in local what it took from upstream, so that comes first.
        self.pair_similar([0, 2], &mut theirs, |at, other| is_open(at) && is_agreed(other));
        let in_theirs = self.pair_similar([0, 2], &mut theirs, |at, other| {
            old_ours.right[at].is_some() && !is_agreed(other)
        });
        self.pair_similar([0, 2], &mut theirs, |at, other| {
            old_ours.right[at].is_some() && is_agreed(other)
        });
        for at in 0..base {
            if let Some(local) = theirs.right[at].and_then(|other| agreed.left[other]) {
                ours.remove(at);
                ours.add(at, local);
            }
        }
        let in_ours = self.pair_similar([0, 1], &mut ours, |at, other| {
            old_theirs.right[at].is_some() && agreed.right[other].is_none()
        });
        self.pair_similar([0, 1], &mut ours, |at, other| {
            is_open(at) && agreed.right[other].is_none()
        });
        self.pair_similar([0, 2], &mut theirs, |at, other| is_open(at) && !is_agreed(other));
        for at in (0..base).filter(|at| is_open(*at)) {
            if ours.right[at].is_none() || theirs.right[at].is_none() {
                ours.remove(at);
                theirs.remove(at);
            }
        }
        let mut next = base;
        let local: Vec<usize> =
            ours.left.iter().map(|left| left.unwrap_or_else(|| bump(&mut next))).collect();
        let of_agreed = |at: usize| agreed.left[at].map(|local_at| local[local_at]);
        let upstream = (0..upstream)
            .map(|at| theirs.left[at].or_else(|| of_agreed(at)).unwrap_or_else(|| bump(&mut next)))
            .collect();
        vec![
            Numbered { numbers: (0..base).collect(), guessed: None },
            Numbered { numbers: local, guessed: in_ours },
            Numbered { numbers: upstream, guessed: in_theirs },
        ]
    }

    /// Pairs elements that are equal, and then those with the same secondary keys, each in order.
    fn pair_equal(
        &self,
        sides: [usize; 2],
        pairs: &mut Pairs,
        may_pair: impl Fn(usize, usize) -> bool,
    ) {
        self.pair_by(sides, pairs, &may_pair, |node| Some(fingerprint::of(node)));
        self.pair_by(sides, pairs, &may_pair, |node| self.secondary(node));
    }

    /// Pairs elements without a counterpart for which a property is the same.
    fn pair_by<T: Hash + Eq>(
        &self,
        [left, right]: [usize; 2],
        pairs: &mut Pairs,
        may_pair: &impl Fn(usize, usize) -> bool,
        property: impl Fn(NodeRef<'_>) -> Option<T>,
    ) {
        let mut candidates: HashMap<T, Vec<usize>> = HashMap::new();
        for (at, node) in self.versions[right].iter().enumerate().rev() {
            let found = property(*node).filter(|_| pairs.left[at].is_none());
            found.into_iter().for_each(|found| candidates.entry(found).or_default().push(at));
        }
        for (at, node) in self.versions[left].iter().enumerate() {
            let found = property(*node).filter(|_| pairs.right[at].is_none());
            let Some(same) = found.and_then(|found| candidates.get_mut(&found)) else { continue };
            if let Some(found) = same.iter().rposition(|other| may_pair(at, *other)) {
                pairs.add(at, same.remove(found));
            }
        }
    }

    /// The values of the secondary keys, if there are any and the element has all of them.
    fn secondary(&self, node: NodeRef<'_>) -> Option<Vec<String>> {
        let ListType::Map(keys) = self.list_type else { return None };
        let secondary = keys.iter().filter(|key| key.is_secondary);
        let values: Option<Vec<String>> =
            secondary.map(|key| Some(key.text(node)?.into_owned())).collect();
        values.filter(|values| !values.is_empty())
    }

    /// Pairs the most similar elements that have no counterpart yet, and equally similar ones in order. Returns the first element of
    /// the second version that had several candidates.
    fn pair_similar(
        &self,
        [left, right]: [usize; 2],
        pairs: &mut Pairs,
        may_pair: impl Fn(usize, usize) -> bool,
    ) -> Option<usize> {
        let is_free = |side: &[Option<usize>], at: &usize| side[*at].is_none();
        let lefts: Vec<usize> =
            (0..pairs.right.len()).filter(|at| is_free(&pairs.right, at)).collect();
        let rights: Vec<usize> =
            (0..pairs.left.len()).filter(|at| is_free(&pairs.left, at)).collect();
        let is_small = lefts.len() * rights.len() <= MAX_COMPARISONS;
        let mut scores = Vec::new();
        for (step, at) in lefts.iter().enumerate() {
            // Of too many elements only those at the same position are compared.
            let others = if is_small {
                rights.as_slice()
            } else {
                rights.get(step..=step).unwrap_or_default()
            };
            for other in others.iter().filter(|other| may_pair(*at, **other)) {
                let nodes = [self.versions[left][*at], self.versions[right][*other]];
                scores.push((common_scalars(nodes[0], nodes[1], MAX_DEPTH), *at, *other));
            }
        }
        scores.sort_by_key(|(score, at, other)| (usize::MAX - score, *at, *other));
        let mut guessed = None;
        for (_, at, other) in &scores {
            if pairs.right[*at].is_some() || pairs.left[*other].is_some() {
                continue;
            }
            let rivals = |it: &&(usize, usize, usize)| it.1 == *at || it.2 == *other;
            let is_choice = scores.iter().filter(rivals).count() > 1;
            guessed = guessed.or(is_choice.then_some(*other));
            pairs.add(*at, *other);
        }
        guessed
    }
}

/// The current number, which the next call does not return again.
fn bump(next: &mut usize) -> usize {
    *next += 1;
    *next - 1
}

/// The number of scalars that two values have in the same places.
fn common_scalars(a: NodeRef<'_>, b: NodeRef<'_>, depth: usize) -> usize {
    let (a, b) = (a.resolve(), b.resolve());
    let Some(depth) = depth.checked_sub(1) else { return 0 };
    match (a.kind(), b.kind()) {
        (NodeKind::Mapping, NodeKind::Mapping) => {
            let (a, b) = (Fields::of(a, true), Fields::of(b, true));
            let both = a.iter().filter_map(|(name, field)| Some((field.value, b.get(name)?.value)));
            both.map(|(a, b)| common_scalars(a, b, depth)).sum()
        }
        (NodeKind::Sequence, NodeKind::Sequence) => {
            a.children().zip(b.children()).map(|(a, b)| common_scalars(a, b, depth)).sum()
        }
        (NodeKind::Scalar(_), NodeKind::Scalar(_)) => usize::from(is_equal(a, b, Equality::Merge)),
        _ => 0,
    }
}

#[cfg(test)]
#[path = "duplicates_tests.rs"]
mod tests;
