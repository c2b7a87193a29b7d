//! Machine-readable output of commands that list: records as JSON or YAML.

use krm_yaml::{EditErrorKind, Value};

use super::json;
use crate::Diagnostic;

/// A record: fields in order.
pub type Record<'a> = Vec<(&'static str, Value<'a>)>;

/// A JSON array with one record per line.
///
/// # Errors
/// A record has a value that JSON does not have.
pub fn records_to_json(records: &[Record<'_>]) -> Result<String, Diagnostic> {
    let line = |record: &Record<'_>| {
        let entries = record.iter().map(|(name, value)| (Value::from(*name), value.clone()));
        let line = json::write(&Value::Mapping(entries.collect()));
        line.map_err(|error| Diagnostic::error(EditErrorKind::from(error)))
    };
    let lines: Vec<String> = records.iter().map(line).collect::<Result<_, _>>()?;
    Ok(match lines.is_empty() {
        true => "[]\n".to_owned(),
        false => format!("[\n{}\n]\n", lines.join(",\n")),
    })
}

/// A YAML sequence of mappings.
///
/// ```
/// use krm_core::print::records_to_yaml;
/// use krm_yaml::Value;
///
/// let record = vec![("kind", Value::from("Service")), ("name", Value::from("no")), ("count", Value::int(2))];
/// assert_eq!(records_to_yaml(&[record]), "- kind: Service\n  name: \"no\"\n  count: 2\n");
/// ```
pub fn records_to_yaml(records: &[Record<'_>]) -> String {
    if records.is_empty() {
        return "[]\n".to_owned();
    }
    let mut out = String::new();
    for record in records {
        for (at, (name, value)) in record.iter().enumerate() {
            let value = match value {
                Value::String(text) if is_plain_scalar(text) => text.to_string(),
                // JSON is valid YAML.
                other => crate::print::json::display(other),
            };
            out.push_str(&format!("{}{name}: {value}\n", if at == 0 { "- " } else { "  " }));
        }
    }
    out
}

/// Whether a string needs no quotes in any version of YAML.
pub(crate) fn is_plain_scalar(text: &str) -> bool {
    let reserved = ["y", "n", "yes", "no", "on", "off", "true", "false", "null"];
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./".contains(&byte))
        && !reserved.contains(&text.to_ascii_lowercase().as_str())
}
