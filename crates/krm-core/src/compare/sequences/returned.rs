//! Pairs the elements of a sequence that a function returned with those that were sent.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ops::Range;

use krm_yaml::{NodeKind, NodeRef};

use super::merge_keys::{InferredKey, infer_key, key_text};
use crate::compare::equality::{Equality, ResourceLevel, fields_as_sent, is_equal};
use crate::compare::fingerprint::of_returned;

/// For each returned element the position of the one that was sent: equal elements from both ends first, then by a key that all
/// of them have, by content, and of the rest those between the same neighbours that are similar.
///
/// A pair decides which text is edited. A wrong one still yields the value that was returned, but moves comments and changes more lines
/// than necessary.
pub(crate) fn pair_returned(sent: &[NodeRef<'_>], returned: &[NodeRef<'_>]) -> Vec<Option<usize>> {
    let mut pairs = Pairs {
        sent,
        returned,
        to: vec![None; returned.len()],
        taken: vec![false; sent.len()],
        is_keyed: false,
    };
    pairs.by_ends();
    if let InferredKey::Unique(key) = infer_key(&[sent, returned]) {
        pairs.is_keyed = true;
        pairs.by_key(key);
    }
    pairs.by_content();
    pairs.by_neighbours();
    pairs.to
}

struct Pairs<'s, 'a, 'b> {
    sent: &'s [NodeRef<'a>],
    returned: &'s [NodeRef<'b>],
    to: Vec<Option<usize>>,
    taken: Vec<bool>,
    is_keyed: bool,
}

impl Pairs<'_, '_, '_> {
    fn pair(&mut self, sent: usize, returned: usize) {
        self.to[returned] = Some(sent);
        self.taken[sent] = true;
    }

    /// Equal elements from both ends. Comparing them by position tells which `yes` a `true` was; a fingerprint cannot.
    fn by_ends(&mut self) {
        let (sent, returned) = (self.sent, self.returned);
        let equality = Equality::FunctionOutput(ResourceLevel::Other);
        let is_same = |(a, b): &(&NodeRef<'_>, &NodeRef<'_>)| is_equal(**a, **b, equality);
        let ahead = sent.iter().zip(returned).take_while(is_same).count();
        let rest = (sent[ahead..].iter().rev()).zip(returned[ahead..].iter().rev());
        let behind = rest.take_while(is_same).count();
        (0..ahead).for_each(|at| self.pair(at, at));
        for at in 1..=behind {
            self.pair(sent.len() - at, returned.len() - at);
        }
    }

    /// By a field that every element has with a value of its own.
    fn by_key(&mut self, key: &str) {
        let (mut ours, theirs) = (positions(key, self.sent), positions(key, self.returned));
        for (value, at) in theirs {
            let sent = ours.remove(&value).filter(|sent| !self.taken[*sent]);
            if let Some(sent) = sent.filter(|_| self.to[at].is_none()) {
                self.pair(sent, at);
            }
        }
    }

    fn by_content(&mut self) {
        if self.to.iter().all(Option::is_some) || self.taken.iter().all(|taken| *taken) {
            return;
        }
        let mut prints: HashMap<u64, VecDeque<usize>> = HashMap::new();
        for (at, node) in self.sent.iter().enumerate().filter(|(at, _)| !self.taken[*at]) {
            prints.entry(of_returned(*node)).or_default().push_back(at);
        }
        for at in 0..self.returned.len() {
            if self.to[at].is_none() {
                let same = prints.get_mut(&of_returned(self.returned[at]));
                let sent = same.and_then(VecDeque::pop_front);
                sent.into_iter().for_each(|sent| self.pair(sent, at));
            }
        }
    }

    /// What is left between two neighbours that both sequences have: where both have as many elements they pair in their order,
    /// otherwise those next to a neighbour that are similar.
    fn by_neighbours(&mut self) {
        let mut at = 0;
        while at < self.returned.len() {
            if self.to[at].is_some() {
                at += 1;
                continue;
            }
            let end = (at..self.returned.len()).find(|it| self.to[*it].is_some());
            let start =
                at.checked_sub(1).map_or(Some(0), |before| self.to[before].map(|it| it + 1));
            let stop = end.map_or(Some(self.sent.len()), |end| self.to[end]);
            let end = end.unwrap_or(self.returned.len());
            self.between(start.unwrap_or(0)..stop.unwrap_or(0), at..end);
            at = end;
        }
    }

    fn between(&mut self, sent: Range<usize>, returned: Range<usize>) {
        let is_even = sent.len() == returned.len();
        for (step, at) in returned.clone().enumerate() {
            let ahead = sent.start + step;
            let from_end = returned.end - at;
            let behind = sent.end.checked_sub(from_end).filter(|it| sent.contains(it));
            let mut candidates = [Some(ahead), behind].into_iter().flatten();
            let can_pair = |old: &usize| sent.contains(old) && self.can_pair(*old, at, is_even);
            if let Some(old) = candidates.find(can_pair) {
                self.pair(old, at);
            }
        }
    }

    /// Whether an element may have become another one: it is not paired yet, and it is similar or the only candidate.
    fn can_pair(&self, sent: usize, at: usize, is_even: bool) -> bool {
        if self.taken.get(sent).is_none_or(|taken| *taken) {
            return false;
        }
        let (old, new) = (self.sent[sent].resolve(), self.returned[at].resolve());
        let is_swap = is_even && !self.is_keyed;
        match (old.kind(), new.kind()) {
            (NodeKind::Mapping, NodeKind::Mapping) => is_swap || are_similar(old, new),
            (NodeKind::Scalar(_), NodeKind::Scalar(_)) => is_swap,
            (NodeKind::Sequence, NodeKind::Sequence) => is_swap,
            _ => false,
        }
    }
}

/// The positions of elements by the value of a key that all of them have.
fn positions<'a>(key: &str, elements: &[NodeRef<'a>]) -> BTreeMap<Cow<'a, str>, usize> {
    let values =
        elements.iter().enumerate().filter_map(|(at, node)| Some((key_text(*node, key)?, at)));
    values.collect()
}

/// Whether at least half of the fields of two mappings are the same.
fn are_similar(old: NodeRef<'_>, new: NodeRef<'_>) -> bool {
    let (ours, theirs) = fields_as_sent(old, new);
    let same = ours.iter().filter(|(name, field)| {
        let other = theirs.get(name);
        other.is_some_and(|other| of_returned(field.value) == of_returned(other.value))
    });
    let count = same.count();
    count > 0 && count * 2 >= ours.len().max(theirs.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use krm_yaml::File;

    fn pairs(sent: &str, returned: &str) -> Vec<Option<usize>> {
        let [a, b] = [sent, returned].map(|text| File::parse(text.to_owned()).unwrap());
        let items = |file| -> Vec<NodeRef<'_>> {
            File::document(file, 0).and_then(|it| it.root()).unwrap().children().collect()
        };
        pair_returned(&items(&a), &items(&b))
    }

    #[test]
    fn keys_take_precedence_over_positions() {
        assert_eq!(
            pairs("[{name: a}, {name: b}]", "[{name: b, x: 1}, {name: a}]"),
            [Some(1), Some(0)]
        );
        assert_eq!(pairs("[{name: a, x: 1}]", "[{name: b, y: 1}]"), [None]);
        assert_eq!(pairs("[{name: a, x: 1}]", "[{name: b, x: 1}]"), [Some(0)], "renamed");
    }

    #[test]
    fn content_takes_precedence_over_positions() {
        assert_eq!(pairs("[a, b, c]", "[c, a, b]"), [Some(2), Some(0), Some(1)]);
        assert_eq!(pairs("[a, a, b]", "[a, b, a]"), [Some(0), Some(2), Some(1)]);
        assert_eq!(pairs("[{x: on}, {x: 2}]", "[{x: 2}, {x: true}]"), [Some(1), Some(0)]);
        assert_eq!(pairs("[0, yes, true]", "[0, 'yes', true]"), [0, 1, 2].map(Some));
    }

    #[test]
    fn changed_element_pairs_with_the_one_between_the_same_neighbours() {
        assert_eq!(pairs("[a, b, c]", "[a, x, c]"), [Some(0), Some(1), Some(2)]);
        assert_eq!(pairs("[a, b, c]", "[x, b]"), [Some(0), Some(1)]);
        assert_eq!(pairs("[a, b]", "[x, a, b]"), [None, Some(0), Some(1)]);
        assert_eq!(pairs("[{a: 1, b: 2}, c]", "[{a: 1, b: 3}, d, c]"), [Some(0), None, Some(1)]);
        assert_eq!(pairs("[a]", "[[a]]"), [None]);
        assert_eq!(pairs("[a, b, c]", "[c, a, x]"), [Some(2), Some(0), None], "b is removed");
        assert_eq!(pairs("[a, b, c, d]", "[a, x, y, d]"), [0, 1, 2, 3].map(Some));
    }
}
