//! Property `same_meaning`: events are those of the yaml-test-suite.

use std::path::Path;

use krm_yaml::{File, events};

/// Cases that differ from the suite, with the reason. The list may only shrink.
const KNOWN: &[(&str, &str)] = &[(
    "9C9N",
    "a flow collection further left than its parent: Kubernetes' own reader takes it, \
     `ReadOptions::strict_indentation` refuses it",
)];

struct SuiteCase {
    name: String,
    input: String,
    /// The suite's events; `None` if the input is invalid.
    events: Option<String>,
}

#[test]
fn same_meaning() {
    let Some(directory) = std::env::var_os("KRM_YAML_TEST_SUITE") else {
        println!("skipped: KRM_YAML_TEST_SUITE does not name the yaml-test-suite's directory");
        return;
    };
    let mut cases = Vec::new();
    collect(Path::new(&directory), &mut cases);
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(cases.len() >= 400, "only {} cases in the suite's directory", cases.len());

    let wrong: Vec<&SuiteCase> = cases.iter().filter(|case| !agrees(case)).collect();
    let names: Vec<&str> = wrong.iter().map(|case| case.name.as_str()).collect();
    let known: Vec<&str> = KNOWN.iter().map(|(name, _)| *name).collect();
    for case in &wrong {
        if !known.contains(&case.name.as_str()) {
            println!("--- {}\n{}\n", case.name, describe(case));
        }
    }
    assert_eq!(names, known, "what differs from the suite is not what the list says");
    let valid = cases.iter().filter(|case| case.events.is_some()).count();
    println!("{valid} valid and {} invalid cases", cases.len() - valid);
}

fn agrees(case: &SuiteCase) -> bool {
    let file = File::parse(case.input.clone()).expect("the suite's files are small");
    match &case.events {
        None => file.errors().next().is_some(),
        Some(expected) => file.errors().next().is_none() && events(&file) == *expected,
    }
}

fn describe(case: &SuiteCase) -> String {
    let file = File::parse(case.input.clone()).expect("the suite's files are small");
    let errors: Vec<String> = file.errors().map(ToString::to_string).collect();
    format!("{:?}\nexpected:\n{:?}\ngot:\n{}\n{errors:?}", case.input, case.events, events(&file))
}

fn collect(directory: &Path, cases: &mut Vec<SuiteCase>) {
    let input = directory.join("in.yaml");
    if input.exists() {
        cases.push(read_case(directory, &input));
        return;
    }
    let entries = std::fs::read_dir(directory).expect("the suite's directory can be read");
    for entry in entries {
        let path = entry.expect("the suite's directory can be read").path();
        // `name` and `tags` repeat the cases under other headings.
        let repeats = path.file_name().is_some_and(|name| name == "name" || name == "tags");
        if path.is_dir() && !repeats {
            collect(&path, cases);
        }
    }
}

fn read_case(directory: &Path, input: &Path) -> SuiteCase {
    let read =
        |path: &Path| std::fs::read_to_string(path).expect("a file of the suite can be read");
    let refused = directory.join("error").exists();
    let parts: Vec<String> =
        directory.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    let numbered = parts.last().is_some_and(|part| part.len() < 4);
    SuiteCase {
        name: parts[parts.len() - if numbered { 2 } else { 1 }..].join("/"),
        input: read(input),
        events: (!refused).then(|| read(&directory.join("test.event"))),
    }
}
