//! Conditions of pipeline functions: CEL expressions about the resources that a function would receive.

use krm_catalog::interpreter::Interpreter;
#[cfg(feature = "cel")]
use krm_catalog::{
    expression::{Environment, Value, from_json},
    interpreter::{Language, Message, MessageReader},
};
use krm_core::Diagnostic;
use krm_core::functions::resource_list::Item;

use crate::RunKind;

/// The variable that a condition is about.
#[cfg(feature = "cel")]
const RESOURCES: &str = "resources";

/// Whether the condition of a function is met. Compat: as in kpt, `resources` is the list of the resources that the function selects.
///
/// # Errors
/// If the expression is invalid, cannot be evaluated, or is not a boolean.
#[cfg(feature = "cel")]
pub(crate) fn is_met(
    expression: &str,
    items: &[&Item],
    interpreter: &dyn Interpreter,
) -> Result<bool, Diagnostic> {
    let invalid = |reason: String| Diagnostic::error(RunKind::InvalidCondition { reason });
    let json = |item: &&Item| krm_core::print::json::flow(&krm_yaml::Value::Node(item.root()));
    let resources = items.iter().map(json).collect::<Result<Vec<String>, _>>();
    let resources = resources.map_err(|error| invalid(error.to_string()))?;
    let mut request = Message::default();
    request.text(expression).list(&resources);
    let response = interpreter.evaluate(&LANGUAGE, request.as_str()).map_err(|error| {
        let first = error.diagnostics.into_iter().next();
        let first = first.unwrap_or_else(|| invalid("no reason is known".to_owned()));
        first.context("cannot evaluate `condition`")
    })?;
    let mut reader = MessageReader::new(&response);
    match (reader.text(), reader.text()) {
        (Some("value"), Some("true")) => Ok(true),
        (Some("value"), Some("false")) => Ok(false),
        (Some("error"), Some(reason)) => Err(invalid(reason.to_owned())),
        _ => Err(invalid("the response of the interpreter is incomplete".to_owned())),
    }
}

/// The CEL interpreter.
#[cfg(feature = "cel")]
pub(crate) const LANGUAGE: Language = Language { name: "cel", evaluate: respond };

/// Evaluates a request: an expression and the resources as JSON.
#[cfg(feature = "cel")]
fn respond(request: &str) -> String {
    let mut reader = MessageReader::new(request);
    let (expression, resources) =
        (reader.text().unwrap_or_default(), reader.list().unwrap_or_default());
    let (kind, text) = match evaluate(expression, &resources) {
        Ok(Value::Bool(is_met)) => ("value", is_met.to_string()),
        Ok(other) => ("error", format!("expected true or false, found {}", other.type_of())),
        Err(reason) => ("error", reason),
    };
    let mut response = Message::default();
    response.text(kind).text(&text);
    response.into_string()
}

/// Without the interpreter no condition can be checked, and running the function all the same could be wrong.
#[cfg(not(feature = "cel"))]
pub(crate) fn is_met(_: &str, _: &[&Item], _: &dyn Interpreter) -> Result<bool, Diagnostic> {
    let reason = "this build has no CEL interpreter".to_owned();
    Err(Diagnostic::error(RunKind::InvalidCondition { reason }))
}

#[cfg(feature = "cel")]
fn evaluate(expression: &str, resources: &[&str]) -> Result<Value, String> {
    let environment = Environment::standard()?;
    let expression = environment.compile(expression, &[RESOURCES])?;
    let resources = resources.iter().map(|text| from_json(text)).collect::<Result<Vec<_>, _>>()?;
    let mut scope = environment.scope();
    scope.set(RESOURCES, resources.into());
    expression.evaluate(&scope).map_err(|error| error.to_string())
}

#[cfg(test)]
#[cfg(feature = "cel")]
mod tests {
    use super::*;
    use krm_catalog::interpreter::{InProcess, MAX_NESTING};

    fn met(expression: &str) -> Result<bool, String> {
        let text = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, labels: {a.b/c: d}}\nspec: {replicas: 3, paused: false, list: [1, x]}\n";
        let item = Item::parse(text.to_owned()).unwrap();
        is_met(expression, &[&item], &InProcess).map_err(|error| error.to_string())
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
        let error = is_met("resources.size() == 1", &[&item], &InProcess).unwrap_err().to_string();
        assert!(error.contains("the number `99999999999999999999`"), "{error}");
    }

    #[test]
    fn deep_condition_is_an_error() {
        let parentheses = |n: usize| format!("{}true{}", "(".repeat(n), ")".repeat(n));
        let deep = met(&parentheses(MAX_NESTING + 1)).unwrap_err();
        assert_eq!(
            deep,
            "cannot evaluate `condition`: nested more than 1000 levels deep at 1:1001"
        );
        for shallow in [parentheses(20), vec!["true"; 900].join(" && ")] {
            assert_eq!(met(&shallow), Ok(true), "{shallow}");
        }
        // What the interpreter does with these is its own decision; it must not overflow the stack.
        for text in [parentheses(MAX_NESTING), format!("{}true", "!".repeat(MAX_NESTING))] {
            let _ = met(&text);
        }
    }

    #[test]
    fn invalid_condition_is_an_error() {
        for expression in ["resources.exists(", "1 + 1", "resources[0].nothing == 1", "unknown", ""]
        {
            let error = met(expression).unwrap_err();
            assert!(error.starts_with("cannot evaluate `condition`: "), "{expression}: {error}");
        }
    }

    #[test]
    fn long_loops_are_an_error() {
        let ten = "[1,2,3,4,5,6,7,8,9,10]";
        let loops: String = ('a'..='h').map(|name| format!("{ten}.all({name}, ")).collect();
        let error = met(&format!("{loops}true{} || true", ")".repeat(8))).unwrap_err();
        let limit = "cannot evaluate `condition`: exceeded the limit of 10000000 steps";
        assert_eq!(error, limit);
    }
}
