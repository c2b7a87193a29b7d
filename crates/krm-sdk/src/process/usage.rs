//! The text of `--help`.

use krm_yaml::Value;

use crate::Function;

/// The help of one function: its documentation, its usage and the fields of its functionConfig.
pub(super) fn function(function: &Function) -> String {
    let name = &function.name;
    let readme = match function.readme {
        "" => format!("# {name}\n"),
        readme => readme.to_owned(),
    };
    let fields = fields(function);
    format!(
        "{}\nUsage:
  {name} < resource-list.yaml         read a ResourceList, any other list, or documents
  {name} [--config FILE | -d KEY=VALUE…] [--dry-run] FILE|DIR…
                                      edit files in place, or print the changed files
  {name} --schema                     print the JSON Schema of the functionConfig
  {name} --doc                        print this documentation and the schema as JSON
{fields}",
        readme.trim_end().to_owned() + "\n"
    )
}

/// The help of a program with several functions.
pub(super) fn program(program: &str, functions: &[Function]) -> String {
    let mut help = format!("Usage: {program} FUNCTION [ARGUMENT…]\n\nFunctions:\n");
    let width = functions.iter().map(|it| it.name.len()).max().unwrap_or(0);
    for function in functions {
        let line = format!("  {:width$}  {}", function.name, function.summary());
        help.push_str(line.trim_end());
        help.push('\n');
    }
    help
}

/// The fields of the functionConfig and their types, one per line.
fn fields(function: &Function) -> String {
    let schema = function.schema();
    // The first of several forms has the fields at the top level.
    let schema = schema.as_ref().map(|schema| match entry(schema, "anyOf") {
        Some(Value::Sequence(forms)) => forms.first().unwrap_or(schema),
        _ => schema,
    });
    let Some(properties) = schema.and_then(|schema| entry(schema, "properties")) else {
        return String::new();
    };
    let required = schema.and_then(|schema| entry(schema, "required"));
    let Value::Mapping(properties) = properties else { return String::new() };
    let mut lines = String::new();
    for (name, schema) in properties {
        let Value::String(name) = name else { continue };
        if matches!(&**name, "apiVersion" | "kind" | "metadata") {
            continue;
        }
        let kind = match entry(schema, "type") {
            Some(Value::String(kind)) => kind.to_string(),
            // That null is allowed is what the absence of `required` says.
            Some(Value::Sequence(kinds)) => {
                let kinds = kinds.iter().filter_map(|kind| match kind {
                    Value::String(kind) if kind != "null" => Some(kind.to_string()),
                    _ => None,
                });
                kinds.collect::<Vec<_>>().join(" or ")
            }
            _ => "any".to_owned(),
        };
        let requirement = match required {
            Some(Value::Sequence(names)) if names.iter().any(|it| is(it, name)) => ", required",
            _ => "",
        };
        lines.push_str(&format!("  {name}: {kind}{requirement}\n"));
    }
    if lines.is_empty() { lines } else { format!("\nFields of the functionConfig:\n{lines}") }
}

fn is(value: &Value<'_>, text: &str) -> bool {
    matches!(value, Value::String(value) if value == text)
}

fn entry<'v>(value: &'v Value<'static>, name: &str) -> Option<&'v Value<'static>> {
    let Value::Mapping(entries) = value else { return None };
    entries.iter().find(|(key, _)| is(key, name)).map(|(_, value)| value)
}
