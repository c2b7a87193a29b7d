//! The status of a Kptfile after a run, in kpt's form. It is only written on request.

use krm_yaml::{Edit, File, NodeRef, Value};

use super::{KptfileKind, Role};
use crate::functions::resource_list::Version;
use crate::functions::results::FunctionRecord;
use crate::model::resource::{field, scalar_text};
use crate::{Diagnostic, Severity};

/// The condition of the last run.
const RENDERED: &str = "Rendered";

/// The text of a Kptfile with the status of a run: its functions with their roles, and the reason of a failure. Other conditions stay.
pub fn write_status(
    file: &File,
    steps: &[(Role, &FunctionRecord)],
    failure: Option<&str>,
) -> Result<String, Diagnostic> {
    let document = file.document(0).ok_or_else(|| Diagnostic::error(KptfileKind::EmptyKptfile))?;
    let status = document.root().and_then(|root| field(root, "status"));
    let mut edit = Edit::new(file);
    let mut set = |path: &str, value| {
        let path = path.parse().expect("the path is a constant");
        let set = edit.set_at(document, &path, value);
        set.map_err(|error| Diagnostic::from_edit(&error, file))
    };
    let parts =
        [("conditions", conditions(status, failure)), ("renderStatus", render_status(steps))];
    match status {
        Some(_) => {
            for (name, value) in parts {
                set(&format!("status.{name}"), value)?;
            }
        }
        None => set("status", mapping(parts.into()))?,
    }
    edit.apply().map_err(|error| Diagnostic::from_edit(&error, file))
}

fn conditions<'a>(status: Option<NodeRef<'a>>, failure: Option<&'a str>) -> Value<'a> {
    let old = status.and_then(|it| field(it, "conditions")).and_then(NodeRef::as_sequence);
    let is_own = |it: &NodeRef<'_>| {
        field(*it, "type").and_then(scalar_text).is_some_and(|kind| kind == RENDERED)
    };
    let others = old.into_iter().flat_map(|list| list.items()).filter(|it| !is_own(it));
    let (is, reason) = match failure {
        None => ("True", "RenderSuccess"),
        Some(_) => ("False", "RenderFailed"),
    };
    let mut own = vec![("type", RENDERED.into()), ("status", is.into()), ("reason", reason.into())];
    own.extend(failure.map(|reason| ("message", reason.into())));
    Value::Sequence(others.map(Value::Node).chain([mapping(own)]).collect())
}

fn render_status<'a>(steps: &[(Role, &'a FunctionRecord)]) -> Value<'a> {
    let mut entries = Vec::new();
    for (role, name) in [(Role::Mutator, "mutationSteps"), (Role::Validator, "validationSteps")] {
        let own = steps.iter().filter(|(of, _)| *of == role).map(|(_, record)| step(record));
        let own: Vec<Value<'a>> = own.collect();
        if !own.is_empty() {
            entries.push((name, Value::Sequence(own)));
        }
    }
    let failed = steps.iter().filter(|(_, record)| record.exit_code != 0);
    let failed =
        failed.map(|(_, record)| format!("{}: exit code {}", record.name, record.exit_code));
    let failed: Vec<String> = failed.collect();
    if !failed.is_empty() {
        entries.push(("errorSummary", Value::string(failed.join("; "))));
    }
    mapping(entries)
}

fn step(record: &FunctionRecord) -> Value<'_> {
    let mut entries = vec![(record.runtime, Value::from(record.name.as_str()))];
    if !record.stderr.is_empty() {
        entries.push(("stderr", Value::from(record.stderr.as_str())));
    }
    entries.push(("exitCode", Value::int(record.exit_code.into())));
    let results = |only: Option<Severity>| -> Vec<Value<'_>> {
        let meant = record.results.iter().filter(|it| only.is_none_or(|only| it.severity == only));
        meant.map(|result| result.to_value(Version::V1)).collect()
    };
    for (name, list) in [
        ("results", results(None)),
        (
            "errorResults",
            if record.exit_code == 0 { Vec::new() } else { results(Some(Severity::Error)) },
        ),
    ] {
        if !list.is_empty() {
            entries.push((name, Value::Sequence(list)));
        }
    }
    mapping(entries)
}

fn mapping<'a>(entries: Vec<(&'static str, Value<'a>)>) -> Value<'a> {
    Value::Mapping(entries.into_iter().map(|(name, value)| (Value::from(name), value)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::functions::resource_list::FunctionResult;

    const HEAD: &str = "apiVersion: kpt.dev/v1\nkind: Kptfile # own\n";

    fn written(text: &str, failure: Option<&str>) -> String {
        let record = FunctionRecord {
            name: "example.com/a:v1".to_owned(),
            runtime: "image",
            exit_code: failure.map_or(0, |_| 1),
            results: vec![FunctionResult::new(Severity::Error, "no")],
            ..FunctionRecord::default()
        };
        let file = File::parse(text.to_owned()).unwrap();
        write_status(&file, &[(Role::Mutator, &record)], failure).unwrap()
    }

    #[test]
    fn status_is_added_and_nothing_else_changes() {
        let done = written(HEAD, None);
        let wanted = "status:\n  conditions:\n  - type: Rendered\n    status: \"True\"\n    reason: RenderSuccess\n  renderStatus:\n    mutationSteps:\n    - image: example.com/a:v1\n      exitCode: 0\n      results:\n      - message: \"no\"\n        severity: error\n";
        assert_eq!(done, format!("{HEAD}{wanted}"));
        assert_eq!(written(&done, None), done, "writing the same status again changes nothing");
    }

    #[test]
    fn failure_is_a_condition_and_other_conditions_stay() {
        let old = format!(
            "{HEAD}status:\n  conditions:\n  - type: Ready # by hand\n    status: \"True\"\n"
        );
        let failed = written(&old, Some("it failed"));
        assert!(failed.starts_with(&old), "{failed}");
        assert!(failed.contains("reason: RenderFailed\n    message: it failed\n"), "{failed}");
        assert!(failed.contains("errorSummary: "), "{failed}");
        assert!(failed.contains("errorResults:\n"), "{failed}");
    }
}
