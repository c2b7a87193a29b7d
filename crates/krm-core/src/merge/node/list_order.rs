//! The order of a list after a merge: which elements remain, which are inserted, and where.

use std::collections::{HashMap, HashSet};

use krm_yaml::NodeRef;

use super::ops::{IncomingNode, Op};
use super::state::MergeState;
use crate::Diagnostic;

/// One element of the merged list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum OrderedElement {
    /// The element of the destination at this position.
    Existing(usize),
    /// An inserted element, by its position among these.
    New(usize),
}

/// The elements of the merged list in order.
#[derive(Debug)]
pub(super) struct ListOrder {
    elements: Vec<OrderedElement>,
    /// How many elements the destination has.
    count: usize,
}

impl ListOrder {
    /// The elements of the destination, without those that are removed.
    pub(super) fn keeping(count: usize, removed: &HashSet<usize>) -> Self {
        let elements =
            (0..count).filter(|at| !removed.contains(at)).map(OrderedElement::Existing).collect();
        Self { elements, count }
    }

    pub(super) fn new(elements: Vec<OrderedElement>, count: usize) -> Self {
        Self { elements, count }
    }

    pub(super) fn append(&mut self, new: usize) {
        self.elements.extend((0..new).map(OrderedElement::New));
    }

    pub(super) fn prepend(&mut self, new: usize) {
        self.elements.splice(0..0, (0..new).map(OrderedElement::New));
    }

    /// Inserts each new element after the given one of the destination, or before all where there is none.
    pub(super) fn insert_after(&mut self, after: impl Iterator<Item = Option<usize>>) {
        let mut followers: HashMap<Option<usize>, Vec<usize>> = HashMap::new();
        for (at, after) in after.enumerate() {
            followers.entry(after).or_default().push(at);
        }
        let mut elements: Vec<OrderedElement> = Vec::with_capacity(self.elements.len());
        let mut follow = |elements: &mut Vec<OrderedElement>, old: Option<usize>| {
            elements.extend(
                followers.remove(&old).unwrap_or_default().into_iter().map(OrderedElement::New),
            );
        };
        follow(&mut elements, None);
        let kept: HashSet<usize> = self.existing().collect();
        // An element that follows a removed one takes its place, so removed positions are visited as well.
        let mut existing = self.elements.iter();
        let mut next = existing.next();
        for at in 0..self.count {
            if kept.contains(&at) {
                elements.extend(next.copied());
                next = existing.next();
            }
            follow(&mut elements, Some(at));
        }
        self.elements = elements;
    }

    fn existing(&self) -> impl Iterator<Item = usize> {
        self.elements.iter().filter_map(|element| match element {
            OrderedElement::Existing(at) => Some(*at),
            OrderedElement::New(_) => None,
        })
    }

    /// Sorts the elements that have a rank among the positions that they occupy; all others keep theirs.
    pub(super) fn sort_ranked(&mut self, rank: impl Fn(&OrderedElement) -> Option<usize>) {
        let ranked: Vec<usize> =
            (0..self.elements.len()).filter(|at| rank(&self.elements[*at]).is_some()).collect();
        let mut sorted: Vec<OrderedElement> = ranked.iter().map(|at| self.elements[*at]).collect();
        sorted.sort_by_key(|element| rank(element));
        for (at, element) in ranked.into_iter().zip(sorted) {
            self.elements[at] = element;
        }
    }

    /// The elements of this order, each with its position in another one.
    pub(super) fn positions_in(&self, other: &Self) -> Vec<(usize, OrderedElement)> {
        let positions: HashMap<OrderedElement, usize> =
            other.elements.iter().enumerate().map(|(at, element)| (*element, at)).collect();
        self.elements
            .iter()
            .filter_map(|element| Some((*positions.get(element)?, *element)))
            .collect()
    }

    /// Queues the edits: a reorder where the order of existing elements changes, and the insertions.
    ///
    /// Edits address the list as it is before any of them. Existing elements are reordered among the positions that are not removed, and a
    /// new element is inserted before such a position.
    pub(super) fn push_ops<'a>(
        self,
        state: &mut MergeState<'a, '_>,
        list: NodeRef<'a>,
        inserted: Vec<IncomingNode<'a>>,
    ) -> Result<(), Diagnostic> {
        let existing: Vec<usize> = self.existing().collect();
        let mut positions = existing.clone();
        positions.sort_unstable();
        if existing != positions {
            let kept: HashSet<usize> = existing.iter().copied().collect();
            let mut order = existing;
            order.extend((0..self.count).filter(|at| !kept.contains(at)));
            state.push_op(Op::Reorder(list, order))?;
        }
        let mut inserted: Vec<Option<IncomingNode<'a>>> = inserted.into_iter().map(Some).collect();
        let mut passed = 0;
        for element in self.elements {
            match element {
                OrderedElement::Existing(_) => passed += 1,
                OrderedElement::New(at) => {
                    let before = positions.get(passed).copied().unwrap_or(self.count);
                    if let Some(value) = inserted[at].take() {
                        state.push_op(Op::InsertElement { list, before, value })?;
                    }
                }
            }
        }
        Ok(())
    }
}
