//! Refuses numbers that JSON cannot represent, such as `.inf`, in JSON files.

use super::{DocumentEdit, EditError, EditErrorKind};
use crate::document::DocumentRef;
use crate::node::ScalarStyle;
use crate::node_ref::NodeRef;
use crate::scalar::{ScalarType, json_scalar};
use crate::value::Value;

pub(super) fn refuse_unrepresentable(
    document: DocumentRef<'_>,
    edit: &DocumentEdit<'_>,
) -> Result<(), EditError> {
    let set = edit.values.iter();
    let inserted = edit.collections.iter().flat_map(|(index, collection)| {
        collection.inserted.iter().map(move |insertion| (index, &insertion.value))
    });
    for (index, value) in set.chain(inserted) {
        if let Some(number) = unrepresentable(value) {
            let kind = EditErrorKind::NotJson { number: number.into() };
            return Err(EditError::at(document.node(index), kind));
        }
    }
    Ok(())
}

/// The first number in a value that JSON cannot represent. Keys are strings in JSON, so they are not checked.
fn unrepresentable(value: &Value<'_>) -> Option<String> {
    match value {
        Value::Number(text) => json_scalar(text).is_none().then(|| text.clone().into_owned()),
        Value::Sequence(items) => items.iter().find_map(unrepresentable),
        Value::Mapping(entries) => entries.iter().find_map(|(_, value)| unrepresentable(value)),
        Value::Node(node) => unrepresentable_in(*node),
        Value::OwnedNode(graft) => unrepresentable_in(graft.node()),
        Value::Null | Value::Bool(_) | Value::String(_) => None,
    }
}

fn unrepresentable_in(node: NodeRef<'_>) -> Option<String> {
    let is_value = |it: &NodeRef<'_>| *it == node || !it.node().is_key();
    let scalars = node.descendants().filter(is_value).filter_map(NodeRef::as_scalar);
    let mut numbers =
        scalars.filter(|it| it.style() == ScalarStyle::Plain && it.resolve() != ScalarType::String);
    numbers.find(|it| json_scalar(&it.value()).is_none()).map(|it| it.value().into_owned())
}
