//! A sorted map for the changes of an edit, by node.

use std::collections::BTreeMap;

/// A sorted map that is cheap for few entries, because most edits change few nodes. A node of a B-tree has room for eleven entries, and the
/// maps of one edit would need kilobytes.
#[derive(Debug)]
pub(crate) struct SmallMap<V> {
    /// All entries, sorted by key, unless there are many.
    few: Vec<(u32, V)>,
    /// All entries if there are many: inserting them into a list in any order would take quadratic time.
    many: BTreeMap<u32, V>,
}

/// The largest number of entries in the list.
const MAX_FEW: usize = 16;

impl<V> Default for SmallMap<V> {
    fn default() -> Self {
        Self { few: Vec::new(), many: BTreeMap::new() }
    }
}

impl<V> SmallMap<V> {
    pub(crate) fn is_empty(&self) -> bool {
        self.few.is_empty() && self.many.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.few.len() + self.many.len()
    }

    fn find(&self, key: u32) -> Result<usize, usize> {
        // Most entries are added in order.
        match self.few.last() {
            Some((last, _)) if *last >= key => self.few.binary_search_by_key(&key, |(key, _)| *key),
            _ => Err(self.few.len()),
        }
    }

    pub(crate) fn get(&self, key: u32) -> Option<&V> {
        match self.find(key) {
            Ok(at) => Some(&self.few[at].1),
            Err(_) if self.many.is_empty() => None,
            Err(_) => self.many.get(&key),
        }
    }

    pub(crate) fn contains(&self, key: u32) -> bool {
        self.get(key).is_some()
    }

    /// The value of a key, which is added if there is none.
    pub(crate) fn get_or_insert_with(&mut self, key: u32, value: impl FnOnce() -> V) -> &mut V {
        if self.few.len() == MAX_FEW {
            self.many = std::mem::take(&mut self.few).into_iter().collect();
        }
        if !self.many.is_empty() {
            return self.many.entry(key).or_insert_with(value);
        }
        let at = match self.find(key) {
            Ok(at) => at,
            Err(at) => {
                self.few.insert(at, (key, value()));
                at
            }
        };
        &mut self.few[at].1
    }

    pub(crate) fn get_or_default(&mut self, key: u32) -> &mut V
    where
        V: Default,
    {
        self.get_or_insert_with(key, V::default)
    }

    /// Sets the value of a key, and returns the old one.
    pub(crate) fn insert(&mut self, key: u32, value: V) -> Option<V> {
        let mut new = Some(value);
        let slot = self.get_or_insert_with(key, || new.take().expect("it is taken once"));
        new.map(|new| std::mem::replace(slot, new))
    }

    pub(crate) fn remove(&mut self, key: u32) -> Option<V> {
        match self.find(key) {
            Ok(at) => Some(self.few.remove(at).1),
            Err(_) => self.many.remove(&key),
        }
    }

    /// The entries in the order of their keys.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (u32, &V)> {
        let few = self.few.iter().map(|(key, value)| (*key, value));
        few.chain(self.many.iter().map(|(key, value)| (*key, value)))
    }

    pub(crate) fn first(&self) -> Option<(u32, &V)> {
        self.iter().next()
    }

    pub(crate) fn keys(&self) -> impl DoubleEndedIterator<Item = u32> {
        self.iter().map(|(key, _)| key)
    }
}

impl<V> FromIterator<(u32, V)> for SmallMap<V> {
    fn from_iter<I: IntoIterator<Item = (u32, V)>>(entries: I) -> Self {
        let entries = entries.into_iter();
        let few = Vec::with_capacity(entries.size_hint().0.min(MAX_FEW));
        let mut map = Self { few, many: BTreeMap::new() };
        entries.for_each(|(key, value)| drop(map.insert(key, value)));
        map
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_sorted_and_found_however_many_there_are() {
        for count in [1, 3, 15, 16, 17, 40] {
            let mut map = SmallMap::default();
            let mut expected = BTreeMap::new();
            for at in 0..count {
                let key = at * 7 % 41;
                assert_eq!(map.insert(key, at), expected.insert(key, at));
                assert_eq!(map.insert(key, at + 1), expected.insert(key, at + 1));
            }
            assert_eq!(map.len(), expected.len());
            assert!(map.iter().map(|(key, value)| (key, *value)).eq(expected.clone()));
            for key in 0..42 {
                assert_eq!(map.get(key), expected.get(&key));
                assert_eq!(map.contains(key), expected.contains_key(&key));
            }
            for key in 0..42 {
                assert_eq!(map.remove(key), expected.remove(&key));
            }
            assert!(map.is_empty());
        }
    }
}
