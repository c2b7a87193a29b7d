//! Pod specs and containers of workloads.

use krm_yaml::NodeRef;

use crate::resource::scalar_text;
use crate::{Error, Resource};

/// The fields of a pod spec that list containers.
const LISTS: [&str; 3] = ["initContainers", "containers", "ephemeralContainers"];

/// A container of a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Container {
    /// The name; empty if it has none.
    pub name: String,
    /// The path in the resource, for [`Resource::set`]: `spec.template.spec.containers[0]`.
    pub path: String,
}

impl Container {
    /// The path of a field of the container, for [`Resource::set`].
    pub fn field(&self, path: &str) -> String {
        format!("{}.{path}", self.path)
    }
}

impl Resource {
    /// The path of the pod spec of a workload; none if the resource does not run pods.
    ///
    /// ```
    /// let resource = krm_sdk::Resource::parse("apiVersion: batch/v1\nkind: Job\n")?;
    /// assert_eq!(resource.pod_spec(), Some("spec.template.spec"));
    /// # Ok::<(), krm_sdk::Error>(())
    /// ```
    pub fn pod_spec(&self) -> Option<&'static str> {
        match &*self.kind() {
            "Pod" => Some("spec"),
            "CronJob" => Some("spec.jobTemplate.spec.template.spec"),
            "Deployment"
            | "StatefulSet"
            | "DaemonSet"
            | "ReplicaSet"
            | "ReplicationController"
            | "Job" => Some("spec.template.spec"),
            _ => None,
        }
    }

    /// All containers, init containers first.
    ///
    /// ```
    /// use krm_sdk::Resource;
    ///
    /// let mut pod = Resource::parse("apiVersion: v1\nkind: Pod\nspec: {containers: [{name: web}]}\n")?;
    /// for container in pod.containers() {
    ///     pod.set(&container.field("image"), "nginx")?;
    /// }
    /// assert!(pod.text().ends_with("[{name: web, image: nginx}]}\n"));
    /// # Ok::<(), krm_sdk::Error>(())
    /// ```
    pub fn containers(&self) -> Vec<Container> {
        let Some(spec) = self.pod_spec() else { return Vec::new() };
        let list = |name: &&str| {
            let node = self.get_in(spec.split('.').chain([*name]));
            containers_of(node, &format!("{spec}.{name}"))
        };
        LISTS.iter().flat_map(list).collect()
    }

    /// The containers of the sequence at a path.
    ///
    /// ```
    /// let pod = krm_sdk::Resource::parse("apiVersion: v1\nkind: Pod\nspec: {initContainers: [{name: wait}]}\n")?;
    /// assert_eq!(pod.containers_at("spec.initContainers")?[0].name, "wait");
    /// # Ok::<(), krm_sdk::Error>(())
    /// ```
    pub fn containers_at(&self, path: &str) -> Result<Vec<Container>, Error> {
        Ok(containers_of(self.get(path)?, path))
    }
}

/// The containers of a sequence at a path.
fn containers_of(list: Option<NodeRef<'_>>, path: &str) -> Vec<Container> {
    let list = list.and_then(NodeRef::as_sequence);
    let items = list.into_iter().flat_map(|list| list.items()).map(NodeRef::resolve);
    let name = |node: NodeRef<'_>| scalar_text(node.as_mapping()?.get("name")?);
    let container = |(at, node): (usize, NodeRef<'_>)| Container {
        name: name(node).unwrap_or_default(),
        path: format!("{path}[{at}]"),
    };
    items.enumerate().map(container).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn containers_are_found_in_every_workload() {
        for (kind, spec) in [("Pod", ""), ("Deployment", "template:\n    spec:\n      ")] {
            let body = format!(
                "apiVersion: v1\nkind: {kind}\nspec:\n  {spec}containers: [{{name: a}}, {{name: b}}]\n"
            );
            let resource = Resource::parse(body).unwrap();
            let all = resource.containers();
            assert_eq!(all.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
            assert_eq!(resource.get_text(&all[1].field("name")).unwrap().as_deref(), Some("b"));
        }
        assert!(
            Resource::parse("apiVersion: v1\nkind: Service\n").unwrap().containers().is_empty()
        );
    }
}
