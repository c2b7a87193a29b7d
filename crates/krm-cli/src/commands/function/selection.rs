//! Which resources a function gets: flags as kpt has them.

use krm_core::functions::resource_list::Item;
use krm_sdk::{Resource, Selector};
use krm_yaml::Value;

use super::saving::{Wanted, pairs};

/// Which resources a function gets; the others stay as they are.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Which resources")]
pub(super) struct Selection {
    /// Only resources of this API version
    #[arg(long, value_name = "VERSION")]
    match_api_version: Option<String>,

    /// Only resources of this kind
    #[arg(long, value_name = "KIND")]
    match_kind: Option<String>,

    /// Only resources of this name
    #[arg(long, value_name = "NAME")]
    match_name: Option<String>,

    /// Only resources of this namespace
    #[arg(long, value_name = "NAMESPACE")]
    match_namespace: Option<String>,

    /// Only resources with these annotations
    #[arg(long, value_name = "KEY=VALUE", value_delimiter = ',', value_parser = pair)]
    match_annotations: Vec<(String, String)>,

    /// Only resources with these labels
    #[arg(long, value_name = "KEY=VALUE", value_delimiter = ',', value_parser = pair)]
    match_labels: Vec<(String, String)>,

    /// No resources of this API version
    #[arg(long, value_name = "VERSION")]
    exclude_api_version: Option<String>,

    /// No resources of this kind
    #[arg(long, value_name = "KIND")]
    exclude_kind: Option<String>,

    /// No resources of this name
    #[arg(long, value_name = "NAME")]
    exclude_name: Option<String>,

    /// No resources of this namespace
    #[arg(long, value_name = "NAMESPACE")]
    exclude_namespace: Option<String>,

    /// No resources with these annotations
    #[arg(long, value_name = "KEY=VALUE", value_delimiter = ',', value_parser = pair)]
    exclude_annotations: Vec<(String, String)>,

    /// No resources with these labels
    #[arg(long, value_name = "KEY=VALUE", value_delimiter = ',', value_parser = pair)]
    exclude_labels: Vec<(String, String)>,
}

/// One side of a selection: names, annotations and labels, all of which must be there.
type Words<'a> = ([&'a Option<String>; 4], &'a [(String, String)], &'a [(String, String)]);

impl Selection {
    /// Whether a function gets a resource.
    pub(super) fn has(&self, item: &Item) -> bool {
        let resource = Resource::from(item.clone());
        let is_meant = |words| selector(words).is_none_or(|it: Selector| it.matches(&resource));
        let is_excluded = |words| selector(words).is_some_and(|it: Selector| it.matches(&resource));
        is_meant(self.wanted()) && !is_excluded(self.unwanted())
    }

    fn wanted(&self) -> Words<'_> {
        let names =
            [&self.match_api_version, &self.match_kind, &self.match_name, &self.match_namespace];
        (names, &self.match_annotations, &self.match_labels)
    }

    fn unwanted(&self) -> Words<'_> {
        let names = [
            &self.exclude_api_version,
            &self.exclude_kind,
            &self.exclude_name,
            &self.exclude_namespace,
        ];
        (names, &self.exclude_annotations, &self.exclude_labels)
    }

    /// The fields of a selector as a Kptfile has them.
    pub(super) fn for_kptfile(&self) -> [(&'static str, Wanted); 2] {
        let fields = |(names, annotations, labels): Words<'_>| {
            let known = ["apiVersion", "kind", "name", "namespace"].into_iter().zip(names);
            let known =
                known.filter_map(|(field, name)| Some((field, Value::string(name.clone()?))));
            let maps = [("labels", labels), ("annotations", annotations)];
            let maps = maps.into_iter().filter(|(_, map)| !map.is_empty());
            known.chain(maps.map(|(field, map)| (field, pairs(map)))).collect()
        };
        [("selectors", fields(self.wanted())), ("exclude", fields(self.unwanted()))]
    }
}

/// What is asked for; none where nothing is.
fn selector(
    ([api_version, kind, name, namespace], annotations, labels): Words<'_>,
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
        _ => Err("KEY=VALUE is wanted".to_owned()),
    }
}
