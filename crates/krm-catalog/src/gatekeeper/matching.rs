//! Whether a constraint applies to a resource: `spec.match`.

use std::borrow::Cow;

use krm_sdk::Resource;
use krm_yaml::NodeRef;

use super::constraint::Constraint;
use super::review::{Review, Reviews, is_namespace};
use crate::lookup::{below, child, items, strings, text};

/// Whether the constraint applies to the resource.
///
/// # Errors
/// The Namespace whose labels decide is not among the resources.
pub(super) fn matches(
    constraint: &Constraint<'_>,
    review: &Review<'_>,
    reviews: &Reviews<'_>,
) -> Result<bool, String> {
    let Some(selection) = constraint.selection else { return Ok(true) };
    let resource = review.resource;
    let matches = kinds(selection, resource)
        && scope(selection, resource)
        && name(selection, resource)
        && namespaces(selection, resource)
        && source(selection)
        && child(selection, "labelSelector").is_none_or(|it| selects(it, resource));
    match child(selection, "namespaceSelector") {
        Some(selector) if matches => by_namespace(selector, constraint, resource, reviews),
        _ => Ok(matches),
    }
}

fn kinds(selection: NodeRef<'_>, resource: &Resource) -> bool {
    if child(selection, "kinds").is_none() {
        return true;
    }
    let (group, kind) = (resource.view().group(), resource.kind());
    let allows = |list: Vec<Cow<'_, str>>, name: &str| {
        list.is_empty() || list.iter().any(|it| *it == "*" || *it == name)
    };
    let mut all = items(selection, "kinds");
    all.any(|it| allows(strings(it, "apiGroups"), &group) && allows(strings(it, "kinds"), &kind))
}

/// A resource without a namespace counts as cluster-scoped.
fn scope(selection: NodeRef<'_>, resource: &Resource) -> bool {
    let is_cluster = resource.namespace().is_empty();
    match text(selection, "scope").as_deref() {
        Some("Cluster") => is_cluster,
        Some("Namespaced") => !is_cluster,
        _ => true,
    }
}

fn name(selection: NodeRef<'_>, resource: &Resource) -> bool {
    text(selection, "name").is_none_or(|it| it.is_empty() || matches_pattern(&it, &resource.name()))
}

/// A package has only original resources, none that controllers generate.
fn source(selection: NodeRef<'_>) -> bool {
    text(selection, "source").is_none_or(|it| it != "Generated")
}

/// A resource without a namespace matches any.
fn namespaces(selection: NodeRef<'_>, resource: &Resource) -> bool {
    let Some(namespace) = namespace(resource) else { return true };
    let (included, excluded) =
        (strings(selection, "namespaces"), strings(selection, "excludedNamespaces"));
    let is_among = |all: &[Cow<'_, str>]| all.iter().any(|it| matches_pattern(it, &namespace));
    (included.is_empty() || is_among(&included)) && !is_among(&excluded)
}

fn namespace(resource: &Resource) -> Option<String> {
    let name = if is_namespace(resource) { resource.name() } else { resource.namespace() };
    (!name.is_empty()).then_some(name)
}

fn by_namespace(
    selector: NodeRef<'_>,
    constraint: &Constraint<'_>,
    resource: &Resource,
    reviews: &Reviews<'_>,
) -> Result<bool, String> {
    if is_namespace(resource) {
        return Ok(selects(selector, resource));
    }
    let Some(name) = namespace(resource) else { return Ok(true) };
    let found = reviews.namespace(&name);
    found.map(|it| selects(selector, it)).ok_or_else(|| {
        format!(
            "the constraint {} is not checked: it selects by labels of namespaces, and the Namespace {name} is not among the resources",
            constraint.resource.name()
        )
    })
}

/// Compares a name with a pattern, which may begin or end with `*`.
fn matches_pattern(pattern: &str, name: &str) -> bool {
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(_), Some(_)) => name.contains(pattern.trim_matches('*')),
        (Some(end), None) => name.ends_with(end),
        (None, Some(start)) => name.starts_with(start),
        (None, None) => name == pattern,
    }
}

/// Spec: `matchLabels` and `matchExpressions`, all of them.
fn selects(selector: NodeRef<'_>, resource: &Resource) -> bool {
    let label = |name: &str| text(below(resource.root(), &["metadata", "labels"])?, name);
    let labels = child(selector, "matchLabels").and_then(NodeRef::as_mapping);
    let mut labels = labels.into_iter().flat_map(|it| it.entries());
    let mut expressions = items(selector, "matchExpressions");
    labels.all(|it| match (it.key.as_scalar(), it.value.resolve().as_scalar()) {
        (Some(name), Some(value)) => label(&name.value()).is_some_and(|it| it == value.value()),
        _ => false,
    }) && expressions.all(|it| {
        let found = label(&text(it, "key").unwrap_or_default());
        let values = strings(it, "values");
        let is_among = found.as_ref().is_some_and(|found| values.contains(found));
        match text(it, "operator").as_deref() {
            Some("In") => is_among,
            Some("NotIn") => !is_among,
            Some("Exists") => found.is_some(),
            Some("DoesNotExist") => found.is_none(),
            _ => false,
        }
    })
}
