//! Property `same_meaning`: events are those of the yaml-test-suite.

use std::path::Path;

use krm_yaml::{File, ReadOptions, events};

/// Invalid cases that are read by default, because Kubernetes reads them; [`ReadOptions::strict`] refuses them.
const ACCEPTED: &[&str] = &[
    "9C9N", "9JBA", "CVW2", "DK95/01", "G5U8", "HRE5", "QB6E", "SU5Z", "X4QW", "Y79Y/003", "YJV2",
];

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
    for case in &wrong {
        println!("--- {}\n{}\n", case.name, describe(case));
    }
    assert!(names.is_empty(), "cases that differ from the suite: {names:?}");
    let accepted = cases.iter().filter(|case| case.events.is_none() && is_valid(case, false));
    let accepted: Vec<&str> = accepted.map(|case| case.name.as_str()).collect();
    assert_eq!(accepted, ACCEPTED, "invalid cases that are read by default");
    let valid = cases.iter().filter(|case| case.events.is_some()).count();
    println!("{valid} valid and {} invalid cases", cases.len() - valid);
}

fn agrees(case: &SuiteCase) -> bool {
    let file = File::parse(case.input.clone()).expect("the suite's files are small");
    match &case.events {
        None => !is_valid(case, true),
        Some(expected) => file.errors().next().is_none() && events(&file) == *expected,
    }
}

fn is_valid(case: &SuiteCase, strict: bool) -> bool {
    let options = ReadOptions { strict, ..ReadOptions::default() };
    let file = File::parse_with(case.input.clone(), options).expect("the suite's files are small");
    file.errors().next().is_none()
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
