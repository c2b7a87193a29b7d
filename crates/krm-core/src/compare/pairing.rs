//! Which resources of several packages are one: by identity, by the comment that kpt leaves, by content.

use std::collections::{BTreeMap, HashMap};

use krm_yaml::Span;

use crate::compare::fingerprint;
use crate::model::package::duplicate;
use crate::{Diagnostic, Package, PackageResource, Resource, Severity};

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
    pub sides: [Option<PackageResource<'a>>; N],
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
        let keys = Keys { pairing: self, packages };
        let mut slots = by_identity(&keys)?;
        if !self.by_path {
            // A file may have moved into another package.
            slots.join(Reason::Identity, |pair| keys.name(pair).into_iter().collect());
        }
        slots.join(Reason::Comment, |pair| keys.origins(pair));
        if self.renames {
            slots.join(Reason::Content, |pair| keys.contents(pair));
        }
        Ok(slots.0.into_iter().flatten().collect())
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

/// What the resources of packages are looked up by. Made anew each time: few are looked up twice.
struct Keys<'a, const N: usize> {
    pairing: Pairing,
    packages: [&'a Package; N],
}

impl<'a, const N: usize> Keys<'a, N> {
    fn all(&self, pair: &Pair<'a, N>) -> impl Iterator<Item = (PackageResource<'a>, Key)> {
        let found = pair.sides.iter().enumerate();
        found.filter_map(|(side, placed)| Some(((*placed)?, self.key(side, (*placed)?))))
    }

    fn named(&self, pair: &Pair<'a, N>) -> impl Iterator<Item = (PackageResource<'a>, Key)> {
        self.all(pair).filter(|(_, key)| key.nameless == 0)
    }

    /// What the resource is called, wherever it stands.
    fn name(&self, pair: &Pair<'a, N>) -> Option<Key> {
        let (_, key) = self.named(pair).next()?;
        Some(Key { place: String::new(), ..key })
    }

    /// What the resource is called here, and was called where it comes from.
    fn origins(&self, pair: &Pair<'a, N>) -> Vec<Key> {
        let mut keys: Vec<Key> = self
            .named(pair)
            .flat_map(|(placed, key)| {
                let origin = origin(placed.resource).map(|(namespace, name)| Key {
                    namespace,
                    name,
                    ..key.clone()
                });
                [Some(key), origin]
            })
            .flatten()
            .map(|key| match self.pairing.by_path {
                true => key,
                false => Key { place: String::new(), ..key },
            })
            .map(without_default)
            .collect();
        keys.sort();
        keys.dedup();
        keys
    }

    /// What the resource is apart from its name, on each side.
    fn contents(&self, pair: &Pair<'a, N>) -> Vec<(u64, String, String, String)> {
        let mut contents: Vec<_> = self
            .all(pair)
            .filter_map(|(placed, key)| {
                let content = fingerprint::of_content(placed.resource.node, &key.name)?;
                let place = if self.pairing.by_path { key.place } else { String::new() };
                Some((content, key.group, key.kind, place))
            })
            .collect();
        contents.sort();
        contents.dedup();
        contents
    }

    fn key(&self, side: usize, placed: PackageResource<'_>) -> Key {
        let (resource, path) = (placed.resource, &placed.file.path);
        let group = resource.group();
        let kind = resource.kind().into_owned();
        // Compat: kpt calls a package's own file by the name of the folder that it was fetched into.
        let name = match path.is_package_file() {
            true => String::new(),
            false => resource.name().into_owned(),
        };
        let is_nameless = name.is_empty();
        let place = match self.pairing.by_path || is_nameless {
            true => path.as_str().to_owned(),
            false => self.packages[side].root_of(path).to_owned(),
        };
        let namespace = if is_nameless { String::new() } else { resource.namespace().into_owned() };
        Key { group, kind, namespace, name, place, nameless: usize::from(is_nameless) }
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
struct Slots<'a, const N: usize>(Vec<Option<Pair<'a, N>>>);

fn by_identity<'a, const N: usize>(keys: &Keys<'a, N>) -> Result<Slots<'a, N>, Vec<Diagnostic>> {
    // Only looked up, never walked.
    let mut found: HashMap<Key, usize> = HashMap::new();
    let (mut slots, mut errors) = (Vec::new(), Vec::new());
    // The last package says in which order the resources come.
    for side in (0..N).rev() {
        let mut nameless: BTreeMap<Key, usize> = BTreeMap::new();
        for placed in keys.packages[side].resources() {
            let mut key = keys.key(side, placed);
            if key.nameless > 0 {
                let count = nameless.entry(key.clone()).or_insert(0);
                *count += 1;
                key.nameless = *count;
            }
            let at = *found.entry(key).or_insert_with(|| {
                slots.push(Some(Pair { sides: [const { None }; N], reason: Reason::Identity }));
                slots.len() - 1
            });
            let Some(slot) = &mut slots[at] else { continue };
            match &slot.sides[side] {
                Some(first) => errors.push(twice(first, &placed)),
                None => slot.sides[side] = Some(placed),
            }
        }
    }
    if errors.is_empty() { Ok(Slots(slots)) } else { Err(errors) }
}

fn twice(first: &PackageResource<'_>, again: &PackageResource<'_>) -> Diagnostic {
    let name = again.resource.identity().map(|it| it.to_string()).unwrap_or_default();
    let mut error = duplicate(&name, first, again);
    error.severity = Severity::Error;
    error.hint("remove one of the two, or give them different names")
}

impl<'a, const N: usize> Slots<'a, N> {
    /// Makes one of those slots that have a key in common, where it is clear which belong together.
    fn join<K: Ord>(&mut self, reason: Reason, keys: impl Fn(&Pair<'a, N>) -> Vec<K>) {
        let mut same: BTreeMap<K, Vec<usize>> = BTreeMap::new();
        for (at, slot) in self.0.iter().enumerate() {
            let is_open = |pair: &&Pair<'a, N>| pair.sides.iter().any(Option::is_none);
            let open = slot.as_ref().filter(is_open);
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
                match (sides[side], found) {
                    (Some(_), Some(_)) => return,
                    (None, Some(found)) => sides[side] = Some(*found),
                    _ => {}
                }
            }
        }
        // Two that were added with the same content are two, and what one side deleted was not renamed by the other.
        if reason == Reason::Content && sides.iter().any(Option::is_none) {
            return;
        }
        group.iter().for_each(|at| self.0[*at] = None);
        self.0[group[0]] = Some(Pair { sides, reason });
    }
}

#[cfg(test)]
#[path = "pairing_tests.rs"]
mod tests;
