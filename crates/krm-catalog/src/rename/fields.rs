//! Fields that hold a reference: a mapping with a `name`, and often a `kind`, an `apiVersion` and a `namespace`.

use std::sync::LazyLock;

use crate::field_spec::FieldSpec;

/// A field of some resources that refers to another resource.
pub(super) struct ReferenceField {
    pub(super) field: FieldSpec,
    /// The groups and kinds that it can refer to; any if empty.
    pub(super) targets: &'static [(&'static str, &'static str)],
    /// Whether a reference without a `namespace` may get one.
    pub(super) has_namespace: bool,
}

const CONTAINER: &str = "container.cnrm.cloud.google.com";
const IAM: &str = "iam.cnrm.cloud.google.com";
const RBAC: &str = "rbac.authorization.k8s.io";
const RESOURCE_MANAGER: &str = "resourcemanager.cnrm.cloud.google.com";
const SERVICE_USAGE: &str = "serviceusage.cnrm.cloud.google.com";
const PORCH: &str = "config.porch.kpt.dev";

/// The group and kind that has the field, its path, what it can refer to, and whether it has a namespace.
type Row =
    (&'static str, &'static str, &'static str, &'static [(&'static str, &'static str)], bool);

const ANY: &[(&str, &str)] = &[];
const CLUSTER: &[(&str, &str)] = &[(CONTAINER, "ContainerCluster")];
const FOLDER: &[(&str, &str)] = &[(RESOURCE_MANAGER, "Folder")];
const PROJECT: &[(&str, &str)] = &[(RESOURCE_MANAGER, "Project")];
const ROLES: &[(&str, &str)] = &[(RBAC, "Role"), (RBAC, "ClusterRole")];
const SERVICE_ACCOUNT: &[(&str, &str)] = &[(IAM, "IAMServiceAccount")];
const SUBJECTS: &[(&str, &str)] = &[(RBAC, "User"), (RBAC, "Group"), ("", "ServiceAccount")];

/// Compat: the fields that the original functions know.
const ROWS: &[Row] = &[
    (CONTAINER, "ContainerNodePool", "spec/clusterRef", CLUSTER, false),
    (CONTAINER, "ContainerNodePool", "spec/nodeConfig/serviceAccountRef", SERVICE_ACCOUNT, false),
    (IAM, "IAMPolicyMember", "spec/memberFrom/serviceAccountRef", SERVICE_ACCOUNT, false),
    (IAM, "IAMPolicyMember", "spec/resourceRef", ANY, true),
    (IAM, "IAMPartialPolicy", "spec/resourceRef", ANY, false),
    (
        IAM,
        "IAMPartialPolicy",
        "spec/bindings/members/memberFrom/serviceAccountRef",
        SERVICE_ACCOUNT,
        false,
    ),
    (RESOURCE_MANAGER, "Folder", "spec/folderRef", FOLDER, true),
    (RESOURCE_MANAGER, "Project", "spec/folderRef", FOLDER, true),
    (SERVICE_USAGE, "Service", "spec/projectRef", PROJECT, true),
    (RBAC, "RoleBinding", "roleRef", ROLES, false),
    (RBAC, "RoleBinding", "subjects", SUBJECTS, false),
    (PORCH, "WorkloadIdentityBinding", "spec/resourceRef", SERVICE_ACCOUNT, false),
    (PORCH, "WorkloadIdentityBinding", "spec/serviceAccountRef", &[("", "ServiceAccount")], true),
];

/// All fields.
pub(super) static FIELDS: LazyLock<Vec<ReferenceField>> = LazyLock::new(|| {
    let field = |(group, kind, path, targets, has_namespace): &Row| ReferenceField {
        field: FieldSpec::new(group, "", kind, path, false),
        targets,
        has_namespace: *has_namespace,
    };
    ROWS.iter().map(field).collect()
});
