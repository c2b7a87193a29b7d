//! What happens to the resources of one file, by their index in it.

use super::ResourceAction;

/// Actions in the order of the resources. They are a sorted list, because most files have one resource, for which a node of a B-tree would
/// take a kilobyte.
#[derive(Default)]
pub(super) struct Actions<'b> {
    list: Vec<(usize, ResourceAction<'b>)>,
    /// The number of entries that are sorted and can be found.
    sorted: usize,
}

impl<'b> Actions<'b> {
    /// Adds an action, which is found after the next [`Self::sort`]. It replaces an earlier one for the same resource.
    pub(super) fn insert(&mut self, index: usize, action: ResourceAction<'b>) {
        if self.list.is_empty() {
            self.list.reserve_exact(1);
        }
        self.list.push((index, action));
    }

    /// Sorts the actions. Functions may return resources in any order.
    pub(super) fn sort(&mut self) {
        if self.sorted == self.list.len() {
            return;
        }
        if !self.list.is_sorted_by(|(one, _), (next, _)| one < next) {
            self.list.sort_by_key(|(index, _)| *index);
            self.list.dedup_by(|later, earlier| {
                let is_same = later.0 == earlier.0;
                if is_same {
                    std::mem::swap(later, earlier);
                }
                is_same
            });
        }
        self.sorted = self.list.len();
    }

    pub(super) fn get(&self, index: usize) -> Option<&ResourceAction<'b>> {
        let found = self.list[..self.sorted].binary_search_by_key(&index, |(index, _)| *index);
        found.ok().map(|at| &self.list[at].1)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, &ResourceAction<'b>)> {
        self.list.iter().map(|(index, action)| (*index, action))
    }

    /// Takes the only action.
    pub(super) fn take_only(&mut self) -> Option<ResourceAction<'b>> {
        let last = self.list.pop();
        self.sorted = self.list.len();
        last.map(|(_, action)| action)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_are_found_in_the_order_of_the_resources() {
        let mut actions = Actions::default();
        for index in [3, 1, 2, 1] {
            actions.insert(index, ResourceAction::Remove);
        }
        actions.sort();
        assert_eq!(actions.iter().map(|(index, _)| index).collect::<Vec<_>>(), [1, 2, 3]);
        assert!(actions.get(2).is_some() && actions.get(4).is_none());
        actions.insert(4, ResourceAction::Remove);
        actions.sort();
        assert!(actions.get(4).is_some());
    }
}
