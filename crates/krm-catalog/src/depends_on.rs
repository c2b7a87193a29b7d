//! The annotation `config.kubernetes.io/depends-on`: references to resources, separated by commas.

use krm_sdk::Resource;

use crate::changes::Changes;

/// The annotation.
pub(crate) const ANNOTATION: &str = "config.kubernetes.io/depends-on";

/// A resource that another one depends on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Dependency {
    pub(crate) group: String,
    /// None for a cluster-scoped resource.
    pub(crate) namespace: Option<String>,
    pub(crate) kind: String,
    pub(crate) name: String,
}

impl Dependency {
    /// Reads `group/namespaces/namespace/kind/name` or `group/kind/name`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let is_plain = |it: char| it.is_ascii_alphanumeric() || "-._".contains(it);
        let parts: Vec<&str> = text.split('/').collect();
        if !parts.iter().all(|part| part.chars().all(is_plain)) {
            return None;
        }
        let (group, namespace, kind, name) = match parts[..] {
            [group, "namespaces", namespace, kind, name] => (group, Some(namespace), kind, name),
            [group, kind, name] => (group, None, kind, name),
            _ => return None,
        };
        let [group, kind, name] = [group, kind, name].map(str::to_owned);
        Some(Self { group, namespace: namespace.map(str::to_owned), kind, name })
    }

    /// The reference as it is written.
    pub(crate) fn text(&self) -> String {
        let Self { group, namespace, kind, name } = self;
        match namespace {
            Some(namespace) => format!("{group}/namespaces/{namespace}/{kind}/{name}"),
            None => format!("{group}/{kind}/{name}"),
        }
    }
}

/// Replaces the dependencies of a resource for which `change` returns another one. Whitespace is preserved.
pub(crate) fn rewrite<'a>(
    changes: &mut Changes<'a>,
    resource: &'a Resource,
    mut change: impl FnMut(Dependency) -> Option<Dependency>,
) {
    let slot = changes.follow(resource.root(), &["metadata", "annotations", ANNOTATION]);
    let Some(slot) = slot else { return };
    let Some(text) = slot.node().and_then(|node| node.as_str()) else { return };
    let parts = text.split(',').map(|part| {
        let old = part.trim();
        match Dependency::parse(old).and_then(&mut change) {
            Some(new) => part.replacen(old, &new.text(), 1),
            None => part.to_owned(),
        }
    });
    let new = parts.collect::<Vec<_>>().join(",");
    if new != text {
        changes.set(&slot, &new);
    }
}
