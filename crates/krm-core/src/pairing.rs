//! Which resources of several packages are one: by identity, by the comment that kpt leaves, by content.

use std::collections::{BTreeMap, HashMap};

use krm_yaml::Span;

use crate::fingerprint;
use crate::package::duplicate;
use crate::{Diagnostic, Package, Placed, Resource, Severity};

/// Compat: `metadata: # kpt-merge: namespace/name` says what a resource was called where it came from.
const KPT_MERGE: &str = "kpt-merge:";

/// How resources are paired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pairing {
    /// Whether resources in files of different paths are different ones.
    pub by_path: bool,
    /// Whether a resource that went away and one of the same content that came are one.
    pub renames: bool,
}

/// What made resources one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Group, kind, namespace and name.
    Identity,
    /// The `kpt-merge` comment.
    Comment,
    /// Kind and content, and nothing else that has them.
    Content,
}

/// One resource, as each package has it.
#[derive(Clone, Copy, Debug)]
pub struct Pair<'a, const N: usize> {
    /// The resource of each package, in the order of the packages.
    pub sides: [Option<Placed<'a>>; N],
    /// What made them one.
    pub reason: Reason,
}

impl Pairing {
    /// Pairs the resources of packages: those of the last package in its order, then what only others have.
    ///
    /// Of three packages the first is what the others come from: only what it has, and both others kept, can have been
    /// renamed.
    /// Resources that are twice in one package are an error that names both places.
    ///
    /// ```
    /// use krm_core::{Package, pairing::Pairing};
    ///
    /// let (old, new) = (Package::default(), Package::default());
    /// assert!(Pairing::default().pair([&old, &new])?.is_empty());
    /// # Ok::<(), Vec<krm_core::Diagnostic>>(())
    /// ```
    pub fn pair<'a, const N: usize>(
        self,
        packages: [&'a Package; N],
    ) -> Result<Vec<Pair<'a, N>>, Vec<Diagnostic>> {
        let mut slots = by_identity(self, packages)?;
        if !self.by_path {
            // A file may have moved into another package.
            let names = |slot: &Slot<'a, N>| slot.key().map(|key| key.without_place());
            slots.join(Reason::Identity, |slot| names(slot).into_iter().collect());
        }
        slots.join(Reason::Comment, |slot| slot.origins(self));
        if self.renames {
            slots.join(Reason::Content, |slot| slot.contents(self));
        }
        Ok(slots.into_pairs())
    }
}

/// What a resource is looked up by. Without a name the place in the file counts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Key {
    group: String,
    kind: String,
    namespace: String,
    name: String,
    /// The package inside the package, or the file where paths count.
    place: String,
    /// Which of the nameless ones of its kind in its file, from one.
    nameless: usize,
}

impl Key {
    fn without_place(&self) -> Self {
        let place = if self.nameless > 0 { self.place.clone() } else { String::new() };
        Self { place, ..self.clone() }
    }
}

/// One resource on all sides, while it is looked for.
#[derive(Clone, Debug)]
struct Slot<'a, const N: usize> {
    sides: [Option<(Placed<'a>, Key)>; N],
    reason: Reason,
}

impl<'a, const N: usize> Slot<'a, N> {
    fn found(&self) -> impl Iterator<Item = &(Placed<'a>, Key)> {
        self.sides.iter().flatten()
    }

    fn key(&self) -> Option<&Key> {
        self.found().map(|(_, key)| key).find(|key| key.nameless == 0)
    }

    fn is_whole(&self) -> bool {
        self.sides.iter().all(Option::is_some)
    }

    /// What the resource is called here, and was called where it comes from.
    fn origins(&self, pairing: Pairing) -> Vec<Key> {
        let named = self.found().filter(|(_, key)| key.nameless == 0);
        let mut keys: Vec<Key> = named
            .flat_map(|(placed, key)| {
                let origin = origin(placed.resource).map(|(namespace, name)| Key {
                    namespace,
                    name,
                    ..key.clone()
                });
                [Some(key.clone()), origin]
            })
            .flatten()
            .map(|key| if pairing.by_path { key } else { key.without_place() })
            .map(without_default)
            .collect();
        keys.sort();
        keys.dedup();
        keys
    }

    /// What the resource is apart from its name, on each side.
    fn contents(&self, pairing: Pairing) -> Vec<(u64, String, String, String)> {
        let mut contents: Vec<_> = self
            .found()
            .filter_map(|(placed, key)| {
                let content = fingerprint::of_content(placed.resource.node, &key.name)?;
                let place = if pairing.by_path { key.place.clone() } else { String::new() };
                Some((content, key.group.clone(), key.kind.clone(), place))
            })
            .collect();
        contents.sort();
        contents.dedup();
        contents
    }
}

/// Compat: kpt writes `default` where a resource names no namespace.
fn without_default(mut key: Key) -> Key {
    if key.namespace == "default" {
        key.namespace.clear();
    }
    key
}

/// Namespace and name of the `kpt-merge` comment beside `metadata`.
fn origin(resource: Resource<'_>) -> Option<(String, String)> {
    let entry = resource.node.as_mapping()?.entry("metadata")?;
    let gap = Span::new(entry.key.end(), entry.value.start().max(entry.key.end()));
    let gap = gap.of(resource.document().file().text());
    let (_, comment) = gap.lines().next()?.split_once('#')?;
    let (before, name) = comment.split_once(KPT_MERGE)?;
    if !before.trim().is_empty() {
        return None;
    }
    let (namespace, name) = name.trim().split_once('/')?;
    (!name.is_empty()).then(|| (namespace.to_owned(), name.to_owned()))
}

#[derive(Debug)]
struct Slots<'a, const N: usize>(Vec<Option<Slot<'a, N>>>);

fn by_identity<'a, const N: usize>(
    pairing: Pairing,
    packages: [&'a Package; N],
) -> Result<Slots<'a, N>, Vec<Diagnostic>> {
    // Only looked up, never walked.
    let mut found: HashMap<Key, usize> = HashMap::new();
    let (mut slots, mut errors) = (Vec::new(), Vec::new());
    // The last package says in which order the resources come.
    for side in (0..N).rev() {
        let mut nameless: BTreeMap<Key, usize> = BTreeMap::new();
        for placed in packages[side].resources() {
            let mut key = key(placed, packages[side], pairing);
            if key.nameless > 0 {
                let count = nameless.entry(key.clone()).or_insert(0);
                *count += 1;
                key.nameless = *count;
            }
            let at = *found.entry(key.clone()).or_insert_with(|| {
                slots.push(Some(Slot { sides: [const { None }; N], reason: Reason::Identity }));
                slots.len() - 1
            });
            let Some(slot) = &mut slots[at] else { continue };
            match &slot.sides[side] {
                Some((first, _)) => errors.push(twice(first, &placed)),
                None => slot.sides[side] = Some((placed, key)),
            }
        }
    }
    if errors.is_empty() { Ok(Slots(slots)) } else { Err(errors) }
}

fn twice(first: &Placed<'_>, again: &Placed<'_>) -> Diagnostic {
    let name = again.resource.identity().map(|it| it.to_string()).unwrap_or_default();
    let mut error = duplicate(&name, first, again);
    error.severity = Severity::Error;
    error.hint("remove one of the two, or give them different names")
}

fn key(placed: Placed<'_>, package: &Package, pairing: Pairing) -> Key {
    let (resource, path) = (placed.resource, &placed.file.path);
    let group = resource.group();
    let kind = resource.kind().into_owned();
    // Compat: kpt calls a package's own file by the name of the folder that it was fetched into.
    let name = match path.is_package_file() {
        true => String::new(),
        false => resource.name().into_owned(),
    };
    let is_nameless = name.is_empty();
    let place = match pairing.by_path || is_nameless {
        true => path.as_str().to_owned(),
        false => package.root_of(path).to_owned(),
    };
    let namespace = if is_nameless { String::new() } else { resource.namespace().into_owned() };
    Key { group, kind, namespace, name, place, nameless: usize::from(is_nameless) }
}

impl<'a, const N: usize> Slots<'a, N> {
    /// Makes one of those slots that have a key in common, where it is clear which belong together.
    fn join<K: Ord>(&mut self, reason: Reason, keys: impl Fn(&Slot<'a, N>) -> Vec<K>) {
        let mut same: BTreeMap<K, Vec<usize>> = BTreeMap::new();
        for (at, slot) in self.0.iter().enumerate() {
            let open = slot.as_ref().filter(|slot| !slot.is_whole());
            for key in open.map(&keys).unwrap_or_default() {
                same.entry(key).or_default().push(at);
            }
        }
        let mut groups: Vec<Vec<usize>> = same.into_values().filter(|it| it.len() > 1).collect();
        groups.sort();
        groups.into_iter().for_each(|group| self.unite(&group, reason));
    }

    /// Does nothing where a package would have the resource twice.
    fn unite(&mut self, group: &[usize], reason: Reason) {
        let mut sides = [const { None }; N];
        for at in group {
            let Some(slot) = &self.0[*at] else { return };
            for (side, found) in slot.sides.iter().enumerate() {
                match (&sides[side], found) {
                    (Some(_), Some(_)) => return,
                    (None, Some(found)) => sides[side] = Some(found.clone()),
                    _ => {}
                }
            }
        }
        // Two that were added with the same content are two, and what one side deleted was not renamed by the other.
        if reason == Reason::Content && sides.iter().any(Option::is_none) {
            return;
        }
        group.iter().for_each(|at| self.0[*at] = None);
        self.0[group[0]] = Some(Slot { sides, reason });
    }

    fn into_pairs(self) -> Vec<Pair<'a, N>> {
        let pair = |slot: Slot<'a, N>| Pair {
            sides: slot.sides.map(|side| side.map(|(placed, _)| placed)),
            reason: slot.reason,
        };
        self.0.into_iter().flatten().map(pair).collect()
    }
}

#[cfg(test)]
#[path = "pairing_tests.rs"]
mod tests;
