//! `cargo xtask differential`: compares krm-yaml with yq, merges with kyaml, and formatting with kustomize.
//! `--reader` compares reading, and the results of edits, merges, setters and formatting, with Kubernetes' own reader.
//! `--reprint` sends real manifests to functions that serialize them again.
//! `--kpt` renders packages with kpt and krm.
//! `--kubeconform` compares verdicts about manifests with the real kubeconform.
//! `--functions` compares built-in functions with the Go programs of the catalog, `--tables` runs the test tables of kyaml.
//!
//! yq uses go-yaml, as Kubernetes' own tools do. A difference is not necessarily a bug: go-yaml follows YAML 1.1 in places.

#[path = "../../../crates/krm-core/tests/suite/changed_texts.rs"]
mod changed_texts;
mod classes;
mod fmt;
mod functions;
mod kpt;
mod kubeconform;
mod merge;
mod policies;
#[allow(dead_code, reason = "the property tests of krm-yaml use more of it")]
#[path = "../../../crates/krm-yaml/tests/suite/properties/mod.rs"]
mod properties;
mod reader;
mod reprint;
mod tables;
mod tree;

use std::fs;
use std::path::{Path, PathBuf};

use krm_yaml::{DocumentRef, Edit, File, Value};

use crate::corpus::{self, Layout};
use crate::{TaskResult, peers, shell};

pub(crate) use functions::documented_ids;

const RESOURCES: usize = 100;
const ANNOTATION: &str = "example.com/differential";

pub(crate) fn run(mut args: lexopt::Parser) -> TaskResult {
    let mut only_merge = false;
    let mut tables = None;
    while let Some(arg) = args.next()? {
        match arg {
            lexopt::Arg::Long("merge") => only_merge = true,
            lexopt::Arg::Long("functions") => {
                return functions::run(&functions::Options::parse(&mut args)?);
            }
            lexopt::Arg::Long("reader") => {
                return reader::run(&reader::Options::parse(&mut args)?);
            }
            lexopt::Arg::Long("reprint") => return reprint::run(&mut args),
            lexopt::Arg::Long("kpt") => return kpt::run(&kpt::Options::parse(&mut args)?),
            lexopt::Arg::Long("policies") => {
                return policies::run(&policies::Options::parse(&mut args)?);
            }
            lexopt::Arg::Long("kubeconform") => return kubeconform::run(&mut args),
            lexopt::Arg::Long("tables") => tables = Some(tables::Options::parse(&mut args)?),
            _ => return Err(arg.unexpected().into()),
        }
    }
    if let Some(options) = tables {
        return tables::run(&options);
    }
    let gopeer = peers::find("gopeer").ok_or("gopeer is not built; run `cargo xtask peers`")?;
    merge::run(&gopeer)?;
    if only_merge {
        return Ok(());
    }
    let yq = peers::find("yq").ok_or("yq is not installed; run `cargo xtask peers`")?;
    let corpus = shell::target().join("differential");
    if corpus.exists() {
        fs::remove_dir_all(&corpus)?;
    }
    let written = corpus::write(&corpus, RESOURCES, Layout::Many)?;
    let generated: Vec<PathBuf> = written.files.iter().map(|file| corpus.join(file)).collect();
    let mut files = generated.clone();
    files.extend(suite_files()?);
    reading(&yq, &files)?;
    editing(&yq, &generated)?;
    let kustomize = peers::find("kustomize-4.5.7").ok_or("kustomize is not installed")?;
    let mut resources = generated;
    resources.extend(corpora_files()?);
    fmt::run(&kustomize, &resources)
}

/// The YAML files of the packages in `KRM_CORPORA`, if set.
fn corpora_files() -> TaskResult<Vec<PathBuf>> {
    let (mut found, mut directories) = (Vec::new(), Vec::new());
    directories.extend(std::env::var_os("KRM_CORPORA").map(PathBuf::from));
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(&directory)? {
            let path = entry?.path();
            if path.is_dir() {
                directories.push(path);
            } else if path.extension().is_some_and(|extension| extension == "yaml") {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The valid inputs of the yaml-test-suite in `KRM_YAML_TEST_SUITE`, if set.
fn suite_files() -> TaskResult<Vec<PathBuf>> {
    let Some(suite) = std::env::var_os("KRM_YAML_TEST_SUITE") else {
        println!("KRM_YAML_TEST_SUITE is not set: reading generated files only");
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    let mut directories = vec![PathBuf::from(suite)];
    while let Some(directory) = directories.pop() {
        let input = directory.join("in.yaml");
        if input.exists() {
            found.extend((!directory.join("error").exists()).then_some(input));
            continue;
        }
        for entry in fs::read_dir(&directory)? {
            let path = entry?.path();
            // `name` and `tags` link to the same cases again.
            let repeats = path.ends_with("name") || path.ends_with("tags");
            if path.is_dir() && !repeats {
                directories.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

fn reading(yq: &Path, files: &[PathBuf]) -> TaskResult {
    let (mut same, mut rejected, mut differing) = (0, 0, Vec::new());
    for path in files {
        let file = File::parse(fs::read_to_string(path)?)?;
        match yq_json(yq, &[".".as_ref()], path) {
            Err(_) => rejected += 1,
            Ok(theirs) if is_same(&file, &theirs)? => same += 1,
            Ok(_) => differing.push(path),
        }
    }
    println!(
        "reading: {same} of {} files are equal for krm and yq, yq rejects {rejected}",
        files.len()
    );
    for path in differing {
        println!("  differs: {}", path.display());
    }
    Ok(())
}

/// The output of yq for a file: one line of JSON per document.
fn yq_json(yq: &Path, expression: &[&std::ffi::OsStr], path: &Path) -> TaskResult<String> {
    let mut command = shell::program(yq);
    shell::output(command.args(["-o=json", "-I=0"]).args(expression).arg(path))
}

/// Whether the documents of a file are equal to the lines of JSON.
fn is_same(file: &File, json: &str) -> TaskResult<bool> {
    let mut lines = json.lines();
    for document in file.documents() {
        let Some(root) = document.root() else { return Ok(false) };
        let theirs = File::parse(lines.next().unwrap_or_default().to_owned())?;
        let theirs = theirs.document(0).and_then(DocumentRef::root);
        let (Ok(ours), Some(Ok(theirs))) = (root.to_value(), theirs.map(|root| root.to_value()))
        else {
            return Ok(false);
        };
        if !is_equal(&ours, &theirs) {
            return Ok(false);
        }
    }
    Ok(lines.next().is_none())
}

/// Whether two values are equal; numbers are compared by value, keys of any type by their text.
fn is_equal(a: &Value<'_>, b: &Value<'_>) -> bool {
    match (a, b) {
        (Value::Null, Value::Null) => true,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::String(a), Value::String(b)) => a == b,
        (Value::Number(a), Value::Number(b)) => a == b || number(a) == number(b),
        (Value::Sequence(a), Value::Sequence(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_equal(a, b))
        }
        (Value::Mapping(a), Value::Mapping(b)) => {
            let key = |key: &Value<'_>| match key {
                Value::String(text) | Value::Number(text) => text.to_string(),
                Value::Bool(value) => value.to_string(),
                _ => String::from("null"),
            };
            let entry = |((a, x), (b, y)): (&(Value<'_>, Value<'_>), &(Value<'_>, Value<'_>))| {
                key(a) == key(b) && is_equal(x, y)
            };
            a.len() == b.len() && a.iter().zip(b).all(entry)
        }
        _ => false,
    }
}

fn number(text: &str) -> Option<f64> {
    let digits =
        |radix, text: &str| i64::from_str_radix(text, radix).ok().map(|value| value as f64);
    match (text.strip_prefix("0x"), text.strip_prefix("0o")) {
        (Some(hex), _) => digits(16, hex),
        (_, Some(octal)) => digits(8, octal),
        _ => text.parse().ok(),
    }
}

/// Adds the same annotation with krm and yq; compares the results and counts the changed lines.
fn editing(yq: &Path, files: &[PathBuf]) -> TaskResult {
    let (mut same, mut ours_changed, mut theirs_changed) = (0, 0, 0);
    for path in files {
        let text = fs::read_to_string(path)?;
        let edited = annotate(&File::parse(text.clone())?)?;
        let expression = format!(".metadata.annotations[\"{ANNOTATION}\"] = \"1\"");
        let json = yq_json(yq, &[expression.as_ref()], path)?;
        let theirs = shell::output(shell::program(yq).arg(&expression).arg(path))?;
        ours_changed += changed_lines(&text, &edited);
        theirs_changed += changed_lines(&text, &theirs);
        if is_same(&File::parse(edited)?, &json)? {
            same += 1;
        } else {
            println!("  differs: {}", path.display());
        }
    }
    println!(
        "editing: {same} of {} files are equal after adding an annotation to every resource",
        files.len()
    );
    println!("  lines changed: krm {ours_changed}, yq {theirs_changed}");
    Ok(())
}

fn annotate(file: &File) -> TaskResult<String> {
    let path = krm_yaml::Path::default().join("metadata").join("annotations").join(ANNOTATION);
    let mut edit = Edit::new(file);
    for document in file.documents() {
        edit.set_at(document, &path, "1")?;
    }
    Ok(edit.apply()?)
}

fn changed_lines(old: &str, new: &str) -> usize {
    krm_testkit::diff(old, new).lines().filter(|line| line.starts_with(['+', '-'])).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_compared_by_value() {
        let file = File::parse("a: 0x10\nb: [~, 1.0]\n---\nc: x\n".to_owned()).unwrap();
        assert!(is_same(&file, "{\"a\":16,\"b\":[null,1]}\n{\"c\":\"x\"}\n").unwrap());
        assert!(!is_same(&file, "{\"a\":16,\"b\":[null,2]}\n{\"c\":\"x\"}\n").unwrap());
        assert!(!is_same(&file, "{\"a\":16,\"b\":[null,1]}\n").unwrap());
    }

    #[test]
    fn an_annotation_adds_one_line() {
        let text = "metadata:\n  annotations: # why\n    a: b\n";
        let edited = annotate(&File::parse(text.to_owned()).unwrap()).unwrap();
        assert_eq!(changed_lines(text, &edited), 1);
    }
}
