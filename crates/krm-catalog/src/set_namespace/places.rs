//! Where a resource names a namespace: its own, the one that it is, and those of what it refers to.

use krm_sdk::Resource;
use krm_yaml::NodeRef;

use crate::changes::{Changes, Spot};
use crate::field_spec::is_of;

/// A place for the name of a namespace.
pub(super) struct Place<'a> {
    pub(super) spot: Spot<'a>,
    /// The namespace that the resource had where it comes from.
    pub(super) origin: Option<String>,
    /// Whether it says where the resource itself lives.
    pub(super) is_own: bool,
}

/// What kpt notes of the resource in the package that it was copied from: group, kind, namespace and name.
const UPSTREAM: &str = "internal.kpt.dev/upstream-identifier";
/// The namespace of what has none, in that note.
const NO_NAMESPACE: &str = "~C";

/// All places of a resource.
pub(super) fn places<'a>(
    changes: &mut Changes<'a>,
    resource: &'a Resource,
    is_namespaced: bool,
) -> Vec<Place<'a>> {
    let root = resource.root();
    let mut places = Vec::new();
    if is_namespaced {
        let origin = origin(resource, 2).unwrap_or_else(|| match resource.namespace() {
            namespace if namespace.is_empty() => "default".to_owned(),
            namespace => namespace.into_owned(),
        });
        // Compat: what its note says to be of the whole cluster is left alone.
        if origin != NO_NAMESPACE {
            let spot = changes.follow(root, &["metadata", "namespace"]);
            places.extend(spot.map(|spot| Place { spot, origin: Some(origin), is_own: true }));
        }
    }
    let spots = match () {
        () if is_of(resource, ["", "v1", "Namespace"]) && !is_namespaced => {
            let spot = changes.follow(root, &["metadata", "name"]);
            let origin = origin(resource, 3).unwrap_or_else(|| resource.name().into_owned());
            places.extend(spot.map(|spot| Place { spot, origin: Some(origin), is_own: false }));
            Vec::new()
        }
        () if is_of(resource, ["apiextensions.k8s.io", "", "CustomResourceDefinition"]) => {
            let service = ["spec", "conversion", "webhook", "clientConfig", "service"];
            service_namespace(changes, root, &service)
        }
        () if is_of(resource, ["apiregistration.k8s.io", "", "APIService"]) => {
            service_namespace(changes, root, &["spec", "service"])
        }
        () if matches!(&*resource.kind(), "ClusterRoleBinding" | "RoleBinding") => {
            subjects(changes, root)
        }
        () => Vec::new(),
    };
    places.extend(spots.into_iter().map(|spot| Place { spot, origin: None, is_own: false }));
    places
}

/// A part of the note about where the resource comes from.
fn origin(resource: &Resource, part: usize) -> Option<String> {
    let note = resource.annotation(UPSTREAM)?;
    let parts: Vec<&str> = note.split('|').collect();
    (parts.len() == 4).then(|| parts[part].to_owned())
}

/// The namespace of a reference to a service, where there is such a reference.
fn service_namespace<'a>(
    changes: &mut Changes<'a>,
    root: NodeRef<'a>,
    keys: &[&str],
) -> Vec<Spot<'a>> {
    let service = changes.follow(root, keys).and_then(|spot| spot.node());
    match service.filter(|service| service.as_mapping().is_some()) {
        Some(service) => changes.follow(service, &["namespace"]).into_iter().collect(),
        None => Vec::new(),
    }
}

/// The namespaces that subjects have.
fn subjects<'a>(changes: &mut Changes<'a>, root: NodeRef<'a>) -> Vec<Spot<'a>> {
    let list = changes.follow(root, &["subjects"]).and_then(|spot| spot.node());
    let subjects =
        list.and_then(|list| list.as_sequence()).into_iter().flat_map(|list| list.items());
    let spots = subjects.filter_map(|it| changes.follow(it, &["namespace"]));
    spots.filter(|spot| spot.node().is_some()).collect()
}
