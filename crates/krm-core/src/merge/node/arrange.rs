//! The order of a list after a merge: which old elements stay, which new ones come, and where.

use std::collections::{HashMap, HashSet};

use krm_yaml::NodeRef;

use super::ops::{Fill, Op};
use super::work::Work;
use crate::Diagnostic;

/// One element of the list to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Slot {
    /// An element of the destination.
    Old(usize),
    /// An element that comes.
    New(usize),
}

/// The list to be.
#[derive(Debug)]
pub(super) struct Final {
    slots: Vec<Slot>,
    /// How many elements the destination has.
    count: usize,
}

impl Final {
    /// The destination's elements but those that go.
    pub(super) fn kept(count: usize, gone: &HashSet<usize>) -> Self {
        let slots = (0..count).filter(|at| !gone.contains(at)).map(Slot::Old).collect();
        Self { slots, count }
    }

    pub(super) fn of(slots: Vec<Slot>, count: usize) -> Self {
        Self { slots, count }
    }

    pub(super) fn append(&mut self, new: usize) {
        self.slots.extend((0..new).map(Slot::New));
    }

    pub(super) fn prepend(&mut self, new: usize) {
        self.slots.splice(0..0, (0..new).map(Slot::New));
    }

    /// Puts each new element behind an old one: before all where it comes behind none.
    pub(super) fn behind(&mut self, after: impl Iterator<Item = Option<usize>>) {
        let mut followers: HashMap<Option<usize>, Vec<usize>> = HashMap::new();
        for (at, after) in after.enumerate() {
            followers.entry(after).or_default().push(at);
        }
        let mut slots: Vec<Slot> = Vec::with_capacity(self.slots.len());
        let mut follow = |slots: &mut Vec<Slot>, old: Option<usize>| {
            slots.extend(followers.remove(&old).unwrap_or_default().into_iter().map(Slot::New));
        };
        follow(&mut slots, None);
        let staying: HashSet<usize> = self.olds().collect();
        // One that comes behind an element which goes takes its place.
        let mut olds = self.slots.iter();
        let mut next = olds.next();
        for at in 0..self.count {
            if staying.contains(&at) {
                slots.extend(next.copied());
                next = olds.next();
            }
            follow(&mut slots, Some(at));
        }
        self.slots = slots;
    }

    fn olds(&self) -> impl Iterator<Item = usize> {
        self.slots.iter().filter_map(|slot| match slot {
            Slot::Old(at) => Some(*at),
            Slot::New(_) => None,
        })
    }

    /// Sorts the elements that have a rank among themselves; all others stay where they are.
    pub(super) fn sort_within(&mut self, rank: impl Fn(&Slot) -> Option<usize>) {
        let ranked: Vec<usize> =
            (0..self.slots.len()).filter(|at| rank(&self.slots[*at]).is_some()).collect();
        let mut sorted: Vec<Slot> = ranked.iter().map(|at| self.slots[*at]).collect();
        sorted.sort_by_key(|slot| rank(slot));
        for (at, slot) in ranked.into_iter().zip(sorted) {
            self.slots[at] = slot;
        }
    }

    /// The elements of this order, each with its place in another one.
    pub(super) fn within(&self, other: &Self) -> Vec<(usize, Slot)> {
        let places: HashMap<Slot, usize> =
            other.slots.iter().enumerate().map(|(at, slot)| (*slot, at)).collect();
        self.slots.iter().filter_map(|slot| Some((*places.get(slot)?, *slot))).collect()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Asks for the order and for the new elements.
    ///
    /// The places of old elements are those of the destination that are not given up, in their order; new elements
    /// come before such a place.
    pub(super) fn ask<'a>(
        self,
        work: &mut Work<'a, '_>,
        list: NodeRef<'a>,
        fills: Vec<Fill<'a>>,
    ) -> Result<(), Diagnostic> {
        let olds: Vec<usize> = self.olds().collect();
        let mut places = olds.clone();
        places.sort_unstable();
        if olds != places {
            let staying: HashSet<usize> = olds.iter().copied().collect();
            let mut order = olds;
            order.extend((0..self.count).filter(|at| !staying.contains(at)));
            work.ask(Op::Reorder(list, order))?;
        }
        let mut fills: Vec<Option<Fill<'a>>> = fills.into_iter().map(Some).collect();
        let mut passed = 0;
        for slot in self.slots {
            match slot {
                Slot::Old(_) => passed += 1,
                Slot::New(at) => {
                    let before = places.get(passed).copied().unwrap_or(self.count);
                    if let Some(fill) = fills[at].take() {
                        work.ask(Op::Item { list, before, fill })?;
                    }
                }
            }
        }
        Ok(())
    }
}
