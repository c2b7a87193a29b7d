//! Fields that refer to a resource by its name, and updating those that refer to a renamed one.

use std::collections::BTreeMap;

use krm_sdk::Resource;
use krm_yaml::NodeRef;

use super::renamed::{ReferenceScope, Renamed};
use crate::changes::{Changes, FieldSlot, text_of};
use crate::field_spec::FieldSpec;

/// The kinds with a pod spec, and its path.
const POD_SPECS: &[(&str, &str)] = &[
    ("Pod", "spec"),
    ("PodTemplate", "template/spec"),
    ("Deployment ReplicaSet DaemonSet StatefulSet ReplicationController Job", "spec/template/spec"),
    ("CronJob", "spec/jobTemplate/spec/template/spec"),
];

/// The kinds and paths of references in a pod spec. `*` is each list of containers.
const POD_FIELDS: &[(&str, &str)] = &[
    ("ConfigMap", "volumes/configMap/name"),
    ("ConfigMap", "volumes/projected/sources/configMap/name"),
    ("ConfigMap", "*/env/valueFrom/configMapKeyRef/name"),
    ("ConfigMap", "*/envFrom/configMapRef/name"),
    ("Secret", "volumes/secret/secretName"),
    ("Secret", "volumes/projected/sources/secret/name"),
    ("Secret", "*/env/valueFrom/secretKeyRef/name"),
    ("Secret", "*/envFrom/secretRef/name"),
    ("Secret", "imagePullSecrets/name"),
    ("ServiceAccount", "serviceAccountName"),
    ("PersistentVolumeClaim", "volumes/persistentVolumeClaim/claimName"),
    ("PriorityClass", "priorityClassName"),
];

const CONTAINERS: [&str; 3] = ["containers", "initContainers", "ephemeralContainers"];

/// The kinds that are referred to, the kinds that refer to them, and the path.
const FIELDS: &[(&str, &str, &str)] = &[
    (
        "Deployment ReplicaSet ReplicationController StatefulSet",
        "HorizontalPodAutoscaler",
        "spec/scaleTargetRef/name",
    ),
    ("ConfigMap", "Node", "spec/configSource/configMap"),
    (
        "ConfigMap",
        "Ingress",
        r"metadata/annotations/nginx.ingress.kubernetes.io\/fastcgi-params-configmap",
    ),
    ("ConfigMap Secret PersistentVolume", "Role ClusterRole", "rules/resourceNames"),
    ("Secret", "Ingress", "spec/tls/secretName"),
    ("Secret", "Ingress", r"metadata/annotations/ingress.kubernetes.io\/auth-secret"),
    ("Secret", "Ingress", r"metadata/annotations/nginx.ingress.kubernetes.io\/auth-secret"),
    ("Secret", "Ingress", r"metadata/annotations/nginx.ingress.kubernetes.io\/auth-tls-secret"),
    ("Secret", "ServiceAccount", "imagePullSecrets/name"),
    ("Secret", "StorageClass", "parameters/secretName"),
    ("Secret", "StorageClass", "parameters/adminSecretName"),
    ("Secret", "StorageClass", "parameters/userSecretName"),
    ("Secret", "StorageClass", "parameters/secretRef"),
    ("Secret", "PersistentVolume", "spec/azureFile/secretName"),
    ("Secret", "Service", "spec/template/spec/containers/env/valueFrom/secretKeyRef/name"),
    ("Service", "StatefulSet", "spec/serviceName"),
    ("Service", "Ingress", "spec/rules/http/paths/backend/serviceName"),
    ("Service", "Ingress", "spec/rules/http/paths/backend/service/name"),
    ("Service", "Ingress", "spec/backend/serviceName"),
    ("Service", "Ingress", "spec/defaultBackend/service/name"),
    ("Service", "APIService", "spec/service"),
    (
        "Service",
        "ValidatingWebhookConfiguration MutatingWebhookConfiguration",
        "webhooks/clientConfig/service",
    ),
    ("Role", "RoleBinding", "roleRef/name"),
    ("ClusterRole", "RoleBinding ClusterRoleBinding", "roleRef/name"),
    ("ServiceAccount", "RoleBinding ClusterRoleBinding", "subjects"),
    ("PersistentVolume", "PersistentVolumeClaim", "spec/volumeName"),
    ("StorageClass", "PersistentVolume PersistentVolumeClaim", "spec/storageClassName"),
    ("StorageClass", "StatefulSet", "spec/volumeClaimTemplates/spec/storageClassName"),
    ("IngressClass", "Ingress", "spec/ingressClassName"),
    ("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "spec/policyName"),
];

/// The groups of kinds whose names other groups use, too. A workload may have any group.
const GROUPS: &[(&str, &str)] = &[
    ("ConfigMap Secret Service ServiceAccount PersistentVolumeClaim PersistentVolume", ""),
    ("Role ClusterRole", "rbac.authorization.k8s.io"),
    ("StorageClass", "storage.k8s.io"),
    ("PriorityClass", "scheduling.k8s.io"),
    ("IngressClass", "networking.k8s.io"),
    ("ValidatingAdmissionPolicy", "admissionregistration.k8s.io"),
];

/// The fields that may refer to a renamed resource, by the kind that has them.
pub(super) struct References {
    fields: BTreeMap<&'static str, Vec<(&'static str, FieldSpec)>>,
}

impl References {
    pub(super) fn to(renamed: &Renamed) -> Self {
        let mut fields: BTreeMap<_, Vec<_>> = BTreeMap::new();
        let mut add = |target: &'static str, kinds: &'static str, path: &str| {
            for kind in kinds.split(' ').filter(|_| renamed.has_kind(target)) {
                let field = FieldSpec::new("", "", "", path, false);
                fields.entry(kind).or_default().push((target, field));
            }
        };
        for (kinds, spec) in POD_SPECS {
            for (target, path) in POD_FIELDS {
                for containers in CONTAINERS.iter().take(if path.contains('*') { 3 } else { 1 }) {
                    add(target, kinds, &format!("{spec}/{}", path.replace('*', containers)));
                }
            }
        }
        for (targets, kinds, path) in FIELDS {
            targets.split(' ').for_each(|target| add(target, kinds, path));
        }
        Self { fields }
    }

    /// Updates the references of a resource.
    pub(super) fn update<'a>(
        &self,
        changes: &mut Changes<'a>,
        resource: &'a Resource,
        is_namespaced: bool,
        renamed: &Renamed,
        new_name: impl Fn(&str) -> Option<String>,
    ) {
        let Some(fields) = self.fields.get(&*resource.kind()) else { return };
        let namespace = resource.namespace();
        for (target, field) in fields {
            // Custom resources may have something else at these paths.
            let slots = field.find(resource, changes).unwrap_or_default();
            let names: Vec<Name<'_>> = slots.iter().flat_map(|it| names(changes, it)).collect();
            for name in names {
                if !name.may_refer_to(target) {
                    continue;
                }
                let Some(old) = text_of(name.node) else { continue };
                let scope = match (&name.namespace, is_namespaced) {
                    (Some(namespace), _) => ReferenceScope::Namespace(namespace),
                    (None, true) => ReferenceScope::Namespace(&namespace),
                    (None, false) => ReferenceScope::Cluster,
                };
                if renamed.has(group(target), target, &old, &scope)
                    && let Some(new) = new_name(&old)
                {
                    changes.set(&FieldSlot::Existing(name.node), &new);
                }
            }
        }
    }
}

/// A name in a reference.
struct Name<'a> {
    node: NodeRef<'a>,
    /// The mapping that contains it, whose `kind` or `resources` restrict the kind.
    holder: Option<NodeRef<'a>>,
    namespace: Option<String>,
}

/// The names at the end of a path: a string, a mapping with a `name`, or a sequence of these.
fn names<'a>(changes: &mut Changes<'a>, slot: &FieldSlot<'a>) -> Vec<Name<'a>> {
    let Some(node) = slot.node() else { return Vec::new() };
    let nodes = match node.as_sequence() {
        Some(list) => list.items().collect(),
        None => vec![node],
    };
    let name = |node: NodeRef<'a>| {
        let node = changes.resolve(node);
        if node.as_mapping().is_none() {
            return Some(Name { node, holder: holder(node), namespace: None });
        }
        let name = changes.get(node, "name")??;
        let namespace = changes.get(node, "namespace").flatten().and_then(text_of);
        let namespace = namespace.map(|text| text.into_owned());
        Some(Name { node: name, holder: Some(node), namespace })
    };
    nodes.into_iter().filter_map(name).collect()
}

/// The mapping that contains a name, directly or in a sequence.
fn holder(node: NodeRef<'_>) -> Option<NodeRef<'_>> {
    let parent = node.parent()?;
    if parent.as_sequence().is_some() { parent.parent() } else { Some(parent) }
}

impl Name<'_> {
    /// Whether the name can refer to this kind, by the fields next to it.
    fn may_refer_to(&self, target: &str) -> bool {
        let holder = self.holder.and_then(|holder| holder.as_mapping());
        let field = |name| holder.and_then(|holder| holder.get(name));
        if field("resourceNames").is_some() {
            let plural = format!("{}s", target.to_lowercase());
            let resources = field("resources").and_then(|it| it.resolve().as_sequence());
            let mut resources = resources.into_iter().flat_map(|it| it.items()).filter_map(text_of);
            return resources.any(|it| it == "*" || it == plural.as_str());
        }
        field("kind").and_then(text_of).is_none_or(|kind| kind == target)
    }
}

/// The group of a kind; none for any group.
fn group(kind: &str) -> Option<&'static str> {
    let mut groups = GROUPS.iter().filter(|(kinds, _)| kinds.split(' ').any(|it| it == kind));
    groups.next().map(|(_, group)| *group)
}
