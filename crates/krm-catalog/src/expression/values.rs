//! Values of expressions.

use std::collections::HashMap;

use cel::Value;
use krm_yaml::{File, ScalarType};

/// The value of a JSON document.
///
/// # Errors
/// CEL cannot represent a value in it: with another one in its place an expression could be true by accident.
pub fn from_json(text: &str) -> Result<Value, String> {
    let file = File::parse(text.to_owned()).map_err(|error| error.to_string())?;
    let root = file.documents().find_map(|document| document.root());
    let value =
        root.ok_or("the document is empty")?.to_value().map_err(|error| error.to_string())?;
    from_yaml(&value)
}

/// The value of a YAML node. Keys are strings, as in every resource.
///
/// # Errors
/// CEL cannot represent it.
pub fn from_yaml(value: &krm_yaml::Value<'_>) -> Result<Value, String> {
    use krm_yaml::Value as Yaml;
    Ok(match value {
        Yaml::Null => Value::Null,
        Yaml::Bool(value) => Value::Bool(*value),
        Yaml::String(text) => text.as_ref().into(),
        Yaml::Number(text) => match ScalarType::of_plain(text) {
            ScalarType::Int(Some(number)) => match (i64::try_from(number), u64::try_from(number)) {
                (Ok(number), _) => Value::Int(number),
                (_, Ok(number)) => Value::UInt(number),
                _ => return Err(format!("the number `{text}` is out of range")),
            },
            ScalarType::Float(number) => Value::Float(number),
            _ => return Err(format!("the number `{text}` cannot be represented")),
        },
        Yaml::Sequence(items) => items.iter().map(from_yaml).collect::<Result<Vec<_>, _>>()?.into(),
        Yaml::Mapping(entries) => {
            let entry =
                |(key, value): &(Yaml<'_>, Yaml<'_>)| Ok((key_text(key), from_yaml(value)?));
            let entries = entries.iter().map(entry).collect::<Result<_, String>>();
            entries.map(HashMap::<String, Value>::into)?
        }
        node @ (Yaml::Node(_) | Yaml::OwnedNode(_)) => {
            let value = node.clone().into_owned().map_err(|error| error.to_string())?;
            from_yaml(&value)?
        }
    })
}

fn key_text(key: &krm_yaml::Value<'_>) -> String {
    match key {
        krm_yaml::Value::String(text) | krm_yaml::Value::Number(text) => text.to_string(),
        other => krm_core::print::json::display(other),
    }
}
