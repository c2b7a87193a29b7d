//! Selecting resources by kind, name, namespace, labels, annotations and file.

use crate::{Resource, ResourceList};

/// Selects the resources that meet every given condition; without conditions, all.
///
/// ```
/// use krm_sdk::{Resource, Selector};
///
/// let pod = Resource::parse("apiVersion: v1\nkind: Pod\nmetadata: {name: a, labels: {app: web}}\n")?;
/// assert!(Selector::new().kind("Pod").label("app", "web").matches(&pod));
/// assert!(!Selector::new().kind("Pod").name("b").matches(&pod));
/// # Ok::<(), krm_sdk::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selector {
    api_version: Option<String>,
    kinds: Vec<String>,
    name: Option<String>,
    namespace: Option<String>,
    labels: Vec<(String, String)>,
    annotations: Vec<(String, String)>,
    path: Option<String>,
}

impl Selector {
    /// Selects all resources.
    pub fn new() -> Self {
        Self::default()
    }

    /// Requires this `apiVersion`.
    #[must_use]
    pub fn api_version(mut self, api_version: impl Into<String>) -> Self {
        self.api_version = Some(api_version.into());
        self
    }

    /// Requires this kind; call it again to allow several.
    #[must_use]
    pub fn kind(mut self, kind: impl Into<String>) -> Self {
        self.kinds.push(kind.into());
        self
    }

    /// Requires this name.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Requires this namespace.
    #[must_use]
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = Some(namespace.into());
        self
    }

    /// Requires this label; call it again to require several.
    #[must_use]
    pub fn label(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.labels.push((name.into(), value.into()));
        self
    }

    /// Requires this annotation; call it again to require several.
    #[must_use]
    pub fn annotation(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.annotations.push((name.into(), value.into()));
        self
    }

    /// Requires this file, or a file in or below this directory.
    #[must_use]
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// Whether a resource meets every condition.
    pub fn matches(&self, resource: &Resource) -> bool {
        let is = |required: &Option<String>, actual: &str| {
            required.as_deref().is_none_or(|required| required == actual)
        };
        is(&self.api_version, &resource.api_version())
            && (self.kinds.is_empty() || self.kinds.iter().any(|kind| *kind == resource.kind()))
            && is(&self.name, &resource.name())
            && is(&self.namespace, &resource.namespace())
            && self
                .labels
                .iter()
                .all(|(name, value)| resource.label(name).as_deref() == Some(value))
            && self
                .annotations
                .iter()
                .all(|(name, value)| resource.annotation(name).as_deref() == Some(value))
            && self.path.as_deref().is_none_or(|path| is_in(resource, path))
    }
}

fn is_in(resource: &Resource, path: &str) -> bool {
    let Some(own) = resource.path() else { return false };
    let rest = own.as_str().strip_prefix(path.trim_end_matches('/'));
    path.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

impl ResourceList {
    /// The resources of a kind.
    pub fn of_kind<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Resource> {
        self.items.iter().filter(move |it| it.kind() == kind)
    }

    /// The resources of a kind, mutable.
    pub fn of_kind_mut<'a>(&'a mut self, kind: &'a str) -> impl Iterator<Item = &'a mut Resource> {
        self.items.iter_mut().filter(move |it| it.kind() == kind)
    }

    /// The selected resources.
    pub fn select<'a>(&'a self, selector: &'a Selector) -> impl Iterator<Item = &'a Resource> {
        self.items.iter().filter(move |it| selector.matches(it))
    }

    /// The selected resources, mutable.
    pub fn select_mut<'a>(
        &'a mut self,
        selector: &'a Selector,
    ) -> impl Iterator<Item = &'a mut Resource> {
        self.items.iter_mut().filter(move |it| selector.matches(it))
    }

    /// The first resource of a kind and name.
    pub fn find(&self, kind: &str, name: &str) -> Option<&Resource> {
        self.items.iter().find(|it| it.kind() == kind && it.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use krm_core::PackagePath;

    #[test]
    fn every_condition_must_be_met() {
        let text = "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: n, labels: {a.b/c: '1'}, annotations: {x: y}}\n";
        let mut list = ResourceList::default();
        list.items.push(Resource::parse(text).unwrap());
        list.items[0].move_to(PackagePath::new("base/pods/a.yaml").unwrap());
        let all = Selector::new;
        for (selector, expected) in [
            (all(), true),
            (all().kind("Job").kind("Pod").api_version("v1").name("a").namespace("n"), true),
            (all().label("a.b/c", "1").annotation("x", "y"), true),
            (all().label("a.b/c", "2"), false),
            (all().kind("Job"), false),
            (all().path("base"), true),
            (all().path("base/pods/"), true),
            (all().path("base/pods/a.yaml"), true),
            (all().path("bas"), false),
        ] {
            assert_eq!(list.select(&selector).count() == 1, expected, "{selector:?}");
        }
        assert_eq!((list.of_kind("Pod").count(), list.find("Pod", "b").is_some()), (1, false));
    }
}
