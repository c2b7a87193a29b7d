//! The order of the resources in an assembled file, and the removals and insertions that produce it.

use std::collections::BTreeMap;

use super::{FileAssembly, ResourceAction, cannot_place};
use crate::files::FilesKind;
use crate::files::arrangement::{Addition, Arrangement, InsertPosition, ResourcePosition};
use crate::functions::resource_list::Item;
use crate::{Diagnostic, PackagePath};

/// One resource of the assembled file.
#[derive(Clone, Copy)]
enum Entry<'i> {
    /// A resource of the file, by its index.
    Existing(usize),
    /// An item that is inserted.
    New(&'i Item),
}

impl<'i> FileAssembly<'_, 'i> {
    /// The removals and insertions: resources in the order of their indices, followed by those without one.
    ///
    /// Moving a resource within a file is a removal and an insertion. The longest run of resources that are already in order is kept
    /// where it is, so that as few resources as possible move.
    pub(super) fn arrangement(&self, path: &PackagePath) -> Result<Arrangement<'i>, Diagnostic> {
        let entries = self.entries(path)?;
        let existing: Vec<usize> = entries.iter().filter_map(existing).collect();
        let kept = longest_increasing(&existing);
        let is_kept = |at: usize| kept.binary_search(&at).is_ok();
        let mut arrangement = Arrangement::default();
        let is_removed = |at: &usize| {
            matches!(self.actions.get(at), Some(ResourceAction::Remove)) || !is_kept(*at)
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
                Entry::Existing(at) => match self.actions.get(&at) {
                    Some(ResourceAction::Keep { after, .. }) => *after,
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
        Ok(arrangement)
    }

    fn entries(&self, path: &PackagePath) -> Result<Vec<Entry<'i>>, Diagnostic> {
        let mut entries: BTreeMap<usize, Entry<'i>> = BTreeMap::new();
        let mut last = Vec::new();
        let mut put = |index: usize, entry: Entry<'i>, item: Option<&'i Item>| match (
            entries.insert(index, entry),
            item,
        ) {
            (Some(_), Some(item)) => Err(duplicate_index(item, path, index)),
            _ => Ok(()),
        };
        for at in 0..self.positions.len() {
            match self.actions.get(&at) {
                Some(ResourceAction::Remove) => {}
                Some(ResourceAction::Keep { after, .. }) => {
                    put(after.index.unwrap_or(at), Entry::Existing(at), Some(after))?;
                }
                None => put(at, Entry::Existing(at), None)?,
            }
        }
        for item in &self.incoming {
            match item.index {
                Some(index) => put(index, Entry::New(item), Some(item))?,
                None => last.push(Entry::New(item)),
            }
        }
        Ok(entries.into_values().chain(last).collect())
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

fn duplicate_index(item: &Item, path: &PackagePath, index: usize) -> Diagnostic {
    let kind = FilesKind::DuplicateIndex { index, path: path.to_string() };
    cannot_place(item, Diagnostic::error(kind))
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
