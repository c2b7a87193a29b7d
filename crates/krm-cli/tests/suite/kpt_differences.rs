//! The differences from kpt: each case in `tests/kpt` runs both tools, and `docs/compatibility-with-kpt.md` is made from the cases.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use krm_testkit::{Case, Section};

use crate::cases;

const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/kpt");
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/compatibility-with-kpt.md");

/// The release of kpt that the cases were recorded with.
const VERSION: &str = "1.0.0-beta.56";

/// The line of the page after which everything is generated.
const MARKER: &str = "<!-- Generated from crates/krm-cli/tests/kpt. -->\n";

#[test]
fn every_difference_from_kpt_is_as_recorded() {
    let has_kpt = has_kpt();
    if !has_kpt {
        crate::sandbox::skipped("command lines of kpt", &format!("kpt {VERSION} is not on PATH"));
    }
    krm_testkit::run_dir(CASES, |case, action| match action.title.contains("kpt fn") {
        true if !has_kpt => action.body.clone(),
        _ => stable(&cases::run_action(case, action)),
    });
}

#[test]
fn page_has_exactly_the_recorded_differences() {
    let page = fs::read_to_string(PAGE).unwrap();
    let head = page.split_inclusive(MARKER).next().unwrap();
    assert!(head.ends_with(MARKER), "{PAGE} has no marker");
    let expected = format!("{head}{}", entries());
    if std::env::var_os("UPDATE_CASES").is_some_and(|value| value == "1") {
        fs::write(PAGE, expected).unwrap();
        return;
    }
    assert!(page == expected, "\n{}", krm_testkit::diff(&page, &expected));
}

/// The failing cases of kpt's own tests are differences, too.
#[test]
fn known_failures_of_kpt_cases_are_on_the_page() {
    let known = fs::read_to_string(Path::new(CASES).with_file_name("corpora").join("known.txt"));
    let page = fs::read_to_string(PAGE).unwrap();
    for line in known.unwrap().lines().filter(|line| line.starts_with("kpt-e2e/")) {
        let name = line.split(':').next().unwrap().rsplit('/').next().unwrap();
        assert!(page.contains(&format!("`{name}`")), "{name} is not on the page");
    }
}

fn has_kpt() -> bool {
    let version = Command::new("kpt").arg("version").stderr(Stdio::null()).output();
    version.is_ok_and(|it| String::from_utf8_lossy(&it.stdout).trim() == VERSION)
}

/// The output without durations and the name of the temporary directory.
fn stable(text: &str) -> String {
    let line = |line: &str| match line.rsplit_once(" in ") {
        Some((before, _)) if line.starts_with("[PASS]") || line.starts_with("[FAIL]") => {
            format!("{before} in 0s\n")
        }
        _ => format!("{line}\n"),
    };
    let text: String = text.lines().map(line).collect();
    let mut parts = text.split("/krm-test-");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |all, part| {
        let rest = part.trim_start_matches(|it: char| it.is_ascii_alphanumeric());
        format!("{all}/krm-test{rest}")
    })
}

/// The generated part of the page.
fn entries() -> String {
    let mut paths: Vec<_> = fs::read_dir(CASES).unwrap().map(|it| it.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|it| it == "case"));
    paths.sort();
    let all: Vec<Case> = paths.iter().map(|path| Case::load(path).unwrap()).collect();
    let mut text = String::from("\n");
    for case in &all {
        text.push_str(&format!("- [{}](#{})\n", title(case), id(case)));
    }
    all.iter().for_each(|case| text.push_str(&entry(case)));
    text
}

fn id(case: &Case) -> &str {
    case.path().file_stem().and_then(|it| it.to_str()).unwrap()
}

fn title(case: &Case) -> &str {
    case.description().lines().next().unwrap_or_default().trim_end_matches('.')
}

fn entry(case: &Case) -> String {
    let description = case.description().trim();
    let explanation = description.split_once('\n').map_or("", |(_, rest)| rest.trim());
    let has = |tool: &str| case.actions().any(|it| it.title.contains(&format!("{tool} fn")));
    assert!(has("kpt") && has("krm"), "{} does not run both tools", id(case));
    assert!(!explanation.is_empty(), "{} has no explanation", id(case));
    let runs: String = case.actions().map(run).collect();
    format!("\n## {}\n\n{}. {explanation}\n\n```console\n{runs}```\n", id(case), title(case))
}

fn run(action: &Section) -> String {
    format!("{}\n{}", action.title, action.body)
}
