//! Selecting the source and the targets of a replacement.

use krm_sdk::Resource;
use regex_lite::Regex;

use super::config::{Selector, Source, Target};
use super::labels::LabelSelector;

/// The compiled selectors of a target.
#[derive(Debug)]
pub(super) struct TargetSelector {
    select: CompiledSelector,
    reject: Vec<CompiledSelector>,
}

#[derive(Debug)]
struct CompiledSelector {
    /// Group, version, kind, name and namespace; none matches anything.
    patterns: [Option<Regex>; 5],
    labels: LabelSelector,
    annotations: LabelSelector,
}

/// Group, version, kind, name and namespace.
fn names(resource: &Resource) -> [String; 5] {
    let api_version = resource.api_version();
    let (group, version) = match api_version.split_once('/') {
        Some((group, version)) => (group.to_owned(), version.to_owned()),
        None => (String::new(), api_version),
    };
    let namespace = match resource.namespace() {
        it if it.is_empty() => "default".to_owned(),
        it => it,
    };
    [group, version, resource.kind(), resource.name(), namespace]
}

/// Whether a resource is the source.
pub(super) fn is_source(source: &Source, resource: &Resource) -> bool {
    let expected = [&source.group, &source.version, &source.kind, &source.name, &source.namespace];
    expected
        .iter()
        .zip(names(resource))
        .all(|(expected, name)| expected.is_empty() || **expected == name)
}

impl TargetSelector {
    /// Compiles the patterns of a target. The error is the field and the reason.
    pub(super) fn new(select: &Selector, target: &Target) -> Result<Self, (String, String)> {
        let one = |it: &Selector, at: &str| {
            CompiledSelector::new(it).map_err(|(field, reason)| (format!("{at}.{field}"), reason))
        };
        let reject = target.reject.iter().enumerate();
        Ok(Self {
            select: one(select, "select")?,
            reject: reject
                .map(|(at, it)| one(it, &format!("reject[{at}]")))
                .collect::<Result<_, _>>()?,
        })
    }

    /// Whether a resource is a target.
    pub(super) fn contains(&self, resource: &Resource) -> bool {
        let names = names(resource);
        self.select.has_names(&names)
            && self.select.has_labels(resource)
            && !self.reject.iter().any(|it| it.rejects(resource, &names))
    }
}

impl CompiledSelector {
    fn new(it: &Selector) -> Result<Self, (&'static str, String)> {
        let pattern = |field: &'static str, text: &str| match text {
            "" => Ok(None),
            text => {
                let regex = Regex::new(&format!("^(?:{text})$"));
                regex.map(Some).map_err(|error| (field, error.to_string()))
            }
        };
        let labels = |field: &'static str, text: &str| {
            LabelSelector::new(text).map_err(|reason| (field, reason))
        };
        Ok(Self {
            patterns: [
                pattern("group", &it.group)?,
                pattern("version", &it.version)?,
                pattern("kind", &it.kind)?,
                pattern("name", &it.name)?,
                pattern("namespace", &it.namespace)?,
            ],
            labels: labels("labelSelector", &it.label_selector)?,
            annotations: labels("annotationSelector", &it.annotation_selector)?,
        })
    }

    fn has_names(&self, names: &[String; 5]) -> bool {
        let matches = |(pattern, name): (&Option<Regex>, &String)| {
            pattern.as_ref().is_none_or(|pattern| pattern.is_match(name))
        };
        self.patterns.iter().zip(names).all(matches)
    }

    fn has_labels(&self, resource: &Resource) -> bool {
        self.labels.matches(resource, "labels") && self.annotations.matches(resource, "annotations")
    }

    /// Compat: matching names or matching labels reject; an empty selector rejects nothing.
    fn rejects(&self, resource: &Resource, names: &[String; 5]) -> bool {
        let by_names = self.patterns.iter().any(Option::is_some) && self.has_names(names);
        let has_label_selector = !self.labels.is_empty() || !self.annotations.is_empty();
        by_names || has_label_selector && self.has_labels(resource)
    }
}
