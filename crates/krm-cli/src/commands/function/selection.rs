//! Flags that select the resources that a function receives, as in kpt.

use clap_complete::engine::ArgValueCandidates;
use krm_core::functions::resource_list::Item;
use krm_sdk::{Resource, Selector};
use krm_yaml::Value;

use super::save::{SelectorFields, pairs};
use crate::commands::completion::candidates;

/// Which resources a function receives; the others are not changed.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Selection of resources")]
pub(super) struct Selection {
    /// Only resources with this apiVersion
    #[arg(long, value_name = "VERSION")]
    match_api_version: Option<String>,

    /// Only resources of this kind
    #[arg(long, value_name = "KIND", add = ArgValueCandidates::new(candidates::kinds))]
    match_kind: Option<String>,

    /// Only resources with this name
    #[arg(long, value_name = "NAME", add = ArgValueCandidates::new(candidates::names))]
    match_name: Option<String>,

    /// Only resources in this namespace
    #[arg(long, value_name = "NAMESPACE", add = ArgValueCandidates::new(candidates::namespaces))]
    match_namespace: Option<String>,

    /// Only resources with these annotations
    #[arg(long, value_name = "KEY=VALUE", value_delimiter = ',', value_parser = pair)]
    match_annotations: Vec<(String, String)>,

    /// Only resources with these labels
    #[arg(long, value_name = "KEY=VALUE", value_delimiter = ',', value_parser = pair)]
    match_labels: Vec<(String, String)>,

    /// Exclude resources with this apiVersion
    #[arg(long, value_name = "VERSION")]
    exclude_api_version: Option<String>,

    /// Exclude resources of this kind
    #[arg(long, value_name = "KIND", add = ArgValueCandidates::new(candidates::kinds))]
    exclude_kind: Option<String>,

    /// Exclude resources with this name
    #[arg(long, value_name = "NAME", add = ArgValueCandidates::new(candidates::names))]
    exclude_name: Option<String>,

    /// Exclude resources in this namespace
    #[arg(long, value_name = "NAMESPACE", add = ArgValueCandidates::new(candidates::namespaces))]
    exclude_namespace: Option<String>,

    /// Exclude resources with these annotations
    #[arg(long, value_name = "KEY=VALUE", value_delimiter = ',', value_parser = pair)]
    exclude_annotations: Vec<(String, String)>,

    /// Exclude resources with these labels
    #[arg(long, value_name = "KEY=VALUE", value_delimiter = ',', value_parser = pair)]
    exclude_labels: Vec<(String, String)>,
}

/// The criteria of a selector: apiVersion, kind, name and namespace, annotations and labels. All of them must match.
type Criteria<'a> = ([&'a Option<String>; 4], &'a [(String, String)], &'a [(String, String)]);

impl Selection {
    /// Whether a function receives a resource.
    pub(super) fn matches(&self, item: &Item) -> bool {
        let resource = Resource::from(item.clone());
        let matches = |it: Selector| it.matches(&resource);
        selector(self.included()).is_none_or(matches)
            && !selector(self.excluded()).is_some_and(matches)
    }

    fn included(&self) -> Criteria<'_> {
        let names =
            [&self.match_api_version, &self.match_kind, &self.match_name, &self.match_namespace];
        (names, &self.match_annotations, &self.match_labels)
    }

    fn excluded(&self) -> Criteria<'_> {
        let names = [
            &self.exclude_api_version,
            &self.exclude_kind,
            &self.exclude_name,
            &self.exclude_namespace,
        ];
        (names, &self.exclude_annotations, &self.exclude_labels)
    }

    /// The fields of the selectors of a Kptfile.
    pub(super) fn for_kptfile(&self) -> [(&'static str, SelectorFields); 2] {
        let fields = |(names, annotations, labels): Criteria<'_>| {
            let known = ["apiVersion", "kind", "name", "namespace"].into_iter().zip(names);
            let known =
                known.filter_map(|(field, name)| Some((field, Value::string(name.clone()?))));
            let maps = [("labels", labels), ("annotations", annotations)];
            let maps = maps.into_iter().filter(|(_, map)| !map.is_empty());
            known.chain(maps.map(|(field, map)| (field, pairs(map)))).collect()
        };
        [("selectors", fields(self.included())), ("exclude", fields(self.excluded()))]
    }
}

/// The selector; none if there are no criteria.
fn selector(
    ([api_version, kind, name, namespace], annotations, labels): Criteria<'_>,
) -> Option<Selector> {
    let names = [api_version, kind, name, namespace];
    if names.iter().all(|it| it.is_none()) && annotations.is_empty() && labels.is_empty() {
        return None;
    }
    let mut selector = Selector::new();
    let given =
        |selector: Selector, value: &Option<String>, add: fn(Selector, String) -> Selector| {
            value.clone().into_iter().fold(selector, add)
        };
    selector = given(selector, api_version, Selector::api_version);
    selector = given(selector, kind, Selector::kind);
    selector = given(selector, name, Selector::name);
    selector = given(selector, namespace, Selector::namespace);
    for (key, value) in annotations {
        selector = selector.annotation(key.clone(), value.clone());
    }
    for (key, value) in labels {
        selector = selector.label(key.clone(), value.clone());
    }
    Some(selector)
}

fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("expected KEY=VALUE".to_owned()),
    }
}
