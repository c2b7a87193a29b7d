//! `pod-security`: checks of the restricted Pod Security Standard, with proposed values.

use krm_sdk::{Error, Findings, Resource, ResourceList, Selector};

/// The documentation.
pub(crate) const README: &str = "# pod-security

Fails if a pod or a container may do more than the restricted Pod Security Standard allows.

Each result proposes an allowed value, which `krm fix` can set.
";

/// Fields of a pod spec that share a namespace of the node, and must not be true.
const SHARED: [&str; 3] = ["hostNetwork", "hostPID", "hostIPC"];

/// Validates all pods.
pub(crate) fn run(list: &mut ResourceList) -> Result<(), Error> {
    list.check(&Selector::new(), check)
}

fn check(resource: &Resource, findings: &mut Findings) -> Result<(), Error> {
    let Some(spec) = resource.pod_spec() else { return Ok(()) };
    let value = |path: &str| resource.read_at::<bool>(path);
    for field in SHARED {
        let path = format!("{spec}.{field}");
        if value(&path)? == Some(true) {
            let message = format!("`{field}` shares the node with the pod");
            findings.error(message).field(path).propose(false);
        }
    }
    let all_non_root = value(&format!("{spec}.securityContext.runAsNonRoot"))? == Some(true);
    for container in resource.containers() {
        let name = &container.name;
        let path = container.field("securityContext.privileged");
        if value(&path)? == Some(true) {
            findings.error(format!("container `{name}` is privileged")).field(path).propose(false);
        }
        let path = container.field("securityContext.allowPrivilegeEscalation");
        if value(&path)? != Some(false) {
            let message = format!("container `{name}` may gain privileges");
            findings.error(message).field(path).propose(false);
        }
        let path = container.field("securityContext.runAsNonRoot");
        if !value(&path)?.unwrap_or(all_non_root) {
            let message = format!("container `{name}` may run as root");
            findings.error(message).field(path).propose(true);
        }
    }
    Ok(())
}
