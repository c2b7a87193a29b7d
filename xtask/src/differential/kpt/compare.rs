//! Compares two rendered packages by meaning, and classifies the differences.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use krm_yaml::{File, Value};

use crate::TaskResult;

/// A package after `fn render`.
pub(super) struct Rendered {
    pub(super) succeeded: bool,
    pub(super) message: String,
    /// The text of each file, by its path in the package.
    pub(super) files: BTreeMap<String, String>,
}

/// What a comparison found.
pub(super) enum Comparison {
    Same,
    /// All differences are documented, by these ids.
    Explained(BTreeSet<&'static str>),
    Fault(String),
}

/// A documented difference: the id, why krm differs, and how to remove it from a document.
struct Difference {
    id: &'static str,
    reason: &'static str,
    remove: fn(&mut Value<'static>),
}

/// The differences. They are listed in `docs/errata.md`.
const DIFFERENCES: &[Difference] = &[
    Difference {
        id: "kptfile-status",
        reason: "kpt writes the outcome of the pipeline to `status` of the Kptfile; krm only with --write-status",
        remove: |document| {
            if is_kind(document, "Kptfile") {
                remove_field(document, "status");
            }
        },
    },
    Difference {
        id: "blueprint-annotation",
        reason: "kpt marks Config Connector resources with an annotation of its own; krm writes only what functions return",
        remove: |document| {
            if let Some(annotations) = annotations(document) {
                remove_field(annotations, "cnrm.cloud.google.com/blueprint");
            }
        },
    },
    Difference {
        id: "empty-annotations",
        reason: "kpt removes empty `metadata.annotations`; krm keeps what no function changed",
        remove: |document| {
            if matches!(annotations(document), Some(Value::Mapping(it)) if it.is_empty())
                && let Some(metadata) = field(document, "metadata")
            {
                remove_field(metadata, "annotations");
            }
        },
    },
];

/// A Kptfile with a field that this kpt does not know.
const UNKNOWN_FIELD: (&str, &str) = (
    "kptfile-unknown-field",
    "kpt rejects unknown fields of a Kptfile; krm warns, so that packages of newer versions render",
);

/// A function that removes the Kptfile of its package.
const KPTFILE_DELETED: (&str, &str) = (
    "kptfile-deleted",
    "kpt deletes a Kptfile that a function removes; krm refuses without --allow-delete",
);

pub(super) fn reason(id: &str) -> &'static str {
    let known =
        DIFFERENCES.iter().map(|it| (it.id, it.reason)).chain([UNKNOWN_FIELD, KPTFILE_DELETED]);
    known.into_iter().find(|(known, _)| *known == id).map_or("", |(_, reason)| reason)
}

/// The files below a directory.
pub(super) fn files(directory: &Path) -> TaskResult<BTreeMap<String, String>> {
    let (mut found, mut directories) = (BTreeMap::new(), vec![directory.to_path_buf()]);
    while let Some(current) = directories.pop() {
        for entry in fs::read_dir(&current)? {
            let path = entry?.path();
            if path.is_dir() {
                directories.push(path);
                continue;
            }
            let name = path.strip_prefix(directory)?.to_string_lossy().into_owned();
            found.insert(name, String::from_utf8_lossy(&fs::read(&path)?).into_owned());
        }
    }
    Ok(found)
}

/// Compares what kpt and krm made of the same package.
pub(super) fn compare(theirs: &Rendered, ours: &Rendered) -> TaskResult<Comparison> {
    let is_unknown_field = theirs.message.contains("not found in type");
    if !theirs.succeeded && ours.succeeded && is_unknown_field {
        return Ok(Comparison::Explained(BTreeSet::from([UNKNOWN_FIELD.0])));
    }
    let is_deleted = |(name, _): (&String, &String)| {
        name.ends_with("Kptfile") && !theirs.files.contains_key(name)
    };
    let is_refused = ours.message.contains("error[deletion-not-allowed]");
    if theirs.succeeded && !ours.succeeded && is_refused && ours.files.iter().any(is_deleted) {
        return Ok(Comparison::Explained(BTreeSet::from([KPTFILE_DELETED.0])));
    }
    if theirs.succeeded != ours.succeeded {
        let (tool, message) = match theirs.succeeded {
            true => ("krm", &ours.message),
            false => ("kpt", &theirs.message),
        };
        return Ok(Comparison::Fault(format!("only {tool} fails:\n{}", message.trim())));
    }
    let names: BTreeSet<&String> = theirs.files.keys().chain(ours.files.keys()).collect();
    let mut ids = BTreeSet::new();
    for name in names {
        let (Some(theirs), Some(ours)) = (theirs.files.get(name), ours.files.get(name)) else {
            let tool = if theirs.files.contains_key(name) { "kpt" } else { "krm" };
            return Ok(Comparison::Fault(format!("only {tool} has the file {name}")));
        };
        if theirs == ours {
            continue;
        }
        match compare_file(name, theirs, ours)? {
            Comparison::Same => {}
            Comparison::Explained(found) => ids.extend(found),
            fault @ Comparison::Fault(_) => return Ok(fault),
        }
    }
    Ok(if ids.is_empty() { Comparison::Same } else { Comparison::Explained(ids) })
}

fn compare_file(name: &str, theirs: &str, ours: &str) -> TaskResult<Comparison> {
    let is_yaml = name.ends_with(".yaml") || name.ends_with(".yml") || name.ends_with("Kptfile");
    let fault = |what: &str| {
        Comparison::Fault(format!("{name}: {what}\n{}", krm_testkit::diff(theirs, ours)))
    };
    if !is_yaml {
        return Ok(fault("a file without resources differs"));
    }
    let [mut theirs_values, mut ours_values] = [documents(theirs)?, documents(ours)?];
    let mut ids = BTreeSet::new();
    for difference in DIFFERENCES {
        if is_same(&theirs_values, &ours_values) {
            break;
        }
        let before = (theirs_values.clone(), ours_values.clone());
        theirs_values.iter_mut().chain(&mut ours_values).for_each(difference.remove);
        if !is_same(&before.0, &theirs_values) || !is_same(&before.1, &ours_values) {
            ids.insert(difference.id);
        }
    }
    Ok(match (is_same(&theirs_values, &ours_values), ids.is_empty()) {
        (false, _) => fault("resources differ"),
        (true, true) => Comparison::Same,
        (true, false) => Comparison::Explained(ids),
    })
}

fn is_same(theirs: &[Value<'_>], ours: &[Value<'_>]) -> bool {
    theirs.len() == ours.len() && theirs.iter().zip(ours).all(|(a, b)| super::super::is_equal(a, b))
}

/// The values of all documents, with the keys of mappings in order. Empty documents do not count.
fn documents(text: &str) -> TaskResult<Vec<Value<'static>>> {
    let file = File::parse(text.to_owned())?;
    let mut values = Vec::new();
    for root in file.documents().filter_map(|document| document.root()) {
        let value = sorted(root.to_value()?.into_owned()?);
        if !matches!(value, Value::Null) {
            values.push(value);
        }
    }
    Ok(values)
}

fn sorted(value: Value<'static>) -> Value<'static> {
    match value {
        Value::Sequence(items) => Value::Sequence(items.into_iter().map(sorted).collect()),
        Value::Mapping(entries) => {
            let mut entries: Vec<_> =
                entries.into_iter().map(|(key, value)| (key, sorted(value))).collect();
            entries.sort_by_key(|(key, _)| krm_core::print::json::display(key));
            Value::Mapping(entries)
        }
        other => other,
    }
}

fn field<'a>(value: &'a mut Value<'static>, name: &str) -> Option<&'a mut Value<'static>> {
    let Value::Mapping(entries) = value else { return None };
    let is_key = |key: &Value<'_>| matches!(key, Value::String(text) if text == name);
    entries.iter_mut().find(|(key, _)| is_key(key)).map(|(_, value)| value)
}

fn annotations<'a>(document: &'a mut Value<'static>) -> Option<&'a mut Value<'static>> {
    field(field(document, "metadata")?, "annotations")
}

fn is_kind(document: &mut Value<'static>, kind: &str) -> bool {
    matches!(field(document, "kind"), Some(Value::String(text)) if text == kind)
}

fn remove_field(value: &mut Value<'static>, name: &str) {
    if let Value::Mapping(entries) = value {
        entries.retain(|(key, _)| !matches!(key, Value::String(text) if text == name));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(file: &str, text: &str) -> Rendered {
        let files = BTreeMap::from([(file.to_owned(), text.to_owned())]);
        Rendered { succeeded: true, message: String::new(), files }
    }

    fn found(file: &str, theirs: &str, ours: &str) -> String {
        match compare(&rendered(file, theirs), &rendered(file, ours)).unwrap() {
            Comparison::Same => "same".to_owned(),
            Comparison::Explained(ids) => ids.into_iter().collect::<Vec<_>>().join(" "),
            Comparison::Fault(_) => "fault".to_owned(),
        }
    }

    #[test]
    fn layout_and_order_of_fields_do_not_count() {
        assert_eq!(found("a.yaml", "a: 1\nb: [x]\n", "b:\n- x # why\na: 1\n"), "same");
        assert_eq!(found("a.yaml", "a: 1\n", "a: '1'\n"), "fault");
        assert_eq!(found("a.yaml", "a: [1, 2]\n", "a: [2, 1]\n"), "fault");
        assert_eq!(found("a.txt", "x", "y"), "fault");
    }

    #[test]
    fn status_of_a_kptfile_is_a_documented_difference() {
        let kptfile = "kind: Kptfile\nstatus: {conditions: []}\n";
        assert_eq!(found("app/Kptfile", kptfile, "kind: Kptfile\n"), "kptfile-status");
        let pod = "kind: Pod\nstatus: {conditions: []}\n";
        assert_eq!(found("app/pod.yaml", pod, "kind: Pod\n"), "fault");
    }

    #[test]
    fn annotations_that_kpt_adds_and_removes_are_documented_differences() {
        let of = |annotations: &str| format!("kind: A\nmetadata:\n  name: a\n{annotations}");
        let blueprint =
            of("  annotations:\n    b: c\n    cnrm.cloud.google.com/blueprint: kpt-fn\n");
        let other = of("  annotations:\n    b: c\n");
        assert_eq!(found("a.yaml", &blueprint, &other), "blueprint-annotation");
        assert_eq!(found("a.yaml", &of(""), &of("  annotations: {}\n")), "empty-annotations");
        assert_eq!(found("a.yaml", &of(""), &other), "fault");
    }

    #[test]
    fn refusal_to_delete_a_kptfile_is_a_documented_difference() {
        let ours = |message: &str| Rendered {
            succeeded: false,
            message: message.to_owned(),
            files: BTreeMap::from([("a/Kptfile".to_owned(), String::new())]),
        };
        let is_explained = |theirs: &Rendered, message: &str| {
            matches!(compare(theirs, &ours(message)).unwrap(), Comparison::Explained(_))
        };
        let refused = "error[deletion-not-allowed]: …";
        assert!(is_explained(&rendered("a/pod.yaml", ""), refused));
        assert!(!is_explained(&rendered("a/Kptfile", ""), refused));
        assert!(!is_explained(&rendered("a/pod.yaml", ""), "error[other]: …"));
    }

    #[test]
    fn every_difference_has_a_reason() {
        let ids = DIFFERENCES.iter().map(|it| it.id).chain([UNKNOWN_FIELD.0, KPTFILE_DELETED.0]);
        let errata = include_str!("../../../../docs/errata.md");
        for id in ids {
            assert!(!reason(id).is_empty(), "{id}");
            assert!(errata.contains(&format!("`{id}`")), "{id} is not documented");
        }
    }
}
