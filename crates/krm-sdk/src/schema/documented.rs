//! Schemas of types that derive `JsonSchema`, which have documentation, defaults and allowed values.

use krm_yaml::Value;
use schemars::JsonSchema;

use super::forms::{self, Body};
use crate::Function;
use crate::typed::{field, to_value};

/// The JSON Schema (2020-12) of a functionConfig of a type that derives `JsonSchema` (feature `schemars`).
///
/// Unlike [`super::of`], it has the documentation, defaults and validation attributes of the type.
///
/// ```
/// use schemars::JsonSchema;
///
/// /// Sets the owner.
/// #[derive(serde::Deserialize, JsonSchema)]
/// struct Config {
///     /// The team that owns the resources.
///     owner: String,
///     /// How much.
///     #[serde(default)]
///     level: Level,
/// }
///
/// #[derive(serde::Deserialize, serde::Serialize, Default, JsonSchema)]
/// #[serde(rename_all = "lowercase")]
/// enum Level {
///     #[default]
///     Low,
///     High,
/// }
///
/// let schema = krm_sdk::to_json(&krm_sdk::schema::of_documented::<Config>());
/// assert!(schema.contains("The team that owns the resources."));
/// assert!(schema.contains(r#""default":"low""#) && schema.contains(r#"["low","high"]"#));
/// ```
pub fn of_documented<T: JsonSchema>() -> Value<'static> {
    let schema = schemars::schema_for!(T);
    // A schema is JSON, which always has a value.
    let root = to_value(&schema).unwrap_or(Value::Null);
    let definitions = match field(&root, "$defs") {
        Some(Value::Mapping(definitions)) => definitions.clone(),
        _ => Vec::new(),
    };
    let variants = match field(&root, "oneOf") {
        Some(Value::Sequence(variants)) => variants.as_slice(),
        _ => &[],
    };
    let kinds: Vec<Body> = variants.iter().filter_map(|it| variant(it, &root)).collect();
    let bodies = if kinds.is_empty() { vec![body(&root, None)] } else { kinds };
    forms::document(&bodies, definitions)
}

/// A variant of an enum, which is a kind: an object with one field that has the name of the kind.
fn variant(schema: &Value<'static>, root: &Value<'static>) -> Option<Body> {
    let Some(Value::Mapping(properties)) = field(schema, "properties") else { return None };
    let [(Value::String(kind), content)] = &properties[..] else { return None };
    let reference = match field(content, "$ref") {
        Some(Value::String(reference)) => reference.strip_prefix("#/$defs/"),
        _ => None,
    };
    let definition = reference.and_then(|name| field(field(root, "$defs")?, name));
    Some(body(definition.unwrap_or(content), Some(kind)))
}

fn body(schema: &Value<'static>, kind: Option<&str>) -> Body {
    let text = |value: &Value<'static>| match value {
        Value::String(text) => Some(text.to_string()),
        _ => None,
    };
    let properties = match field(schema, "properties") {
        Some(Value::Mapping(properties)) => properties.as_slice(),
        _ => &[],
    };
    let required = match field(schema, "required") {
        Some(Value::Sequence(required)) => required.as_slice(),
        _ => &[],
    };
    let properties: Vec<(String, Value<'static>)> =
        properties.iter().filter_map(|(name, it)| Some((text(name)?, it.clone()))).collect();
    // Unknown fields are errors of the reader, whatever the type says; a map says what it has.
    let more = field(schema, "additionalProperties").cloned().unwrap_or(Value::Bool(false));
    Body {
        kind: kind.map(str::to_owned),
        description: field(schema, "description").cloned(),
        properties,
        required: required.iter().filter_map(text).collect(),
        more,
    }
}

impl Function {
    /// Uses the schema of a type that derives `JsonSchema`, with its documentation, for `--schema` and `--doc` (feature `schemars`).
    ///
    /// ```
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Config {
    ///     /// The team that owns the resources.
    ///     owner: String,
    /// }
    ///
    /// let function = krm_sdk::Function::new("set-owner", |list| list.config::<Config>().map(|_| ()));
    /// let schema = function.documented::<Config>().schema().expect("the function has a schema");
    /// assert!(krm_sdk::to_json(&schema).contains("The team that owns the resources."));
    /// ```
    #[must_use]
    pub fn documented<T: JsonSchema>(mut self) -> Self {
        self.schema = Some(of_documented::<T>());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn optional_string_in_a_config_map_may_be_written_without_quotes() {
        #[derive(JsonSchema)]
        #[expect(dead_code, reason = "only the type is used")]
        struct Config {
            version: Option<String>,
        }
        let schema = krm_core::print::json::display(&of_documented::<Config>());
        let expected = r#""data":{"type":"object","properties":{"version":{"anyOf":[{"type":["string","null"]},{"type":["number","boolean","null"]}]}}"#;
        assert!(schema.contains(expected), "{schema}");
    }
}
