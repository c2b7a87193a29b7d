//! The fields of a mapping as a reader sees them: the last of duplicate keys, and those that `<<` merges in.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use krm_yaml::{NodeRef, ScalarStyle, Value};

use crate::print::json;

/// One field.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field<'a> {
    pub(crate) key: NodeRef<'a>,
    pub(crate) value: NodeRef<'a>,
    /// The position among the entries of the mapping itself; `None` for a field that `<<` merges in.
    pub(crate) own: Option<usize>,
}

/// From this many fields on names are looked up in an index; fewer are found faster by a linear search.
const MANY: usize = 16;

/// The fields of a mapping in order.
#[derive(Debug, Default)]
pub(crate) struct Fields<'a> {
    list: Vec<(Cow<'a, str>, Field<'a>)>,
    /// The position of each name in the list, from [`MANY`] fields on. Never iterated.
    index: HashMap<Cow<'a, str>, usize>,
    /// Entries that a later one with the same key hides.
    hidden: Vec<(Cow<'a, str>, NodeRef<'a>)>,
    /// How many entries the mapping itself has.
    pub(crate) count: usize,
    /// Whether the mapping has a `<<` key that names a mapping.
    pub(crate) has_merge_key: bool,
}

impl<'a> Fields<'a> {
    /// The fields of a mapping; none for any other node.
    pub(crate) fn of(node: NodeRef<'a>, with_merged: bool) -> Self {
        let mut fields = Self::default();
        let mut merged = Vec::new();
        let entries = node.as_mapping().into_iter().flat_map(|mapping| mapping.entries());
        for (at, entry) in entries.enumerate() {
            fields.count = at + 1;
            if is_merge_key(entry.key) {
                merged.push(entry.value);
                if with_merged {
                    continue;
                }
            }
            fields.put(Field { key: entry.key, value: entry.value, own: Some(at) });
        }
        if with_merged {
            fields.has_merge_key = !merged.is_empty();
            let mut seen = HashSet::from([node.index()]);
            merged.into_iter().for_each(|source| fields.inherit(source, &mut seen));
        }
        fields
    }

    fn put(&mut self, field: Field<'a>) {
        let name = key_name(field.key);
        match self.at(&name) {
            Some(at) if field.own.is_some() => {
                self.hidden.push((name, self.list[at].1.value));
                self.list[at].1 = field;
            }
            Some(_) => {}
            None => {
                self.list.push((name, field));
                let last = self.list.len() - 1;
                // The index is filled when it is needed for the first time.
                let new = if last == MANY { 0..=last } else { last..=last };
                let new = new.filter(|_| last >= MANY).map(|at| (self.list[at].0.clone(), at));
                self.index.extend(new);
            }
        }
    }

    fn at(&self, name: &str) -> Option<usize> {
        match self.index.is_empty() {
            true => self.list.iter().position(|(other, _)| other == name),
            false => self.index.get(name).copied(),
        }
    }

    /// Adds the fields of a `<<` that are not set. Each mapping is visited once, so that cycles end.
    fn inherit(&mut self, source: NodeRef<'a>, seen: &mut HashSet<usize>) {
        let mut waiting = vec![source];
        while let Some(source) = waiting.pop() {
            let source = source.resolve();
            if let Some(list) = source.as_sequence() {
                let items: Vec<_> = list.items().collect();
                waiting.extend(items.into_iter().rev());
                continue;
            }
            let Some(mapping) = source.as_mapping().filter(|_| seen.insert(source.index())) else {
                continue;
            };
            let mut deeper = Vec::new();
            for entry in mapping.entries() {
                if is_merge_key(entry.key) {
                    deeper.push(entry.value);
                } else {
                    self.put(Field { key: entry.key, value: entry.value, own: None });
                }
            }
            waiting.extend(deeper.into_iter().rev());
        }
    }

    /// The position of a field in the order of [`Self::iter`].
    pub(crate) fn position(&self, name: &str) -> Option<usize> {
        self.at(name)
    }

    pub(crate) fn get(&self, name: &str) -> Option<Field<'a>> {
        self.at(name).map(|at| self.list[at].1)
    }

    /// Renames a field. No other field may have the new name.
    pub(crate) fn rename(&mut self, from: &str, to: String) {
        let Some(at) = self.at(from) else { return };
        if self.index.remove(from).is_some() {
            self.index.insert(Cow::Owned(to.clone()), at);
        }
        self.list[at].0 = Cow::Owned(to);
    }

    /// The names with their fields, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, Field<'a>)> {
        self.list.iter().map(|(name, field)| (&**name, *field))
    }

    /// The values of all entries with this name; the last one is in effect.
    pub(crate) fn all(&self, name: &str) -> Vec<NodeRef<'a>> {
        let hidden = self.hidden.iter().filter(|(other, _)| other == name).map(|it| it.1);
        hidden.chain(self.get(name).map(|field| field.value)).collect()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }
}

/// Whether all mappings have the same `<<` entries. Then what they merge in is merged at the anchor, and not here.
pub(crate) fn share_merge_keys(nodes: &[NodeRef<'_>]) -> bool {
    let texts = |node: &NodeRef<'_>| -> Vec<String> {
        let entries = node.as_mapping().into_iter().flat_map(|mapping| mapping.entries());
        entries.filter(|it| is_merge_key(it.key)).map(|it| it.value.text().to_owned()).collect()
    };
    let mut all = nodes.iter().map(texts);
    let first = all.next().unwrap_or_default();
    all.all(|other| other == first)
}

/// Whether a key is the merge key `<<` of YAML 1.1.
fn is_merge_key(key: NodeRef<'_>) -> bool {
    key.as_scalar().is_some_and(|key| key.style() == ScalarStyle::Plain && key.is("<<"))
}

/// The name by which a key is looked up: its text, whatever its type.
pub(crate) fn key_name(key: NodeRef<'_>) -> Cow<'_, str> {
    match key.resolve().as_scalar() {
        Some(scalar) => scalar.value(),
        // A collection as a key has no name. No scalar begins with NUL, so this cannot collide with one.
        None => Cow::Owned(format!("\0{}", json::display(&Value::Node(key)))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use krm_yaml::File;

    fn names(text: &str) -> Vec<String> {
        let file = File::parse(text.to_owned()).unwrap();
        let root = file.document(0).unwrap().root().unwrap();
        let last = root.as_mapping().unwrap().entries().last().unwrap().value;
        let fields = Fields::of(last, true);
        fields.iter().map(|(name, it)| format!("{name}={}", it.value.text())).collect()
    }

    #[test]
    fn last_of_duplicate_keys_is_in_effect() {
        assert_eq!(names("x: {a: 1, b: 2, a: 3}\n"), ["a=3", "b=2"]);
    }

    #[test]
    fn many_fields_are_found_like_few() {
        let text = |count: usize| -> String {
            let fields = (0..count).map(|at| format!("  k{at}: {at}\n")).collect::<String>();
            format!("x:\n{fields}  k1: again\n")
        };
        for count in [MANY - 1, MANY, MANY + 1, 3 * MANY] {
            let file = File::parse(text(count)).unwrap();
            let x = file.document(0).unwrap().root().unwrap().as_mapping().unwrap().get("x");
            let mut fields = Fields::of(x.unwrap(), true);
            fields.rename("k0", "zero".to_owned());
            assert_eq!((fields.len(), fields.count), (count, count + 1));
            assert_eq!(fields.get("k1").unwrap().value.text(), "again");
            assert_eq!(fields.get("zero").unwrap().value.text(), "0");
            assert!(fields.get("k0").is_none() && fields.get("k").is_none());
            let last = format!("k{}", count - 1);
            assert_eq!(fields.get(&last).unwrap().own, Some(count - 1));
        }
    }

    #[test]
    fn own_fields_take_precedence_over_merged_ones() {
        let text = "a: &a {p: 1, q: 1}\nb: &b {q: 2, r: 2}\nx: {<<: [*b, *a], p: 0}\n";
        assert_eq!(names(text), ["p=0", "q=2", "r=2"]);
    }

    #[test]
    fn mapping_that_merges_itself_ends() {
        assert_eq!(names("a: &a {p: 1, <<: *a}\nx: {<<: *a}\n"), ["p=1"]);
    }
}
