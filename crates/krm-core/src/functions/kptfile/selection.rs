//! Which resources of a package a function gets.

use crate::Resource;
use crate::model::resource::{field, scalar_text};

/// Which resources a function gets: those that one of the selectors matches, without those that an exclusion matches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Without any, all resources are meant.
    pub selectors: Vec<Selector>,
    /// What is left out.
    pub exclude: Vec<Selector>,
}

/// What a resource must have, each exactly; what is not said is not asked.
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
    /// Whether all resources are meant.
    pub fn is_all(&self) -> bool {
        self.selectors.is_empty() && self.exclude.is_empty()
    }

    /// Whether this resource is meant.
    pub fn selects(&self, resource: Resource<'_>) -> bool {
        let is_selected =
            self.selectors.is_empty() || self.selectors.iter().any(|it| it.matches(resource));
        // Compat: an exclusion that says nothing leaves nothing out.
        let excludes = |it: &Selector| *it != Selector::default() && it.matches(resource);
        is_selected && !self.exclude.iter().any(excludes)
    }
}

impl Selector {
    /// Whether everything that is asked for is so.
    pub fn matches(&self, resource: Resource<'_>) -> bool {
        let matches =
            |wanted: &Option<String>, is: &str| wanted.as_deref().is_none_or(|it| it == is);
        matches(&self.api_version, &resource.api_version())
            && matches(&self.kind, &resource.kind())
            && matches(&self.name, &resource.name())
            && matches(&self.namespace, &resource.namespace())
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
    fn selectors_are_alternatives_and_exclusions_come_last() {
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
    fn every_word_of_a_selector_must_be_so() {
        let labels = |value: &str| vec![("x".to_owned(), value.to_owned())];
        let matches = |selector: Selector| selector.matches(item().resource());
        assert!(matches(Selector { labels: labels("1"), ..kind("Deployment") }));
        assert!(!matches(Selector { labels: labels("2"), ..kind("Deployment") }));
        assert!(!matches(Selector { namespace: Some("b".to_owned()), ..Selector::default() }));
    }
}
