//! The fields of a resource that hold a namespace: its own, the name of a Namespace, and references.

use krm_sdk::Resource;
use krm_yaml::NodeRef;

use crate::changes::{Changes, FieldSlot};
use crate::field_spec::is_of;

/// A field that holds a namespace.
pub(super) struct NamespaceField<'a> {
    pub(super) slot: FieldSlot<'a>,
    /// The namespace that the resource had upstream.
    pub(super) origin: Option<String>,
    /// Whether it is the namespace of the resource itself.
    pub(super) is_own: bool,
}

/// The annotation of kpt with the upstream group, kind, namespace and name.
const UPSTREAM: &str = "internal.kpt.dev/upstream-identifier";
/// The namespace of a cluster-scoped resource in that annotation.
const NO_NAMESPACE: &str = "~C";

/// All fields of a resource that hold a namespace.
pub(super) fn namespace_fields<'a>(
    changes: &mut Changes<'a>,
    resource: &'a Resource,
    is_namespaced: bool,
) -> Vec<NamespaceField<'a>> {
    let root = resource.root();
    let mut fields = Vec::new();
    if is_namespaced {
        let origin = origin(resource, 2).unwrap_or_else(|| match resource.namespace() {
            namespace if namespace.is_empty() => "default".to_owned(),
            namespace => namespace,
        });
        let slot = changes.follow(root, &["metadata", "namespace"]);
        fields.extend(slot.map(|slot| NamespaceField { slot, origin: Some(origin), is_own: true }));
    }
    let slots = match () {
        () if is_of(resource, ["", "v1", "Namespace"]) && !is_namespaced => {
            let slot = changes.follow(root, &["metadata", "name"]);
            let origin = origin(resource, 3).unwrap_or_else(|| resource.name());
            fields.extend(slot.map(|slot| NamespaceField {
                slot,
                origin: Some(origin),
                is_own: false,
            }));
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
    fields.extend(slots.into_iter().map(|slot| NamespaceField {
        slot,
        origin: None,
        is_own: false,
    }));
    fields
}

/// The namespace that a resource had upstream, if kpt recorded it.
pub(super) enum Upstream {
    ClusterScoped,
    Namespace(String),
}

pub(super) fn upstream(resource: &Resource) -> Option<Upstream> {
    Some(match origin(resource, 2)? {
        namespace if namespace == NO_NAMESPACE => Upstream::ClusterScoped,
        namespace => Upstream::Namespace(namespace),
    })
}

/// A part of the upstream identifier.
fn origin(resource: &Resource, part: usize) -> Option<String> {
    let identifier = resource.annotation(UPSTREAM)?;
    let parts: Vec<&str> = identifier.split('|').collect();
    (parts.len() == 4).then(|| parts[part].to_owned())
}

/// The namespace of a service reference, if there is one.
fn service_namespace<'a>(
    changes: &mut Changes<'a>,
    root: NodeRef<'a>,
    keys: &[&str],
) -> Vec<FieldSlot<'a>> {
    let service = changes.follow(root, keys).and_then(|slot| slot.node());
    match service.filter(|service| service.as_mapping().is_some()) {
        Some(service) => changes.follow(service, &["namespace"]).into_iter().collect(),
        None => Vec::new(),
    }
}

/// The namespaces of subjects.
fn subjects<'a>(changes: &mut Changes<'a>, root: NodeRef<'a>) -> Vec<FieldSlot<'a>> {
    let list = changes.follow(root, &["subjects"]).and_then(|slot| slot.node());
    let subjects =
        list.and_then(|list| list.as_sequence()).into_iter().flat_map(|list| list.items());
    let slots = subjects.filter_map(|it| changes.follow(it, &["namespace"]));
    slots.filter(|slot| slot.node().is_some()).collect()
}
