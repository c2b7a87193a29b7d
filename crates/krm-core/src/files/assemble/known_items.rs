//! The items of a package by their origin.

use crate::functions::resource_list::Item;

/// The items of the package by their origin, of which the last with each is known.
pub(super) struct KnownItems<'b> {
    /// Sorted by origin, as they usually are.
    pub(super) items: Vec<(usize, &'b Item)>,
}

impl<'b> KnownItems<'b> {
    pub(super) fn of(before: &'b [Item]) -> Self {
        let items = before.iter().filter_map(|item| Some((item.origin?, item)));
        let mut items: Vec<(usize, &'b Item)> = items.collect();
        if !items.is_sorted_by(|(one, _), (next, _)| one < next) {
            items.sort_by_key(|(origin, _)| *origin);
            items.dedup_by(|later, earlier| {
                let is_same = later.0 == earlier.0;
                if is_same {
                    *earlier = *later;
                }
                is_same
            });
        }
        Self { items }
    }

    pub(super) fn position(&self, origin: usize) -> Option<usize> {
        // Origins count all resources of a package, so the position is mostly the origin itself.
        let is_there = self.items.get(origin).is_some_and(|(it, _)| *it == origin);
        let found = || self.items.binary_search_by_key(&origin, |(origin, _)| *origin).ok();
        is_there.then_some(origin).or_else(found)
    }

    pub(super) fn get(&self, origin: usize) -> Option<&'b Item> {
        Some(self.items[self.position(origin)?].1)
    }
}
