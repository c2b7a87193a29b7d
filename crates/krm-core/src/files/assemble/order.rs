//! The order of the resources in an assembled file, and the removals and insertions that produce it.

use super::{FileAssembly, Incoming, ResourceAction};
use crate::files::arrangement::{Addition, Arrangement, InsertPosition, ResourcePosition};
use crate::functions::resource_list::Item;

/// One resource of the assembled file.
#[derive(Clone, Copy)]
enum Entry<'i> {
    /// A resource of the file, by its index.
    Existing(usize),
    /// An item that is inserted.
    New(&'i Item),
}

impl FileAssembly<'_, '_> {
    /// The removals and insertions.
    ///
    /// Moving a resource within a file is a removal and an insertion. The longest run of resources that are already in order is kept
    /// where it is, so that as few resources as possible move.
    pub(super) fn arrangement(&self) -> Arrangement<'_> {
        let entries = self.entries();
        let existing: Vec<usize> = entries.iter().filter_map(existing).collect();
        let kept = longest_increasing(&existing);
        let is_kept = |at: usize| kept.binary_search(&at).is_ok();
        let mut arrangement = Arrangement::default();
        let is_removed = |at: &usize| {
            matches!(self.actions.get(*at), Some(ResourceAction::Remove)) || !is_kept(*at)
        };
        arrangement.removed =
            (0..self.positions.len()).filter(is_removed).map(|at| self.positions[at]).collect();
        let mut previous = None;
        // Items before the first resource that is kept.
        let mut leading = Vec::new();
        for entry in entries {
            let item = match entry {
                Entry::Existing(at) if is_kept(at) => {
                    previous = Some(self.positions[at]);
                    let before = InsertPosition::Before(self.positions[at]);
                    arrangement.added.extend(leading.drain(..).map(|item| added(item, before)));
                    continue;
                }
                Entry::Existing(at) => match self.actions.get(at) {
                    Some(ResourceAction::Keep { after, .. }) => after,
                    _ => continue,
                },
                Entry::New(item) => item,
            };
            match previous {
                Some(position) if item.index.is_some() => {
                    arrangement.added.push(added(item, InsertPosition::After(position)));
                }
                None if item.index.is_some() => leading.push(item),
                _ => arrangement.added.push(added(item, self.end(&kept))),
            }
        }
        arrangement
            .added
            .extend(leading.into_iter().map(|item| added(item, InsertPosition::AtEnd)));
        arrangement
    }

    /// The resources in order: those that ask for a position have it among the others, and new ones without an index are last.
    ///
    /// Spec: the index is "the position of the Resource starting from zero". Resources that ask for the same position are in the order
    /// of the list, and one that asks for a position after the end is the last.
    fn entries(&self) -> Vec<Entry<'_>> {
        let (mut unmoved, mut asking, mut last) = (Vec::new(), Vec::new(), Vec::new());
        for at in 0..self.positions.len() {
            match self.actions.get(at) {
                Some(ResourceAction::Remove) => {}
                Some(ResourceAction::Keep { after, order, .. })
                    if after.index.is_some_and(|index| index != at) =>
                {
                    asking.push((after.index, *order, Entry::Existing(at)));
                }
                _ => unmoved.push(Entry::Existing(at)),
            }
        }
        for Incoming { item, order } in &self.incoming {
            match item.index {
                Some(_) => asking.push((item.index, *order, Entry::New(item))),
                None => last.push(Entry::New(item)),
            }
        }
        asking.sort_by_key(|(index, order, _)| (*index, *order));
        let mut unmoved = unmoved.into_iter();
        let mut entries = Vec::with_capacity(self.positions.len() + self.incoming.len());
        for (index, _, entry) in asking {
            let missing = index.unwrap_or(0).saturating_sub(entries.len());
            entries.extend(unmoved.by_ref().take(missing));
            entries.push(entry);
        }
        entries.into_iter().chain(unmoved).chain(last).collect()
    }

    /// Where appended items go: to the end of the list if the file is one list, and to the end of the file otherwise.
    fn end(&self, kept: &[usize]) -> InsertPosition {
        let is_list_item = |it: &ResourcePosition| it.document == 0 && it.item.is_some();
        let last = kept.last().map(|at| self.positions[*at]);
        match last.filter(|_| self.positions.iter().all(is_list_item)) {
            Some(position) => InsertPosition::After(position),
            None => InsertPosition::AtEnd,
        }
    }
}

fn existing(entry: &Entry<'_>) -> Option<usize> {
    match entry {
        Entry::Existing(at) => Some(*at),
        Entry::New(_) => None,
    }
}

fn added(item: &Item, position: InsertPosition) -> Addition<'_> {
    Addition { node: item.root(), position }
}

/// The longest increasing subsequence of distinct numbers.
fn longest_increasing(list: &[usize]) -> Vec<usize> {
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
    let mut sequence = Vec::new();
    let mut at = ends.last().copied();
    while let Some(here) = at {
        sequence.push(list[here]);
        at = before[here];
    }
    sequence.reverse();
    sequence
}
