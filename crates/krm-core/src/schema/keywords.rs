//! Reading single schema keywords: types, references, lists of names, strategies.

use std::borrow::Cow;

use krm_yaml::{NodeRef, ScalarType};

use super::json_schema::Reader;
use super::kinds::SchemaKind;
use super::node::{ListType, PatchStrategy, Text, ValueKind};
use crate::diagnostics::CommonKind;
use crate::model::resource::scalar_text;

/// The maximum number of types of a value; JSON Schema has only seven.
const MAX_TYPES: usize = 8;

impl Reader<'_> {
    /// The strings of a sequence.
    pub(super) fn strings<'a>(&mut self, at: NodeRef<'a>, keyword: &str) -> Vec<Cow<'a, str>> {
        let mut strings = Vec::new();
        let expected = || format!("a sequence of strings for `{keyword}`");
        let Some(list) = at.as_sequence() else {
            // Compat: some old definitions have `required: true` next to a field.
            if !is_true(at) || keyword != "required" {
                self.report(at, CommonKind::wrong_type(expected(), at));
            }
            return strings;
        };
        for item in list.items() {
            if !self.consume_budget(at) {
                break;
            }
            match scalar_text(item) {
                Some(text) => strings.push(text),
                None => self.report(item, CommonKind::wrong_type(expected(), item)),
            }
        }
        strings
    }

    /// The values of an `enum`, and whether null is one of them. An `enum` with mappings or sequences is ignored.
    pub(super) fn enum_values(&mut self, at: NodeRef<'_>, mut nullable: bool) -> (Vec<Text>, bool) {
        let mut values = Vec::new();
        let Some(list) = at.as_sequence() else {
            self.report(at, CommonKind::wrong_type("a sequence of values for `enum`", at));
            return (values, nullable);
        };
        for item in list.items().map(NodeRef::resolve) {
            let scalar = item.as_scalar().filter(|_| self.consume_budget(at));
            match scalar {
                Some(scalar) if scalar.resolve() == ScalarType::Null => nullable = true,
                Some(scalar) => values.push(scalar.value().into_owned().into()),
                None => return (Vec::new(), nullable),
            }
        }
        (values, nullable)
    }

    /// The reference of an `allOf`.
    ///
    /// Spec: in OpenAPI 3.0, `allOf` with a single reference is the way to write other keywords next to a `$ref`.
    pub(super) fn all_of(&mut self, at: NodeRef<'_>) -> Option<Text> {
        let mut references = self.parts(at, "$ref");
        let only = references.pop().filter(|_| references.is_empty())?;
        self.reference(only)
    }

    /// The types of the alternatives of `oneOf` and `anyOf`.
    pub(super) fn alternatives(&mut self, at: NodeRef<'_>) -> Vec<ValueKind> {
        let types = self.parts(at, "type");
        types.into_iter().map(|at| self.value_kind(at).0).collect()
    }

    /// The values of a keyword in each schema of a sequence.
    fn parts<'a>(&mut self, at: NodeRef<'a>, keyword: &str) -> Vec<NodeRef<'a>> {
        let mut parts = Vec::new();
        for item in at.as_sequence().into_iter().flat_map(|list| list.items()) {
            if !self.consume_budget(at) {
                break;
            }
            let entries = self.entries(item).into_iter().filter(|(name, _)| name == keyword);
            parts.extend(entries.map(|(_, value)| value));
        }
        parts
    }

    /// The definition that a reference names.
    pub(super) fn reference(&mut self, at: NodeRef<'_>) -> Option<Text> {
        let text = scalar_text(at).unwrap_or_default();
        let prefixes = ["#/definitions/", "#/components/schemas/"];
        let name = prefixes.iter().find_map(|prefix| text.strip_prefix(prefix));
        let name = name.filter(|name| !name.is_empty()).map(unescape);
        if name.is_none() {
            self.report(at, SchemaKind::UnsupportedRef { pointer: at.text().into() });
        }
        name
    }

    /// The value of `type`, and whether null is allowed. Spec: OpenAPI 3.1 writes a nullable type as a sequence.
    pub(super) fn value_kind(&mut self, at: NodeRef<'_>) -> (ValueKind, bool) {
        let mut value_kinds = Vec::new();
        let mut nullable = false;
        let list = at.as_sequence();
        let types = list.into_iter().flat_map(|list| list.items().take(MAX_TYPES));
        for node in types.map(NodeRef::resolve).chain(list.is_none().then_some(at)) {
            let text = node.as_scalar().map(|scalar| scalar.value()).unwrap_or_default();
            match ValueKind::of_type(&text) {
                Some(value_kind) => value_kinds.push(value_kind),
                None if text == "null" => nullable = true,
                None => {
                    let expected = "array, boolean, integer, number, object or string";
                    self.report_value(node, expected);
                }
            }
        }
        (either(&value_kinds), nullable)
    }

    pub(super) fn list_type(&mut self, at: NodeRef<'_>) -> Option<ListType> {
        match scalar_text(at).as_deref() {
            Some("atomic") => Some(ListType::Atomic),
            Some("set") => Some(ListType::Set),
            Some("map") => Some(ListType::Map),
            _ => {
                self.report_value(at, "atomic, map or set");
                None
            }
        }
    }

    pub(super) fn is_atomic(&mut self, at: NodeRef<'_>) -> bool {
        match scalar_text(at).as_deref() {
            Some("atomic") => true,
            Some("granular") => false,
            _ => {
                self.report_value(at, "atomic or granular");
                false
            }
        }
    }

    pub(super) fn strategy(&mut self, at: NodeRef<'_>) -> PatchStrategy {
        let strategy = scalar_text(at).and_then(|text| PatchStrategy::parse(&text));
        if strategy.is_none() {
            self.report_value(at, "merge, replace or retainKeys, separated by commas");
        }
        strategy.unwrap_or_default()
    }

    fn report_value(&mut self, at: NodeRef<'_>, expected: &str) {
        let (value, expected) = (at.text().into(), expected.to_owned());
        self.report(at, CommonKind::InvalidValue { value, expected });
    }
}

/// The type of a value that has one of several types.
pub(super) fn either(value_kinds: &[ValueKind]) -> ValueKind {
    let only =
        |other: ValueKind| value_kinds.iter().all(|it| *it == other || *it == ValueKind::String);
    match value_kinds.contains(&ValueKind::String) {
        _ if value_kinds.len() == 1 => value_kinds[0],
        true if value_kinds.contains(&ValueKind::Integer) && only(ValueKind::Integer) => {
            ValueKind::IntOrString
        }
        true if value_kinds.contains(&ValueKind::Number) && only(ValueKind::Number) => {
            ValueKind::NumberOrString
        }
        _ => ValueKind::Any,
    }
}

pub(super) fn is_true(node: NodeRef<'_>) -> bool {
    node.as_scalar().is_some_and(|scalar| scalar.resolve() == ScalarType::Bool(true))
}

pub(super) fn owned(node: NodeRef<'_>) -> Option<Text> {
    scalar_text(node).map(|text| text.into_owned().into())
}

/// Spec: in a JSON pointer `~1` is a slash and `~0` a tilde.
fn unescape(name: &str) -> Text {
    name.replace("~1", "/").replace("~0", "~").into()
}
