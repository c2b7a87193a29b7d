//! The runner: does every action of every case in a folder, and compares or rewrites what the files expect.

use std::any::Any;
use std::env;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use crate::case::title_of;
use crate::{Case, Section, diff};

/// Runs every action of every `.case` file in `dir` and compares its outcome with the body of its section.
///
/// All failures are collected, with file, line, action, what was expected and what came; a panic of `act` is one of
/// them. With `UPDATE_CASES=1` in the environment the bodies are rewritten instead.
///
/// # Panics
/// An outcome is not the expected one, a file cannot be read, or there is no case at all.
pub fn run_dir(dir: impl AsRef<Path>, act: impl FnMut(&Case, &Section) -> String) {
    let update = env::var_os("UPDATE_CASES").is_some_and(|value| value == "1");
    let failures = run(dir.as_ref(), update, act);
    assert!(failures.is_empty(), "{}\n{} failed", failures.join("\n"), failures.len());
}

/// The outcome of an edit that turned `input` into `new`: the [`diff()`], without what the flags of the input promise.
///
/// With `crlf` lines are shown without CR, with `bom` the mark is not shown.
///
/// ```
/// use krm_testkit::{Case, outcome};
/// let case = Case::parse("x.case", "Prose.\n-- input.yaml (crlf) --\na: 1\n-- set a 2 --\n").unwrap();
/// assert_eq!(outcome(case.input(), "a: 2\r\n"), "@@ 1\n-a: 1\n+a: 2\n");
/// ```
///
/// # Panics
/// A promise is broken: a line break that is not CRLF, or no byte order mark. [`run_dir`] counts that as a failure,
/// also when it rewrites, so that no case comes to expect it.
pub fn outcome(input: &Section, new: &str) -> String {
    let old = input.input_text();
    let (mut old, mut new) = (old.as_str(), new);
    if input.has_flag("bom") {
        old = old.strip_prefix('\u{FEFF}').expect("the flag put it there");
        new = new.strip_prefix('\u{FEFF}').expect("the byte order mark is gone");
    }
    if !input.has_flag("crlf") {
        return diff(old, new);
    }
    let bare =
        new.split_inclusive('\n').position(|line| line.ends_with('\n') && !line.ends_with("\r\n"));
    assert!(bare.is_none(), "line {} ends with LF alone", bare.unwrap_or(0) + 1);
    diff(&old.replace("\r\n", "\n"), &new.replace("\r\n", "\n"))
}

fn run(dir: &Path, update: bool, mut act: impl FnMut(&Case, &Section) -> String) -> Vec<String> {
    let mut failures = Vec::new();
    let paths = match case_files(dir) {
        Ok(paths) => paths,
        Err(error) => return vec![format!("{}: {error}", dir.display())],
    };
    if paths.is_empty() {
        failures.push(format!("{}: no .case file in it", dir.display()));
    }
    for path in paths {
        match Case::load(&path) {
            Ok(case) => run_case(&case, update, &mut act, &mut failures),
            Err(error) => failures.push(error.to_string()),
        }
    }
    failures
}

/// The case files of a folder, by name: the order of the disk reaches no output.
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
    act: &mut impl FnMut(&Case, &Section) -> String,
    failures: &mut Vec<String>,
) {
    let mut bodies = Vec::new();
    for section in case.actions() {
        let place = format!("{}:{}: {}", case.path().display(), section.line, section.title);
        let body = match catch_unwind(AssertUnwindSafe(|| act(case, section))) {
            Ok(outcome) => end_line(outcome),
            Err(panic) => {
                failures.push(format!("{place}\n  panicked: {}", panic_message(panic.as_ref())));
                bodies.push(section.body.clone());
                continue;
            }
        };
        if update && body.split_terminator('\n').any(|line| title_of(line).is_some()) {
            failures.push(format!(
                "{place}\n  the outcome has a line that looks like a title:\n{}",
                shown(&body)
            ));
            bodies.push(section.body.clone());
            continue;
        }
        if !update && body != section.body {
            let expected = shown(&section.body);
            failures.push(format!("{place}\n  expected:\n{expected}  actual:\n{}", shown(&body)));
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
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("not with a text")
}

/// A body as it is read in a failure: indented, with what the eye misses made visible.
fn shown(body: &str) -> String {
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

    /// A folder of this process with one case in it, gone when dropped.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str, text: &str) -> Folder {
            let dir = env::temp_dir().join(format!("krm-testkit-{}-{name}", std::process::id()));
            fs::create_dir_all(&dir).unwrap();
            fs::write(dir.join("x.case"), text).unwrap();
            fs::write(dir.join("notes.txt"), "no case").unwrap();
            Folder(dir)
        }

        fn text(&self) -> String {
            fs::read_to_string(self.0.join("x.case")).unwrap()
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            fs::remove_dir_all(&self.0).unwrap();
        }
    }

    fn act(_: &Case, section: &Section) -> String {
        if section.title == "also" { String::new() } else { "yes".to_owned() }
    }

    #[test]
    fn wrong_expectations_fail_and_right_ones_do_not() {
        let folder = Folder::new("wrong", TEXT);
        let failures = run(&folder.0, false, act);
        assert_eq!(failures.len(), 1, "{failures:?}");
        assert!(
            failures[0].ends_with("x.case:7: bad\n  expected:\n    no\n  actual:\n    yes\n"),
            "{failures:?}"
        );
        assert_eq!(folder.text(), TEXT);
    }

    #[test]
    fn all_failures_are_collected_panics_too() {
        let folder = Folder::new("all", TEXT);
        let failures = run(&folder.0, false, |_, section| match section.title.as_str() {
            "good" => panic!("bug in {}", section.title),
            _ => "other \t\r\n".to_owned(),
        });
        assert_eq!(failures.len(), 3, "{failures:?}");
        assert!(failures[0].ends_with("good\n  panicked: bug in good"), "{failures:?}");
        assert!(failures[1].ends_with("(nothing)\n  actual:\n    other·\\t\\r\n"), "{failures:?}");
    }

    #[test]
    #[should_panic(expected = "1 failed")]
    fn run_dir_panics_at_the_end() {
        let folder = Folder::new("panics", TEXT);
        // A panic fails whether the environment says to update or not.
        run_dir(&folder.0, |case, section| match section.title.as_str() {
            "bad" => panic!("bug"),
            _ => act(case, section),
        });
    }

    #[test]
    fn update_rewrites_the_bodies_only() {
        let folder = Folder::new("update", TEXT);
        assert_eq!(run(&folder.0, true, act), [""; 0]);
        assert_eq!(folder.text(), TEXT.replace("no\n", "yes\n"));
        assert_eq!(run(&folder.0, false, act), [""; 0]);
        let failures = run(&folder.0, true, |_, _| "-- x --\n".to_owned());
        assert_eq!(failures.len(), 3, "{failures:?}");
        assert_eq!(folder.text(), TEXT.replace("no\n", "yes\n"));
    }

    #[test]
    fn a_folder_without_cases_fails() {
        let folder = Folder::new("empty", TEXT);
        fs::remove_file(folder.0.join("x.case")).unwrap();
        assert!(run(&folder.0, false, act)[0].ends_with("no .case file in it"));
        assert_eq!(run(&folder.0.join("none"), false, act).len(), 1);
    }

    #[test]
    fn flags_are_promises() {
        let parse = |flags: &str| {
            Case::parse("x", &format!("P\n-- i.yaml ({flags}) --\na: 1\nb: 2\n-- noop --\n"))
                .unwrap()
        };
        let broken = |case: &Case, new: &str| {
            catch_unwind(AssertUnwindSafe(|| outcome(case.input(), new))).is_err()
        };
        let (crlf, bom) = (parse("crlf"), parse("bom"));
        assert_eq!(outcome(crlf.input(), "a: 1\r\nb: 3\r\n"), "@@ 2\n-b: 2\n+b: 3\n");
        assert!(broken(&crlf, "a: 1\r\nb: 2\n"));
        assert_eq!(outcome(bom.input(), "\u{FEFF}a: 3\nb: 2\n"), "@@ 1\n-a: 1\n+a: 3\n");
        assert!(broken(&bom, "a: 3\nb: 2\n"));
    }
}
