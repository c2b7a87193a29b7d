//! Edits of an OpenAPI definition whose setter gets a value.

use krm_yaml::{NodeRef, Value};

use super::changes::EditOp;
use super::definition::SetterValue;
use super::parse_definition::is_true;
use super::typed_value::{NewItems, typed_value};
use crate::model::resource::field;

/// The order of the fields of a setter, as kpt writes them.
const FIELD_ORDER: &[&str] =
    &["name", "value", "listValues", "setBy", "count", "enumValues", "required", "isSet"];

/// The edits of the `setter` mapping of a definition: the value, who set it, and that it is set.
///
/// Compat: kustomize removes `setBy` if the command does not set it, because the recorded person set another value.
pub(super) fn update_setter<'a>(
    node: NodeRef<'a>,
    value: &SetterValue,
    set_by: Option<&str>,
) -> Vec<EditOp<'a>> {
    let mut ops = Vec::new();
    match value {
        SetterValue::List(items) => {
            let old = field(node, "listValues");
            ops.push(match old.filter(|it| it.as_sequence().is_some()) {
                Some(list) => {
                    EditOp::SetItems(list, NewItems::Texts(items.clone(), Some("string")))
                }
                None => {
                    let items = items.iter().map(|item| Value::string(item.clone())).collect();
                    set_or_insert(node, "listValues", Value::Sequence(items), old)
                }
            });
            // Compat: a setter with `listValues` has no `value`.
            ops.extend(field(node, "value").map(EditOp::Remove));
        }
        other => ops.push(set_string(node, "value", &other.to_string(), FIELD_ORDER)),
    }
    ops.extend(match set_by {
        Some(who) => Some(set_string(node, "setBy", who, FIELD_ORDER)),
        None => field(node, "setBy").map(EditOp::Remove),
    });
    let is_set = field(node, "isSet");
    if !is_set.is_some_and(is_true) {
        ops.push(set_or_insert(node, "isSet", Value::Bool(true), is_set));
    }
    ops
}

/// Sets a string field, or inserts it in its order.
pub(super) fn set_string<'a>(
    mapping: NodeRef<'a>,
    key: &'static str,
    text: &str,
    order: &'static [&'static str],
) -> EditOp<'a> {
    match field(mapping, key) {
        // Compat: kustomize reads these fields as strings, and cannot read a number.
        Some(node) => EditOp::Set(node, typed_value(node, text, Some("string"))),
        None => {
            let value = Value::string(text.to_owned());
            EditOp::Insert { mapping, key, value, after: before(order, key), before: "x-k8s-cli" }
        }
    }
}

fn set_or_insert<'a>(
    mapping: NodeRef<'a>,
    key: &'static str,
    value: Value<'a>,
    old: Option<NodeRef<'a>>,
) -> EditOp<'a> {
    match old {
        Some(node) => EditOp::Set(node, value),
        None => EditOp::Insert { mapping, key, value, after: before(FIELD_ORDER, key), before: "" },
    }
}

/// The fields that are written before a key.
fn before(order: &'static [&'static str], key: &str) -> &'static [&'static str] {
    let at = order.iter().position(|name| *name == key).unwrap_or(order.len());
    &order[..at]
}
