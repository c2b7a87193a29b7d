//! What `--help` prints.

use krm_yaml::Value;

use crate::Function;

/// The help of one function: its page, how it is called, and the fields of its functionConfig.
pub(super) fn one(function: &Function) -> String {
    let name = &function.name;
    let page =
        if function.page.is_empty() { format!("# {name}\n") } else { function.page.to_owned() };
    let fields = fields(function);
    format!(
        "{}\nUsage:
  {name} < resource-list.yaml         a ResourceList, any other list, or documents; the same comes out
  {name} [--config FILE | -d KEY=VALUE…] [--dry-run] FILE|DIR…
                                      edits files in place, or prints what they would become
  {name} --schema                     the JSON schema of the functionConfig
  {name} --doc                        this page and the schema as JSON
{fields}",
        page.trim_end().to_owned() + "\n"
    )
}

/// The functions that a program holds.
pub(super) fn many(program: &str, functions: &[Function]) -> String {
    let mut help = format!("Usage: {program} FUNCTION [ARGUMENT…]\n\nFunctions:\n");
    let width = functions.iter().map(|it| it.name.len()).max().unwrap_or(0);
    for function in functions {
        let line = format!("  {:width$}  {}", function.name, function.summary());
        help.push_str(line.trim_end());
        help.push('\n');
    }
    help
}

/// The fields of the functionConfig with their types, one on each line.
fn fields(function: &Function) -> String {
    let schema = function.schema();
    let Some(properties) = schema.as_ref().and_then(|schema| entry(schema, "properties")) else {
        return String::new();
    };
    let required = schema.as_ref().and_then(|schema| entry(schema, "required"));
    let Value::Mapping(properties) = properties else { return String::new() };
    let mut lines = String::new();
    for (name, schema) in properties {
        let Value::String(name) = name else { continue };
        if matches!(&**name, "apiVersion" | "kind" | "metadata") {
            continue;
        }
        let kind = match entry(schema, "type") {
            Some(Value::String(kind)) => kind.to_string(),
            _ => "any".to_owned(),
        };
        let needed = match required {
            Some(Value::Sequence(names)) if names.iter().any(|it| is(it, name)) => ", required",
            _ => "",
        };
        lines.push_str(&format!("  {name}: {kind}{needed}\n"));
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
