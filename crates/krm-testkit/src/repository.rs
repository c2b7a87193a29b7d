//! Checks of all case files in this repository that need no code under test: they parse, and their diffs apply.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{Case, diff, patch};

/// All case files under `crates/*/tests/cases`, sorted.
fn case_files() -> Vec<PathBuf> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate is in `crates/`");
    let directories =
        fs::read_dir(crates).unwrap().map(|entry| entry.unwrap().path().join("tests/cases"));
    let mut files: Vec<_> = directories
        .filter(|directory| directory.is_dir())
        .flat_map(|directory| fs::read_dir(directory).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|it| it == "case"))
        .collect();
    files.sort();
    files
}

#[test]
fn every_case_loads_and_is_in_canonical_form() {
    let files = case_files();
    assert!(!files.is_empty());
    for path in files {
        let case = Case::load(&path).unwrap_or_else(|error| panic!("{error}"));
        let bodies: Vec<_> = case.actions().map(|section| section.body.clone()).collect();
        assert_eq!(
            case.with_bodies(&bodies),
            fs::read_to_string(&path).unwrap(),
            "{}",
            path.display()
        );
    }
}

#[test]
fn every_expected_diff_is_minimal_and_applies_to_its_input() {
    let mut wrong = Vec::new();
    for path in case_files() {
        let case = Case::load(&path).unwrap_or_else(|error| panic!("{error}"));
        let old = case.input().input_text().replace("\r\n", "\n");
        let old = old.trim_start_matches('\u{FEFF}');
        for section in case.actions().filter(|section| section.body.starts_with("@@")) {
            let place = format!("{}:{}: {}", path.display(), section.line, section.title);
            let smallest = patch(old, &section.body).map(|new| diff(old, &new));
            if smallest.as_ref() != Ok(&section.body) {
                wrong.push(format!("{place}\n  {smallest:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
