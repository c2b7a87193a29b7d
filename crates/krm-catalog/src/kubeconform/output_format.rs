//! The two functions of the catalog that this one stands for, and how each tells what is wrong.

use krm_sdk::{FunctionResult, Resource, Severity, results::FieldRef};
use krm_yaml::{NodeRef, Segment, Value};

use super::check::{Fault, What};

/// Which of the two is speaking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OutputFormat {
    /// The newer one.
    Kubeconform,
    /// Compat: the older one, in its words and its order.
    Kubeval,
}

impl OutputFormat {
    /// The results for the faults of a resource, in the order of this output_format.
    pub(super) fn results(
        self,
        resource: &Resource,
        mut faults: Vec<Fault<'_>>,
    ) -> Vec<FunctionResult> {
        if self == Self::Kubeval {
            // What is wrong with a mapping itself comes before what is wrong in it.
            faults.sort_by_key(|fault| {
                let is_own = matches!(fault.what, What::Unknown(_) | What::Missing(_));
                (fault.node.start(), !is_own)
            });
        }
        faults.iter().flat_map(|fault| self.fault(resource, fault)).collect()
    }

    fn fault(self, resource: &Resource, fault: &Fault<'_>) -> Vec<FunctionResult> {
        let by_name = |names: &[String], say: fn(&str) -> String| {
            let one = |name: &String| named(resource, say(name), name);
            names.iter().map(one).collect()
        };
        match (&fault.what, self) {
            (What::Missing(names), Self::Kubeval) => {
                by_name(names, |name| format!("{name} is required"))
            }
            (What::Unknown(names), Self::Kubeval) => {
                by_name(names, |name| format!("Additional property {name} is not allowed"))
            }
            (what, output_format) => {
                let finding =
                    resource.result(Severity::Error, output_format.words(what)).at(fault.node);
                let finding = match meant(fault) {
                    Some(value) => finding.propose(value),
                    None => finding,
                };
                let mut result = FunctionResult::from(finding);
                let is_whole = |field: &FieldRef| field.path.is_empty();
                let is_scalar = fault.node.as_scalar().is_some();
                if let Some(field) = &mut result.field {
                    field.path = dotted(fault.node).unwrap_or_else(|| field.path.clone());
                    field.current = field.current.take().filter(|_| is_scalar);
                }
                result.field = result.field.filter(|field| !is_whole(field));
                vec![result]
            }
        }
    }

    fn words(self, what: &What) -> String {
        match (what, self) {
            (What::Missing(names), _) => match &names[..] {
                [name] => format!("missing property '{name}'"),
                names => format!("missing properties {}", quoted(names)),
            },
            (What::Unknown(names), _) => {
                format!("additional properties {} not allowed", quoted(names))
            }
            (What::Type { found, wanted }, Self::Kubeconform) => {
                format!("got {found}, want {}", wanted.join(" or "))
            }
            (What::Type { found, wanted }, Self::Kubeval) => {
                let (null, types): (Vec<&str>, Vec<&str>) =
                    wanted.iter().partition(|kind| **kind == "null");
                let types = [types, null].concat();
                format!("Invalid type. Expected: [{}], given: {found}", types.join(","))
            }
            (What::Rule(words), _) => words.clone(),
        }
    }
}

/// What was probably meant: the same characters as a value of the type that is wanted.
fn meant(fault: &Fault<'_>) -> Option<Value<'static>> {
    let What::Type { wanted, .. } = &fault.what else { return None };
    let text = fault.node.as_scalar()?.value().into_owned();
    let wants = |name: &str| wanted.contains(&name);
    let is_whole = text.trim_start_matches('-').bytes().all(|byte| byte.is_ascii_digit());
    match Value::plain(text.clone()) {
        number @ Value::Number(_) if wants("number") || wants("integer") && is_whole => {
            Some(number)
        }
        word @ Value::Bool(_) if wants("boolean") => Some(word),
        Value::Null => None,
        _ => wants("string").then(|| Value::string(text)),
    }
}

/// Compat: the path of a field with numbers between dots; none where a name has dots itself.
fn dotted(node: NodeRef<'_>) -> Option<String> {
    let path = node.path();
    let words = path.segments().iter().map(|segment| match segment {
        Segment::Key(key) => (!key.contains('.')).then(|| key.clone()),
        Segment::Index(index) => Some(index.to_string()),
        Segment::Match { .. } | Segment::End => None,
    });
    Some(words.collect::<Option<Vec<_>>>()?.join("."))
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ")
}

/// A result about a field that is named, and not where it stands.
fn named(resource: &Resource, message: String, name: &str) -> FunctionResult {
    let mut result = FunctionResult::from(resource.result(Severity::Error, message));
    let path = name.to_owned();
    result.field = Some(FieldRef { path, current: None, proposed: Vec::new() });
    result
}
