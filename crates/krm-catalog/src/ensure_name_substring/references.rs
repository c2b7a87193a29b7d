//! Fields that refer to a resource by its name: which ones there are, and which of them mean a resource that was renamed.

use std::collections::BTreeMap;

use krm_sdk::Resource;
use krm_yaml::NodeRef;

use super::renamed::{From, Renamed};
use crate::changes::{Changes, FieldSlot, text_of};
use crate::field_spec::FieldSpec;

/// Kinds with the specification of a pod, and where it stands.
const POD_SPECS: &[(&str, &str)] = &[
    ("Pod", "spec"),
    ("PodTemplate", "template/spec"),
    ("Deployment ReplicaSet DaemonSet StatefulSet ReplicationController Job", "spec/template/spec"),
    ("CronJob", "spec/jobTemplate/spec/template/spec"),
];

/// What a pod refers to. `*` stands for each list of containers.
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

/// What is referred to, by which kinds, and where.
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

/// Groups of kinds that others use as well; a workload may be of any.
const GROUPS: &[(&str, &str)] = &[
    ("ConfigMap Secret Service ServiceAccount PersistentVolumeClaim PersistentVolume", ""),
    ("Role ClusterRole", "rbac.authorization.k8s.io"),
    ("StorageClass", "storage.k8s.io"),
    ("PriorityClass", "scheduling.k8s.io"),
    ("IngressClass", "networking.k8s.io"),
    ("ValidatingAdmissionPolicy", "admissionregistration.k8s.io"),
];

/// The fields that may refer to something that was renamed, by the kind that has them.
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

    /// Follows the references of a resource, and gives those that mean a renamed resource its new name.
    pub(super) fn follow<'a>(
        &self,
        changes: &mut Changes<'a>,
        resource: &'a Resource,
        is_namespaced: bool,
        renamed: &Renamed,
        renew: impl Fn(&str) -> Option<String>,
    ) {
        let Some(fields) = self.fields.get(&*resource.kind()) else { return };
        let namespace = resource.namespace();
        for (target, field) in fields {
            // Something else than a name at one of these paths is nothing to follow.
            let slots = field.find(resource, changes).unwrap_or_default();
            let names: Vec<Name<'_>> = slots.iter().flat_map(|it| names(changes, it)).collect();
            for name in names {
                if !name.may_mean(target) {
                    continue;
                }
                let Some(old) = text_of(name.node) else { continue };
                let from = match (&name.namespace, is_namespaced) {
                    (Some(namespace), _) => From::Namespace(namespace),
                    (None, true) => From::Namespace(&namespace),
                    (None, false) => From::Cluster,
                };
                if renamed.has(group(target), target, &old, &from)
                    && let Some(new) = renew(&old)
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
    /// The mapping that it stands in, whose `kind` or `resources` say more.
    holder: Option<NodeRef<'a>>,
    namespace: Option<String>,
}

/// The names at the end of a path: a text, a mapping with a `name`, or a list of such.
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

/// The mapping that a name stands in, also in a list.
fn holder(node: NodeRef<'_>) -> Option<NodeRef<'_>> {
    let parent = node.parent()?;
    if parent.as_sequence().is_some() { parent.parent() } else { Some(parent) }
}

impl Name<'_> {
    /// Whether what stands beside the name speaks of this kind, or says nothing of kinds.
    fn may_mean(&self, target: &str) -> bool {
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

/// The group of a kind; none where any will do.
fn group(kind: &str) -> Option<&'static str> {
    let mut groups = GROUPS.iter().filter(|(kinds, _)| kinds.split(' ').any(|it| it == kind));
    groups.next().map(|(_, group)| *group)
}
