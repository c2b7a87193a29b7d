//! Pairs the resources of several packages: by identity, by the comment that kpt writes, and by content.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use krm_yaml::{File, Span};

use crate::compare::fingerprint;
use crate::model::package::duplicate;
use crate::model::resource::is_resource;
use crate::{Diagnostic, Package, PackageFile, PackageResource, Resource, Severity};

/// Compat: kpt writes `metadata: # kpt-merge: namespace/name`, the name that the resource has upstream.
const KPT_MERGE: &str = "kpt-merge:";

/// How resources are paired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ResourcePairing {
    /// Whether the path of the file is part of the identity.
    pub(crate) by_path: bool,
    /// Whether a removed resource pairs with an added one of the same content.
    pub(crate) renames: Renames,
    /// Whether a list is one resource, and not its items.
    pub(crate) whole_documents: bool,
}

/// Which renamed resources are found by their content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Renames {
    #[default]
    None,
    /// Those that another package than the last one renamed.
    ///
    /// Spec: a resource that is present only in the dest is kept without changes, so local renames must be asked for.
    ExceptLast,
    All,
}

/// Why resources were paired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PairedBy {
    /// Group, kind, namespace and name.
    Identity,
    /// The `kpt-merge` comment.
    Comment,
    /// Kind and name, where no package has several of them: the group or the namespace changed.
    KindAndName,
    /// Group, kind and content, where no other resource has the same.
    Content,
    /// The path of the file and the position in it.
    Position,
    /// Each file has one document.
    SingleDocument,
    /// The kind of a patch without a name, where the destination has one resource of this kind.
    Kind,
}

impl fmt::Display for PairedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Identity => "they have the same identity",
            Self::Comment => "a `kpt-merge` comment identifies it",
            Self::KindAndName => "they have the same kind and name",
            Self::Content => "they have the same kind and content",
            Self::Position => "they have the same position in the same file",
            Self::SingleDocument => "each file has one document",
            Self::Kind => "it is the only one of its kind",
        })
    }
}

/// One resource, as each package has it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PairedResource<'a, const N: usize> {
    /// The resource of each package, in the order of the packages.
    pub(crate) sides: [Option<PackageResource<'a>>; N],
    /// Why they were paired.
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
            pairs.join(PairedBy::Identity, self.renames, |pair| {
                keys.name(pair).into_iter().collect()
            });
        }
        pairs.join(PairedBy::Comment, self.renames, |pair| keys.origins(pair));
        if self.renames != Renames::None {
            pairs.join(PairedBy::Content, self.renames, |pair| keys.contents(pair));
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
        let placed = keys.packages[side].files().iter();
        for placed in placed.flat_map(|file| file_resources(file, keys.pairing.whole_documents)) {
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

/// The resources of a file; with `whole_documents` a list is one of them.
fn file_resources(
    file: &PackageFile,
    whole_documents: bool,
) -> Box<dyn Iterator<Item = PackageResource<'_>> + '_> {
    if !whole_documents {
        return Box::new(file.package_resources());
    }
    let documents = file.file().into_iter().flat_map(File::documents);
    let roots = documents.filter_map(|document| document.root()).filter(|root| is_resource(*root));
    Box::new(roots.enumerate().map(move |(index, node)| PackageResource {
        file,
        index,
        resource: Resource { node, item: None },
    }))
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
        renames: Renames,
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
        groups.into_iter().for_each(|group| self.unite(&group, paired_by, renames));
    }

    /// Joins pairs, unless a package would then have the resource twice.
    fn unite(&mut self, group: &[usize], paired_by: PairedBy, renames: Renames) {
        let mut sides = [const { None }; N];
        for at in group {
            let Some(pair) = &self.0[*at] else { return };
            let is_only_in_last = pair.sides[..N - 1].iter().all(Option::is_none);
            if paired_by == PairedBy::Content && renames == Renames::ExceptLast && is_only_in_last {
                return;
            }
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
