//! One test case: a directory with the input and the expected output of a function.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::batch::{self, Batch};
use crate::stream::Stream;
use crate::{Function, Resource};

/// The list around the results of `results.yaml`.
const EMPTY: &str = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: []\n";

/// A directory with `in`, `config.yaml`, `expected` and `results.yaml`, each of them optional.
#[derive(Clone, Debug)]
pub struct Case {
    directory: PathBuf,
}

/// File contents by path.
pub(super) type Files = BTreeMap<String, String>;

impl Case {
    /// The case in a directory.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into() }
    }

    /// All cases in a directory, sorted by name.
    pub fn all(directory: &Path) -> Vec<Self> {
        let entries = fs::read_dir(directory).into_iter().flatten().filter_map(Result::ok);
        let mut directories: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        directories.sort();
        let is_case = |it: &PathBuf| {
            ["in", "config.yaml", "expected", "results.yaml"]
                .iter()
                .any(|name| it.join(name).exists())
        };
        directories.into_iter().filter(is_case).map(Self::new).collect()
    }

    /// The name of the directory.
    pub(super) fn name(&self) -> String {
        self.directory.display().to_string()
    }

    /// The files of `in`: none for a function that generates everything.
    pub(super) fn input(&self) -> Result<Files, String> {
        let directory = self.directory.join("in");
        if directory.is_dir() { files(&directory) } else { Ok(Files::new()) }
    }

    /// The text of `config.yaml`.
    pub(super) fn config(&self) -> Result<Option<String>, String> {
        self.read("config.yaml")
    }

    /// Whether an error is expected among the results.
    pub(super) fn expects_failure(&self) -> Result<bool, String> {
        let results = self.read("results.yaml")?.unwrap_or_default();
        Ok(results.lines().any(|line| line.trim() == "severity: error"))
    }

    /// Runs the function twice, the second time on its own output, and returns the differences from what is expected.
    pub fn check(&self, function: &Function) -> Result<(), String> {
        let in_case = |message: String| format!("{}: {message}", self.directory.display());
        let (before, after, results) = self.run(function).map_err(in_case)?;
        let expected = self.expected(&before).map_err(in_case)?;
        let mut differences = differences(&expected, &after);
        let expected_results = self.read("results.yaml").map_err(in_case)?.unwrap_or_default();
        if expected_results != results {
            differences.push(format!("results.yaml:\n{}", diff(&expected_results, &results)));
        }
        if differences.is_empty() { Ok(()) } else { Err(in_case(differences.join("\n"))) }
    }

    /// Runs the function and stores its output as the expected one.
    pub fn update(&self, function: &Function) -> Result<(), String> {
        let in_case = |message: String| format!("{}: {message}", self.directory.display());
        let (before, after, results) = self.run(function).map_err(in_case)?;
        self.write(&before, &after, &results).map_err(in_case)
    }

    /// The files before and after, and the results.
    fn run(&self, function: &Function) -> Result<(Files, Files, String), String> {
        let before = self.input()?;
        let output = self.process(function, &before)?;
        // An orchestrator writes nothing if a function reports an error.
        let after = if output.failed { before.clone() } else { apply(before.clone(), &output) };
        if !output.failed {
            let again = apply(after.clone(), &self.process(function, &after)?);
            let differences = differences(&after, &again);
            if !differences.is_empty() {
                return Err(format!("the second run changes files:\n{}", differences.join("\n")));
            }
        }
        let (stream, _) = Stream::read(EMPTY.to_owned()).map_err(|error| error.to_string())?;
        let list = stream.write_failed(&output.results).map_err(|error| error.to_string())?;
        Ok((before, after, list[EMPTY.len()..].to_owned()))
    }

    fn process(&self, function: &Function, files: &Files) -> Result<Batch, String> {
        let config = self.config()?.map(Resource::parse).transpose();
        let config = config.map_err(|error| format!("config.yaml: {error}"))?;
        let files = files.iter().map(|(path, text)| (path.clone(), text.clone())).collect();
        batch::process(function, config, files).map_err(|error| error.to_string())
    }

    pub(super) fn expected(&self, before: &Files) -> Result<Files, String> {
        let directory = self.directory.join("expected");
        if directory.is_dir() { files(&directory) } else { Ok(before.clone()) }
    }

    fn read(&self, name: &str) -> Result<Option<String>, String> {
        let path = self.directory.join(name);
        if !path.exists() {
            return Ok(None);
        }
        fs::read_to_string(&path).map(Some).map_err(|error| format!("{name}: {error}"))
    }

    fn write(&self, before: &Files, after: &Files, results: &str) -> Result<(), String> {
        let message = |error: std::io::Error| error.to_string();
        let expected = self.directory.join("expected");
        if expected.exists() {
            fs::remove_dir_all(&expected).map_err(message)?;
        }
        if before != after {
            for (path, text) in after {
                let path = expected.join(path);
                fs::create_dir_all(path.parent().unwrap_or(&expected)).map_err(message)?;
                fs::write(path, text).map_err(message)?;
            }
        }
        let file = self.directory.join("results.yaml");
        match results {
            "" if file.exists() => fs::remove_file(file).map_err(message),
            "" => Ok(()),
            results => fs::write(file, results).map_err(message),
        }
    }
}

fn apply(mut files: Files, output: &Batch) -> Files {
    for (path, text) in &output.files {
        match text {
            Some(text) => files.insert(path.clone(), text.clone()),
            None => files.remove(path),
        };
    }
    files
}

/// All files below a directory.
pub(super) fn files(directory: &Path) -> Result<Files, String> {
    let mut all = Files::new();
    let mut pending = vec![directory.to_owned()];
    while let Some(next) = pending.pop() {
        let entries =
            fs::read_dir(&next).map_err(|error| format!("{}: {error}", next.display()))?;
        for path in entries.filter_map(Result::ok).map(|entry| entry.path()) {
            if path.is_dir() {
                pending.push(path);
                continue;
            }
            let text = fs::read_to_string(&path)
                .map_err(|error| format!("{}: {error}", path.display()))?;
            let relative = path.strip_prefix(directory).unwrap_or(&path);
            let segments: Vec<_> = relative.iter().map(|part| part.to_string_lossy()).collect();
            all.insert(segments.join("/"), text);
        }
    }
    Ok(all)
}

pub(super) fn differences(expected: &Files, actual: &Files) -> Vec<String> {
    let mut differences = Vec::new();
    for (path, text) in expected {
        match actual.get(path) {
            Some(other) if other == text => {}
            Some(other) => differences.push(format!("{path}:\n{}", diff(text, other))),
            None => differences.push(format!("{path}: missing")),
        }
    }
    let new = actual.keys().filter(|path| !expected.contains_key(*path));
    differences.extend(new.map(|path| format!("{path}: unexpected file\n{}", actual[path])));
    differences
}

/// The lines between the common beginning and the common end.
pub(super) fn diff(expected: &str, actual: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (expected.lines().collect(), actual.lines().collect());
    let same = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let rest = old.len().min(new.len()) - same;
    let tail =
        old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();
    let lines = |sign: &str, all: &[&str]| {
        let part = &all[same..all.len() - tail];
        part.iter().map(|line| format!("{sign} {line}\n")).collect::<String>()
    };
    format!("line {}:\n{}{}", same + 1, lines("-", &old), lines("+", &new))
}
