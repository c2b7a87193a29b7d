//! The page of conformance: every row names a test, and every test that it names is there.

use super::{Finding, TextFile};

const PAGE: &str = "docs/conformance.md";

/// Where a name without a path is looked for.
const CASES: &str = "crates/krm-cli/tests/cases";

pub(super) fn conformance_is_shown(files: &[TextFile]) -> Vec<Finding> {
    let Some(page) = files.iter().find(|file| file.path == PAGE) else { return Vec::new() };
    let rows = rows(&page.text);
    let mut findings = Vec::new();
    if rows.is_empty() {
        findings.push(Finding::new(page, 1, "the page has no rows"));
    }
    for (line, shown_by) in rows {
        let tests: Vec<&str> = names(shown_by).collect();
        if tests.is_empty() {
            findings.push(Finding::new(page, line, "name the test that shows it"));
        }
        let missing = tests.into_iter().filter(|test| !is_there(test, files));
        findings.extend(missing.map(|test| {
            let message = format!(
                "`{test}` is no test; write `a-case` of {CASES}, or `CRATE/FILE.rs::the_test`"
            );
            Finding::new(page, line, message)
        }));
    }
    findings
}

/// The last cell of each row of a table, with its line; heads and the rules below them are none.
fn rows(text: &str) -> Vec<(usize, &str)> {
    let lines: Vec<&str> = text.lines().collect();
    let is_rule = |line: &str| line.starts_with("|-");
    let row = |(at, line): (usize, &&'_ str)| {
        let is_head = lines.get(at + 1).is_some_and(|next| is_rule(next));
        (line.starts_with('|') && !is_rule(line) && !is_head).then_some(at)
    };
    let rows = lines.iter().enumerate().filter_map(row);
    rows.filter_map(|at| Some((at + 1, lines[at].trim_end_matches(['|', ' ']).rsplit('|').next()?)))
        .collect()
}

/// What stands between backticks.
fn names(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

/// Whether a case is there, or a function that is a test, in the file that is named.
fn is_there(test: &str, files: &[TextFile]) -> bool {
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

    const HEAD: &str = "| word | says | shown by |\n|---|---|---|\n";

    fn messages(page: &str) -> Vec<(usize, String)> {
        let files = [
            file(PAGE, page),
            file("crates/krm-cli/tests/cases/fn-wrap.case", ""),
            file("crates/a/src/b.rs", "#[test]\n#[cfg(unix)]\nfn it_is() {}\nfn helps() {}\n"),
        ];
        let findings = conformance_is_shown(&files);
        findings.into_iter().map(|it| (it.line, it.message)).collect()
    }

    #[test]
    fn a_row_with_its_tests_is_fine() {
        let page =
            format!("# It\n\n{HEAD}| MUST | `stdin` | `fn-wrap`, `a/src/b.rs::it_is` (so) |\n");
        assert_eq!(messages(&page), []);
    }

    #[test]
    fn a_row_without_a_test_and_a_test_that_is_none_are_found() {
        for (cell, wrong) in [
            ("as above", "name the test"),
            ("`fn-warp`", "`fn-warp` is no test"),
            ("`fn-wrap`, `a/src/b.rs::it_was`", "`a/src/b.rs::it_was` is no test"),
            ("`a/src/b.rs::helps`", "`a/src/b.rs::helps` is no test"),
            ("`a/src/c.rs::it_is`", "`a/src/c.rs::it_is` is no test"),
        ] {
            let found = messages(&format!("{HEAD}| MUST | x | {cell} |\n"));
            assert!(
                matches!(&found[..], [(3, message)] if message.starts_with(wrong)),
                "{found:?}"
            );
        }
        assert_eq!(messages("no table\n")[0].1, "the page has no rows");
    }
}
