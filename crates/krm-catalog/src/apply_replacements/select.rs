//! Which resources are meant: the one that a value is taken from, and those that get it.

use krm_sdk::Resource;
use regex_lite::Regex;

use super::config::{Selector, Source, Target};
use super::labels::Labels;

/// A target whose patterns are read.
#[derive(Debug)]
pub(super) struct Chosen {
    select: One,
    reject: Vec<One>,
}

#[derive(Debug)]
struct One {
    /// Group, version, kind, name and namespace; none fits everything.
    patterns: [Option<Regex>; 5],
    labels: Labels,
    annotations: Labels,
}

/// Group, version, kind, name and namespace.
fn names(resource: &Resource) -> [String; 5] {
    let api_version = resource.api_version().into_owned();
    let (group, version) = match api_version.split_once('/') {
        Some((group, version)) => (group.to_owned(), version.to_owned()),
        None => (String::new(), api_version),
    };
    let namespace = match resource.namespace() {
        it if it.is_empty() => "default".to_owned(),
        it => it.into_owned(),
    };
    [group, version, resource.kind().into_owned(), resource.name().into_owned(), namespace]
}

/// Whether a value is taken from this resource.
pub(super) fn is_source(source: &Source, resource: &Resource) -> bool {
    let wanted = [&source.group, &source.version, &source.kind, &source.name, &source.namespace];
    wanted.iter().zip(names(resource)).all(|(wanted, name)| wanted.is_empty() || **wanted == name)
}

impl Chosen {
    /// Reads the patterns of a target; the error says which one is wrong, and why.
    pub(super) fn new(select: &Selector, target: &Target) -> Result<Self, (String, String)> {
        let one = |it: &Selector, at: &str| {
            One::new(it).map_err(|(field, why)| (format!("{at}.{field}"), why))
        };
        let reject = target.reject.iter().enumerate();
        Ok(Self {
            select: one(select, "select")?,
            reject: reject
                .map(|(at, it)| one(it, &format!("reject[{at}]")))
                .collect::<Result<_, _>>()?,
        })
    }

    /// Whether a resource gets the value.
    pub(super) fn contains(&self, resource: &Resource) -> bool {
        let names = names(resource);
        self.select.has_names(&names)
            && self.select.has_labels(resource)
            && !self.reject.iter().any(|it| it.rejects(resource, &names))
    }
}

impl One {
    fn new(it: &Selector) -> Result<Self, (&'static str, String)> {
        let pattern = |field: &'static str, text: &str| match text {
            "" => Ok(None),
            text => {
                let regex = Regex::new(&format!("^(?:{text})$"));
                regex.map(Some).map_err(|why| (field, why.to_string()))
            }
        };
        let labels =
            |field: &'static str, text: &str| Labels::new(text).map_err(|why| (field, why));
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
        let fits = |(pattern, name): (&Option<Regex>, &String)| {
            pattern.as_ref().is_none_or(|pattern| pattern.is_match(name))
        };
        self.patterns.iter().zip(names).all(fits)
    }

    fn has_labels(&self, resource: &Resource) -> bool {
        self.labels.match_in(resource, "labels")
            && self.annotations.match_in(resource, "annotations")
    }

    /// Compat: names reject by themselves, and so do labels; a selector without anything rejects nothing.
    fn rejects(&self, resource: &Resource, names: &[String; 5]) -> bool {
        let by_names = self.patterns.iter().any(Option::is_some) && self.has_names(names);
        let is_labelled = !self.labels.is_empty() || !self.annotations.is_empty();
        by_names || is_labelled && self.has_labels(resource)
    }
}
