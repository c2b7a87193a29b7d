//! Pairs the elements of two versions of a sequence without merge keys: equal elements first, then those that resemble each other.

use std::ops::Range;

use krm_yaml::{NodeKind, NodeRef};

use super::align_by_content::anchors;
use crate::compare::Fields;
use crate::compare::fingerprint;

/// How alike equal elements are, in per mille.
const EQUAL: usize = 1000;

/// How alike two mappings must be to be versions of one element, in per mille of their fields.
const ALIKE: usize = 500;

/// How alike two mappings are at least whose first fields are equal: most lists name their elements there.
const SAME_FIRST_FIELD: usize = 750;

/// Larger runs of changed elements are not searched for similar ones, which takes quadratic time.
const MAX_CELLS: usize = 1 << 16;

/// For each element of the old sequence its position in the new one. The positions increase.
pub(crate) fn pair_by_content(old: &[NodeRef<'_>], new: &[NodeRef<'_>]) -> Vec<Option<usize>> {
    let mut pairing = Pairing {
        prints: [old, new].map(|it| it.iter().map(|node| fingerprint::of(*node)).collect()),
        old,
        new,
        pairs: vec![None; old.len()],
    };
    let (mut from, mut to) = (0, 0);
    for (old_at, new_at) in anchors(&pairing.prints[0], &pairing.prints[1]) {
        pairing.pair_between(from..old_at, to..new_at);
        pairing.pairs[old_at] = Some(new_at);
        (from, to) = (old_at + 1, new_at + 1);
    }
    pairing.pair_between(from..old.len(), to..new.len());
    pairing.pairs
}

struct Pairing<'n, 'a> {
    old: &'n [NodeRef<'a>],
    new: &'n [NodeRef<'a>],
    prints: [Vec<u64>; 2],
    pairs: Vec<Option<usize>>,
}

/// What two mappings are compared by.
#[derive(Default)]
struct Features {
    /// Whether the first field is a scalar, which may be a name.
    is_named: bool,
    /// The fields, each with the fingerprint of its value.
    fields: Vec<(String, u64)>,
}

impl Pairing<'_, '_> {
    /// Pairs what lies between two pairs of equal elements: equal ones from both ends, then similar ones.
    fn pair_between(&mut self, mut old: Range<usize>, mut new: Range<usize>) {
        let [old_prints, new_prints] = &self.prints;
        while !old.is_empty() && !new.is_empty() && old_prints[old.start] == new_prints[new.start] {
            self.pairs[old.start] = Some(new.start);
            (old.start, new.start) = (old.start + 1, new.start + 1);
        }
        while !old.is_empty()
            && !new.is_empty()
            && old_prints[old.end - 1] == new_prints[new.end - 1]
        {
            (old.end, new.end) = (old.end - 1, new.end - 1);
            self.pairs[old.end] = Some(new.end);
        }
        self.pair_similar(&old, &new);
    }

    /// Pairs equal elements and similar mappings, in the order that makes the pairs most alike in sum. Scalars are alike only if they are
    /// equal: a changed scalar cannot be distinguished from one that was removed and another one that was added.
    fn pair_similar(&mut self, old: &Range<usize>, new: &Range<usize>) {
        let (rows, columns) = (old.len(), new.len());
        if rows * columns > MAX_CELLS {
            return;
        }
        let features = |nodes: &[NodeRef<'_>]| nodes.iter().map(|it| Features::of(*it)).collect();
        let before: Vec<Features> = features(&self.old[old.clone()]);
        let after: Vec<Features> = features(&self.new[new.clone()]);
        let is_single = rows == 1 && columns == 1;
        let [old_prints, new_prints] = &self.prints;
        let (old_prints, new_prints) = (&old_prints[old.clone()], &new_prints[new.clone()]);
        let score = |row: usize, column: usize| {
            if old_prints[row] == new_prints[column] {
                return Some(EQUAL);
            }
            let score = before[row].resemblance(&after[column]);
            Some(score).filter(|score| *score >= ALIKE || is_single && *score > 0)
        };
        // The best sum for the elements from a row and a column on.
        let mut best = vec![vec![0_usize; columns + 1]; rows + 1];
        for row in (0..rows).rev() {
            for column in (0..columns).rev() {
                let paired = score(row, column).map_or(0, |it| it + best[row + 1][column + 1]);
                best[row][column] = paired.max(best[row + 1][column]).max(best[row][column + 1]);
            }
        }
        let (mut row, mut column) = (0, 0);
        while row < rows && column < columns {
            let here = best[row][column];
            if score(row, column).is_some_and(|it| it + best[row + 1][column + 1] == here) {
                self.pairs[old.start + row] = Some(new.start + column);
                (row, column) = (row + 1, column + 1);
            } else if best[row + 1][column] == here {
                row += 1;
            } else {
                column += 1;
            }
        }
    }
}

impl Features {
    fn of(node: NodeRef<'_>) -> Self {
        let node = node.resolve();
        if node.kind() != NodeKind::Mapping {
            return Self::default();
        }
        let fields = Fields::of(node, true);
        let first = fields.iter().next();
        Self {
            is_named: first.is_some_and(|(_, field)| field.value.resolve().as_scalar().is_some()),
            fields: fields
                .iter()
                .map(|(name, field)| (name.to_owned(), fingerprint::of(field.value)))
                .collect(),
        }
    }

    /// How many of the fields of two mappings are equal, in per mille.
    fn resemblance(&self, other: &Self) -> usize {
        let (one, other, is_named) = (&self.fields, &other.fields, self.is_named && other.is_named);
        let (Some(first), Some(other_first)) = (one.first(), other.first()) else { return 0 };
        let common = one.iter().filter(|field| other.contains(field)).count();
        let share = 2000 * common / (one.len() + other.len());
        if is_named && first == other_first { share.max(SAME_FIRST_FIELD) } else { share }
    }
}

/// How alike two elements are, in per mille; 0 where one of them is not a mapping.
pub(super) fn resemblance(one: NodeRef<'_>, other: NodeRef<'_>) -> usize {
    Features::of(one).resemblance(&Features::of(other))
}

#[cfg(test)]
mod tests {
    use krm_yaml::File;

    use super::*;

    fn pairs(old: &str, new: &str) -> Vec<Option<usize>> {
        let [old, new] = [old, new].map(|text| File::parse(text.to_owned()).unwrap());
        let elements = |file| {
            let root = File::document(file, 0).and_then(|document| document.root()).unwrap();
            root.children().collect::<Vec<_>>()
        };
        pair_by_content(&elements(&old), &elements(&new))
    }

    #[test]
    fn equal_elements_pair_in_order() {
        assert_eq!(pairs("[a, b, c]", "[a, x, b, c]"), [Some(0), Some(2), Some(3)]);
        assert_eq!(pairs("[a, b, c]", "[c, a, b]"), [Some(1), Some(2), None]);
    }

    #[test]
    fn changed_scalar_is_another_element() {
        assert_eq!(pairs("[a, b, c]", "[a, x, c]"), [Some(0), None, Some(2)]);
        assert_eq!(pairs("[a, b, c]", "[a, x, y, c]"), [Some(0), None, Some(3)]);
    }

    #[test]
    fn changed_mapping_pairs_with_the_one_that_resembles_it() {
        let old = "[{alert: a, expr: 1, for: 5m}, {alert: b, expr: 1, for: 5m}]";
        let new = "[{alert: n, expr: 9, for: 1m}, {alert: a, expr: 2, for: 5m}, {alert: b, expr: 3, for: 1m}]";
        assert_eq!(pairs(old, new), [Some(1), Some(2)]);
        assert_eq!(pairs("[{a: 1}]", "[{b: 1}]"), [None]);
    }
}
