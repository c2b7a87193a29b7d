//! The messages of kubeconform and kubeval.

use krm_sdk::{FunctionResult, Resource, Severity, results::FieldRef};
use krm_yaml::{NodeRef, Segment, Value};

use super::check::{Problem, Violation};

/// Whose messages are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OutputFormat {
    /// Messages of kubeconform.
    Kubeconform,
    /// Compat: messages of kubeval, in its order.
    Kubeval,
}

impl OutputFormat {
    /// The results for the violations of a resource.
    pub(super) fn results(
        self,
        resource: &Resource,
        mut violations: Vec<Violation<'_>>,
    ) -> Vec<FunctionResult> {
        if self == Self::Kubeval {
            // Violations of a mapping precede those of its fields.
            violations.sort_by_key(|violation| {
                let is_own = matches!(violation.problem, Problem::Unknown(_) | Problem::Missing(_));
                (violation.node.start(), !is_own)
            });
        }
        violations.iter().flat_map(|violation| self.violation(resource, violation)).collect()
    }

    fn violation(self, resource: &Resource, violation: &Violation<'_>) -> Vec<FunctionResult> {
        let by_name = |names: &[String], message: fn(&str) -> String| {
            let result = |name: &String| named(resource, message(name), name);
            names.iter().map(result).collect()
        };
        match (&violation.problem, self) {
            (Problem::Missing(names), Self::Kubeval) => {
                by_name(names, |name| format!("{name} is required"))
            }
            (Problem::Unknown(names), Self::Kubeval) => {
                by_name(names, |name| format!("Additional property {name} is not allowed"))
            }
            (problem, output_format) => {
                let message = output_format.message(problem);
                let result = resource.result(Severity::Error, message).at(violation.node);
                let result = match proposal(violation) {
                    Some(value) => result.propose(value),
                    None => result,
                };
                let mut result = FunctionResult::from(result);
                let is_root = |field: &FieldRef| field.path.is_empty();
                let is_scalar = violation.node.as_scalar().is_some();
                if let Some(field) = &mut result.field {
                    field.path = dotted(violation.node).unwrap_or_else(|| field.path.clone());
                    field.current = field.current.take().filter(|_| is_scalar);
                }
                result.field = result.field.filter(|field| !is_root(field));
                vec![result]
            }
        }
    }

    fn message(self, problem: &Problem) -> String {
        match (problem, self) {
            (Problem::Missing(names), _) => match &names[..] {
                [name] => format!("missing property '{name}'"),
                names => format!("missing properties {}", quoted(names)),
            },
            (Problem::Unknown(names), _) => {
                format!("additional properties {} not allowed", quoted(names))
            }
            (Problem::Type { found, expected }, Self::Kubeconform) => {
                // Compat: kubeconform knows one type of numbers.
                let found = if *found == "integer" { "number" } else { found };
                format!("got {found}, want {}", expected.join(" or "))
            }
            (Problem::Type { found, expected }, Self::Kubeval) => {
                let (null, types): (Vec<&str>, Vec<&str>) =
                    expected.iter().partition(|kind| **kind == "null");
                let types = [types, null].concat();
                format!("Invalid type. Expected: [{}], given: {found}", types.join(","))
            }
            (Problem::Rule(message), _) => message.clone(),
        }
    }
}

/// The same characters as a value of the expected type.
fn proposal(violation: &Violation<'_>) -> Option<Value<'static>> {
    let Problem::Type { expected, .. } = &violation.problem else { return None };
    let text = violation.node.as_scalar()?.value().into_owned();
    let expects = |name: &str| expected.contains(&name);
    let is_integer = text.trim_start_matches('-').bytes().all(|byte| byte.is_ascii_digit());
    match Value::plain(text.clone()) {
        number @ Value::Number(_) if expects("number") || expects("integer") && is_integer => {
            Some(number)
        }
        boolean @ Value::Bool(_) if expects("boolean") => Some(boolean),
        Value::Null => None,
        _ => expects("string").then(|| Value::string(text)),
    }
}

/// Compat: the path of a field with indexes between dots; none if a key contains dots.
fn dotted(node: NodeRef<'_>) -> Option<String> {
    let path = node.path();
    let parts = path.segments().iter().map(|segment| match segment {
        Segment::Key(key) => (!key.contains('.')).then(|| key.clone()),
        Segment::Index(index) => Some(index.to_string()),
        Segment::Match { .. } | Segment::End => None,
    });
    Some(parts.collect::<Option<Vec<_>>>()?.join("."))
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ")
}

/// A result about a field that is given by its name without a path.
fn named(resource: &Resource, message: String, name: &str) -> FunctionResult {
    let mut result = FunctionResult::from(resource.result(Severity::Error, message));
    result.field = Some(FieldRef::new(name));
    result
}
