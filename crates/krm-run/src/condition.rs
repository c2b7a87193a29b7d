//! Conditions of pipeline functions: CEL expressions about the resources that a function would receive.

use krm_core::functions::resource_list::Item;

use crate::RunKind;

/// Whether the condition of a function is met. Compat: as in kpt, `resources` is the list of the resources that the function selects.
///
/// # Errors
/// If the expression is invalid, cannot be evaluated, or is not a boolean.
#[cfg(feature = "cel")]
pub(crate) fn is_met(expression: &str, items: &[&Item]) -> Result<bool, RunKind> {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    let invalid = |reason: String| RunKind::InvalidCondition { reason };
    // The generated parser of the interpreter is not free of panics.
    let result = catch_unwind(AssertUnwindSafe(|| evaluate(expression, items)));
    match result.unwrap_or_else(|_| Err("the expression is not valid CEL".to_owned())) {
        Ok(cel::Value::Bool(is_met)) => Ok(is_met),
        Ok(other) => Err(invalid(format!("expected true or false, found {}", other.type_of()))),
        Err(reason) => Err(invalid(reason)),
    }
}

/// Without the interpreter no condition can be checked, and running the function all the same could be wrong.
#[cfg(not(feature = "cel"))]
pub(crate) fn is_met(_: &str, _: &[&Item]) -> Result<bool, RunKind> {
    let reason = "this build has no CEL interpreter".to_owned();
    Err(RunKind::InvalidCondition { reason })
}

#[cfg(feature = "cel")]
fn evaluate(expression: &str, items: &[&Item]) -> Result<cel::Value, String> {
    let program =
        cel::Program::compile(expression).map_err(|error| one_line(&error.to_string()))?;
    let resources = items.iter().map(|item| {
        item.root().to_value().map_err(|error| error.to_string()).and_then(|value| to_cel(&value))
    });
    let mut context = cel::Context::default();
    context.add_variable_from_value("resources", resources.collect::<Result<Vec<_>, _>>()?);
    program.execute(&context).map_err(|error| one_line(&error.to_string()))
}

#[cfg(feature = "cel")]
fn one_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

/// A YAML value for an expression. Keys are strings, as in every resource.
///
/// A value that CEL cannot represent is an error: with another one in its place the condition could be met by accident.
#[cfg(feature = "cel")]
fn to_cel(value: &krm_yaml::Value<'_>) -> Result<cel::Value, String> {
    use krm_yaml::{ScalarType, Value};
    Ok(match value {
        Value::Null => cel::Value::Null,
        Value::Bool(value) => cel::Value::Bool(*value),
        Value::String(text) => text.as_ref().into(),
        Value::Number(text) => match ScalarType::of_plain(text) {
            ScalarType::Int(Some(number)) => match (i64::try_from(number), u64::try_from(number)) {
                (Ok(number), _) => cel::Value::Int(number),
                (_, Ok(number)) => cel::Value::UInt(number),
                _ => return Err(format!("the number `{text}` is out of range")),
            },
            ScalarType::Float(number) => cel::Value::Float(number),
            _ => return Err(format!("the number `{text}` cannot be represented")),
        },
        Value::Sequence(items) => items.iter().map(to_cel).collect::<Result<Vec<_>, _>>()?.into(),
        Value::Mapping(entries) => {
            let entry = |(key, value): &(Value<'_>, Value<'_>)| Ok((key_text(key), to_cel(value)?));
            let entries = entries.iter().map(entry).collect::<Result<_, String>>();
            entries.map(std::collections::HashMap::<String, cel::Value>::into)?
        }
        node @ (Value::Node(_) | Value::OwnedNode(_)) => {
            let value = node.clone().into_owned().map_err(|error| error.to_string())?;
            to_cel(&value)?
        }
    })
}

#[cfg(feature = "cel")]
fn key_text(key: &krm_yaml::Value<'_>) -> String {
    match key {
        krm_yaml::Value::String(text) | krm_yaml::Value::Number(text) => text.to_string(),
        other => krm_core::print::json::write(other),
    }
}

#[cfg(test)]
#[cfg(feature = "cel")]
mod tests {
    use super::*;

    fn met(expression: &str) -> Result<bool, String> {
        let text = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, labels: {a.b/c: d}}\nspec: {replicas: 3, paused: false, list: [1, x]}\n";
        let item = Item::parse(text.to_owned()).unwrap();
        is_met(expression, &[&item]).map_err(|error| error.to_string())
    }

    #[test]
    fn expression_sees_the_resources() {
        for (expression, expected) in [
            ("true", true),
            ("resources.exists(r, r.kind == 'Deployment' && r.metadata.name == 'web')", true),
            ("resources.exists(r, r.kind == 'ConfigMap')", false),
            ("resources.all(r, r.spec.replicas > 2 && !r.spec.paused)", true),
            ("size(resources) == 1 && resources[0].metadata.labels['a.b/c'].startsWith('d')", true),
            ("resources.filter(r, has(r.status)).size() > 0", false),
            ("resources[0].kind.matches('^Dep')", true),
        ] {
            assert_eq!(met(expression), Ok(expected), "{expression}");
        }
    }

    #[test]
    fn number_that_cel_cannot_represent_is_an_error() {
        let text = "apiVersion: v1\nkind: A\nmetadata: {name: a}\nn: 99999999999999999999\n";
        let item = Item::parse(text.to_owned()).unwrap();
        let error = is_met("resources.size() == 1", &[&item]).unwrap_err().to_string();
        assert!(error.contains("the number `99999999999999999999`"), "{error}");
    }

    #[test]
    fn invalid_condition_is_an_error() {
        for expression in ["resources.exists(", "1 + 1", "resources[0].nothing == 1", "unknown", ""]
        {
            let error = met(expression).unwrap_err();
            assert!(error.starts_with("cannot evaluate `condition`: "), "{expression}: {error}");
        }
    }
}
