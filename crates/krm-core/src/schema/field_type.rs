//! The type of the field at a path: by the schema of its resource, or by what is the same in all resources.

use krm_yaml::{NodeRef, Path, Segment};

use super::{Schema, Type, ValueKind};
use crate::model::resource::{field, scalar_text};

impl Schema {
    /// The type of the field at a path below `root`, whether the field exists or not; none if it is not known.
    ///
    /// Labels, annotations, names, environment variables and the data of ConfigMaps are strings by convention, also in resources
    /// without a schema and in files that are not resources, such as patches and values.
    ///
    /// ```
    /// use krm_core::schema::{Schema, ValueKind};
    /// use krm_yaml::File;
    ///
    /// let file = File::parse("apiVersion: example.com/v1\nkind: App\nspec: {}\n".to_owned())?;
    /// let root = file.document(0).and_then(|document| document.root()).unwrap();
    /// let schema = Schema::built_in();
    /// let type_at = |path: &str| schema.type_at(root, &path.parse().unwrap());
    /// assert_eq!(type_at("metadata.labels.version"), Some(ValueKind::String));
    /// assert_eq!(type_at("spec.version"), None);
    /// # Ok::<(), krm_yaml::ReadError>(())
    /// ```
    pub fn type_at(&self, root: NodeRef<'_>, path: &Path) -> Option<ValueKind> {
        let segments = path.segments();
        let mut node = Some(root);
        let mut found = self.type_of_resource(root);
        for segment in segments {
            found = match segment {
                Segment::Key(key) => found.and_then(|of| of.field(key)),
                Segment::Index(_) | Segment::Match { .. } | Segment::End => {
                    found.and_then(Type::item)
                }
            };
            node = node.and_then(|node| child(node, segment));
            // The items of a List are resources, whose types the List does not know.
            let nested = || node.and_then(|node| self.type_of_resource(node));
            found = found.filter(|of| of.value_kind() != ValueKind::Any).or_else(nested);
        }
        let declared = found.map(Type::value_kind).filter(|kind| *kind != ValueKind::Any);
        declared.or_else(|| is_string_by_convention(root, segments).then_some(ValueKind::String))
    }

    fn type_of_resource(&self, node: NodeRef<'_>) -> Option<Type<'_>> {
        let text = |name| field(node.resolve(), name).and_then(scalar_text);
        self.resource_type(&text("apiVersion")?, &text("kind")?)
    }
}

fn child<'a>(node: NodeRef<'a>, segment: &Segment) -> Option<NodeRef<'a>> {
    let node = node.resolve();
    match segment {
        Segment::Key(key) => field(node, key),
        Segment::Index(_) | Segment::End | Segment::Match { .. }
            if node.as_sequence().is_none() =>
        {
            None
        }
        Segment::Index(index) => node.children().nth(*index),
        Segment::Match { key, value } => {
            let is_match = |item: &NodeRef<'_>| {
                field(item.resolve(), key).and_then(scalar_text).as_deref() == Some(value)
            };
            node.children().find(is_match)
        }
        Segment::End => None,
    }
}

/// Whether every kind has a string at such a path.
fn is_string_by_convention(root: NodeRef<'_>, segments: &[Segment]) -> bool {
    let key =
        |from_end: usize| match segments.len().checked_sub(from_end + 1).map(|at| &segments[at]) {
            Some(Segment::Key(key)) => Some(key.as_str()),
            _ => None,
        };
    let is_element =
        segments.len().checked_sub(2).is_some_and(|at| !matches!(segments[at], Segment::Key(_)));
    match (key(2), key(1), key(0)) {
        (Some("metadata"), Some("labels" | "annotations"), Some(_)) => true,
        (
            _,
            Some("matchLabels" | "nodeSelector" | "commonLabels" | "commonAnnotations"),
            Some(_),
        ) => true,
        (_, Some("metadata"), Some("name" | "namespace" | "generateName")) => true,
        (Some("env"), None, Some("value")) => is_element,
        (None, Some("data" | "stringData" | "binaryData"), Some(_)) if segments.len() == 2 => {
            let kind = field(root, "kind").and_then(scalar_text);
            matches!(kind.as_deref(), Some("ConfigMap" | "Secret"))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use krm_yaml::File;

    fn type_at(text: &str, path: &str) -> Option<ValueKind> {
        let file = File::parse(text.to_owned()).unwrap();
        let root = file.document(0).and_then(|document| document.root()).unwrap();
        Schema::built_in().type_at(root, &path.parse().unwrap())
    }

    #[test]
    fn field_type_comes_from_the_schema() {
        let deployment = "apiVersion: apps/v1\nkind: Deployment\n";
        assert_eq!(type_at(deployment, "spec.replicas"), Some(ValueKind::Integer));
        let env = "spec.template.spec.containers[name=a].env[0].value";
        assert_eq!(type_at(deployment, env), Some(ValueKind::String));
        assert_eq!(type_at(deployment, "spec.none"), None);
        let kustomization = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n";
        assert_eq!(type_at(kustomization, "images[name=web].newTag"), Some(ValueKind::String));
        let list = "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap}\n";
        assert_eq!(type_at(list, "items[0].data.a"), Some(ValueKind::String));
    }

    #[test]
    fn some_fields_are_strings_in_every_file() {
        let own = "apiVersion: example.com/v1\nkind: Own\n";
        for text in [own, "spec: {}\n", "a: b\n"] {
            let strings = [
                "metadata.labels.\"a.b\"",
                "metadata.name",
                "spec.template.metadata.annotations.a",
                "spec.selector.matchLabels.a",
                "spec.containers[0].env[name=A].value",
                "env[-].value",
            ];
            for path in strings {
                assert_eq!(type_at(text, path), Some(ValueKind::String), "{path}");
            }
            for path in ["spec.a", "data.a", "env.value", "labels.a", "metadata.generation"] {
                assert_eq!(type_at(text, path), None, "{path}");
            }
        }
        assert_eq!(type_at("kind: ConfigMap\n", "data.a"), Some(ValueKind::String));
    }
}
