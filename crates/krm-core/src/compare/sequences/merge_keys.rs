//! The merge keys of a list: what makes two elements one and the same across versions.

use std::borrow::Cow;
use std::collections::HashSet;

use krm_yaml::NodeRef;

use crate::compare::field_schema::{FieldSchema, ListRule};
use crate::compare::options::{AtomicLists, ListKeys, ListOptions};
use crate::model::ImageName;
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
    /// Whether it only distinguishes elements that are equal in the other keys: a patch may change it.
    pub(crate) is_secondary: bool,
    /// Whether it is an image, of which tag and digest do not count.
    pub(crate) is_image: bool,
}

impl ListType {
    /// The names of the merge keys; none where elements are identified in another way.
    pub(crate) fn merge_keys(&self) -> Vec<String> {
        match self {
            Self::Map(keys) => keys.iter().map(|key| key.name.clone()).collect(),
            _ => Vec::new(),
        }
    }
}

impl KeyField {
    pub(crate) fn new(name: &str) -> Self {
        Self { name: name.to_owned(), default: None, is_secondary: false, is_image: false }
    }

    /// The value of an element.
    pub(super) fn value(&self, node: NodeRef<'_>) -> Option<String> {
        let text = self.text(node).map(Cow::into_owned);
        text.or_else(|| self.default.clone())
    }

    /// The value that is written in an element.
    pub(super) fn text<'a>(&self, node: NodeRef<'a>) -> Option<Cow<'a, str>> {
        let text = key_text(node, &self.name)?;
        let repository = |text: &str| Some(ImageName::parse(text).ok()?.repository.to_owned());
        Some(match self.is_image {
            true => repository(&text).map_or(text, Cow::Owned),
            false => text,
        })
    }
}

impl ListType {
    /// The field by which paths select elements, as in `[name=web]`.
    pub(crate) fn path_key(&self) -> Option<&str> {
        match self {
            Self::Map(keys) => {
                keys.first().filter(|key| !key.is_image).map(|key| key.name.as_str())
            }
            _ => None,
        }
    }
}

/// Spec: the merge keys that are inferred where nothing defines them, in order of precedence.
const INFERRED_KEYS: [&str; 7] =
    ["mountPath", "devicePath", "ip", "type", "topologyKey", "name", "containerPort"];

/// Determines the type of the list at `path`. The first that applies: merge keys that the user set for this path, a comment or the
/// schema, and the key that the elements of all `versions` have.
pub(crate) fn list_type(
    options: &ListOptions<'_>,
    path: &str,
    schema: &FieldSchema<'_>,
    versions: &[Vec<NodeRef<'_>>],
) -> ListType {
    if let Some((_, keys)) = options.merge_keys.iter().find(|(at, _)| at == path) {
        return ListType::Map(keys.iter().map(|key| KeyField::new(key)).collect());
    }
    let is_scalar = |node: &NodeRef<'_>| node.resolve().as_scalar().is_some();
    match schema.list() {
        Some(ListRule::Defined(list_type)) => return list_type,
        Some(ListRule::Functions) => return functions(versions),
        Some(ListRule::Union) if versions.iter().flatten().all(is_scalar) => return ListType::Set,
        Some(ListRule::ServerAtomic) if options.atomic == AtomicLists::Schema => {
            return ListType::Atomic;
        }
        Some(ListRule::ServerAtomic | ListRule::Union) | None => {}
    }
    match options.list_keys {
        ListKeys::Infer => infer(versions),
        ListKeys::Schema => ListType::Atomic,
    }
}

/// The type of a pipeline. Compat: kpt pairs functions by name if they have one, and otherwise by image without its tag, so that
/// upstream can update a function that local configured.
fn functions(versions: &[Vec<NodeRef<'_>>]) -> ListType {
    let name = KeyField::new("name");
    if versions.iter().flatten().all(|node| name.text(*node).is_some()) {
        return ListType::Map(vec![name]);
    }
    let image = KeyField { is_image: true, ..KeyField::new("image") };
    let name = KeyField { is_secondary: true, ..name };
    ListType::Map(vec![image, KeyField::new("exec"), KeyField::new("wasm"), name])
}

/// The identity of an element that is a resource.
pub(super) fn identity(node: NodeRef<'_>) -> Option<Identity> {
    let node = node.resolve();
    is_resource(node).then_some(Resource { node, item: None }).and_then(Resource::identity)
}

fn infer(versions: &[Vec<NodeRef<'_>>]) -> ListType {
    if versions.iter().all(Vec::is_empty) {
        return ListType::Atomic;
    }
    if versions.iter().flatten().all(|node| identity(*node).is_some()) {
        return ListType::Resources;
    }
    let versions: Vec<&[NodeRef<'_>]> = versions.iter().map(Vec::as_slice).collect();
    // A key that is not unique still pairs what it can: replacing the list would lose elements that only one side has.
    match infer_key(&versions) {
        InferredKey::Unique(key) | InferredKey::Repeated(key) => {
            ListType::Map(vec![KeyField::new(key)])
        }
        InferredKey::None => ListType::Atomic,
    }
}

/// The key that elements have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InferredKey {
    /// No element shares its value with another one of its version.
    Unique(&'static str),
    /// Some elements of a version have the same value.
    Repeated(&'static str),
    None,
}

/// The first key that every element of every version has and that is unique in each version; otherwise the first that they have.
///
/// All versions must have it: a key that only two of three versions have would pair elements in one direction only, and a second
/// merge would not find what the first one wrote.
pub(super) fn infer_key(versions: &[&[NodeRef<'_>]]) -> InferredKey {
    let mut repeated = InferredKey::None;
    for key in INFERRED_KEYS {
        match is_unique(versions, key) {
            None => {}
            Some(true) => return InferredKey::Unique(key),
            Some(false) if repeated == InferredKey::None => repeated = InferredKey::Repeated(key),
            Some(false) => {}
        }
    }
    repeated
}

/// Whether a key is unique in each version; `None` where an element does not have the key.
fn is_unique(versions: &[&[NodeRef<'_>]], key: &str) -> Option<bool> {
    let mut is_unique = true;
    for elements in versions {
        let mut seen = HashSet::new();
        for node in *elements {
            is_unique &= seen.insert(key_text(*node, key)?);
        }
    }
    Some(is_unique)
}

/// The value of a scalar field as a string. `80` and `"80"` are the same key, because schemas allow both for some ports.
pub(super) fn key_text<'a>(node: NodeRef<'a>, name: &str) -> Option<Cow<'a, str>> {
    field(node, name).and_then(scalar_text)
}
