//! `pod-security`: what the restricted Pod Security Standard asks of pods, as findings with the value that would do.

use krm_sdk::{Error, Finding, Resource, ResourceList, Severity};

/// The page.
pub(crate) const PAGE: &str = "# pod-security

Fails where a pod or a container may do more than the restricted Pod Security Standard allows.

Each finding proposes the value that would do, which `krm fix` can set.
";

/// Fields of a pod that share something of the node, and must not be true.
const SHARED: [&str; 3] = ["hostNetwork", "hostPID", "hostIPC"];

/// Looks, and changes nothing.
pub(crate) fn run(list: &mut ResourceList) -> Result<(), Error> {
    for resource in &list.items {
        list.results.extend(findings(resource).into_iter().map(Into::into));
    }
    Ok(())
}

fn findings(resource: &Resource) -> Vec<Finding<'_>> {
    let Some(spec) = resource.pod_spec() else { return Vec::new() };
    let is = |path: &str, value: &str| resource.get_text(path).as_deref() == Some(value);
    let say = |message: String, path: &str, value: bool| {
        resource.result(Severity::Error, message).field(path).propose(value)
    };
    let mut found = Vec::new();
    for field in SHARED {
        let path = format!("{spec}.{field}");
        if is(&path, "true") {
            found.push(say(format!("`{field}` shares the node with the pod"), &path, false));
        }
    }
    let all_non_root = is(&format!("{spec}.securityContext.runAsNonRoot"), "true");
    for container in resource.containers() {
        let name = &container.name;
        let path = container.field("securityContext.privileged");
        if is(&path, "true") {
            found.push(say(format!("container `{name}` is privileged"), &path, false));
        }
        let path = container.field("securityContext.allowPrivilegeEscalation");
        if !is(&path, "false") {
            found.push(say(format!("container `{name}` may gain privileges"), &path, false));
        }
        let path = container.field("securityContext.runAsNonRoot");
        let is_inherited = all_non_root && resource.get(&path).is_none();
        if !is(&path, "true") && !is_inherited {
            found.push(say(format!("container `{name}` may run as root"), &path, true));
        }
    }
    found
}
