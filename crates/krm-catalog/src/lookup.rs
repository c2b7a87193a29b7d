//! Looking up nodes by key, through aliases.

use std::borrow::Cow;

use krm_yaml::NodeRef;

/// A mapping or a sequence by key.
pub(crate) fn child<'a>(node: NodeRef<'a>, name: &str) -> Option<NodeRef<'a>> {
    let found = node.resolve().as_mapping()?.get(name)?.resolve();
    found.is_collection().then_some(found)
}

/// A node by key.
pub(crate) fn child_value<'a>(node: NodeRef<'a>, name: &str) -> Option<NodeRef<'a>> {
    Some(node.resolve().as_mapping()?.get(name)?.resolve())
}

/// The node at a path of keys.
#[cfg(feature = "gatekeeper")]
pub(crate) fn below<'a>(node: NodeRef<'a>, names: &[&str]) -> Option<NodeRef<'a>> {
    names
        .iter()
        .try_fold(node, |node, name| Some(node.resolve().as_mapping()?.get(name)?.resolve()))
}

/// The elements of a sequence by key.
pub(crate) fn items<'a>(
    node: NodeRef<'a>,
    name: &str,
) -> impl Iterator<Item = NodeRef<'a>> + use<'a> {
    let list = child(node, name).and_then(NodeRef::as_sequence);
    list.into_iter().flat_map(|list| list.items()).map(NodeRef::resolve)
}

/// The scalar elements of a sequence by key.
#[cfg(feature = "gatekeeper")]
pub(crate) fn strings<'a>(node: NodeRef<'a>, name: &str) -> Vec<Cow<'a, str>> {
    items(node, name).filter_map(|it| it.as_scalar()).map(|it| it.value()).collect()
}

/// The text of a scalar by key.
pub(crate) fn text<'a>(node: NodeRef<'a>, name: &str) -> Option<Cow<'a, str>> {
    Some(node.resolve().as_mapping()?.get(name)?.resolve().as_scalar()?.value())
}
