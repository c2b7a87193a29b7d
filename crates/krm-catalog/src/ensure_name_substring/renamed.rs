//! The resources that get another name, found by the name that they had.

use std::collections::{BTreeMap, BTreeSet};

use krm_sdk::Resource;

use crate::depends_on::Dependency;

/// Namespaces of the resources of a group, kind and old name; none for one of the whole cluster.
#[derive(Default)]
pub(super) struct Renamed {
    kinds: BTreeSet<String>,
    places: BTreeMap<(String, String), Vec<KeyPosition>>,
}

struct KeyPosition {
    group: String,
    namespace: Option<String>,
}

/// Where somebody looks from.
pub(super) enum From<'n> {
    /// A namespace sees itself and what is of the whole cluster.
    Namespace(&'n str),
    /// What is of the whole cluster sees all.
    Cluster,
}

impl Renamed {
    /// Of resources, and whether each lives in a namespace.
    pub(super) fn of<'a>(resources: impl Iterator<Item = (&'a Resource, bool)>) -> Self {
        let mut renamed = Self::default();
        for (resource, is_namespaced) in resources {
            let (kind, name) = (resource.kind().into_owned(), resource.name().into_owned());
            let namespace = is_namespaced.then(|| or_default(&resource.namespace()).to_owned());
            let place = KeyPosition { group: resource.view().group(), namespace };
            renamed.kinds.insert(kind.clone());
            renamed.places.entry((kind, name)).or_default().push(place);
        }
        renamed
    }

    pub(super) fn has_kind(&self, kind: &str) -> bool {
        self.kinds.contains(kind)
    }

    /// Whether a resource of one of the groups (none: any), a kind and a name can be seen from somewhere.
    pub(super) fn has(&self, group: Option<&str>, kind: &str, name: &str, from: &From<'_>) -> bool {
        let places = self.places.get(&(kind.to_owned(), name.to_owned())).into_iter().flatten();
        let mut fit = places.filter(|place| group.is_none_or(|group| place.group == group));
        fit.any(|place| match (from, &place.namespace) {
            (From::Namespace(from), Some(namespace)) => or_default(from) == namespace,
            _ => true,
        })
    }

    pub(super) fn has_dependency(&self, dependency: &Dependency) -> bool {
        let Dependency { group, namespace, kind, name } = dependency;
        let from = match namespace {
            Some(namespace) => From::Namespace(namespace),
            None => From::Cluster,
        };
        self.has(Some(group), kind, name, &from)
    }
}

/// No namespace is the one that is called so.
pub(super) fn or_default(namespace: &str) -> &str {
    if namespace.is_empty() { "default" } else { namespace }
}
