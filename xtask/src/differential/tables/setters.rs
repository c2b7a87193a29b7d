//! Cases of the setter tables: kustomize's commands, and the library `setters2`.

use std::process::Output;

use krm_yaml::{DocumentRef, File, NodeRef, Path};

use super::{CaseResult, Runner, TestCase, compare};
use crate::TaskResult;

const DEFINITIONS: &str = "Krmfile";
const RESOURCES: &str = "resources.yaml";
const SCHEMA: &str = "schema.json";

/// A command of `TestSetCommand` and others: the files before and after it.
pub(super) fn run_command(runner: &Runner, case: &TestCase) -> TaskResult<CaseResult> {
    if case.table == "TestListSettersCommand" {
        return run_list(runner, case);
    }
    let inputs = [(DEFINITIONS, case.text("inputOpenAPI")), (RESOURCES, case.text("input"))];
    runner.files(&inputs)?;
    let mut arguments = vec!["cfg", command(&case.table), "."];
    arguments.extend(case.list("args").iter().map(String::as_str));
    if !case.text("schema").is_empty() {
        // Beside the package: the schema is no resource.
        std::fs::write(std::env::temp_dir().join(SCHEMA), case.text("schema"))?;
    }
    let schema = std::env::temp_dir().join(SCHEMA);
    let schema = schema.to_string_lossy();
    if !case.text("schema").is_empty() {
        arguments.extend(["--schema-path", &schema]);
    }
    let output = runner.run(&arguments)?;
    if let Some(difference) = exit_difference(case, &output) {
        return Ok(CaseResult::Differs(difference));
    }
    // Compat: the tests of kustomize end after an expected `err`, and do not look at the files; after an `errMsg` they do.
    match case.text("err").is_empty() {
        true => compare_files(runner, case),
        false => Ok(CaseResult::Same),
    }
}

fn command(table: &str) -> &'static str {
    match table {
        "TestCreateSetterCommand" => "create-setter",
        "TestCreateSubstitutionCommand" => "create-subst",
        "TestDeleteSetterCommand" => "delete-setter",
        "TestDeleteSubstitutionCommand" => "delete-subst",
        _ => "set",
    }
}

/// Messages are not compared, only whether there is an error.
fn exit_difference(case: &TestCase, output: &Output) -> Option<String> {
    let expected = [case.text("err"), case.text("errMsg")].concat();
    let stderr = String::from_utf8_lossy(&output.stderr);
    match (output.status.success(), expected.is_empty()) {
        (false, true) => Some(format!("krm fails: {}", stderr.trim())),
        (true, false) => Some(format!("kustomize fails: {}", expected.trim())),
        _ => None,
    }
}

/// The files after the command.
fn compare_files(runner: &Runner, case: &TestCase) -> TaskResult<CaseResult> {
    let mut result = CaseResult::Same;
    for (field, name) in [("expectedOpenAPI", DEFINITIONS), ("expectedResources", RESOURCES)] {
        if case.text(field).is_empty() {
            continue;
        }
        match compare(case.text(field), &runner.read(name)?, true)? {
            CaseResult::Same => {}
            CaseResult::Formatting => result = CaseResult::Formatting,
            differs => return Ok(differs),
        }
    }
    Ok(result)
}

/// The table of `list-setters`: every row has the same cells in the same order.
fn run_list(runner: &Runner, case: &TestCase) -> TaskResult<CaseResult> {
    runner.files(&[(DEFINITIONS, case.text("openapi")), (RESOURCES, case.text("input"))])?;
    let mut arguments = vec!["cfg", "list-setters", "."];
    arguments.extend(case.list("args").iter().map(String::as_str));
    let output = runner.run(&arguments)?;
    let stdout = String::from_utf8_lossy(&output.stdout);
    let cells = |text: &str| -> Vec<String> {
        text.split_whitespace()
            .filter(|it| it.contains(char::is_alphanumeric))
            .map(str::to_owned)
            .collect()
    };
    let (expected, found) = (cells(case.text("expected")), cells(&stdout));
    let found_at = found.windows(expected.len().max(1)).any(|window| window == expected);
    Ok(match (case.text("expected").trim() == stdout.trim(), found_at || expected.is_empty()) {
        (true, _) => CaseResult::Same,
        (_, true) => CaseResult::Formatting,
        _ => CaseResult::Differs(krm_testkit::diff(case.text("expected").trim(), stdout.trim())),
    })
}

/// A case of `setters2`: the definition already has the new value, the fields the old one.
pub(super) fn run_set(runner: &Runner, case: &TestCase) -> TaskResult<CaseResult> {
    runner.files(&[(DEFINITIONS, case.text("openapi")), (RESOURCES, case.text("input"))])?;
    let file = File::parse(case.text("openapi").to_owned())?;
    let values = setter_values(&file, case.text("setter"));
    let mut arguments = vec!["cfg", "set", ".", case.text("setter"), "--"];
    arguments.extend(values.iter().map(String::as_str));
    let output = runner.run(&arguments)?;
    if let Some(difference) = exit_difference(case, &output) {
        return Ok(CaseResult::Differs(difference));
    }
    compare(case.text("expected"), &runner.read(RESOURCES)?, true)
}

fn setter_values(file: &File, name: &str) -> Vec<String> {
    let key = format!("io.k8s.cli.setters.{name}");
    let path = ["openAPI", "definitions", &key, "x-k8s-cli", "setter"];
    let path = path.iter().fold(Path::default(), |path, key| path.join(key));
    let setter = file.document(0).and_then(|it: DocumentRef<'_>| it.find(&path));
    let field = |name| setter.and_then(|setter| setter.as_mapping()?.get(name));
    let text = |node: NodeRef<'_>| Some(node.as_scalar()?.value().into_owned());
    match (field("listValues"), field("value").and_then(text)) {
        (Some(list), _) => list.children().filter_map(text).collect(),
        (None, value) => value.into_iter().collect(),
    }
}
