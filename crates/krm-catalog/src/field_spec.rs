//! Field specs: a path in resources of some kinds, and whether a missing field is created.

use std::sync::OnceLock;

use krm_sdk::{Error, Resource};
use krm_yaml::{NodeKind, NodeRef};
use serde::Deserialize;

use crate::changes::{Changes, FieldSlot, is_null, not_a_mapping};

/// A field of some resources: `spec/template/spec/containers[]/image`.
///
/// Sequences are traversed with or without `[]`; a path with `[]` is never created. `\/` is a slash in a key.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FieldSpec {
    #[serde(default)]
    group: String,
    #[serde(default)]
    version: String,
    #[serde(default)]
    kind: String,
    path: String,
    #[serde(default)]
    create: bool,
    /// The keys of the path, split once for all resources.
    #[serde(skip)]
    keys: OnceLock<Vec<String>>,
}

/// Whether a resource has this group, version and kind. Empty strings match any.
pub(crate) fn is_of(resource: &Resource, [group, version, kind]: [&str; 3]) -> bool {
    if !kind.is_empty() && resource.view().kind() != kind {
        return false;
    }
    if group.is_empty() && version.is_empty() {
        return true;
    }
    let api_version = resource.view().api_version();
    let (its_group, its_version) = api_version.split_once('/').unwrap_or(("", &api_version));
    let matches = |expected: &str, actual: &str| expected.is_empty() || expected == actual;
    matches(group, its_group) && matches(version, its_version)
}

impl FieldSpec {
    /// A field of the resources of a kind.
    pub(crate) fn new(group: &str, version: &str, kind: &str, path: &str, create: bool) -> Self {
        let [group, version, kind, path] = [group, version, kind, path].map(str::to_owned);
        Self { group, version, kind, path, create, keys: OnceLock::new() }
    }

    /// The keys of the path.
    pub(crate) fn keys(&self) -> &[String] {
        self.keys.get_or_init(|| keys(&self.path))
    }

    /// Whether the field is one of resources of this kind, of some group and version.
    pub(crate) fn is_of_kind(&self, kind: &str) -> bool {
        self.kind.is_empty() || self.kind == kind
    }

    pub(crate) fn selects(&self, resource: &Resource) -> bool {
        is_of(resource, [&self.group, &self.version, &self.kind])
    }

    /// The fields of a resource at the path. Missing fields are included if they are to be created.
    ///
    /// # Errors
    /// A value on the path is a scalar.
    pub(crate) fn find<'a>(
        &self,
        resource: &'a Resource,
        changes: &mut Changes<'a>,
    ) -> Result<Vec<FieldSlot<'a>>, Error> {
        if !self.selects(resource) {
            return Ok(Vec::new());
        }
        find(resource, changes, self.keys(), self.create)
    }
}

/// The fields of a resource at a path of keys, as [`FieldSpec::find`] returns them.
pub(crate) fn find<'a>(
    resource: &'a Resource,
    changes: &mut Changes<'a>,
    keys: &[impl AsRef<str>],
    create: bool,
) -> Result<Vec<FieldSlot<'a>>, Error> {
    let mut walk = Walk { resource, changes, create, slots: Vec::new() };
    walk.visit(resource.root(), keys, false)?;
    Ok(walk.slots)
}

/// The slot of one entry of the mapping at a slot.
pub(crate) fn entry<'a>(
    changes: &mut Changes<'a>,
    resource: &'a Resource,
    slot: &FieldSlot<'a>,
    name: &str,
) -> Result<FieldSlot<'a>, Error> {
    match slot {
        FieldSlot::Missing(at, keys) => {
            let keys = keys.iter().cloned().chain([name.to_owned()]).collect();
            Ok(FieldSlot::Missing(*at, keys))
        }
        FieldSlot::Existing(node) | FieldSlot::Merged(node, ..) if is_null(*node) => {
            Ok(FieldSlot::Missing(*node, vec![name.to_owned()]))
        }
        FieldSlot::Existing(node) | FieldSlot::Merged(node, ..) => {
            changes.follow(*node, &[name]).ok_or_else(|| not_a_mapping(resource, *node, name))
        }
    }
}

/// The keys of a path.
fn keys(path: &str) -> Vec<String> {
    let mut keys: Vec<String> = Vec::new();
    let mut joins = false;
    for part in path.split('/') {
        let (part, escapes) = match part.strip_suffix('\\') {
            Some(part) => (part, true),
            None => (part, false),
        };
        match keys.last_mut().filter(|_| joins) {
            Some(last) => {
                last.push('/');
                last.push_str(part);
            }
            None => keys.push(part.to_owned()),
        }
        joins = escapes;
    }
    keys
}

struct Walk<'w, 'a> {
    resource: &'a Resource,
    changes: &'w mut Changes<'a>,
    create: bool,
    slots: Vec<FieldSlot<'a>>,
}

impl<'a> Walk<'_, 'a> {
    /// Recursion is bounded by the length of the path and the nesting of sequences.
    fn visit(
        &mut self,
        node: NodeRef<'a>,
        keys: &[impl AsRef<str>],
        is_shared: bool,
    ) -> Result<(), Error> {
        let is_shared = is_shared || node.kind() == NodeKind::Alias;
        let node = self.changes.resolve(node);
        let Some((key, rest)) = keys.split_first() else {
            self.changes.arrive(node, is_shared);
            self.slots.push(FieldSlot::Existing(node));
            return Ok(());
        };
        if let Some(list) = node.as_sequence() {
            return list.items().try_for_each(|item| self.visit(item, keys, is_shared));
        }
        let (name, is_list) = match key.as_ref().strip_suffix("[]") {
            Some(name) => (name, true),
            None => (key.as_ref(), false),
        };
        if is_null(node) {
            self.add_missing(node, keys, is_shared);
            return Ok(());
        }
        match self.changes.get(node, name) {
            Some(Some(next)) if is_null(next) && rest.is_empty() => {
                let may = self.create && !is_list;
                self.changes.arrive(next, is_shared);
                self.slots.extend(may.then_some(FieldSlot::Existing(next)));
                Ok(())
            }
            Some(Some(next)) => self.visit(next, rest, is_shared || next.parent() != Some(node)),
            Some(None) => {
                self.add_missing(node, keys, is_shared);
                Ok(())
            }
            None => Err(not_a_mapping(self.resource, node, name)),
        }
    }

    fn add_missing(&mut self, node: NodeRef<'a>, keys: &[impl AsRef<str>], is_shared: bool) {
        if self.create && !keys.iter().any(|key| key.as_ref().ends_with("[]")) {
            self.changes.arrive(node, is_shared);
            let keys = keys.iter().map(|key| key.as_ref().to_owned()).collect();
            self.slots.push(FieldSlot::Missing(node, keys));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, path: &str, create: bool) -> Result<Vec<String>, Error> {
        let resource = Resource::parse(text).unwrap();
        let spec = FieldSpec::new("", "", "", path, create);
        let slots = spec.find(&resource, &mut Changes::default())?;
        let describe = |slot: &FieldSlot<'_>| match slot {
            FieldSlot::Existing(node) | FieldSlot::Merged(node, ..) => node.text().to_owned(),
            FieldSlot::Missing(at, keys) => {
                format!("{} below {}", keys.join("."), at.position().line)
            }
        };
        Ok(slots.iter().map(describe).collect())
    }

    #[test]
    fn path_continues_in_every_element_and_creates_missing_keys_on_request() {
        let text = "kind: A\nspec:\n  list:\n  - a: 1\n  - b: 2\n";
        for path in ["spec/list[]/a", "spec/list/a"] {
            assert_eq!(found(text, path, false).unwrap(), ["1"]);
            assert_eq!(found(text, path, true).unwrap(), ["1", "a below 5"]);
        }
        assert_eq!(found(text, "spec/none[]/a", true).unwrap(), [""; 0]);
        assert_eq!(found(text, "x/y", true).unwrap(), ["x.y below 1"]);
        assert_eq!(found("a: null\n", "a/b", true).unwrap(), ["b below 1"]);
        assert_eq!(found("a: null\n", "a/b", false).unwrap(), [""; 0]);
        let error = found(text, "kind/a", true).unwrap_err();
        assert_eq!(error.to_string(), "cannot set `a`: expected a mapping here");
    }

    #[test]
    fn slash_in_a_key_is_escaped() {
        assert_eq!(keys(r"a/b.c\/d/e"), ["a", "b.c/d", "e"]);
        assert_eq!(keys("a"), ["a"]);
    }
}
