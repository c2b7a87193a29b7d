//! The results that a program printed in a ResourceList, passed on in the list that it was started for.

use krm_yaml::{Edit, EditError, File, KeyPosition, NodeRef, Value};

use super::merge_output::{is_json, list};
use crate::Diagnostic;
use crate::model::resource::{field, is_null};

/// The elements of `results` in a program's output.
pub(super) fn results(output: &File) -> Vec<NodeRef<'_>> {
    let all = list(output).and_then(|list| field(list, "results")).and_then(NodeRef::as_sequence);
    all.into_iter().flat_map(|all| all.items()).collect()
}

/// Adds results to the list. A list of another kind cannot carry them.
pub(super) fn add<'a>(
    edit: &mut Edit<'a>,
    input: &'a File,
    results: &[NodeRef<'a>],
) -> Result<(), EditError> {
    let Some(list) = list(input).filter(|it| !results.is_empty() && is_resource_list(*it)) else {
        return Ok(());
    };
    let values = || results.iter().map(|result| Value::Node(*result));
    match field(list, "results").filter(|it| !is_null(*it)) {
        Some(existing) if existing.children().next().is_some() => {
            values().try_for_each(|value| edit.append(existing, value))
        }
        Some(existing) => edit.set(existing, Value::Sequence(values().collect())),
        None => {
            edit.insert_key(list, "results", Value::Sequence(values().collect()), KeyPosition::Last)
        }
    }
}

/// The list with the results of a program that failed; none if it printed none, or the list cannot carry them.
pub fn with_results(input: &File, output: String) -> Result<Option<String>, Diagnostic> {
    let output = File::parse(output).map_err(|error| Diagnostic::from(&error))?;
    let results = results(&output);
    let mut edit = Edit::new(input).json(is_json(input));
    let edit_error = |error: EditError| Diagnostic::from_edit(&error, input);
    add(&mut edit, input, &results).map_err(edit_error)?;
    match edit.is_empty() {
        true => Ok(None),
        false => edit.apply().map(Some).map_err(edit_error),
    }
}

fn is_resource_list(list: NodeRef<'_>) -> bool {
    field(list, "kind").and_then(NodeRef::as_str).as_deref() == Some("ResourceList")
}
