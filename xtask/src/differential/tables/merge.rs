//! Cases of kyaml's merge tables, run with `krm yaml merge` and `krm yaml merge3`.

use std::process::Output;

use krm_yaml::{File, Value};

use super::{CaseResult, Runner, TestCase, compare};
use crate::TaskResult;

pub(super) fn run_two_way(runner: &Runner, case: &TestCase) -> TaskResult<CaseResult> {
    runner.files(&[("source.yaml", case.text("source")), ("dest.yaml", case.text("dest"))])?;
    let new_items = match case.text("mergeOptions.ListIncreaseDirection") {
        "MergeOptionsListPrepend" => "first",
        _ => "last",
    };
    let mut arguments = vec!["yaml", "merge", "source.yaml", "dest.yaml", "--new-items", new_items];
    arguments.extend(list_keys(case));
    let output = runner.run_in_place(&arguments, "dest.yaml")?;
    let has_same_elements =
        || -> TaskResult<bool> { Ok(sorted(case.text("expected"))? == sorted(&stdout(&output))?) };
    match compare_output(case, &output)? {
        // Compat: kyaml's test formats both sides, which sorts containers by name.
        CaseResult::Differs(_) if has_same_elements().is_ok_and(|same| same) => {
            Ok(CaseResult::Formatting)
        }
        result => Ok(result),
    }
}

/// A document as text that does not depend on the order of keys, and of elements with a name.
fn sorted(text: &str) -> TaskResult<String> {
    let file = File::parse(text.trim().to_owned())?;
    let root = file.document(0).and_then(krm_yaml::DocumentRef::root).ok_or("no document")?;
    Ok(canonical(&root.to_value()?))
}

fn canonical(value: &Value<'_>) -> String {
    match value {
        Value::Mapping(entries) => {
            let entry = |(key, value)| format!("{}: {}", canonical(key), canonical(value));
            let mut entries: Vec<String> = entries.iter().map(|(a, b)| entry((a, b))).collect();
            entries.sort();
            format!("{{{}}}", entries.join(", "))
        }
        Value::Sequence(items) => {
            let mut items: Vec<String> = items.iter().map(canonical).collect();
            if items.iter().all(|item| item.contains("\"name\": ")) {
                items.sort();
            }
            format!("[{}]", items.join(", "))
        }
        other => krm_core::print::json::display(other),
    }
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub(super) fn run_three_way(runner: &Runner, case: &TestCase) -> TaskResult<CaseResult> {
    let files = [("base.yaml", "origin"), ("upstream.yaml", "update"), ("local.yaml", "local")];
    runner.files(&files.map(|(name, field)| (name, case.text(field))))?;
    let mut arguments = vec!["yaml", "merge3", "--base", "base.yaml"];
    arguments.extend(["--upstream", "upstream.yaml", "--local", "local.yaml"]);
    arguments.extend(list_keys(case));
    compare_output(case, &runner.run_in_place(&arguments, "local.yaml")?)
}

fn list_keys(case: &TestCase) -> [&'static str; 2] {
    ["--list-keys", if case.text("infer") == "true" { "infer" } else { "schema" }]
}

/// A conflict is an exit code of krm and not of kyaml, so only a run without output counts as failed.
fn compare_output(case: &TestCase, output: &Output) -> TaskResult<CaseResult> {
    let (stdout, stderr) = (stdout(output), String::from_utf8_lossy(&output.stderr));
    let has_failed = stdout.is_empty() && !output.status.success();
    match (has_failed, case.text("err").is_empty()) {
        (true, false) => Ok(CaseResult::Same),
        (true, true) => Ok(CaseResult::Differs(format!("krm fails: {}", stderr.trim()))),
        (false, false) => Ok(CaseResult::Differs(format!("kyaml fails: {}", case.text("err")))),
        // Comments are part of the result, but krm keeps more of them on purpose.
        (false, true) => compare(case.text("expected"), &stdout, false),
    }
}
