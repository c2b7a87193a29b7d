//! The cases of this repository, checked for what needs no engine: they load, and their diffs belong to their inputs.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{Case, diff, patch};

/// All case files under `crates/*/tests/cases`, by name.
fn case_files() -> Vec<PathBuf> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("a crate stands in the folder of crates");
    let folders =
        fs::read_dir(crates).unwrap().map(|entry| entry.unwrap().path().join("tests/cases"));
    let mut files: Vec<_> = folders
        .filter(|folder| folder.is_dir())
        .flat_map(|folder| fs::read_dir(folder).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|it| it == "case"))
        .collect();
    files.sort();
    files
}

#[test]
fn every_case_loads_and_is_written_in_one_way() {
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
fn every_expected_diff_belongs_to_its_input() {
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
