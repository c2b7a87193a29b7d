//! The entries of a mapping as a reader sees them: of duplicates the last, and what comes through `<<`.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use krm_yaml::{Entry, NodeRef, ScalarStyle};

/// The entries of a mapping by their names.
#[derive(Debug, Default)]
pub(super) struct Entries<'a> {
    pub(super) list: Vec<(Cow<'a, str>, Entry<'a>)>,
    index: BTreeMap<Cow<'a, str>, usize>,
    /// Whether something comes through `<<`.
    pub(super) is_merged: bool,
}

impl<'a> Entries<'a> {
    pub(super) fn of(mapping: NodeRef<'a>) -> Self {
        let mut entries = Self::default();
        let mut seen = BTreeSet::from([mapping.start()]);
        let mut waiting = entries.add(mapping, true);
        waiting.reverse();
        while let Some(source) = waiting.pop() {
            entries.is_merged = true;
            if seen.insert(source.start()) {
                waiting.extend(entries.add(source, false).into_iter().rev());
            }
        }
        entries
    }

    pub(super) fn get(&self, name: &str) -> Option<(usize, Entry<'a>)> {
        let at = *self.index.get(name)?;
        Some((at, self.list[at].1))
    }

    /// Adds the entries of a mapping, and gives back the mappings that its `<<` keys name.
    fn add(&mut self, mapping: NodeRef<'a>, replace: bool) -> Vec<NodeRef<'a>> {
        let mut merged = Vec::new();
        let entries = mapping.as_mapping().map(|it| it.entries().collect::<Vec<_>>());
        for entry in entries.unwrap_or_default() {
            let is_plain = entry.key.as_scalar().is_some_and(|it| it.style() == ScalarStyle::Plain);
            if is_plain && entry.is("<<") {
                let source = entry.value.resolve();
                match source.as_sequence() {
                    Some(list) => merged.extend(list.items().map(NodeRef::resolve)),
                    None => merged.push(source),
                }
                continue;
            }
            let name = name(entry.key);
            match self.index.get(&name) {
                Some(at) if replace => self.list[*at].1 = entry,
                Some(_) => {}
                None => {
                    self.index.insert(name.clone(), self.list.len());
                    self.list.push((name, entry));
                }
            }
        }
        merged
    }
}

/// A key's text; of a key that is a collection, that on one line.
fn name(key: NodeRef<'_>) -> Cow<'_, str> {
    match key.resolve().as_scalar() {
        Some(scalar) => scalar.value(),
        None => crate::print::one_line(key).into(),
    }
}
