//! Pairs the elements of several versions that have the same merge keys: by content, by secondary keys, by similarity, then in order.
//!
//! Counting alone would pair the second of two equal elements with the first after an insertion before it, and so remove what only
//! local has when upstream removes the other one.

use std::collections::{BTreeSet, HashMap};

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

/// The weight of equal secondary keys: above that of any number of equal fields.
const SECONDARY: usize = 1 << 20;

/// Numbers the elements with the same merge keys so that counterparts have the same number. The first version is the one that others
/// are compared with: base, or the destination of a patch.
pub(crate) fn align_duplicates<const N: usize>(
    list_type: &ListType,
    mut versions: [&mut Elements<'_>; N],
) {
    if !versions.iter().any(|version| version.has_duplicates) {
        return;
    }
    let groups = groups(&versions);
    for positions in groups.into_iter().filter(|group| group.iter().any(|it| it.len() > 1)) {
        let mut group = Group { list_type, clusters: Vec::new() };
        for (version, positions) in positions.iter().enumerate() {
            let nodes: Vec<_> = positions.iter().map(|at| versions[version].nodes[*at]).collect();
            let guessed = group.add(&nodes);
            versions[version].duplicate = versions[version].duplicate.or(guessed);
            for (number, cluster) in group.clusters.iter().enumerate() {
                if let Some(at) = cluster.last {
                    versions[version].renumber(positions[at], number);
                }
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
    clusters: Vec<Cluster<'a>>,
}

/// Elements that are counterparts of each other.
struct Cluster<'a> {
    /// The one of the first version that has it.
    node: NodeRef<'a>,
    /// The position of the one of the version that was added last, among the elements of that version.
    last: Option<usize>,
}

impl<'a> Group<'a, '_> {
    /// Adds the elements of a version. Returns the first one that could be the counterpart of several others.
    fn add(&mut self, nodes: &[NodeRef<'a>]) -> Option<NodeRef<'a>> {
        self.clusters.iter_mut().for_each(|cluster| cluster.last = None);
        let mut open: BTreeSet<usize> = (0..nodes.len()).collect();
        self.pair_equal(nodes, &mut open);
        let free = self.clusters.iter().filter(|cluster| cluster.last.is_none()).count();
        let is_choice = open.len() > 1 || free > 1;
        let mut guessed = None;
        for (score, cluster, at) in self.scores(nodes, &open) {
            if self.clusters[cluster].last.is_none() && open.remove(&at) {
                self.clusters[cluster].last = Some(at);
                guessed = guessed.or(Some(nodes[at]).filter(|_| is_choice && score < SECONDARY));
            }
        }
        let new = open.into_iter().map(|at| Cluster { node: nodes[at], last: Some(at) });
        self.clusters.extend(new);
        guessed
    }

    fn pair_equal(&mut self, nodes: &[NodeRef<'a>], open: &mut BTreeSet<usize>) {
        let mut by_content: HashMap<u64, Vec<usize>> = HashMap::new();
        for at in open.iter().rev() {
            by_content.entry(fingerprint::of(nodes[*at])).or_default().push(*at);
        }
        for cluster in &mut self.clusters {
            let same = by_content.get_mut(&fingerprint::of(cluster.node));
            cluster.last = same.and_then(Vec::pop);
            cluster.last.iter().for_each(|at| _ = open.remove(at));
        }
    }

    /// The possible pairs of free clusters and open elements, the most similar first and equally similar ones in order.
    fn scores(&self, nodes: &[NodeRef<'a>], open: &BTreeSet<usize>) -> Vec<(usize, usize, usize)> {
        let free = || {
            let clusters = self.clusters.iter().enumerate();
            clusters.filter(|(_, cluster)| cluster.last.is_none())
        };
        if free().count() * open.len() > MAX_COMPARISONS {
            let in_order = free().zip(open).map(|((number, _), at)| (0, number, *at));
            return in_order.collect();
        }
        let mut scores: Vec<(usize, usize, usize)> = free()
            .flat_map(|(number, cluster)| {
                open.iter().map(move |at| (self.score(cluster.node, nodes[*at]), number, *at))
            })
            .collect();
        scores.sort_by_key(|(score, number, at)| (usize::MAX - score, *number, *at));
        scores
    }

    fn score(&self, a: NodeRef<'_>, b: NodeRef<'_>) -> usize {
        let keys = match self.list_type {
            ListType::Map(keys) => keys.as_slice(),
            _ => &[],
        };
        let mut secondary = keys.iter().filter(|key| key.is_secondary).peekable();
        let has_same = secondary.peek().is_some()
            && secondary.all(|key| key.text(a).is_some() && key.text(a) == key.text(b));
        (if has_same { SECONDARY } else { 0 }) + common_scalars(a, b, MAX_DEPTH)
    }
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
mod tests {
    use super::*;
    use crate::compare::sequences::KeyField;
    use krm_yaml::File;

    /// The numbers of the elements of each version.
    fn numbers<const N: usize>(keys: Vec<KeyField>, texts: [&str; N]) -> [Vec<usize>; N] {
        let files = texts.map(|text| File::parse(text.to_owned()).unwrap());
        let list_type = ListType::Map(keys);
        let mut elements = files.each_ref().map(|file| {
            let root = file.document(0).and_then(|document| document.root());
            Elements::of(root, &list_type, |_| true)
        });
        align_duplicates(&list_type, elements.each_mut());
        elements.map(|elements| elements.ids.iter().map(|id| id.occurrence).collect())
    }

    fn name() -> Vec<KeyField> {
        vec![KeyField::new("name")]
    }

    #[test]
    fn equal_elements_are_counterparts() {
        let base = "[{name: a, v: 1}]";
        let local = "[{name: a, v: 0}, {name: a, v: 1}]";
        assert_eq!(numbers(name(), [base, local, base]), [vec![0], vec![1, 0], vec![0]]);
        assert_eq!(numbers(name(), [base, local, "[]"]), [vec![0], vec![1, 0], vec![]]);
    }

    #[test]
    fn similar_elements_are_counterparts() {
        let base = "[{name: a, k: x, v: 1}, {name: a, k: y, v: 1}]";
        let upstream = "[{name: a, k: y, v: 2}, {name: a, k: x, v: 2}]";
        assert_eq!(numbers(name(), [base, upstream]), [vec![0, 1], vec![1, 0]]);
        assert_eq!(numbers(name(), [base, "[{name: a, k: y}]"]), [vec![0, 1], vec![1]]);
        assert_eq!(numbers(name(), [base, "[{name: a}, {name: a}]"]), [vec![0, 1], vec![0, 1]]);
    }

    #[test]
    fn secondary_keys_decide_only_between_duplicates() {
        let secondary = KeyField { is_secondary: true, ..KeyField::new("when") };
        let keys = || vec![KeyField::new("key"), secondary.clone()];
        let both = "[{key: a, when: x, v: 1, w: 1}, {key: a, when: y}]";
        assert_eq!(
            numbers(keys(), [both, "[{key: a, when: y, v: 1, w: 1}]"]),
            [vec![0, 1], vec![1]]
        );
        assert_eq!(numbers(keys(), ["[{key: a, when: x}]", "[{key: a, when: y}]"]), [[0], [0]]);
    }
}
