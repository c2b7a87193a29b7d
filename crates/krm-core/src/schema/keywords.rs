//! What single keywords of a schema say: types, references, lists of names, strategies.

use std::borrow::Cow;

use krm_yaml::{NodeRef, ScalarType};

use super::json_schema::Reader;
use super::node::{ListType, PatchStrategy, Text, ValueKind};
use crate::model::resource::scalar_text;

/// How many types a value may have; there are only seven.
const MOST_TYPES: usize = 8;

impl Reader<'_> {
    /// The texts of a list.
    pub(super) fn texts<'a>(&mut self, at: NodeRef<'a>, what: &str) -> Vec<Cow<'a, str>> {
        let mut texts = Vec::new();
        let Some(list) = at.as_sequence() else {
            // Compat: some old definitions say `required: true` beside the field.
            if !is_true(at) || what != "`required`" {
                self.report(at, format!("{what} must be a list of names"));
            }
            return texts;
        };
        for item in list.items() {
            if !self.consume_budget(at) {
                break;
            }
            match scalar_text(item) {
                Some(text) => texts.push(text),
                None => self.report(item, format!("{what} must be a list of names")),
            }
        }
        texts
    }

    /// The values of an enum_values, and whether null is one; one of mappings or lists is taken for none.
    pub(super) fn enum_values(&mut self, at: NodeRef<'_>, mut nullable: bool) -> (Vec<Text>, bool) {
        let mut values = Vec::new();
        let Some(list) = at.as_sequence() else {
            self.report(at, "`enum` must be a list of values");
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

    /// Spec: `allOf` around one reference is how OpenAPI writes attributes beside it; what else stands there restricts values only.
    pub(super) fn all_of(&mut self, at: NodeRef<'_>) -> Option<Text> {
        let mut references = self.parts(at, "$ref");
        let only = references.pop().filter(|_| references.is_empty())?;
        self.reference(only)
    }

    /// The value_kinds of alternatives.
    pub(super) fn alternatives(&mut self, at: NodeRef<'_>) -> Vec<ValueKind> {
        let types = self.parts(at, "type");
        types.into_iter().map(|at| self.value_kind(at).0).collect()
    }

    /// What the schemas of a list have under a keyword.
    fn parts<'a>(&mut self, at: NodeRef<'a>, keyword: &str) -> Vec<NodeRef<'a>> {
        let mut parts = Vec::new();
        for item in at.as_sequence().into_iter().flat_map(|list| list.items()) {
            if !self.consume_budget(at) {
                break;
            }
            let entries = self.entries(item).into_iter().filter(|(word, _)| word == keyword);
            parts.extend(entries.map(|(_, value)| value));
        }
        parts
    }

    /// The definition that a reference names.
    pub(super) fn reference(&mut self, at: NodeRef<'_>) -> Option<Text> {
        let text = scalar_text(at).unwrap_or_default();
        let homes = ["#/definitions/", "#/components/schemas/"];
        let name = homes.iter().find_map(|home| text.strip_prefix(home));
        let name = name.filter(|name| !name.is_empty()).map(unescape);
        if name.is_none() {
            self.report(
                at,
                "only references to `#/definitions/…` and `#/components/schemas/…` are understood",
            );
        }
        name
    }

    /// The value_kind of a `type`, and whether null is one of it. Spec: OpenAPI 3.1 writes a nullable type as a list.
    pub(super) fn value_kind(&mut self, at: NodeRef<'_>) -> (ValueKind, bool) {
        let mut value_kinds = Vec::new();
        let mut nullable = false;
        let list = at.as_sequence();
        let words = list.into_iter().flat_map(|list| list.items().take(MOST_TYPES));
        for word in words.map(NodeRef::resolve).chain(list.is_none().then_some(at)) {
            let text = word.as_scalar().map(|scalar| scalar.value()).unwrap_or_default();
            match ValueKind::of_type(&text) {
                Some(value_kind) => value_kinds.push(value_kind),
                None if text == "null" => nullable = true,
                None => {
                    let known = "array, boolean, integer, number, object or string";
                    self.report(word, format!("a type is one of {known}"));
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
                self.report(at, "a list type is one of atomic, map or set");
                None
            }
        }
    }

    pub(super) fn is_atomic(&mut self, at: NodeRef<'_>) -> bool {
        match scalar_text(at).as_deref() {
            Some("atomic") => true,
            Some("granular") => false,
            _ => {
                self.report(at, "a map type is atomic or granular");
                false
            }
        }
    }

    pub(super) fn strategy(&mut self, at: NodeRef<'_>) -> PatchStrategy {
        let strategy = scalar_text(at).and_then(|words| PatchStrategy::parse(&words));
        if strategy.is_none() {
            self.report(at, "a patch strategy is made of merge, replace and retainKeys");
        }
        strategy.unwrap_or_default()
    }
}

/// What a value is that may be one of several.
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
