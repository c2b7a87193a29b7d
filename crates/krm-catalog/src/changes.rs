//! The changes of one resource, collected first and then made by one edit: new values of fields, and new fields.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::kinds::CatalogKind;
use crate::value_budget::MAX_BYTES;
use krm_sdk::{Diagnostic, Error, Resource};
use krm_yaml::{Edit, EditError, KeyPosition, NodeKind, NodeRef, ScalarType, Segment, Value};
use rayon::prelude::*;

/// The changes of one resource. They are collected before any of them is made, because aliases may share the nodes.
#[derive(Default)]
pub(crate) struct Changes<'a> {
    values: BTreeMap<usize, (NodeRef<'a>, Value<'static>)>,
    new: BTreeMap<usize, (NodeRef<'a>, Branch)>,
    /// Whether the resource has aliases. Without any, no node is shared, and it does not matter how it was reached.
    has_aliases: bool,
    /// Aliases on the paths that were followed.
    aliases: BTreeSet<usize>,
    /// The ends of paths without and with an alias or `<<` on the way.
    direct: BTreeSet<usize>,
    indirect: BTreeSet<usize>,
    /// The aliases of the last path, and the mappings to which nothing is to be added through an alias.
    last: Vec<usize>,
    declined: BTreeSet<(usize, usize)>,
}

/// The new keys of a mapping, in order.
type Branch = Vec<(String, Tree)>;

enum Tree {
    Leaf(Value<'static>),
    Branch(Branch),
}

/// The end of a path.
#[derive(Clone, Debug)]
pub(crate) enum FieldSlot<'a> {
    /// An existing node.
    Existing(NodeRef<'a>),
    /// A node that `<<` merges into a mapping, with that mapping and the key: a new value overrides it there.
    Merged(NodeRef<'a>, NodeRef<'a>, String),
    /// A missing field: these keys are to be created below a mapping or null.
    Missing(NodeRef<'a>, Vec<String>),
}

impl<'a> FieldSlot<'a> {
    /// The existing node.
    pub(crate) fn node(&self) -> Option<NodeRef<'a>> {
        match self {
            Self::Existing(node) | Self::Merged(node, ..) => Some(*node),
            Self::Missing(..) => None,
        }
    }
}

impl<'a> Changes<'a> {
    fn of(resource: &'a Resource) -> Self {
        let has_aliases = resource.root().document().aliases().next().is_some();
        Self { has_aliases, ..Self::default() }
    }

    /// The value of a key, through aliases and `<<`. None if the node is not a mapping.
    pub(crate) fn get(&mut self, node: NodeRef<'a>, key: &str) -> Option<Option<NodeRef<'a>>> {
        let node = self.resolve(node);
        let mapping = node.as_mapping()?;
        let own = mapping.get(key);
        let merged = || mapping.get("<<").and_then(|_| node.step(&Segment::Key(key.to_owned())));
        Some(own.or_else(merged))
    }

    /// Resolves an alias, and records that it was followed.
    pub(crate) fn resolve(&mut self, node: NodeRef<'a>) -> NodeRef<'a> {
        if node.kind() == NodeKind::Alias {
            self.aliases.insert(node.index());
        }
        node.resolve()
    }

    /// Records that a path ends at a node, and whether it went through an alias.
    pub(crate) fn arrive(&mut self, node: NodeRef<'a>, is_shared: bool) {
        if self.has_aliases {
            let ends = if is_shared { &mut self.indirect } else { &mut self.direct };
            ends.insert(node.index());
        }
    }

    /// Whether a node is an alias or was only reached through one.
    pub(crate) fn is_shared(&self, node: NodeRef<'a>) -> bool {
        let index = node.resolve().index();
        let is_indirect = self.indirect.contains(&index) && !self.direct.contains(&index);
        node.kind() == NodeKind::Alias || is_indirect
    }

    /// Follows keys from a node. None if something on the way is neither a mapping nor null.
    pub(crate) fn follow(&mut self, from: NodeRef<'a>, keys: &[&str]) -> Option<FieldSlot<'a>> {
        let mut is_shared = self.is_shared(from);
        let mut node = self.resolve(from);
        self.last.clear();
        if is_shared {
            self.last.extend(&self.aliases);
        }
        for (at, key) in keys.iter().enumerate() {
            let next = if is_null(node) { None } else { self.get(node, key)? };
            let Some(next) = next else {
                self.arrive(node, is_shared);
                let missing = keys[at..].iter().map(|key| (*key).to_owned());
                return Some(FieldSlot::Missing(node, missing.collect()));
            };
            if at + 1 == keys.len() && next.parent() != Some(node) {
                self.arrive(node, is_shared);
                return Some(FieldSlot::Merged(next.resolve(), node, (*key).to_owned()));
            }
            is_shared |= next.kind() == NodeKind::Alias || next.parent() != Some(node);
            self.last.extend((next.kind() == NodeKind::Alias).then(|| next.index()));
            node = self.resolve(next);
        }
        self.arrive(node, is_shared);
        Some(FieldSlot::Existing(node))
    }

    /// Records that the field that was followed last is not to be created if it is missing.
    pub(crate) fn decline(&mut self, slot: &FieldSlot<'a>) {
        if let FieldSlot::Missing(at, _) = slot {
            self.declined.extend(self.last.drain(..).map(|alias| (at.index(), alias)));
        }
    }

    /// Sets a field to a string, and creates missing parents.
    pub(crate) fn set(&mut self, slot: &FieldSlot<'a>, text: &str) {
        self.set_value(slot, Value::string(text.to_owned()));
    }

    /// Sets a field.
    pub(crate) fn set_value(&mut self, slot: &FieldSlot<'a>, value: Value<'static>) {
        match slot {
            FieldSlot::Existing(node) => {
                self.values.insert(node.index(), (*node, value));
            }
            FieldSlot::Merged(node, ..) if node.as_str().is_some_and(|it| is_text(&value, &it)) => {
            }
            FieldSlot::Merged(_, at, key) => self.add(*at, std::slice::from_ref(key), value),
            FieldSlot::Missing(at, keys) => self.add(*at, keys, value),
        }
    }

    fn add(&mut self, at: NodeRef<'a>, keys: &[String], value: Value<'static>) {
        let (_, branch) = self.new.entry(at.index()).or_insert_with(|| (at, Branch::new()));
        insert(branch, keys, value);
    }

    /// Whether there are no changes.
    pub(crate) fn is_empty(&self) -> bool {
        self.values.is_empty() && self.new.is_empty()
    }

    fn add_to(self, edit: &mut Edit<'a>) -> Result<(), EditError> {
        for (_, (node, value)) in self.values {
            edit.set(node, value)?;
        }
        for (_, (at, branch)) in self.new {
            if is_null(at) {
                edit.set(at, Tree::Branch(branch).into_value())?;
                continue;
            }
            for (key, tree) in branch {
                edit.insert_key(at, &key, tree.into_value(), KeyPosition::Last)?;
            }
        }
        Ok(())
    }

    /// Whether everything that shares a changed node is to change too: the anchored node was reached by a path without aliases, and
    /// every alias to it was followed. With `labels: *labels`, setting labels everywhere may edit the anchored node; setting them
    /// in one place may not.
    fn covers_all_aliases(&self, root: NodeRef<'a>) -> bool {
        if self.aliases.is_empty() {
            return false;
        }
        let changed: Vec<usize> = self.values.keys().chain(self.new.keys()).copied().collect();
        let mut aliases = root.descendants().filter_map(|it| Some((it, it.target()?.subtree())));
        aliases.all(|(alias, target)| {
            let alias = alias.index();
            let mut declined = self.declined.iter().filter(|(_, it)| *it == alias);
            let is_declined = declined.any(|(at, _)| self.new.contains_key(at));
            let is_asked = self.aliases.contains(&alias) && !is_declined;
            let mut shared = changed.iter().filter(|it| target.contains(it));
            shared.all(|it| is_asked && self.direct.contains(it))
        })
    }
}

/// Collects changes of a resource and makes them with one edit. Returns what `collect` returns.
pub(crate) fn change<T>(
    resource: &mut Resource,
    collect: impl for<'a> FnOnce(&mut Changes<'a>, &'a Resource) -> Result<T, Error>,
) -> Result<T, Error> {
    let before = resource.clone();
    let mut changes = Changes::of(&before);
    let collected = collect(&mut changes, &before)?;
    if changes.is_empty() {
        return Ok(collected);
    }
    let file = before.item().file();
    let is_shared = changes.covers_all_aliases(before.root());
    let mut edit = Edit::new(file).allow_shared(is_shared);
    let refused = |error: EditError| {
        let diagnostic = Diagnostic::from_edit(&error, file);
        let has_hint = !diagnostic.hints.is_empty();
        let hint = "write the value without sharing it, or change it by hand";
        in_resource(&before, if has_hint { diagnostic } else { diagnostic.hint(hint) })
    };
    changes.add_to(&mut edit).map_err(refused)?;
    if !edit.is_empty() {
        resource.replace_file(edit.apply_to_file().map_err(refused)?)?;
    }
    Ok(collected)
}

/// What `select` returns for resources, with their positions, computed in parallel.
pub(crate) fn find_each<T: Send>(
    resources: &[Resource],
    select: impl Fn(&Resource) -> Option<T> + Sync,
) -> Vec<(usize, T)> {
    let find = |(at, resource): (usize, &Resource)| Some((at, select(resource)?));
    match resources.len() <= MIN_PER_THREAD {
        true => resources.iter().enumerate().filter_map(find).collect(),
        false => {
            resources.par_iter().enumerate().with_min_len(MIN_PER_THREAD).filter_map(find).collect()
        }
    }
}

/// The resources that are not at these positions, which are sorted.
pub(crate) fn without(
    resources: &mut [Resource],
    positions: impl Iterator<Item = usize>,
) -> Vec<&mut Resource> {
    let mut positions = positions.peekable();
    let mut rest = Vec::with_capacity(resources.len());
    let all = resources.iter_mut().enumerate();
    rest.extend(all.filter(|(at, _)| positions.next_if_eq(at).is_none()).map(|(_, it)| it));
    rest
}

/// Fewer resources than this are not worth another thread.
pub const MIN_PER_THREAD: usize = 32;

/// If all resources together are larger than this, none keeps its node table after its change. Tables take almost as much memory as the
/// texts, and are computed again for the few that are needed again.
pub const MAX_PARSED_BYTES: usize = 64 << 20;

/// Changes each resource as [`change`] does, in parallel. Returns what `collect` returns for each, in order, or the first error.
///
/// An edit is limited by itself, but a package may have any number of resources that get the same long value. So all resources together
/// grow by no more than their own size and [`MAX_BYTES`].
pub(crate) fn change_each<T: Send>(
    resources: Vec<&mut Resource>,
    collect: impl for<'a> Fn(&mut Changes<'a>, &'a Resource) -> Result<T, Error> + Sync,
) -> Result<Vec<T>, Error> {
    let own: usize = resources.iter().map(|resource| resource.text().len()).sum();
    change_all(resources, (own, own > MAX_PARSED_BYTES), collect)
}

/// Changes resources of this many bytes, which lose their node tables if `releases_tables`.
fn change_all<T: Send>(
    resources: Vec<&mut Resource>,
    (own, releases_tables): (usize, bool),
    collect: impl for<'a> Fn(&mut Changes<'a>, &'a Resource) -> Result<T, Error> + Sync,
) -> Result<Vec<T>, Error> {
    let limit = own.saturating_add(MAX_BYTES);
    let added = AtomicUsize::new(0);
    let is_exceeded = || added.load(Ordering::Relaxed) > limit;
    let work = |resource: &mut Resource| {
        if is_exceeded() {
            return Err(too_large(limit));
        }
        let before = resource.text().len();
        let result = change(resource, &collect);
        added.fetch_add(resource.text().len().saturating_sub(before), Ordering::Relaxed);
        if releases_tables {
            *resource = Resource::from(resource.item().unparsed());
        }
        result
    };
    let results: Vec<Result<T, Error>> = match resources.len() <= MIN_PER_THREAD {
        // The threads of rayon would be woken for nothing, once for each package with a few resources.
        true => resources.into_iter().map(work).collect(),
        // All results are collected before one is looked at: which error comes first does not depend on the number of threads.
        false => resources.into_par_iter().with_min_len(MIN_PER_THREAD).map(work).collect(),
    };
    // Where it was exceeded depends on the number of threads, so this comes before any other error.
    if is_exceeded() { Err(too_large(limit)) } else { results.into_iter().collect() }
}

fn too_large(limit: usize) -> Error {
    Diagnostic::error(CatalogKind::ReplacementsTooLarge { limit: limit >> 20 }).into()
}

/// Names the resource of a diagnostic and its file.
pub(crate) fn in_resource(resource: &Resource, mut diagnostic: Diagnostic) -> Error {
    diagnostic.file = resource.path().map(|path| path.as_str().into());
    diagnostic.resource = Some(resource.view().label().into());
    diagnostic.into()
}

/// The error for a field that cannot be set, because `node` is not a mapping.
pub(crate) fn not_a_mapping(resource: &Resource, node: NodeRef<'_>, field: &str) -> Error {
    let kind = CatalogKind::NotAMapping { field: field.to_owned() };
    in_resource(resource, Diagnostic::error(kind).at(resource.item().file(), node.span()))
}

/// Whether a node is null.
pub(crate) fn is_null(node: NodeRef<'_>) -> bool {
    node.as_scalar().is_some_and(|scalar| scalar.resolve() == ScalarType::Null)
}

/// The text of a scalar of any type; none for null and collections.
pub(crate) fn text_of<'a>(node: NodeRef<'a>) -> Option<std::borrow::Cow<'a, str>> {
    let node = node.resolve();
    node.as_scalar().filter(|_| !is_null(node)).map(|scalar| scalar.value())
}

fn is_text(value: &Value<'_>, text: &str) -> bool {
    matches!(value, Value::String(it) if it == text)
}

fn insert(branch: &mut Branch, keys: &[String], value: Value<'static>) {
    let Some((key, rest)) = keys.split_first() else { return };
    let at = branch.iter().position(|(name, _)| name == key).unwrap_or_else(|| {
        branch.push((key.clone(), Tree::Branch(Branch::new())));
        branch.len() - 1
    });
    match (&mut branch[at].1, rest) {
        (tree, []) => *tree = Tree::Leaf(value),
        (Tree::Branch(branch), rest) => insert(branch, rest, value),
        (Tree::Leaf(_), _) => {}
    }
}

impl Tree {
    fn into_value(self) -> Value<'static> {
        match self {
            Self::Leaf(value) => value,
            Self::Branch(branch) => Value::Mapping(
                branch
                    .into_iter()
                    .map(|(key, tree)| (Value::string(key), tree.into_value()))
                    .collect(),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sets a field in each of these texts.
    fn changed(texts: &[&str], releases_tables: bool) -> Vec<(String, Option<String>)> {
        let parse = |text: &&str| Resource::parse(*text).unwrap();
        let mut resources: Vec<Resource> = texts.iter().map(parse).collect();
        let own = texts.iter().map(|text| text.len()).sum();
        let all = resources.iter_mut().collect();
        let names = change_all(all, (own, releases_tables), |changes, resource| {
            let slot = changes.follow(resource.root(), &["metadata", "labels", "a"]);
            slot.iter().for_each(|slot| changes.set(slot, "b"));
            Ok(resource.name())
        });
        let names = names.unwrap();
        assert_eq!(names.len(), texts.len());
        let of = |it: &Resource| (it.text().to_owned(), it.get_text("metadata.labels.a").unwrap());
        resources.iter().map(of).collect()
    }

    #[test]
    fn resources_without_node_tables_are_the_same() {
        let texts = [
            "apiVersion: v1\nkind: Pod # it\nmetadata:\n  name: a\n",
            "apiVersion: v1\nkind: Pod\nmetadata: {name: b, labels: {a: b}}\n",
        ];
        let kept = changed(&texts, false);
        assert_eq!(kept, changed(&texts, true));
        assert_eq!(kept[0].0, format!("{}  labels:\n    a: b\n", texts[0]));
        assert!(kept.iter().all(|(_, value)| value.as_deref() == Some("b")));
    }
}
