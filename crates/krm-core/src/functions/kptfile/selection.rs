//! Selectors: which resources of a package a function gets.

use crate::Resource;
use crate::model::resource::{field, scalar_text};

/// The resources that a function gets: those that match a selector and no exclusion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// The selectors; none selects all resources.
    pub selectors: Vec<Selector>,
    /// The exclusions.
    pub exclude: Vec<Selector>,
}

/// The exact values that a resource must have; missing fields match any value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selector {
    /// `apiVersion`
    pub api_version: Option<String>,
    /// The kind.
    pub kind: Option<String>,
    /// The name.
    pub name: Option<String>,
    /// The namespace.
    pub namespace: Option<String>,
    /// Labels with these values.
    pub labels: Vec<(String, String)>,
    /// Annotations with these values.
    pub annotations: Vec<(String, String)>,
}

impl Selection {
    /// Whether a resource is selected.
    pub fn selects(&self, resource: Resource<'_>) -> bool {
        let is_selected =
            self.selectors.is_empty() || self.selectors.iter().any(|it| it.matches(resource));
        // Compat: an empty exclusion excludes nothing.
        let excludes = |it: &Selector| *it != Selector::default() && it.matches(resource);
        is_selected && !self.exclude.iter().any(excludes)
    }
}

impl Selector {
    /// Whether a resource has all values of the selector.
    pub fn matches(&self, resource: Resource<'_>) -> bool {
        let equals = |expected: &Option<String>, actual: &str| {
            expected.as_deref().is_none_or(|it| it == actual)
        };
        equals(&self.api_version, &resource.api_version())
            && equals(&self.kind, &resource.kind())
            && equals(&self.name, &resource.name())
            && equals(&self.namespace, &resource.namespace())
            && self.labels.iter().all(|it| has(resource, "labels", it))
            && self.annotations.iter().all(|it| has(resource, "annotations", it))
    }
}

fn has(resource: Resource<'_>, group: &str, (name, value): &(String, String)) -> bool {
    let found = field(resource.node, "metadata")
        .and_then(|it| field(it, group))
        .and_then(|it| field(it, name))
        .and_then(scalar_text);
    found.is_some_and(|found| found == *value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::functions::resource_list::Item;

    fn item() -> Item {
        let text = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, labels: {x: 1}}\n";
        Item::parse(text.to_owned()).unwrap()
    }

    fn kind(kind: &str) -> Selector {
        Selector { kind: Some(kind.to_owned()), ..Selector::default() }
    }

    #[test]
    fn resource_must_match_a_selector_and_no_exclusion() {
        let (item, deployment, service) = (item(), kind("Deployment"), kind("Service"));
        let has = |selectors: &[&Selector], exclude: &[&Selector]| {
            let owned = |of: &[&Selector]| of.iter().map(|it| (*it).clone()).collect();
            Selection { selectors: owned(selectors), exclude: owned(exclude) }
                .selects(item.resource())
        };
        assert!(has(&[], &[]) && has(&[&service, &deployment], &[&service]));
        assert!(!has(&[&service], &[]) && !has(&[], &[&deployment]));
        assert!(has(&[&Selector::default()], &[&Selector::default()]));
    }

    #[test]
    fn every_field_of_a_selector_must_match() {
        let labels = |value: &str| vec![("x".to_owned(), value.to_owned())];
        let matches = |selector: Selector| selector.matches(item().resource());
        assert!(matches(Selector { labels: labels("1"), ..kind("Deployment") }));
        assert!(!matches(Selector { labels: labels("2"), ..kind("Deployment") }));
        assert!(!matches(Selector { namespace: Some("b".to_owned()), ..Selector::default() }));
    }
}
