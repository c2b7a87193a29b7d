//! Which kinds are namespaced: those of Kubernetes, and those of the CustomResourceDefinitions among the items.

use std::collections::BTreeMap;

use krm_sdk::Resource;

use crate::changes::find_each;

/// Namespaced kinds of Kubernetes, by group.
const NAMESPACED: &[(&str, &str)] = &[
    (
        "",
        "Binding ConfigMap Endpoints Event LimitRange PersistentVolumeClaim Pod PodTemplate \
         ReplicationController ResourceQuota Secret Service ServiceAccount",
    ),
    ("apps", "ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet"),
    ("authentication.k8s.io", "TokenRequest"),
    ("authorization.k8s.io", "LocalSubjectAccessReview"),
    ("autoscaling", "HorizontalPodAutoscaler Scale"),
    ("batch", "CronJob Job"),
    ("certificates.k8s.io", "PodCertificateRequest"),
    ("coordination.k8s.io", "Lease LeaseCandidate"),
    ("discovery.k8s.io", "EndpointSlice"),
    ("events.k8s.io", "Event"),
    ("extensions", "DaemonSet Deployment Ingress NetworkPolicy ReplicaSet"),
    ("lifecycle.k8s.io", "Eviction EvictionRequest"),
    ("networking.k8s.io", "Ingress NetworkPolicy"),
    ("policy", "Eviction PodDisruptionBudget"),
    ("rbac.authorization.k8s.io", "Role RoleBinding"),
    ("resource.k8s.io", "ResourceClaim ResourceClaimTemplate"),
    ("scheduling.k8s.io", "CompositePodGroup PodGroup Workload"),
    ("storage.k8s.io", "CSIStorageCapacity"),
];

/// Cluster-scoped kinds of Kubernetes, by group.
const CLUSTER: &[(&str, &str)] = &[
    ("", "ComponentStatus Namespace Node PersistentVolume"),
    (
        "admissionregistration.k8s.io",
        "MutatingAdmissionPolicy MutatingAdmissionPolicyBinding MutatingWebhookConfiguration \
         ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration",
    ),
    ("apiextensions.k8s.io", "CustomResourceDefinition"),
    ("apiregistration.k8s.io", "APIService"),
    ("authentication.k8s.io", "SelfSubjectReview TokenReview"),
    ("authorization.k8s.io", "SelfSubjectAccessReview SelfSubjectRulesReview SubjectAccessReview"),
    ("certificates.k8s.io", "CertificateSigningRequest ClusterTrustBundle"),
    ("extensions", "PodSecurityPolicy"),
    ("flowcontrol.apiserver.k8s.io", "FlowSchema PriorityLevelConfiguration"),
    ("internal.apiserver.k8s.io", "StorageVersion"),
    ("networking.k8s.io", "IPAddress IngressClass ServiceCIDR"),
    ("node.k8s.io", "RuntimeClass"),
    ("policy", "PodSecurityPolicy"),
    ("rbac.authorization.k8s.io", "ClusterRole ClusterRoleBinding"),
    ("resource.k8s.io", "DeviceClass DeviceTaintRule ResourcePoolStatusRequest ResourceSlice"),
    ("scheduling.k8s.io", "PriorityClass"),
    ("storage.k8s.io", "CSIDriver CSINode StorageClass VolumeAttachment VolumeAttributesClass"),
    ("storagemigration.k8s.io", "StorageVersionMigration"),
];

/// The group and kind that a CustomResourceDefinition defines, and whether that is namespaced.
pub(crate) type Definition = ((String, String), bool);

/// What a resource defines, if it is a CustomResourceDefinition.
pub(crate) fn definition(resource: &Resource) -> Option<Definition> {
    if resource.view().kind() != "CustomResourceDefinition" {
        return None;
    }
    let text = |path| resource.get_text(path).ok().flatten();
    let is_namespaced = text("spec.scope")? == "Namespaced";
    Some(((text("spec.group")?, text("spec.names.kind")?), is_namespaced))
}

/// The scopes of the kinds in a list of resources.
pub(crate) struct Scopes {
    defined: BTreeMap<(String, String), bool>,
}

impl FromIterator<Definition> for Scopes {
    fn from_iter<T: IntoIterator<Item = Definition>>(definitions: T) -> Self {
        Self { defined: definitions.into_iter().collect() }
    }
}

impl Scopes {
    /// Reads the CustomResourceDefinitions among the items.
    pub(crate) fn of(items: &[Resource]) -> Self {
        find_each(items, definition).into_iter().map(|(_, definition)| definition).collect()
    }

    /// Whether a resource is namespaced.
    ///
    /// Compat: an unknown kind is namespaced if the resource has a namespace.
    pub(crate) fn is_namespaced(&self, resource: &Resource) -> bool {
        let has_namespace = || resource.get_in(["metadata", "namespace"]).is_some();
        self.known(resource).unwrap_or_else(has_namespace)
    }

    /// Whether a resource is namespaced or of an unknown kind.
    pub(crate) fn may_be_namespaced(&self, resource: &Resource) -> bool {
        self.known(resource).unwrap_or(true)
    }

    /// Whether the kind of a resource is namespaced, if that is known.
    fn known(&self, resource: &Resource) -> Option<bool> {
        let (group, kind) = (resource.view().group(), resource.kind());
        if is_in(NAMESPACED, &group, &kind) {
            return Some(true);
        }
        if is_in(CLUSTER, &group, &kind) {
            return Some(false);
        }
        self.defined.get(&(group, kind)).copied()
    }
}

/// Whether a kind of Kubernetes is cluster-scoped.
pub(crate) fn is_cluster_scoped_kind(group: &str, kind: &str) -> bool {
    is_in(CLUSTER, group, kind)
}

fn is_in(table: &[(&str, &str)], group: &str, kind: &str) -> bool {
    let mut kinds = table.iter().filter(|(its, _)| *its == group).map(|(_, kinds)| *kinds);
    kinds.any(|kinds| kinds.split(' ').any(|its| its == kind))
}

#[cfg(test)]
mod tests {
    use krm_core::schema::Schema;

    use super::*;

    #[test]
    fn every_kind_of_kubernetes_has_one_scope() {
        let schema = Schema::kubernetes();
        let mut unknown = Vec::new();
        for (api_version, kind) in
            schema.kinds().filter(|(_, kind)| !kind.ends_with("List") && *kind != "Status")
        {
            let group = api_version.split_once('/').map_or("", |(group, _)| group);
            let known = [NAMESPACED, CLUSTER].map(|table| is_in(table, group, kind));
            if known[0] == known[1] {
                unknown.push(format!("{api_version} {kind}"));
            }
        }
        assert_eq!(unknown, [""; 0]);
    }

    #[test]
    fn scope_of_custom_resources_comes_from_their_definition() {
        let definition = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nspec:\n  group: a.b\n  scope: Namespaced\n  names: {kind: C}\n";
        let items: Vec<Resource> =
            [definition, "apiVersion: a.b/v1\nkind: C\n", "apiVersion: a.b/v1\nkind: D\n"]
                .map(|text| Resource::parse(text).unwrap())
                .into();
        let scopes = Scopes::of(&items);
        assert_eq!(
            items.iter().map(|it| scopes.is_namespaced(it)).collect::<Vec<_>>(),
            [false, true, false]
        );
        assert!(!Scopes::of(&[]).is_namespaced(&items[1]));
    }
}
