//! Converting the string value of a setter to the value of a field, whose type and quoting style are kept.

use krm_yaml::{NodeRef, ScalarType, Value};

/// The value that replaces a node.
///
/// A quoted string stays a string, and so does any string unless the schema says otherwise. A number stays a number if
/// the new value is one.
pub fn typed_value<'a>(node: NodeRef<'_>, text: &str, schema_type: Option<&str>) -> Value<'a> {
    let scalar = node.as_scalar();
    let is_quoted = scalar.is_some_and(|it| it.style().is_quoted() || it.style().is_block());
    let is_string = scalar.is_some_and(|it| it.resolve() == ScalarType::String);
    let is_string = match schema_type {
        Some("string") => true,
        Some("integer" | "number" | "boolean" | "null") => is_quoted && is_string,
        _ => is_string,
    };
    match schema_type {
        Some("null") if !is_string => Value::Null,
        _ if is_string => Value::string(text.to_owned()),
        _ => plain(text),
    }
}

/// The value of a plain scalar, but never null: `~` and the empty string are given as strings.
fn plain<'a>(text: &str) -> Value<'a> {
    match Value::plain(text.to_owned()) {
        Value::Null => Value::string(text.to_owned()),
        value => value,
    }
}

/// The value of a new element of a sequence: typed like its first element, or by the schema if there is none.
pub(super) fn typed_item<'a>(
    list: NodeRef<'_>,
    text: &str,
    schema_type: Option<&str>,
) -> Value<'a> {
    match list.children().next() {
        Some(first) => typed_value(first, text, schema_type),
        None if schema_type == Some("string") => Value::string(text.to_owned()),
        None => plain(text),
    }
}
