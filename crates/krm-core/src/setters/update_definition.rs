//! What changes in a definition whose setter gets a value.

use krm_yaml::{NodeRef, Value};

use super::changes::Op;
use super::definition::{Setter, SetterValue};
use super::{function_config, typed_value};
use crate::model::resource::field;

/// The order in which the parts of a setter are written.
const ORDER: &[&str] =
    &["name", "value", "listValues", "setBy", "count", "enumValues", "required", "isSet"];

pub(super) fn text(value: &SetterValue) -> String {
    match value {
        SetterValue::Unset => String::new(),
        SetterValue::Text(text) => text.clone(),
        SetterValue::List(items) => function_config::list_text(items, ""),
    }
}

/// What changes in the `setter` mapping of a definition: the value, and who set it.
///
/// `isSet` is noted where it means something: for setters that somebody must set.
pub(super) fn definition_ops<'a>(
    node: NodeRef<'a>,
    setter: &Setter<'_>,
    value: &SetterValue,
    set_by: Option<&str>,
) -> Vec<Op<'a>> {
    let mut ops = Vec::new();
    match value {
        SetterValue::List(items) => {
            let there = field(node, "listValues");
            ops.push(match there.filter(|it| it.as_sequence().is_some()) {
                Some(list) => Op::List(
                    list,
                    items
                        .iter()
                        .map(|item| typed_value::typed_item(list, item, Some("string")))
                        .collect(),
                ),
                None => {
                    let items = items.iter().map(|item| Value::string(item.clone())).collect();
                    value_op(node, "listValues", Value::Sequence(items), there)
                }
            });
            // Compat: a list is in listValues alone.
            ops.extend(field(node, "value").map(Op::Remove));
        }
        other => ops.push(text_op(node, "value", &text(other), ORDER)),
    }
    ops.extend(set_by.map(|who| text_op(node, "setBy", who, ORDER)));
    let is_set = field(node, "isSet");
    if (setter.required || is_set.is_some()) && !setter.is_set {
        ops.push(value_op(node, "isSet", Value::Bool(true), is_set));
    }
    ops
}

/// Sets a text, or adds it.
pub(super) fn text_op<'a>(
    mapping: NodeRef<'a>,
    key: &'static str,
    words: &str,
    order: &'static [&'static str],
) -> Op<'a> {
    match field(mapping, key) {
        Some(node) => Op::Set(node, typed_value(node, words, None)),
        None => Op::Insert {
            mapping,
            key,
            value: Value::string(words.to_owned()),
            after: before(order, key),
            before: "x-k8s-cli",
        },
    }
}

fn value_op<'a>(
    mapping: NodeRef<'a>,
    key: &'static str,
    value: Value<'a>,
    there: Option<NodeRef<'a>>,
) -> Op<'a> {
    match there {
        Some(node) => Op::Set(node, value),
        None => Op::Insert { mapping, key, value, after: before(ORDER, key), before: "" },
    }
}

/// The names that come before a key.
fn before(order: &'static [&'static str], key: &str) -> &'static [&'static str] {
    let at = order.iter().position(|name| *name == key).unwrap_or(order.len());
    &order[..at]
}
