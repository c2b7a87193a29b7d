//! The resources that are renamed, by their old names.

use std::collections::{BTreeMap, BTreeSet};

use krm_sdk::Resource;

use crate::depends_on::Dependency;

/// The renamed resources by kind and old name.
#[derive(Default)]
pub(super) struct Renamed {
    kinds: BTreeSet<String>,
    resources: BTreeMap<(String, String), Vec<RenamedResource>>,
}

struct RenamedResource {
    group: String,
    namespace: Option<String>,
}

/// Where a reference is.
pub(super) enum ReferenceScope<'n> {
    /// In a namespace: it may refer to resources of that namespace and cluster-scoped ones.
    Namespace(&'n str),
    /// In a cluster-scoped resource: it may refer to any resource.
    Cluster,
}

impl Renamed {
    /// Collects resources, each with whether it is namespaced.
    pub(super) fn of<'a>(resources: impl Iterator<Item = (&'a Resource, bool)>) -> Self {
        let mut renamed = Self::default();
        for (resource, is_namespaced) in resources {
            let (kind, name) = (resource.kind(), resource.name());
            let namespace = is_namespaced.then(|| or_default(&resource.namespace()).to_owned());
            let entry = RenamedResource { group: resource.view().group(), namespace };
            renamed.kinds.insert(kind.clone());
            renamed.resources.entry((kind, name)).or_default().push(entry);
        }
        renamed
    }

    pub(super) fn has_kind(&self, kind: &str) -> bool {
        self.kinds.contains(kind)
    }

    /// Whether a reference can mean a renamed resource of this group (any if none), kind and old name.
    pub(super) fn has(
        &self,
        group: Option<&str>,
        kind: &str,
        name: &str,
        scope: &ReferenceScope<'_>,
    ) -> bool {
        let entries = self.resources.get(&(kind.to_owned(), name.to_owned())).into_iter().flatten();
        let mut entries = entries.filter(|it| group.is_none_or(|group| it.group == group));
        entries.any(|it| match (scope, &it.namespace) {
            (ReferenceScope::Namespace(own), Some(namespace)) => or_default(own) == namespace,
            _ => true,
        })
    }

    pub(super) fn has_dependency(&self, dependency: &Dependency) -> bool {
        let Dependency { group, namespace, kind, name } = dependency;
        let scope = match namespace {
            Some(namespace) => ReferenceScope::Namespace(namespace),
            None => ReferenceScope::Cluster,
        };
        self.has(Some(group), kind, name, &scope)
    }
}

/// An empty namespace is `default`.
pub(super) fn or_default(namespace: &str) -> &str {
    if namespace.is_empty() { "default" } else { namespace }
}
