//! Selecting resources by kind, name, namespace, labels, annotations and file.

mod expressions;
mod pattern;

use std::collections::BTreeMap;

use serde::Deserialize;

pub use expressions::{Operator, Requirement};
pub(crate) use pattern::OneOrMany;
pub use pattern::Pattern;

use crate::{Resource, ResourceList};

/// Selects the resources that meet every given condition; without conditions, all.
///
/// ```
/// use krm_sdk::{Operator, Pattern, Requirement, Resource, Selector};
///
/// let pod = Resource::parse("apiVersion: v1\nkind: Pod\nmetadata: {name: web-1, labels: {app: web}}\n")?;
/// assert!(Selector::new().kind("Job").kind("Pod").label("app", "web").matches(&pod));
/// assert!(Selector::new().name(Pattern::regex("^web-")?).matches(&pod));
/// assert!(!Selector::new().not(Selector::new().kind("Pod")).matches(&pod));
/// let in_web_or_api = Requirement::new("app", Operator::In, ["web", "api"]);
/// assert!(Selector::new().match_expression(in_web_or_api).matches(&pod));
/// # Ok::<(), krm_sdk::Error>(())
/// ```
///
/// # In a functionConfig
///
/// A field of this type reads the same conditions. Where several values are possible, one of them must be met; `and`, `or` and `not`
/// hold selectors.
///
/// ```
/// # use krm_sdk::{Resource, Selector};
/// #[derive(serde::Deserialize)]
/// struct Config {
///     target: Selector,
/// }
///
/// let config: Config = Resource::parse("\
/// apiVersion: example.com/v1
/// kind: Config
/// target:
///   kinds: [Deployment, StatefulSet]        # or kind: Deployment
///   names: [web, {regex: ^api-}]            # or name: web
///   namespace: shop
///   labels: {tier: front}
///   matchExpressions:
///   - {key: env, operator: NotIn, values: [dev]}
///   annotations: {example.com/managed: {regex: .}}
///   not:
///     or:
///     - name: api-old
///     - path: legacy
/// ")?.read_config()?;
///
/// let text = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: api-new\n  namespace: shop\n  labels: {tier: front}\n  annotations: {example.com/managed: us}\n";
/// assert!(config.target.matches(&Resource::parse(text)?));
/// assert!(!config.target.matches(&Resource::parse(text.replace("api-new", "api-old"))?));
/// # Ok::<(), krm_sdk::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Selector {
    #[serde(alias = "apiVersion")]
    api_versions: OneOrMany<Pattern>,
    #[serde(alias = "group")]
    groups: OneOrMany<Pattern>,
    #[serde(alias = "kind")]
    kinds: OneOrMany<Pattern>,
    #[serde(alias = "name")]
    names: OneOrMany<Pattern>,
    #[serde(alias = "namespace")]
    namespaces: OneOrMany<Pattern>,
    #[serde(alias = "matchLabels")]
    labels: BTreeMap<String, Pattern>,
    match_expressions: Vec<Requirement>,
    annotations: BTreeMap<String, Pattern>,
    #[serde(alias = "path")]
    paths: OneOrMany<String>,
    and: Vec<Selector>,
    or: Vec<Selector>,
    not: OneOrMany<Selector>,
}

impl Selector {
    /// Selects all resources.
    pub fn new() -> Self {
        Self::default()
    }

    /// Requires this `apiVersion`; call it again to allow several.
    #[must_use]
    pub fn api_version(mut self, api_version: impl Into<Pattern>) -> Self {
        self.api_versions.0.push(api_version.into());
        self
    }

    /// Requires this API group, which is empty for the core group; call it again to allow several.
    #[must_use]
    pub fn group(mut self, group: impl Into<Pattern>) -> Self {
        self.groups.0.push(group.into());
        self
    }

    /// Requires this kind; call it again to allow several.
    #[must_use]
    pub fn kind(mut self, kind: impl Into<Pattern>) -> Self {
        self.kinds.0.push(kind.into());
        self
    }

    /// Requires this name; call it again to allow several.
    #[must_use]
    pub fn name(mut self, name: impl Into<Pattern>) -> Self {
        self.names.0.push(name.into());
        self
    }

    /// Requires this namespace; call it again to allow several.
    #[must_use]
    pub fn namespace(mut self, namespace: impl Into<Pattern>) -> Self {
        self.namespaces.0.push(namespace.into());
        self
    }

    /// Requires this label; call it again to require several.
    #[must_use]
    pub fn label(mut self, name: impl Into<String>, value: impl Into<Pattern>) -> Self {
        self.labels.insert(name.into(), value.into());
        self
    }

    /// Requires that the labels meet an expression, as in the selector of a Deployment; call it again to require several.
    #[must_use]
    pub fn match_expression(mut self, requirement: Requirement) -> Self {
        self.match_expressions.push(requirement);
        self
    }

    /// Requires this annotation; call it again to require several.
    #[must_use]
    pub fn annotation(mut self, name: impl Into<String>, value: impl Into<Pattern>) -> Self {
        self.annotations.insert(name.into(), value.into());
        self
    }

    /// Requires this file, or a file in or below this directory; call it again to allow several.
    #[must_use]
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.paths.0.push(path.into());
        self
    }

    /// Requires that another selector matches, too.
    #[must_use]
    pub fn and(mut self, other: Selector) -> Self {
        self.and.push(other);
        self
    }

    /// Requires that one of these selectors matches, in addition to all other conditions.
    #[must_use]
    pub fn any_of(mut self, selectors: impl IntoIterator<Item = Selector>) -> Self {
        self.or.extend(selectors);
        self
    }

    /// Requires that another selector does not match.
    #[must_use]
    pub fn not(mut self, other: Selector) -> Self {
        self.not.0.push(other);
        self
    }

    /// Whether a resource meets every condition.
    pub fn matches(&self, resource: &Resource) -> bool {
        let view = resource.view();
        let is = |allowed: &OneOrMany<Pattern>, actual: &str| {
            allowed.0.is_empty() || allowed.0.iter().any(|it| it.matches(actual))
        };
        let has = |pattern: &Pattern, actual: Option<String>| {
            actual.is_some_and(|actual| pattern.matches(&actual))
        };
        is(&self.kinds, &view.kind())
            && is(&self.api_versions, &view.api_version())
            && is(&self.groups, &view.group())
            && is(&self.names, &view.name())
            && is(&self.namespaces, &view.namespace())
            && self.labels.iter().all(|(name, it)| has(it, resource.label(name)))
            && self.match_expressions.iter().all(|it| it.matches(resource))
            && self.annotations.iter().all(|(name, it)| has(it, resource.annotation(name)))
            && (self.paths.0.is_empty() || self.paths.0.iter().any(|it| is_in(resource, it)))
            && self.and.iter().all(|it| it.matches(resource))
            && (self.or.is_empty() || self.or.iter().any(|it| it.matches(resource)))
            && !self.not.0.iter().any(|it| it.matches(resource))
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
        self.items.iter().filter(move |it| it.view().kind() == kind)
    }

    /// The resources of a kind, mutable.
    pub fn of_kind_mut<'a>(&'a mut self, kind: &'a str) -> impl Iterator<Item = &'a mut Resource> {
        self.items.iter_mut().filter(move |it| it.view().kind() == kind)
    }

    /// The selected resources.
    ///
    /// ```
    /// use krm_sdk::{Selector, testing};
    ///
    /// let list = testing::list(&["apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n"]);
    /// assert_eq!(list.select(&Selector::new().kind("Pod")).count(), 1);
    /// ```
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
        self.items.iter().find(|it| it.view().kind() == kind && it.view().name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use krm_core::PackagePath;

    fn read_selector(fields: &str) -> Result<Selector, crate::Error> {
        #[derive(Deserialize)]
        struct Config {
            target: Selector,
        }
        let text = format!("apiVersion: a/v1\nkind: S\ntarget:\n{fields}");
        Resource::parse(text)?.read_config::<Config>().map(|config| config.target)
    }

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
        let read = |fields: &str| -> Selector {
            read_selector(&format!("  {}", fields.trim_start())).unwrap()
        };
        for (fields, expected) in [
            ("  kind: [Job, Pod]\n", true),
            ("  kinds: {regex: ^P}\n", true),
            ("  group: ''\n", true),
            ("  group: apps\n", false),
            ("  matchExpressions: [{key: a.b/c, operator: Exists}]\n", true),
            ("  matchExpressions: [{key: a.b/c, operator: DoesNotExist}]\n", false),
            ("  matchExpressions: [{key: a.b/c, operator: In, values: ['1', '2']}]\n", true),
            ("  matchExpressions: [{key: a.b/c, operator: NotIn, values: ['1']}]\n", false),
            ("  matchExpressions: [{key: z, operator: NotIn, values: ['1']}]\n", true),
            ("  matchLabels: {a.b/c: '1'}\n", true),
            ("  or: [{name: b}, {name: a}]\n", true),
            ("  or: [{name: b}, {name: c}]\n", false),
            ("  and: [{name: a}, {namespace: m}]\n", false),
            ("  not: {name: a}\n", false),
            ("  not: [{name: b}, {namespace: m}]\n", true),
            ("  path: [x, base]\n", true),
        ] {
            let selector = read(fields);
            assert_eq!(list.select(&selector).count() == 1, expected, "{fields}");
        }
        assert_eq!((list.of_kind("Pod").count(), list.find("Pod", "b").is_some()), (1, false));
    }

    #[test]
    fn invalid_conditions_are_located_errors() {
        for (fields, message) in [
            ("names: {regex: '('}", "invalid regular expression `(`"),
            ("matchExpressions: [{key: a, operator: Equals}]", "invalid value `Equals`"),
            ("matchExpressions: [{key: a, operator: In}]", "`In` needs `values`"),
            ("nam: x", "unknown field `nam`"),
        ] {
            let error = read_selector(&format!("  {fields}\n")).unwrap_err();
            assert!(error.to_string().contains(message), "{error}");
            assert!(error.diagnostics[0].location.is_some(), "{fields}");
        }
    }
}
