//! One case of a function: a folder with what goes in and what should come out.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::batch::{self, Batch};
use crate::stream::Stream;
use crate::{Function, Resource};

/// What a list around results looks like without any.
const EMPTY: &str = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: []\n";

/// A folder with `in`, and perhaps `config.yaml`, `expected` and `results.yaml`.
#[derive(Clone, Debug)]
pub struct Case {
    folder: PathBuf,
}

type Texts = BTreeMap<String, String>;

impl Case {
    /// A case in a folder.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// All cases right inside a folder, by name.
    pub fn all(folder: &Path) -> Vec<Self> {
        let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
        let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        folders.sort();
        folders.into_iter().filter(|it| it.join("in").is_dir()).map(Self::new).collect()
    }

    /// Runs the function on the case, twice: the second time on what came out. What is wrong is told.
    pub fn check(&self, function: &Function) -> Result<(), String> {
        let tell = |message: String| format!("{}: {message}", self.folder.display());
        let (before, after, results) = self.run(function).map_err(tell)?;
        let expected = self.expected(&before).map_err(tell)?;
        let wrong = differences(&expected, &after);
        let said = self.read("results.yaml").map_err(tell)?.unwrap_or_default();
        let mut wrong: Vec<String> = wrong.into_iter().collect();
        if said != results {
            wrong.push(format!("results.yaml:\n{}", difference(&said, &results)));
        }
        if wrong.is_empty() { Ok(()) } else { Err(tell(wrong.join("\n"))) }
    }

    /// Runs the function on the case, and writes down what comes out as what should.
    pub fn update(&self, function: &Function) -> Result<(), String> {
        let tell = |message: String| format!("{}: {message}", self.folder.display());
        let (before, after, results) = self.run(function).map_err(tell)?;
        self.write(&before, &after, &results).map_err(tell)
    }

    /// The files before and after, and the results.
    fn run(&self, function: &Function) -> Result<(Texts, Texts, String), String> {
        let before = files(&self.folder.join("in"))?;
        let done = self.process(function, &before)?;
        let after = applied(before.clone(), &done);
        if !done.failed {
            let again = applied(after.clone(), &self.process(function, &after)?);
            let wrong = differences(&after, &again);
            if !wrong.is_empty() {
                return Err(format!("a second run changes something:\n{}", wrong.join("\n")));
            }
        }
        let (stream, _) = Stream::read(EMPTY.to_owned()).map_err(|error| error.to_string())?;
        let list = stream.write_failed(&done.results).map_err(|error| error.to_string())?;
        Ok((before, after, list[EMPTY.len()..].to_owned()))
    }

    fn process(&self, function: &Function, files: &Texts) -> Result<Batch, String> {
        let config = self.read("config.yaml")?.map(Resource::parse).transpose();
        let config = config.map_err(|error| format!("config.yaml: {error}"))?;
        let files = files.iter().map(|(path, text)| (path.clone(), text.clone())).collect();
        batch::process(function, config, files).map_err(|error| error.to_string())
    }

    fn expected(&self, before: &Texts) -> Result<Texts, String> {
        let folder = self.folder.join("expected");
        if folder.is_dir() { files(&folder) } else { Ok(before.clone()) }
    }

    fn read(&self, name: &str) -> Result<Option<String>, String> {
        let path = self.folder.join(name);
        if !path.exists() {
            return Ok(None);
        }
        fs::read_to_string(&path).map(Some).map_err(|error| format!("{name}: {error}"))
    }

    fn write(&self, before: &Texts, after: &Texts, results: &str) -> Result<(), String> {
        let failed = |error: std::io::Error| error.to_string();
        let expected = self.folder.join("expected");
        if expected.exists() {
            fs::remove_dir_all(&expected).map_err(failed)?;
        }
        if before != after {
            for (path, text) in after {
                let path = expected.join(path);
                fs::create_dir_all(path.parent().unwrap_or(&expected)).map_err(failed)?;
                fs::write(path, text).map_err(failed)?;
            }
        }
        let file = self.folder.join("results.yaml");
        match results {
            "" if file.exists() => fs::remove_file(file).map_err(failed),
            "" => Ok(()),
            results => fs::write(file, results).map_err(failed),
        }
    }
}

fn applied(mut files: Texts, done: &Batch) -> Texts {
    for (path, text) in &done.files {
        match text {
            Some(text) => files.insert(path.clone(), text.clone()),
            None => files.remove(path),
        };
    }
    files
}

/// All files below a folder, by their paths.
fn files(folder: &Path) -> Result<Texts, String> {
    let mut all = Texts::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(next) = waiting.pop() {
        let entries =
            fs::read_dir(&next).map_err(|error| format!("{}: {error}", next.display()))?;
        for path in entries.filter_map(Result::ok).map(|entry| entry.path()) {
            if path.is_dir() {
                waiting.push(path);
                continue;
            }
            let text = fs::read_to_string(&path)
                .map_err(|error| format!("{}: {error}", path.display()))?;
            let inside = path.strip_prefix(folder).unwrap_or(&path);
            let segments: Vec<_> = inside.iter().map(|part| part.to_string_lossy()).collect();
            all.insert(segments.join("/"), text);
        }
    }
    Ok(all)
}

fn differences(expected: &Texts, actual: &Texts) -> Vec<String> {
    let mut wrong = Vec::new();
    for (path, text) in expected {
        match actual.get(path) {
            Some(other) if other == text => {}
            Some(other) => wrong.push(format!("{path}:\n{}", difference(text, other))),
            None => wrong.push(format!("{path}: is gone")),
        }
    }
    let new = actual.keys().filter(|path| !expected.contains_key(*path));
    wrong.extend(new.map(|path| format!("{path}: nobody expects it\n{}", actual[path])));
    wrong
}

/// The lines that differ, between those that do not.
pub(super) fn difference(expected: &str, actual: &str) -> String {
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
