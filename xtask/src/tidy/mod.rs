//! `cargo xtask tidy`: project rules that neither the compiler nor clippy checks; each is also a test of the same name.

mod architecture;
mod conformance;
mod dependencies;
mod diagnostics;
mod differences;
mod files;
mod language;
mod links;
mod no_io;
mod rust_source;

use std::fmt;

use crate::{TaskResult, shell};

/// A tracked text file, or a new one that git does not ignore.
pub(crate) struct TextFile {
    /// Relative to the root of the checkout, with `/` as separator.
    path: String,
    text: String,
}

impl TextFile {
    fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// Whether this is Rust source of a crate, without test modules in their own files.
    fn is_library_source(&self) -> bool {
        let is_test = self.path.ends_with("/tests.rs") || self.path.contains("/tests/");
        self.is_rust()
            && self.path.starts_with("crates/")
            && self.path.contains("/src/")
            && !is_test
    }
}

/// One violation of a rule, with its position and what to do about it.
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
    ("architecture_names_exist", architecture::architecture_names_exist),
    ("book_lists_every_page", links::book_lists_every_page),
    ("conformance_rows_name_tests", conformance::conformance_rows_name_tests),
    ("dependencies_point_one_way", dependencies::dependencies_point_one_way),
    ("differences_are_documented", differences::differences_are_documented),
    ("every_diagnostic_has_a_kind", diagnostics::every_diagnostic_has_a_kind),
    ("files_are_small", files::files_are_small),
    ("files_start_with_a_summary", files::files_start_with_a_summary),
    ("links_have_targets", links::links_have_targets),
    ("no_code_matches_on_messages", diagnostics::no_code_matches_on_messages),
    ("no_io_below", no_io::no_io_below),
    ("no_leftovers", files::no_leftovers),
    ("no_machine_paths", files::no_machine_paths),
    ("plain_language", language::plain_language),
];

pub(crate) fn run(mut args: lexopt::Parser) -> TaskResult {
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
    println!("tidy: {} rules pass for {} files", RULES.len(), files.len());
    Ok(())
}

/// All text files that git tracks or would track; files that are not UTF-8 are skipped.
fn text_files() -> TaskResult<Vec<TextFile>> {
    let mut git = shell::program("git");
    let names =
        shell::output(git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]))?;
    let mut files = Vec::new();
    for path in names.split_terminator('\0') {
        // Git still lists a file whose deletion is not staged.
        let Ok(bytes) = std::fs::read(shell::root().join(path)) else { continue };
        if let Ok(text) = String::from_utf8(bytes) {
            files.push(TextFile { path: path.to_owned(), text });
        }
    }
    if files.is_empty() { Err("git lists no files".into()) } else { Ok(files) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file for the tests of a rule.
    pub(super) fn file(path: &str, text: &str) -> TextFile {
        TextFile { path: path.to_owned(), text: text.to_owned() }
    }

    fn check(name: &str) {
        let files = text_files().expect("the checkout is readable");
        let (_, rule) = RULES.iter().find(|(rule, _)| *rule == name).expect("the rule is in RULES");
        let findings: Vec<String> = rule(&files).iter().map(ToString::to_string).collect();
        assert!(findings.is_empty(), "\n{}\n", findings.join("\n"));
    }

    /// Generates one test per rule; a duplicate name is a compile error.
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
        architecture_names_exist
        book_lists_every_page
        conformance_rows_name_tests
        dependencies_point_one_way
        differences_are_documented
        every_diagnostic_has_a_kind
        files_are_small
        files_start_with_a_summary
        links_have_targets
        no_code_matches_on_messages
        no_io_below
        no_leftovers
        no_machine_paths
        plain_language
    }

    #[test]
    fn a_finding_shows_file_and_line() {
        let finding = Finding::new(&file("a/b.rs", ""), 7, "do this");
        assert_eq!(finding.to_string(), "a/b.rs:7: do this");
    }
}
