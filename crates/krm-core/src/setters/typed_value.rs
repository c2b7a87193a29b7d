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

/// New elements of a sequence.
#[derive(Clone, Debug)]
pub(super) enum NewItems<'a> {
    /// Strings, each of which gets the type of the element that it replaces. The schema decides for an empty sequence.
    Texts(Vec<String>, Option<&'static str>),
    /// Values with types of their own. A plain number or boolean still becomes a string where the sequence has strings.
    Values(Vec<Value<'a>>),
}

impl<'a> NewItems<'a> {
    /// The number of bytes of all elements.
    pub(super) fn text_length(&self) -> usize {
        match self {
            Self::Texts(texts, _) => texts.iter().map(String::len).sum(),
            Self::Values(values) => values.iter().map(Value::text_length).sum(),
        }
    }

    /// The number of elements.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Texts(texts, _) => texts.len(),
            Self::Values(values) => values.len(),
        }
    }

    /// The characters of an element.
    pub(super) fn text(&self, at: usize) -> &str {
        match self {
            Self::Texts(texts, _) => &texts[at],
            Self::Values(values) => scalar_text(&values[at]),
        }
    }

    /// An element with the type of `like`.
    pub(super) fn value(&self, at: usize, like: Option<NodeRef<'_>>) -> Value<'a> {
        match (self, like) {
            (Self::Texts(texts, schema_type), Some(like)) => {
                typed_value(like, &texts[at], *schema_type)
            }
            (Self::Texts(texts, Some("string")), None) => Value::string(texts[at].clone()),
            (Self::Texts(texts, _), None) => plain(&texts[at]),
            (Self::Values(values), Some(like)) if is_string(like) => match &values[at] {
                value @ (Value::Number(_) | Value::Bool(_)) => {
                    Value::string(scalar_text(value).to_owned())
                }
                other => other.clone(),
            },
            (Self::Values(values), _) => values[at].clone(),
        }
    }

    /// All elements, for a sequence without any.
    pub(super) fn values(&self) -> Vec<Value<'a>> {
        (0..self.len()).map(|at| self.value(at, None)).collect()
    }
}

/// The element whose type an additional element gets: one that is not a string, so that strings are kept only if all are.
pub(super) fn model_element<'a>(elements: &[NodeRef<'a>]) -> Option<NodeRef<'a>> {
    elements.iter().find(|it| !is_string(**it)).or(elements.first()).copied()
}

/// Whether a node is a sequence of strings; an empty one is not.
pub(super) fn is_string_list(node: NodeRef<'_>) -> bool {
    node.as_sequence().is_some()
        && model_element(&node.children().collect::<Vec<_>>()).is_some_and(is_string)
}

fn is_string(node: NodeRef<'_>) -> bool {
    node.as_scalar().is_some_and(|it| it.resolve() == ScalarType::String)
}

/// The characters of a scalar.
pub(super) fn scalar_text<'v>(value: &'v Value<'_>) -> &'v str {
    match value {
        Value::String(text) | Value::Number(text) => text,
        Value::Bool(true) => "true",
        Value::Bool(false) => "false",
        _ => "",
    }
}
