//! Pairs the resources of several packages: by identity, by the comment that kpt writes, and by content.

use std::collections::{BTreeMap, HashMap};

use krm_yaml::Span;

use crate::compare::fingerprint;
use crate::model::package::duplicate;
use crate::{Diagnostic, Package, PackageResource, Resource, Severity};

/// Compat: kpt writes `metadata: # kpt-merge: namespace/name`, the name that the resource has upstream.
const KPT_MERGE: &str = "kpt-merge:";

/// How resources are paired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ResourcePairing {
    /// Whether the path of the file is part of the identity.
    pub(crate) by_path: bool,
    /// Whether a removed resource pairs with an added one of the same content.
    pub(crate) renames: bool,
}

/// Why resources were paired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PairedBy {
    /// Group, kind, namespace and name.
    Identity,
    /// The `kpt-merge` comment.
    Comment,
    /// Group, kind and content, where no other resource has the same.
    Content,
}

/// One resource, as each package has it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PairedResource<'a, const N: usize> {
    /// The resource of each package, in the order of the packages.
    pub(crate) sides: [Option<PackageResource<'a>>; N],
    /// Why they were paired.
    #[cfg_attr(not(test), allow(dead_code, reason = "tests check why resources are paired"))]
    pub(crate) paired_by: PairedBy,
}

impl ResourcePairing {
    /// Pairs the resources of packages: first those of the last package in its order, then those that only other packages have.
    ///
    /// A resource that occurs twice in one package is an error, because it would be unclear which one is meant.
    pub(crate) fn pair<'a, const N: usize>(
        self,
        packages: [&'a Package; N],
    ) -> Result<Vec<PairedResource<'a, N>>, Vec<Diagnostic>> {
        let keys = Keys { pairing: self, packages };
        let mut pairs = by_identity(&keys)?;
        if !self.by_path {
            // A file may have moved into another subpackage.
            pairs.join(PairedBy::Identity, |pair| keys.name(pair).into_iter().collect());
        }
        pairs.join(PairedBy::Comment, |pair| keys.origins(pair));
        if self.renames {
            pairs.join(PairedBy::Content, |pair| keys.contents(pair));
        }
        Ok(pairs.0.into_iter().flatten().collect())
    }
}

/// What a resource is looked up by. A resource without a name is looked up by its position among those of its kind in its file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Key {
    group: String,
    kind: String,
    namespace: String,
    name: String,
    /// The subpackage, or the file where paths are part of the identity.
    scope: String,
    /// The position among the unnamed resources of its kind in its file, from 1; 0 for a resource with a name.
    unnamed: usize,
}

/// Computes lookup keys. They are not cached, because few resources are looked up twice.
struct Keys<'a, const N: usize> {
    pairing: ResourcePairing,
    packages: [&'a Package; N],
}

impl<'a, const N: usize> Keys<'a, N> {
    fn all(
        &self,
        pair: &PairedResource<'a, N>,
    ) -> impl Iterator<Item = (PackageResource<'a>, Key)> {
        let found = pair.sides.iter().enumerate();
        found.filter_map(|(side, placed)| Some(((*placed)?, self.key(side, (*placed)?))))
    }

    fn named(
        &self,
        pair: &PairedResource<'a, N>,
    ) -> impl Iterator<Item = (PackageResource<'a>, Key)> {
        self.all(pair).filter(|(_, key)| key.unnamed == 0)
    }

    /// The identity of a resource, in whichever file.
    fn name(&self, pair: &PairedResource<'a, N>) -> Option<Key> {
        let (_, key) = self.named(pair).next()?;
        Some(Key { scope: String::new(), ..key })
    }

    /// The identities of a resource: here, and upstream according to its comment.
    fn origins(&self, pair: &PairedResource<'a, N>) -> Vec<Key> {
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
                false => Key { scope: String::new(), ..key },
            })
            .map(without_default)
            .collect();
        keys.sort();
        keys.dedup();
        keys
    }

    /// The content of a resource without its name, on each side.
    fn contents(&self, pair: &PairedResource<'a, N>) -> Vec<(u64, String, String, String)> {
        let mut contents: Vec<_> = self
            .all(pair)
            .filter_map(|(placed, key)| {
                let content = fingerprint::of_content(placed.resource.node, &key.name)?;
                let scope = if self.pairing.by_path { key.scope } else { String::new() };
                Some((content, key.group, key.kind, scope))
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
        // Compat: kpt renames a Kptfile to the directory that it is fetched into, so its name does not identify it.
        let name = match path.is_package_file() {
            true => String::new(),
            false => resource.name().into_owned(),
        };
        let is_unnamed = name.is_empty();
        let scope = match self.pairing.by_path || is_unnamed {
            true => path.as_str().to_owned(),
            false => self.packages[side].root_of(path).to_owned(),
        };
        let namespace = if is_unnamed { String::new() } else { resource.namespace().into_owned() };
        Key { group, kind, namespace, name, scope, unnamed: usize::from(is_unnamed) }
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
struct PairedResources<'a, const N: usize>(Vec<Option<PairedResource<'a, N>>>);

fn by_identity<'a, const N: usize>(
    keys: &Keys<'a, N>,
) -> Result<PairedResources<'a, N>, Vec<Diagnostic>> {
    // Never iterated, so the order of hashes does not matter.
    let mut found: HashMap<Key, usize> = HashMap::new();
    let (mut pairs, mut errors) = (Vec::new(), Vec::new());
    // The last package determines the order.
    for side in (0..N).rev() {
        let mut unnamed: BTreeMap<Key, usize> = BTreeMap::new();
        for placed in keys.packages[side].resources() {
            let mut key = keys.key(side, placed);
            if key.unnamed > 0 {
                let count = unnamed.entry(key.clone()).or_insert(0);
                *count += 1;
                key.unnamed = *count;
            }
            let at = *found.entry(key).or_insert_with(|| {
                pairs.push(Some(PairedResource {
                    sides: [const { None }; N],
                    paired_by: PairedBy::Identity,
                }));
                pairs.len() - 1
            });
            let Some(pair) = &mut pairs[at] else { continue };
            match &pair.sides[side] {
                Some(first) => errors.push(duplicate_error(first, &placed)),
                None => pair.sides[side] = Some(placed),
            }
        }
    }
    if errors.is_empty() { Ok(PairedResources(pairs)) } else { Err(errors) }
}

fn duplicate_error(first: &PackageResource<'_>, again: &PackageResource<'_>) -> Diagnostic {
    let name = again.resource.identity().map(|it| it.to_string()).unwrap_or_default();
    let mut error = duplicate(&name, first, again);
    error.severity = Severity::Error;
    error.hint("remove one of the two, or give them different names")
}

impl<'a, const N: usize> PairedResources<'a, N> {
    /// Joins incomplete pairs that have a key in common, where it is clear which belong together.
    fn join<K: Ord>(
        &mut self,
        paired_by: PairedBy,
        keys: impl Fn(&PairedResource<'a, N>) -> Vec<K>,
    ) {
        let mut same: BTreeMap<K, Vec<usize>> = BTreeMap::new();
        for (at, pair) in self.0.iter().enumerate() {
            let is_open = |pair: &&PairedResource<'a, N>| pair.sides.iter().any(Option::is_none);
            let open = pair.as_ref().filter(is_open);
            for key in open.map(&keys).unwrap_or_default() {
                same.entry(key).or_default().push(at);
            }
        }
        let mut groups: Vec<Vec<usize>> = same.into_values().filter(|it| it.len() > 1).collect();
        groups.sort();
        groups.into_iter().for_each(|group| self.unite(&group, paired_by));
    }

    /// Joins pairs, unless a package would then have the resource twice.
    fn unite(&mut self, group: &[usize], paired_by: PairedBy) {
        let mut sides = [const { None }; N];
        for at in group {
            let Some(pair) = &self.0[*at] else { return };
            for (side, found) in pair.sides.iter().enumerate() {
                match (sides[side], found) {
                    (Some(_), Some(_)) => return,
                    (None, Some(found)) => sides[side] = Some(*found),
                    _ => {}
                }
            }
        }
        // Two additions with the same content are two resources, and a deletion on one side is not a rename by the other.
        if paired_by == PairedBy::Content && sides.iter().any(Option::is_none) {
            return;
        }
        group.iter().for_each(|at| self.0[*at] = None);
        self.0[group[0]] = Some(PairedResource { sides, paired_by });
    }
}

#[cfg(test)]
#[path = "resources_tests.rs"]
mod tests;
