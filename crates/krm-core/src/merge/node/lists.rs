//! Which lists pair their elements, and by what: what the user says, the comment, the schema, and what can be inferred.

use std::collections::HashSet;

use krm_yaml::NodeRef;

use super::element::text_of;
use super::rules::{ListKeys, Rules};
use super::shape::{KeyField, ListKind, Shape};
use crate::model::resource::{Identity, Resource, is_resource};

/// Spec: the fields by which elements are known where nothing says otherwise, in this order.
pub(crate) const KEYS: [&str; 7] =
    ["mountPath", "devicePath", "ip", "type", "topologyKey", "name", "containerPort"];

/// What was found out about a list.
#[derive(Debug)]
pub(crate) struct Found<'a> {
    pub(crate) kind: ListKind,
    /// An element whose key stands twice on its side, so that the list is taken whole.
    pub(super) double: Option<(NodeRef<'a>, &'static str)>,
}

/// How a list pairs; `lists` are all of its versions without what is no element.
pub(crate) fn kind_of<'a>(
    rules: &Rules<'_>,
    path: &str,
    shape: &Shape<'_>,
    lists: &[Vec<NodeRef<'a>>],
) -> Found<'a> {
    let known = |kind| Found { kind, double: None };
    if let Some((_, keys)) = rules.keys_at.iter().find(|(at, _)| at == path) {
        return known(ListKind::Keyed(keys.iter().map(|key| KeyField::new(key)).collect()));
    }
    if let Some(kind) = shape.list() {
        return known(kind);
    }
    match rules.list_keys {
        ListKeys::Infer => inferred(lists),
        ListKeys::Schema => known(ListKind::Whole),
    }
}

/// What identifies an element that is a resource.
pub(super) fn identity(node: NodeRef<'_>) -> Option<Identity> {
    let node = node.resolve();
    is_resource(node).then_some(Resource { node, item: None }).and_then(Resource::identity)
}

/// The first key that every element of every side has and that is unique on each side.
fn inferred<'a>(lists: &[Vec<NodeRef<'a>>]) -> Found<'a> {
    let mut double = None;
    if lists.iter().all(Vec::is_empty) {
        return Found { kind: ListKind::Whole, double };
    }
    if lists.iter().flatten().all(|node| identity(*node).is_some()) {
        return Found { kind: ListKind::Resources, double };
    }
    for key in KEYS {
        let Some(found) = doubles(lists, key) else { continue };
        match found {
            None => return Found { kind: ListKind::Keyed(vec![KeyField::new(key)]), double: None },
            Some(node) => double = double.or(Some((node, key))),
        }
    }
    Found { kind: ListKind::Whole, double }
}

/// The first element whose key stands twice on its side; nothing at all where an element lacks the key.
fn doubles<'a>(lists: &[Vec<NodeRef<'a>>], key: &str) -> Option<Option<NodeRef<'a>>> {
    let mut double = None;
    for list in lists {
        let mut seen = HashSet::new();
        for node in list {
            if !seen.insert(text_of(*node, key)?) {
                double = double.or(Some(*node));
            }
        }
    }
    Some(double)
}
