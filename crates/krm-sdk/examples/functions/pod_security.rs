//! `pod-security`: checks of the restricted Pod Security Standard, with proposed values.

use krm_sdk::{Error, Resource, ResourceList, ResultBuilder, Severity};

/// The documentation.
pub(crate) const README: &str = "# pod-security

Fails if a pod or a container may do more than the restricted Pod Security Standard allows.

Each result proposes an allowed value, which `krm fix` can set.
";

/// Fields of a pod spec that share a namespace of the node, and must not be true.
const SHARED: [&str; 3] = ["hostNetwork", "hostPID", "hostIPC"];

/// Validates all pods.
pub(crate) fn run(list: &mut ResourceList) -> Result<(), Error> {
    for resource in &list.items {
        list.results.extend(violations(resource).into_iter().map(Into::into));
    }
    Ok(())
}

fn violations(resource: &Resource) -> Vec<ResultBuilder<'_>> {
    let Some(spec) = resource.pod_spec() else { return Vec::new() };
    let is = |path: &str, value: &str| resource.get_text(path).as_deref() == Some(value);
    let violation = |message: String, path: &str, value: bool| {
        resource.result(Severity::Error, message).field(path).propose(value)
    };
    let mut violations = Vec::new();
    for field in SHARED {
        let path = format!("{spec}.{field}");
        if is(&path, "true") {
            violations.push(violation(
                format!("`{field}` shares the node with the pod"),
                &path,
                false,
            ));
        }
    }
    let all_non_root = is(&format!("{spec}.securityContext.runAsNonRoot"), "true");
    for container in resource.containers() {
        let name = &container.name;
        let path = container.field("securityContext.privileged");
        if is(&path, "true") {
            violations.push(violation(format!("container `{name}` is privileged"), &path, false));
        }
        let path = container.field("securityContext.allowPrivilegeEscalation");
        if !is(&path, "false") {
            violations.push(violation(
                format!("container `{name}` may gain privileges"),
                &path,
                false,
            ));
        }
        let path = container.field("securityContext.runAsNonRoot");
        let is_inherited = all_non_root && resource.get(&path).is_none();
        if !is(&path, "true") && !is_inherited {
            violations.push(violation(format!("container `{name}` may run as root"), &path, true));
        }
    }
    violations
}
