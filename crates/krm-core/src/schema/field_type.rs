//! The type of the field at a path: by the schema of its resource, or by what is the same in all resources.

use std::cell::RefCell;
use std::collections::HashMap;

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
            node = node.and_then(|node| child(node, segment));
            found = self.type_below(found, segment, node);
        }
        value_kind(found, root, segments)
    }

    /// The type of what a segment selects below a type, and of its node, if there is one.
    fn type_below<'s>(
        &'s self,
        parent: Option<Type<'s>>,
        segment: &Segment,
        node: Option<NodeRef<'_>>,
    ) -> Option<Type<'s>> {
        let declared = parent.and_then(|parent| match segment {
            Segment::Key(key) => parent.field(key),
            Segment::Index(_) | Segment::Match { .. } | Segment::End => parent.item(),
        });
        // The items of a List are resources, whose types the List does not know.
        let nested = || node.and_then(|node| self.type_of_resource(node));
        declared.filter(|of| of.value_kind() != ValueKind::Any).or_else(nested)
    }

    fn type_of_resource(&self, node: NodeRef<'_>) -> Option<Type<'_>> {
        let text = |name| field(node.resolve(), name).and_then(scalar_text);
        self.resource_type(&text("apiVersion")?, &text("kind")?)
    }
}

/// The types of many fields of one document or resource.
///
/// [`Schema::type_at`] follows the whole path, and so passes all elements of a list before the one that it is about. For every element of a list
/// that takes quadratic time. Here the type of each collection is found once.
#[derive(Debug)]
pub struct FieldTypes<'s, 'a> {
    schema: &'s Schema,
    root: NodeRef<'a>,
    /// By the index of the node.
    collections: RefCell<HashMap<usize, Option<Type<'s>>>>,
}

impl<'s, 'a> FieldTypes<'s, 'a> {
    /// The types of the fields below `root`.
    pub fn new(schema: &'s Schema, root: NodeRef<'a>) -> Self {
        Self { schema, root, collections: RefCell::default() }
    }

    /// The type of the field at a path below the root, as [`Schema::type_at`] finds it. The first `found` segments of the path lead to
    /// `node`, without aliases and merge keys, and what follows need not exist.
    ///
    /// ```
    /// use krm_core::schema::{FieldTypes, Schema, ValueKind};
    /// use krm_yaml::File;
    ///
    /// let file = File::parse("apiVersion: v1\nkind: Pod\nspec: {containers: [{}]}\n".to_owned())?;
    /// let root = file.document(0).and_then(|document| document.root()).unwrap();
    /// let (schema, container) = (Schema::built_in(), file.get("spec.containers[0]").unwrap());
    /// let types = FieldTypes::new(&schema, root);
    /// let path = "spec.containers[0].image".parse().unwrap();
    /// assert_eq!(types.type_at(container, 3, &path), Some(ValueKind::String));
    /// # Ok::<(), krm_yaml::ReadError>(())
    /// ```
    pub fn type_at(&self, node: NodeRef<'a>, found: usize, path: &Path) -> Option<ValueKind> {
        let segments = path.segments();
        let below = segments.get(found..).unwrap_or_default();
        let of_node = self.type_of(node);
        let found = below
            .iter()
            .fold(of_node, |parent, segment| self.schema.type_below(parent, segment, None));
        value_kind(found, self.root, segments)
    }

    fn type_of(&self, node: NodeRef<'a>) -> Option<Type<'s>> {
        let mut known = self.collections.borrow_mut();
        // From the node up to a parent whose type is known, and down again.
        let mut waiting = Vec::new();
        let mut at = Some(node);
        let mut found = None;
        while let Some(node) = at {
            if let Some(of) = known.get(&node.index()) {
                found = *of;
                break;
            }
            waiting.push(node);
            at = (node != self.root).then(|| node.parent()).flatten();
        }
        while let Some(node) = waiting.pop() {
            found = match node == self.root {
                true => self.schema.type_of_resource(node),
                false => self.schema.type_below(found, &segment_of(node), Some(node)),
            };
            if node.is_collection() {
                known.insert(node.index(), found);
            }
        }
        found
    }
}

/// The last segment of the path of a node, with any index: the elements of a list have one type.
fn segment_of(node: NodeRef<'_>) -> Segment {
    match node.key() {
        Some(key) => {
            let name = key.resolve().as_scalar().map(|it| it.value().into_owned());
            Segment::Key(name.unwrap_or_default())
        }
        None => Segment::End,
    }
}

/// The declared type of a field, or the one by convention.
fn value_kind(
    found: Option<Type<'_>>,
    root: NodeRef<'_>,
    segments: &[Segment],
) -> Option<ValueKind> {
    let declared = found.map(Type::value_kind).filter(|kind| *kind != ValueKind::Any);
    declared.or_else(|| is_string_by_convention(root, segments).then_some(ValueKind::String))
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

    /// The type by both ways, which must agree.
    fn type_at(text: &str, path: &str) -> Option<ValueKind> {
        let file = File::parse(text.to_owned()).unwrap();
        let root = file.document(0).and_then(|document| document.root()).unwrap();
        let (schema, path) = (Schema::built_in(), path.parse::<Path>().unwrap());
        let (mut node, mut found) = (root, 0);
        for segment in path.segments() {
            let Some(next) = child(node, segment) else { break };
            (node, found) = (next, found + 1);
        }
        let kind = schema.type_at(root, &path);
        assert_eq!(FieldTypes::new(&schema, root).type_at(node, found, &path), kind, "{path}");
        kind
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

    #[test]
    fn type_of_each_collection_is_found_once() {
        let text = "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod, spec: {containers: [{name: a}, {name: b}]}}\n";
        let file = File::parse(text.to_owned()).unwrap();
        let root = file.document(0).and_then(|document| document.root()).unwrap();
        let schema = Schema::built_in();
        let types = FieldTypes::new(&schema, root);
        for _ in 0..3 {
            for at in 0..2 {
                let path: Path = format!("items[0].spec.containers[{at}].image").parse().unwrap();
                let node = file.get(&format!("items[0].spec.containers[{at}]")).unwrap();
                assert_eq!(types.type_at(node, 5, &path), Some(ValueKind::String));
            }
        }
        // The root, items, its item, spec, containers, and the two containers.
        assert_eq!(types.collections.borrow().len(), 7);
    }
}
