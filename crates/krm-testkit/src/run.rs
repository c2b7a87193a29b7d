//! The runner: performs every action of every case in a directory, and compares or rewrites the expected outcomes.

use std::any::Any;
use std::env;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use crate::case::title_of;
use crate::{Case, Section, diff};

/// Runs every action of every `.case` file in `dir` and compares the outcome with the body of its section.
///
/// `perform` performs one action and returns its outcome. All failures are collected with file, line, action, expected
/// and actual outcome; a panic in `perform` counts as a failure. With `UPDATE_CASES=1` in the environment the bodies are
/// rewritten instead.
///
/// # Panics
/// An outcome differs from the expected one, a file cannot be read, or `dir` contains no case.
pub fn run_dir(dir: impl AsRef<Path>, perform: impl FnMut(&Case, &Section) -> String) {
    let update = env::var_os("UPDATE_CASES").is_some_and(|value| value == "1");
    let failures = run(dir.as_ref(), update, perform);
    assert!(failures.is_empty(), "{}\n{} failed", failures.join("\n"), failures.len());
}

/// The outcome of an edit that turned `input` into `new`: the [`diff()`] without the bytes that the flags of the input stand for.
///
/// With `crlf`, lines are shown without CR; with `bom`, the byte order mark is not shown.
///
/// ```
/// use krm_testkit::{Case, diff_from_input};
/// let case = Case::parse("x.case", "Prose.\n-- input.yaml (crlf) --\na: 1\n-- set a 2 --\n").unwrap();
/// assert_eq!(diff_from_input(case.input(), "a: 2\r\n"), "@@ 1\n-a: 1\n+a: 2\n");
/// ```
///
/// # Panics
/// `new` does not have the property that a flag describes: a line break is not CRLF, or the byte order mark is missing.
/// [`run_dir`] counts that as a failure even when it rewrites, so that no case file can expect it.
pub fn diff_from_input(input: &Section, new: &str) -> String {
    let old = input.input_text();
    let (mut old, mut new) = (old.as_str(), new);
    if input.has_flag("bom") {
        old = old.strip_prefix('\u{FEFF}').expect("added by the flag");
        new = new.strip_prefix('\u{FEFF}').expect("the byte order mark is missing");
    }
    if !input.has_flag("crlf") {
        return diff(old, new);
    }
    let bare =
        new.split_inclusive('\n').position(|line| line.ends_with('\n') && !line.ends_with("\r\n"));
    assert!(bare.is_none(), "line {} ends with LF alone", bare.unwrap_or(0) + 1);
    diff(&old.replace("\r\n", "\n"), &new.replace("\r\n", "\n"))
}

fn run(
    dir: &Path,
    update: bool,
    mut perform: impl FnMut(&Case, &Section) -> String,
) -> Vec<String> {
    let mut failures = Vec::new();
    let paths = match case_files(dir) {
        Ok(paths) => paths,
        Err(error) => return vec![format!("{}: {error}", dir.display())],
    };
    if paths.is_empty() {
        failures.push(format!("{}: no .case files found", dir.display()));
    }
    for path in paths {
        match Case::load(&path) {
            Ok(case) => run_case(&case, update, &mut perform, &mut failures),
            Err(error) => failures.push(error.to_string()),
        }
    }
    failures
}

/// The case files of a directory, sorted, because the order of `read_dir` is not deterministic.
fn case_files(dir: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.extension().is_some_and(|it| it == "case") {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

fn run_case(
    case: &Case,
    update: bool,
    perform: &mut impl FnMut(&Case, &Section) -> String,
    failures: &mut Vec<String>,
) {
    let mut bodies = Vec::new();
    for section in case.actions() {
        let place = format!("{}:{}: {}", case.path().display(), section.line, section.title);
        let body = match catch_unwind(AssertUnwindSafe(|| perform(case, section))) {
            Ok(outcome) => end_line(outcome),
            Err(panic) => {
                failures.push(format!("{place}\n  panicked: {}", panic_message(panic.as_ref())));
                bodies.push(section.body.clone());
                continue;
            }
        };
        if update && body.split_terminator('\n').any(|line| title_of(line).is_some()) {
            failures.push(format!(
                "{place}\n  the outcome contains a line that looks like a title:\n{}",
                indented(&body)
            ));
            bodies.push(section.body.clone());
            continue;
        }
        if !update && body != section.body {
            let expected = indented(&section.body);
            failures
                .push(format!("{place}\n  expected:\n{expected}  actual:\n{}", indented(&body)));
        }
        bodies.push(body);
    }
    let text = case.with_bodies(&bodies);
    if update
        && fs::read_to_string(case.path()).ok().as_deref() != Some(&text)
        && let Err(error) = fs::write(case.path(), text)
    {
        failures.push(format!("{}: {error}", case.path().display()));
    }
}

fn end_line(mut text: String) -> String {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("(no message)")
}

/// A body for a failure message: indented, with trailing whitespace made visible.
fn indented(body: &str) -> String {
    if body.is_empty() {
        return "    (nothing)\n".to_owned();
    }
    body.split_terminator('\n').fold(String::new(), |mut text, line| {
        let bare = line.trim_end_matches([' ', '\t', '\r']);
        let end = line[bare.len()..].replace(' ', "·").replace('\t', "\\t").replace('\r', "\\r");
        text.push_str(&format!("    {bare}{end}\n"));
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "Prose.\n-- input.yaml --\na: 1\n-- good --\nyes\n-- also --\n-- bad --\nno\n";

    /// A temporary directory with one case file, removed on drop.
    struct CaseDirectory(PathBuf);

    impl CaseDirectory {
        fn new(name: &str, text: &str) -> CaseDirectory {
            let dir = env::temp_dir().join(format!("krm-testkit-{}-{name}", std::process::id()));
            fs::create_dir_all(&dir).unwrap();
            fs::write(dir.join("x.case"), text).unwrap();
            fs::write(dir.join("notes.txt"), "not a case").unwrap();
            CaseDirectory(dir)
        }

        fn text(&self) -> String {
            fs::read_to_string(self.0.join("x.case")).unwrap()
        }
    }

    impl Drop for CaseDirectory {
        fn drop(&mut self) {
            fs::remove_dir_all(&self.0).unwrap();
        }
    }

    fn perform(_: &Case, section: &Section) -> String {
        if section.title == "also" { String::new() } else { "yes".to_owned() }
    }

    #[test]
    fn only_unexpected_outcomes_fail() {
        let directory = CaseDirectory::new("wrong", TEXT);
        let failures = run(&directory.0, false, perform);
        assert_eq!(failures.len(), 1, "{failures:?}");
        assert!(
            failures[0].ends_with("x.case:7: bad\n  expected:\n    no\n  actual:\n    yes\n"),
            "{failures:?}"
        );
        assert_eq!(directory.text(), TEXT);
    }

    #[test]
    fn all_failures_including_panics_are_collected() {
        let directory = CaseDirectory::new("all", TEXT);
        let failures = run(&directory.0, false, |_, section| match section.title.as_str() {
            "good" => panic!("bug in {}", section.title),
            _ => "other \t\r\n".to_owned(),
        });
        assert_eq!(failures.len(), 3, "{failures:?}");
        assert!(failures[0].ends_with("good\n  panicked: bug in good"), "{failures:?}");
        assert!(failures[1].ends_with("(nothing)\n  actual:\n    other·\\t\\r\n"), "{failures:?}");
    }

    #[test]
    #[should_panic(expected = "1 failed")]
    fn run_dir_panics_after_running_all_cases() {
        let directory = CaseDirectory::new("panics", TEXT);
        // A panic is a failure whether or not `UPDATE_CASES` is set.
        run_dir(&directory.0, |case, section| match section.title.as_str() {
            "bad" => panic!("bug"),
            _ => perform(case, section),
        });
    }

    #[test]
    fn update_rewrites_only_the_bodies_of_actions() {
        let directory = CaseDirectory::new("update", TEXT);
        assert_eq!(run(&directory.0, true, perform), [""; 0]);
        assert_eq!(directory.text(), TEXT.replace("no\n", "yes\n"));
        assert_eq!(run(&directory.0, false, perform), [""; 0]);
        let failures = run(&directory.0, true, |_, _| "-- x --\n".to_owned());
        assert_eq!(failures.len(), 3, "{failures:?}");
        assert_eq!(directory.text(), TEXT.replace("no\n", "yes\n"));
    }

    #[test]
    fn a_directory_without_cases_fails() {
        let directory = CaseDirectory::new("empty", TEXT);
        fs::remove_file(directory.0.join("x.case")).unwrap();
        assert!(run(&directory.0, false, perform)[0].ends_with("no .case files found"));
        assert_eq!(run(&directory.0.join("none"), false, perform).len(), 1);
    }

    #[test]
    fn output_must_keep_what_the_flags_describe() {
        let parse = |flags: &str| {
            Case::parse("x", &format!("P\n-- i.yaml ({flags}) --\na: 1\nb: 2\n-- noop --\n"))
                .unwrap()
        };
        let panics = |case: &Case, new: &str| {
            catch_unwind(AssertUnwindSafe(|| diff_from_input(case.input(), new))).is_err()
        };
        let (crlf, bom) = (parse("crlf"), parse("bom"));
        assert_eq!(diff_from_input(crlf.input(), "a: 1\r\nb: 3\r\n"), "@@ 2\n-b: 2\n+b: 3\n");
        assert!(panics(&crlf, "a: 1\r\nb: 2\n"));
        assert_eq!(diff_from_input(bom.input(), "\u{FEFF}a: 3\nb: 2\n"), "@@ 1\n-a: 1\n+a: 3\n");
        assert!(panics(&bom, "a: 3\nb: 2\n"));
    }
}
