//! In which order the resources of a file stand, and what is moved for that.

use std::collections::BTreeMap;

use super::{Fate, FileWork, told_of};
use crate::files::arrangement::{Addition, Arrangement, InsertPosition, ResourcePosition};
use crate::functions::resource_list::Item;
use crate::{Diagnostic, PackagePath};

/// One resource of the file to be.
#[derive(Clone, Copy)]
enum Slot<'i> {
    /// One that is there, by its index.
    Old(usize),
    /// One that comes.
    New(&'i Item),
}

impl<'i> FileWork<'_, 'i> {
    /// What goes out of the file, and what comes into it: resources in the order of their indices, and behind them those
    /// that have none.
    pub(super) fn arrangement(&self, path: &PackagePath) -> Result<Arrangement<'i>, Diagnostic> {
        let slots = self.slots(path)?;
        let olds: Vec<usize> = slots.iter().filter_map(old).collect();
        let staying = longest_rising(&olds);
        let stays = |at: usize| staying.binary_search(&at).is_ok();
        let mut arrangement = Arrangement::default();
        let is_gone = |at: &usize| matches!(self.fates.get(at), Some(Fate::Goes)) || !stays(*at);
        arrangement.removed =
            (0..self.spots.len()).filter(is_gone).map(|at| self.spots[at]).collect();
        let mut behind = None;
        let mut waiting = Vec::new();
        for slot in slots {
            let item = match slot {
                Slot::Old(at) if stays(at) => {
                    behind = Some(self.spots[at]);
                    let before = InsertPosition::Before(self.spots[at]);
                    arrangement.added.extend(waiting.drain(..).map(|item| added(item, before)));
                    continue;
                }
                Slot::Old(at) => match self.fates.get(&at) {
                    Some(Fate::Stays { after, .. }) => *after,
                    _ => continue,
                },
                Slot::New(item) => item,
            };
            match behind {
                Some(spot) if item.index.is_some() => {
                    arrangement.added.push(added(item, InsertPosition::After(spot)));
                }
                None if item.index.is_some() => waiting.push(item),
                _ => arrangement.added.push(added(item, self.end(&staying))),
            }
        }
        arrangement
            .added
            .extend(waiting.into_iter().map(|item| added(item, InsertPosition::AtEnd)));
        Ok(arrangement)
    }

    fn slots(&self, path: &PackagePath) -> Result<Vec<Slot<'i>>, Diagnostic> {
        let mut slots: BTreeMap<usize, Slot<'i>> = BTreeMap::new();
        let mut last = Vec::new();
        let mut put = |index: usize, slot: Slot<'i>, item: Option<&'i Item>| match (
            slots.insert(index, slot),
            item,
        ) {
            (Some(_), Some(item)) => Err(taken(item, path, index)),
            _ => Ok(()),
        };
        for at in 0..self.spots.len() {
            match self.fates.get(&at) {
                Some(Fate::Goes) => {}
                Some(Fate::Stays { after, .. }) => {
                    put(after.index.unwrap_or(at), Slot::Old(at), Some(after))?;
                }
                None => put(at, Slot::Old(at), None)?,
            }
        }
        for item in &self.coming {
            match item.index {
                Some(index) => put(index, Slot::New(item), Some(item))?,
                None => last.push(Slot::New(item)),
            }
        }
        Ok(slots.into_values().chain(last).collect())
    }

    /// The end of a file is the end of its list where it is one.
    fn end(&self, staying: &[usize]) -> InsertPosition {
        let is_list = |spot: &ResourcePosition| spot.document == 0 && spot.item.is_some();
        let last = staying.last().map(|at| self.spots[*at]);
        match last.filter(|_| self.spots.iter().all(is_list)) {
            Some(spot) => InsertPosition::After(spot),
            None => InsertPosition::AtEnd,
        }
    }
}

fn old(slot: &Slot<'_>) -> Option<usize> {
    match slot {
        Slot::Old(at) => Some(*at),
        Slot::New(_) => None,
    }
}

fn added(item: &Item, place: InsertPosition) -> Addition<'_> {
    Addition { node: item.root(), place }
}

fn taken(item: &Item, path: &PackagePath, index: usize) -> Diagnostic {
    let words = format!("another resource has the index {index} in `{path}`");
    told_of(item, &words).hint("without an index it goes to the end of the file")
}

/// The longest part of a list of different numbers that rises.
fn longest_rising(list: &[usize]) -> Vec<usize> {
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(list.len());
    for (at, value) in list.iter().enumerate() {
        let length = ends.partition_point(|end| list[*end] < *value);
        before.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        match ends.get_mut(length) {
            Some(end) => *end = at,
            None => ends.push(at),
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
