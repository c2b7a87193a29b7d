//! `cargo xtask tidy`: the rules of the house that no compiler checks, each also a test of its own name.

mod conformance;
mod files;
mod no_io;
mod rooms;
mod rust_text;

use std::fmt;

use crate::{Outcome, shell};

/// A tracked text file, or a new one that git does not ignore.
pub(crate) struct TextFile {
    /// From the root of the checkout, with `/` between folders.
    path: String,
    text: String,
}

impl TextFile {
    fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }
}

/// One broken rule: where, and what to do about it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    path: String,
    line: usize,
    message: String,
}

impl Finding {
    fn new(file: &TextFile, line: usize, message: impl Into<String>) -> Self {
        Self { path: file.path.clone(), line, message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)
    }
}

type Rule = fn(&[TextFile]) -> Vec<Finding>;

/// Every rule with its name; the tests below run the same functions.
const RULES: &[(&str, Rule)] = &[
    ("conformance_is_shown", conformance::conformance_is_shown),
    ("dependencies_point_one_way", rooms::dependencies_point_one_way),
    ("files_say_what_they_are_for", files::files_say_what_they_are_for),
    ("files_stay_small", files::files_stay_small),
    ("no_io_below", no_io::no_io_below),
    ("nothing_is_left_over", files::nothing_is_left_over),
    ("no_machine_paths", files::no_machine_paths),
];

pub(crate) fn run(mut args: lexopt::Parser) -> Outcome {
    if let Some(arg) = args.next()? {
        return Err(arg.unexpected().into());
    }
    let files = text_files()?;
    let mut count = 0;
    for (name, rule) in RULES {
        for finding in rule(&files) {
            eprintln!("{finding} [{name}]");
            count += 1;
        }
    }
    if count > 0 {
        return Err(format!("{count} findings").into());
    }
    println!("tidy: {} rules hold in {} files", RULES.len(), files.len());
    Ok(())
}

/// What git tracks or would track; a file that is not UTF-8 is not text.
fn text_files() -> Outcome<Vec<TextFile>> {
    let mut git = shell::program("git");
    let names =
        shell::output(git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]))?;
    let mut files = Vec::new();
    for path in names.split_terminator('\0') {
        // A file deleted but not yet staged is still listed.
        let Ok(bytes) = std::fs::read(shell::root().join(path)) else { continue };
        if let Ok(text) = String::from_utf8(bytes) {
            files.push(TextFile { path: path.to_owned(), text });
        }
    }
    if files.is_empty() { Err("git lists no files here".into()) } else { Ok(files) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One small file for the tests of a rule.
    pub(super) fn file(path: &str, text: &str) -> TextFile {
        TextFile { path: path.to_owned(), text: text.to_owned() }
    }

    fn check(name: &str) {
        let files = text_files().expect("the checkout can be read");
        let (_, rule) =
            RULES.iter().find(|(rule, _)| *rule == name).expect("the rule is in the table");
        let findings: Vec<String> = rule(&files).iter().map(ToString::to_string).collect();
        assert!(findings.is_empty(), "\n{}\n", findings.join("\n"));
    }

    /// One test for each rule, and a compiler error for a name that is used twice.
    macro_rules! rules {
        ($($name:ident)*) => {
            $(#[test] fn $name() { check(stringify!($name)); })*

            #[test]
            fn every_rule_is_a_test() {
                let names: Vec<&str> = RULES.iter().map(|(name, _)| *name).collect();
                assert_eq!(names, [$(stringify!($name)),*]);
            }
        };
    }

    rules! {
        conformance_is_shown
        dependencies_point_one_way
        files_say_what_they_are_for
        files_stay_small
        no_io_below
        nothing_is_left_over
        no_machine_paths
    }

    #[test]
    fn a_finding_names_file_and_line() {
        let finding = Finding::new(&file("a/b.rs", ""), 7, "do this");
        assert_eq!(finding.to_string(), "a/b.rs:7: do this");
    }
}
