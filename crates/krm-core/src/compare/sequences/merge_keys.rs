//! The merge keys of a list: what makes two elements one and the same across versions.

use std::borrow::Cow;
use std::collections::HashSet;

use krm_yaml::NodeRef;

use crate::compare::field_schema::FieldSchema;
use crate::compare::options::{ListKeys, ListOptions};
use crate::model::resource::{Identity, Resource, field, is_resource, scalar_text};

/// How the elements of a list are identified, as `x-kubernetes-list-type` distinguishes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ListType {
    /// Not at all: the list is replaced as a whole.
    Atomic,
    /// By the values of these fields (merge keys): an associative list.
    Map(Vec<KeyField>),
    /// By their value.
    Set,
    /// By group, kind, namespace and name: the elements are resources.
    Resources,
}

/// A field that is part of the merge key of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeyField {
    pub(crate) name: String,
    /// The value that an element without the field has, such as `TCP` for the `protocol` of a port.
    pub(crate) default: Option<String>,
}

impl KeyField {
    fn new(name: &str) -> Self {
        Self { name: name.to_owned(), default: None }
    }
}

/// Spec: the merge keys that are inferred where nothing defines them, in order of precedence.
const INFERRED_KEYS: [&str; 7] =
    ["mountPath", "devicePath", "ip", "type", "topologyKey", "name", "containerPort"];

/// The type of a list, and why it is atomic where that is surprising.
#[derive(Debug)]
pub(crate) struct FoundListType<'a> {
    pub(crate) list_type: ListType,
    /// The first element whose value of an inferred key is not unique, so that the key cannot be used.
    pub(crate) duplicate: Option<(NodeRef<'a>, &'static str)>,
}

/// Determines the type of the list at `path`. The first that applies: merge keys that the user set for this path, a comment or the
/// schema, and the key that the elements of all `versions` have.
pub(crate) fn list_type<'a>(
    options: &ListOptions<'_>,
    path: &str,
    schema: &FieldSchema<'_>,
    versions: &[Vec<NodeRef<'a>>],
) -> FoundListType<'a> {
    let defined = |list_type| FoundListType { list_type, duplicate: None };
    if let Some((_, keys)) = options.merge_keys.iter().find(|(at, _)| at == path) {
        return defined(ListType::Map(keys.iter().map(|key| KeyField::new(key)).collect()));
    }
    if let Some(list_type) = schema.list() {
        return defined(list_type);
    }
    match options.list_keys {
        ListKeys::Infer => infer(versions),
        ListKeys::Schema => defined(ListType::Atomic),
    }
}

/// The identity of an element that is a resource.
pub(super) fn identity(node: NodeRef<'_>) -> Option<Identity> {
    let node = node.resolve();
    is_resource(node).then_some(Resource { node, item: None }).and_then(Resource::identity)
}

fn infer<'a>(versions: &[Vec<NodeRef<'a>>]) -> FoundListType<'a> {
    if versions.iter().all(Vec::is_empty) {
        return FoundListType { list_type: ListType::Atomic, duplicate: None };
    }
    if versions.iter().flatten().all(|node| identity(*node).is_some()) {
        return FoundListType { list_type: ListType::Resources, duplicate: None };
    }
    let versions: Vec<&[NodeRef<'a>]> = versions.iter().map(Vec::as_slice).collect();
    match infer_key(&versions) {
        Ok(key) => {
            FoundListType { list_type: ListType::Map(vec![KeyField::new(key)]), duplicate: None }
        }
        Err(duplicate) => FoundListType { list_type: ListType::Atomic, duplicate },
    }
}

/// The first key that every element of every version has and that is unique in each version; otherwise the first element for which
/// a key is not unique.
///
/// All versions must have it: a key that only two of three versions have would pair elements in one direction only, and a second
/// merge would not find what the first one wrote.
pub(super) fn infer_key<'a>(
    versions: &[&[NodeRef<'a>]],
) -> Result<&'static str, Option<(NodeRef<'a>, &'static str)>> {
    let mut first_duplicate = None;
    for key in INFERRED_KEYS {
        match find_duplicate(versions, key) {
            None => {}
            Some(None) => return Ok(key),
            Some(Some(node)) => first_duplicate = first_duplicate.or(Some((node, key))),
        }
    }
    Err(first_duplicate)
}

/// The first element whose key is not unique in its version; `None` where an element does not have the key.
fn find_duplicate<'a>(versions: &[&[NodeRef<'a>]], key: &str) -> Option<Option<NodeRef<'a>>> {
    let mut duplicate = None;
    for elements in versions {
        let mut seen = HashSet::new();
        for node in *elements {
            if !seen.insert(key_text(*node, key)?) {
                duplicate = duplicate.or(Some(*node));
            }
        }
    }
    Some(duplicate)
}

/// The value of a scalar field as a string. `80` and `"80"` are the same key, because schemas allow both for some ports.
pub(super) fn key_text<'a>(node: NodeRef<'a>, name: &str) -> Option<Cow<'a, str>> {
    field(node, name).and_then(scalar_text)
}
