//! From the text of a setter to the value of a field: the type and the style that its author gave it stay.

use krm_yaml::{NodeRef, ScalarType, Value};

/// What the text becomes in place of this node.
///
/// A text in quotes stays a text, and so does any text unless the schema says otherwise; a number stays a number where
/// the new text is one.
pub fn typed_value<'a>(node: NodeRef<'_>, text: &str, schema_type: Option<&str>) -> Value<'a> {
    let there = node.as_scalar();
    let is_quoted = there.is_some_and(|it| it.style().is_quoted() || it.style().is_block());
    let is_text = there.is_some_and(|it| it.resolve() == ScalarType::String);
    let is_text = match schema_type {
        Some("string") => true,
        Some("integer" | "number" | "boolean" | "null") => is_quoted && is_text,
        _ => is_text,
    };
    match schema_type {
        Some("null") if !is_text => Value::Null,
        _ if is_text => Value::string(text.to_owned()),
        _ => plain(text),
    }
}

/// What YAML reads, but never null: `~` is given as a text, and nothing at all is an empty one.
fn plain<'a>(text: &str) -> Value<'a> {
    match Value::plain(text.to_owned()) {
        Value::Null => Value::string(text.to_owned()),
        value => value,
    }
}

/// The value of a new item: like its neighbours, or as the schema says where there are none.
pub(super) fn typed_item<'a>(
    list: NodeRef<'_>,
    text: &str,
    schema_type: Option<&str>,
) -> Value<'a> {
    match list.children().next() {
        Some(neighbour) => typed_value(neighbour, text, schema_type),
        None if schema_type == Some("string") => Value::string(text.to_owned()),
        None => plain(text),
    }
}
