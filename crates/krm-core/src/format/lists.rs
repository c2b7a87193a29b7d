//! The lists that `--sort-lists` sorts: containers by name, and webhook operations.
//!
//! They are sorted on request only, because the order of containers is significant: the first one is the default.

use std::borrow::Cow;

use krm_yaml::NodeRef;

use super::anchor_order::AnchorOrder;
use super::sort::{Reordering, of_items};
use crate::model::resource::{Resource, scalar_text};

/// Compat: the kinds and versions whose lists kustomize sorts.
const KINDS: &[&str] = &[
    "CronJob",
    "DaemonSet",
    "Deployment",
    "Job",
    "ReplicaSet",
    "StatefulSet",
    "ValidatingWebhookConfiguration",
];
const VERSIONS: &[&str] = &[
    "apps/v1",
    "apps/v1beta1",
    "apps/v1beta2",
    "batch/v1",
    "batch/v1beta1",
    "extensions/v1beta1",
    "v1",
    "admissionregistration.k8s.io/v1",
];

/// The lists of a resource that are not sorted.
pub(super) fn find_unsorted<'a>(
    resource: Resource<'a>,
    anchor_order: &AnchorOrder,
) -> Vec<Reordering<'a>> {
    let is_known =
        KINDS.contains(&&*resource.kind()) && VERSIONS.contains(&&*resource.api_version());
    if !is_known {
        return Vec::new();
    }
    let containers = nodes_at(resource.node, &["spec", "template", "spec", "containers"]);
    let containers = containers.into_iter().filter_map(|list| by_name(list, anchor_order));
    let operations = nodes_at(resource.node, &["webhooks", "rules", "operations"]);
    containers
        .chain(operations.into_iter().filter_map(|list| by_value(list, anchor_order)))
        .collect()
}

/// The nodes at a path of fields, through all elements of lists. Aliases are not followed.
fn nodes_at<'a>(node: NodeRef<'a>, path: &[&str]) -> Vec<NodeRef<'a>> {
    path.iter().fold(vec![node], |nodes, name| {
        let items = nodes.into_iter().flat_map(|node| match node.as_sequence() {
            Some(list) => list.items().collect(),
            None => vec![node],
        });
        items.filter_map(|node| node.as_mapping()?.get(name)).collect()
    })
}

fn by_name<'a>(list: NodeRef<'a>, anchor_order: &AnchorOrder) -> Option<Reordering<'a>> {
    let name = |item: NodeRef<'a>| scalar_text(item.resolve().as_mapping()?.get("name")?);
    sorted(list, anchor_order, name)
}

fn by_value<'a>(list: NodeRef<'a>, anchor_order: &AnchorOrder) -> Option<Reordering<'a>> {
    sorted(list, anchor_order, scalar_text)
}

/// Sorts by a key that every element must have.
fn sorted<'a>(
    list: NodeRef<'a>,
    anchor_order: &AnchorOrder,
    text: impl Fn(NodeRef<'a>) -> Option<Cow<'a, str>>,
) -> Option<Reordering<'a>> {
    let texts: Option<Vec<Cow<'a, str>>> = list.as_sequence()?.items().map(text).collect();
    of_items(list, &texts?, anchor_order)
}
