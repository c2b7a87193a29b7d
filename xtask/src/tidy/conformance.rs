//! Rule `conformance_rows_name_tests`: every row of docs/conformance.md names at least one test, and the tests exist.

use super::{Finding, TextFile};

const PAGE: &str = "docs/conformance.md";

/// The directory of case files that are named without a path.
const CASES: &str = "crates/krm-cli/tests/cases";

pub(super) fn conformance_rows_name_tests(files: &[TextFile]) -> Vec<Finding> {
    let Some(page) = files.iter().find(|file| file.path == PAGE) else { return Vec::new() };
    let rows = rows(&page.text);
    let mut findings = Vec::new();
    if rows.is_empty() {
        findings.push(Finding::new(page, 1, "no table rows found"));
    }
    for (line, last_cell) in rows {
        let tests: Vec<&str> = names(last_cell).collect();
        if tests.is_empty() {
            findings.push(Finding::new(
                page,
                line,
                "expected the name of a test in the last column",
            ));
        }
        let missing = tests.into_iter().filter(|test| !exists(test, files));
        findings.extend(missing.map(|test| {
            let message = format!(
                "`{test}` does not exist; use a case of {CASES} or `CRATE/FILE.rs::test_name`"
            );
            Finding::new(page, line, message)
        }));
    }
    findings
}

/// The last cell of each table row with its line number, without header rows.
fn rows(text: &str) -> Vec<(usize, &str)> {
    let lines: Vec<&str> = text.lines().collect();
    let is_separator = |line: &str| line.starts_with("|-");
    let row = |(at, line): (usize, &&'_ str)| {
        let is_header = lines.get(at + 1).is_some_and(|next| is_separator(next));
        (line.starts_with('|') && !is_separator(line) && !is_header).then_some(at)
    };
    let rows = lines.iter().enumerate().filter_map(row);
    rows.filter_map(|at| Some((at + 1, lines[at].trim_end_matches(['|', ' ']).rsplit('|').next()?)))
        .collect()
}

/// The parts in backquotes.
fn names(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

/// Whether the case file or test function exists.
fn exists(test: &str, files: &[TextFile]) -> bool {
    let Some((path, name)) = test.split_once("::") else {
        let case = format!("{CASES}/{test}.case");
        return files.iter().any(|file| file.path == case);
    };
    let path = format!("crates/{path}");
    let file = files.iter().find(|file| file.path == path && file.is_rust());
    file.is_some_and(|file| has_test(&file.text, name))
}

fn has_test(text: &str, name: &str) -> bool {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let opens = |line: &str| {
        let rest = line.strip_prefix("fn ").and_then(|rest| rest.strip_prefix(name));
        rest.is_some_and(|rest| rest.starts_with('('))
    };
    let attributes = |at: usize| lines[..at].iter().rev().take_while(|line| line.starts_with("#["));
    lines
        .iter()
        .enumerate()
        .any(|(at, line)| opens(line) && attributes(at).any(|it| *it == "#[test]"))
}

#[cfg(test)]
mod tests {
    use super::super::tests::file;
    use super::*;

    const HEAD: &str = "| level | requirement | tests |\n|---|---|---|\n";

    fn messages(page: &str) -> Vec<(usize, String)> {
        let files = [
            file(PAGE, page),
            file("crates/krm-cli/tests/cases/fn-wrap.case", ""),
            file("crates/a/src/b.rs", "#[test]\n#[cfg(unix)]\nfn a_test() {}\nfn helper() {}\n"),
        ];
        let findings = conformance_rows_name_tests(&files);
        findings.into_iter().map(|it| (it.line, it.message)).collect()
    }

    #[test]
    fn rows_with_existing_tests_pass() {
        let page =
            format!("# It\n\n{HEAD}| MUST | `stdin` | `fn-wrap`, `a/src/b.rs::a_test` (so) |\n");
        assert_eq!(messages(&page), []);
    }

    #[test]
    fn missing_tests_are_found() {
        for (cell, wrong) in [
            ("as above", "expected the name of a test"),
            ("`fn-warp`", "`fn-warp` does not exist"),
            ("`fn-wrap`, `a/src/b.rs::missing_test`", "`a/src/b.rs::missing_test` does not exist"),
            ("`a/src/b.rs::helper`", "`a/src/b.rs::helper` does not exist"),
            ("`a/src/c.rs::a_test`", "`a/src/c.rs::a_test` does not exist"),
        ] {
            let found = messages(&format!("{HEAD}| MUST | x | {cell} |\n"));
            assert!(
                matches!(&found[..], [(3, message)] if message.starts_with(wrong)),
                "{found:?}"
            );
        }
        assert_eq!(messages("no table\n")[0].1, "no table rows found");
    }
}
