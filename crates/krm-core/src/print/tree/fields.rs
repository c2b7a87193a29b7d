//! The fields of resources that a tree shows.

use krm_yaml::NodeRef;

use super::TreeNode;
use crate::diagnostics::secrets;
use crate::model::resource::{Resource, field};
use crate::print::one_line;
use crate::query::Selector;

/// The paths of pod specifications in workloads.
const PODS: [&[&str]; 3] = [
    &["spec"],
    &["spec", "template", "spec"],
    &["spec", "jobTemplate", "spec", "template", "spec"],
];

/// The fields to show.
#[derive(Clone, Debug, Default)]
pub struct TreeFields {
    /// `spec.replicas`.
    pub replicas: bool,
    /// `spec.ports`, and the ports of containers.
    pub ports: bool,
    /// Fields of containers, in the order of the output.
    pub container_fields: Vec<&'static str>,
    /// Further paths.
    pub paths: Vec<Selector>,
}

impl TreeFields {
    /// The lines below a resource.
    pub(super) fn nodes(&self, resource: Resource<'_>) -> Vec<TreeNode> {
        let mut lines = Vec::new();
        let own = [("replicas", self.replicas), ("ports", self.ports)];
        for (name, _) in own.into_iter().filter(|(_, is_shown)| *is_shown) {
            let value = field(resource.node, "spec").and_then(|spec| field(spec, name));
            lines.extend(value.map(|value| line(&format!("spec.{name}"), value)));
        }
        for path in PODS {
            let pod = path.iter().try_fold(resource.node, |node, name| field(node, name));
            for list in ["initContainers", "containers"] {
                let containers = pod.and_then(|pod| field(pod, list));
                let node =
                    containers.map(|list| self.containers(list)).filter(|lines| !lines.is_empty());
                let label = format!("{}.{list}", path.join("."));
                lines.extend(node.map(|children| TreeNode { label, children }));
            }
        }
        lines.extend(self.paths.iter().flat_map(|path| named(resource, path)));
        lines
    }

    /// One line for each container with fields to show, labelled with its index.
    fn containers(&self, list: NodeRef<'_>) -> Vec<TreeNode> {
        let items = list.as_sequence().map(|list| list.items()).into_iter().flatten();
        let container = |(at, item): (usize, NodeRef<'_>)| {
            let shown = |name: &&'static str| Some(line(name, field(item, name)?));
            let children: Vec<TreeNode> = self.container_fields.iter().filter_map(shown).collect();
            (!children.is_empty()).then(|| TreeNode { label: at.to_string(), children })
        };
        items.enumerate().filter_map(container).collect()
    }
}

fn line(name: &str, value: NodeRef<'_>) -> TreeNode {
    TreeNode::new(format!("{name}: {}", one_line(value)))
}

/// The line of a path, with a child for each of several values. Values of Secrets are masked.
fn named(resource: Resource<'_>, path: &Selector) -> Option<TreeNode> {
    let is_kept = secrets::is_secret_field(resource, path.first_key());
    let found = path.find(resource.node);
    let name = path.to_string();
    match found.as_slice() {
        [] => None,
        _ if is_kept => Some(TreeNode::new(format!("{name}: ***"))),
        [value] => Some(line(&name, *value)),
        values => {
            let children = values.iter().map(|value| TreeNode::new(one_line(*value))).collect();
            Some(TreeNode { label: name, children })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, fields: &TreeFields) -> String {
        let file = krm_yaml::File::parse(text.to_owned()).unwrap();
        let resource = crate::model::resources(file.document(0).unwrap())[0];
        TreeNode { label: ".".to_owned(), children: fields.nodes(resource) }.render()
    }

    #[test]
    fn containers_are_numbered_by_position_and_init_containers_are_shown() {
        let pod = "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - name: z\n  - image: x\n  - name: a\n  initContainers: [{name: i}]\n";
        let fields = TreeFields { container_fields: vec!["name"], ..TreeFields::default() };
        let expected = ".\n├── spec.initContainers\n│   └── 0\n│       └── name: i\n└── spec.containers\n    ├── 0\n    │   └── name: z\n    └── 2\n        └── name: a\n";
        assert_eq!(shown(pod, &fields), expected);
    }

    #[test]
    fn values_of_secrets_are_masked() {
        let secret = "apiVersion: v1\nkind: Secret\ntype: Opaque\nstringData: {a: b}\n";
        let paths = ["stringData.a", "type", "*"].map(|path| path.parse().unwrap()).to_vec();
        let text = shown(secret, &TreeFields { paths, ..TreeFields::default() });
        assert_eq!(text, ".\n├── stringData.a: ***\n├── type: Opaque\n└── *: ***\n");
    }

    #[test]
    fn path_shows_all_matching_values() {
        let pod = "apiVersion: v1\nkind: Pod\nspec: {containers: [{name: a, image: x}, {name: b, image: y}]}\n";
        let paths = vec!["spec.containers[name=.*].image".parse().unwrap()];
        let text = shown(pod, &TreeFields { paths, ..TreeFields::default() });
        assert_eq!(text, ".\n└── spec.containers[name=.*].image\n    ├── x\n    └── y\n");
    }
}
