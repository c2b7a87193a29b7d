//! Links to the documentation of kinds.

use krm_sdk::Resource;

/// Compat: the version of Kubernetes that the original refers to.
const KUBERNETES: &str = "https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.22";
const CONFIG_CONNECTOR: &str = "https://cloud.google.com/config-connector/docs";

/// A link in Markdown.
pub(super) fn link(text: &str, target: &str) -> String {
    format!("[{text}]({target})")
}

/// The kind of a resource, with a link to its documentation if that is known.
pub(super) fn kind_link(resource: &Resource) -> String {
    let (api_version, kind) = (resource.api_version(), resource.kind());
    let (group, version) = api_version.split_once('/').unwrap_or(("", &*api_version));
    let lower = kind.to_lowercase();
    let target = match (group, &*kind) {
        ("core.cnrm.cloud.google.com", "ConfigConnectorContext") => {
            format!("{CONFIG_CONNECTOR}/how-to/advanced-install#addon-configuring")
        }
        ("configmanagement.gke.io", "ConfigManagement") => {
            "https://cloud.google.com/anthos-config-management/docs/configmanagement-fields"
                .to_owned()
        }
        (group, _) if group.ends_with(".cnrm.cloud.google.com") => {
            let service = group.split('.').next().unwrap_or_default();
            format!("{CONFIG_CONNECTOR}/reference/resource-docs/{service}/{lower}")
        }
        ("", _) if version == "v1" => format!("{KUBERNETES}/#{lower}-v1-core"),
        (group, _) if group.ends_with(".k8s.io") => {
            format!("{KUBERNETES}/#{lower}-{version}-{}", group.replace('.', "-"))
        }
        _ => return kind,
    };
    link(&kind, &target)
}
