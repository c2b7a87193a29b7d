//! Runs the test tables of kyaml and of kustomize's setter commands with krm: `cargo xtask differential --tables`.
//!
//! The tables are read from the Go module cache and never copied. Values are compared, and comments where the tables are about
//! them; bytes that differ only in formatting are counted separately. Every other difference must be in [`known`].

mod go_cases;
mod known;
mod merge;
mod setters;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use krm_core::compare::equal_in_yaml_1_2;
use krm_yaml::{File, NodeRef};

use crate::{TaskResult, shell};
use go_cases::{GoTables, TestCase};

/// What is compared and with which binary.
#[derive(Default)]
pub(super) struct Options {
    /// The krm binary, instead of a debug build of this checkout.
    pub(super) krm: Option<PathBuf>,
    /// Only cases whose name contains this, printed with their inputs and outputs.
    pub(super) only: Option<String>,
}

impl Options {
    /// Parses what follows `--tables`.
    pub(super) fn parse(args: &mut lexopt::Parser) -> TaskResult<Self> {
        let mut options = Self::default();
        while let Some(arg) = args.next()? {
            match arg {
                lexopt::Arg::Long("krm") => options.krm = Some(args.value()?.into()),
                lexopt::Arg::Long("only") => {
                    options.only = Some(args.value()?.to_string_lossy().into_owned());
                }
                _ => return Err(arg.unexpected().into()),
            }
        }
        Ok(options)
    }
}

/// How to run the cases of one group of tables.
struct TableGroup {
    name: &'static str,
    tables: GoTables,
    run: fn(&Runner, &TestCase) -> TaskResult<CaseResult>,
}

const GROUPS: [TableGroup; 4] = [
    TableGroup { name: "merge2", tables: go_cases::MERGE2, run: merge::run_two_way },
    TableGroup { name: "merge3", tables: go_cases::MERGE3, run: merge::run_three_way },
    TableGroup { name: "cmd/config", tables: go_cases::COMMANDS, run: setters::run_command },
    TableGroup { name: "setters2", tables: go_cases::SETTERS2, run: setters::run_set },
];

/// The result of one case.
#[derive(PartialEq, Eq)]
enum CaseResult {
    Same,
    /// Equal values, other bytes.
    Formatting,
    /// What differs, for people.
    Differs(String),
}

/// Runs every table; a difference that is not known is an error, and so is a known one that is gone.
pub(super) fn run(options: &Options) -> TaskResult {
    let runner = Runner::new(options)?;
    let mut wrong = 0;
    for group in &GROUPS {
        wrong += run_group(&runner, group, options)?;
    }
    match wrong {
        0 => Ok(()),
        count => Err(format!("{count} cases differ from `known.rs`").into()),
    }
}

/// Returns the number of cases that are not as `known.rs` says.
fn run_group(runner: &Runner, group: &TableGroup, options: &Options) -> TaskResult<usize> {
    let (mut same, mut formatting, mut explained) = (0, 0, Vec::new());
    let mut wrong = Vec::new();
    let cases = go_cases::read(&group.tables)?;
    let is_selected = |name: &str| options.only.as_deref().is_none_or(|only| name.contains(only));
    let mut selected = 0;
    for case in cases.iter().filter(|case| is_selected(&case.name())) {
        selected += 1;
        let (result, known) = ((group.run)(runner, case)?, known::reason(group.name, &case.name()));
        if options.only.is_some() {
            println!("{}: {case}{}", case.name(), description(&result));
        }
        match (result, known) {
            (CaseResult::Differs(_), Some(reason)) => explained.push((case.name(), reason)),
            (CaseResult::Differs(difference), None) => {
                wrong.push(format!("differs: {}: {difference}", case.name()));
            }
            (_, Some(_)) => wrong.push(format!("no longer differs: {}", case.name())),
            (CaseResult::Same, None) => same += 1,
            (CaseResult::Formatting, None) => formatting += 1,
        }
    }
    println!(
        "{}: {} of {selected} cases are equal, {formatting} of them but for formatting; {} known differences",
        group.name,
        same + formatting,
        explained.len()
    );
    for (name, reason) in explained {
        println!("  known: {name}: {reason}");
    }
    wrong.iter().for_each(|line| println!("  {line}"));
    Ok(wrong.len())
}

fn description(result: &CaseResult) -> String {
    match result {
        CaseResult::Same => "same".to_owned(),
        CaseResult::Formatting => "formatting".to_owned(),
        CaseResult::Differs(difference) => difference.clone(),
    }
}

/// Runs krm in a directory of its own.
struct Runner {
    krm: PathBuf,
    directory: PathBuf,
}

impl Runner {
    fn new(options: &Options) -> TaskResult<Self> {
        let krm = match &options.krm {
            Some(path) => fs::canonicalize(path)?,
            None => {
                shell::run(shell::cargo().args(["build", "--quiet", "-p", "krm-cli"]))?;
                shell::target().join("debug/krm")
            }
        };
        Ok(Self { krm, directory: shell::target().join("differential-tables") })
    }

    /// An empty directory with these files.
    fn files(&self, files: &[(&str, &str)]) -> TaskResult<&Path> {
        if self.directory.exists() {
            fs::remove_dir_all(&self.directory)?;
        }
        fs::create_dir_all(&self.directory)?;
        for (name, text) in files {
            fs::write(self.directory.join(name), text)?;
        }
        Ok(&self.directory)
    }

    fn read(&self, name: &str) -> TaskResult<String> {
        Ok(fs::read_to_string(self.directory.join(name))?)
    }

    fn run(&self, arguments: &[&str]) -> TaskResult<Output> {
        let mut command = Command::new(&self.krm);
        command.current_dir(&self.directory).args(arguments).stdin(std::process::Stdio::null());
        Ok(command.output()?)
    }

    /// Runs a command that edits a file, and returns the new file as its output. Conflicts are written and exit with 1.
    fn run_in_place(&self, arguments: &[&str], file: &str) -> TaskResult<Output> {
        let mut output = self.run(arguments)?;
        if matches!(output.status.code(), Some(0 | 1)) {
            output.stdout = std::fs::read(self.directory.join(file))?;
        }
        Ok(output)
    }
}

/// Compares two files: first their bytes, then their values and, if `comments`, their comments.
fn compare(expected: &str, found: &str, comments: bool) -> TaskResult<CaseResult> {
    if expected.trim() == found.trim() {
        return Ok(CaseResult::Same);
    }
    let files = (File::parse(expected.trim().to_owned())?, File::parse(found.trim().to_owned())?);
    let differs = || CaseResult::Differs(krm_testkit::diff(expected.trim(), found.trim()));
    Ok(match is_equal(&files.0, &files.1) {
        true if !comments || comment_texts(&files.0) == comment_texts(&files.1) => {
            CaseResult::Formatting
        }
        _ => differs(),
    })
}

fn is_equal(expected: &File, found: &File) -> bool {
    let [expected, found] = [expected, found].map(|file| roots(file).collect::<Vec<_>>());
    expected.len() == found.len()
        && expected.iter().zip(&found).all(|(a, b)| equal_in_yaml_1_2(*a, *b))
}

fn roots(file: &File) -> impl Iterator<Item = NodeRef<'_>> {
    file.documents().filter_map(krm_yaml::DocumentRef::root)
}

fn comment_texts(file: &File) -> Vec<String> {
    let comments = file.documents().flat_map(krm_yaml::DocumentRef::comments);
    let mut texts: Vec<String> = comments.map(|it| it.text.trim().to_owned()).collect();
    texts.sort();
    texts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formatting_is_not_a_difference_but_types_and_comments_are() {
        let result = |a, b, comments| description(&compare(a, b, comments).unwrap());
        assert_eq!(result("a: 1\n", "\na: 1", true), "same");
        assert_eq!(result("a: [1]\n", "a:\n- 1\n", true), "formatting");
        assert_eq!(result("a: 1 # x\n", "a: 1\n", false), "formatting");
        assert!(result("a: 1 # x\n", "a: 1\n", true).contains("# x"));
        assert!(result("a: 1\n", "a: '1'\n", false).contains("'1'"));
    }
}
