//! Runs the samples of a policy library with krm: `cargo xtask differential --policies DIR`.
//!
//! DIR is a checkout of open-policy-agent/gatekeeper-library. Its `suite.yaml` files name templates, constraints and resources, and how
//! many violations each resource has. A template with code for both engines runs twice: with Rego, and with CEL alone. Every verdict
//! that differs must be in [`EXPLAINED`].

use std::fmt;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use krm_core::print::json;
use krm_yaml::{File, Value};
use regex::Regex;

use crate::{TaskResult, shell};

/// Cases whose verdict differs, by engine and the end of their name, and why.
const EXPLAINED: &[(Engine, &str, &str)] = &[];

/// Where the resource of a case is, so that violations of other resources are not counted.
const OBJECT_FILE: &str = "object.yaml";
const PATH_ANNOTATION: &str = "internal.config.kubernetes.io/path";

/// What is checked and with which binary.
pub(super) struct Options {
    library: PathBuf,
    krm: Option<PathBuf>,
    only: Option<String>,
}

impl Options {
    /// Parses what follows `--policies`.
    pub(super) fn parse(args: &mut lexopt::Parser) -> TaskResult<Self> {
        let mut options = Self { library: args.value()?.into(), krm: None, only: None };
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Engine {
    Rego,
    Cel,
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Rego => "Rego",
            Self::Cel => "CEL",
        })
    }
}

/// One resource that is checked with one template and constraint.
struct Case {
    name: String,
    /// Template and constraint, then other resources, then the resource that is checked.
    files: Vec<PathBuf>,
    assertions: Vec<Assertion>,
}

/// The number of violations whose message matches.
struct Assertion {
    /// None for any number but zero.
    violations: Option<usize>,
    message: Option<Regex>,
}

/// Runs all cases; a verdict that differs and is not explained is an error, and so is an explained one that does not differ.
pub(super) fn run(options: &Options) -> TaskResult {
    let krm = match &options.krm {
        Some(krm) => std::path::absolute(krm)?,
        None => {
            shell::run(shell::cargo().args(["build", "--quiet", "-p", "krm-cli"]))?;
            shell::target().join("debug/krm")
        }
    };
    let mut suites = Vec::new();
    find_suites(&options.library, &mut suites)?;
    if suites.is_empty() {
        return Err(format!("no suite.yaml found in {}", options.library.display()).into());
    }
    let mut wrong = 0;
    for engine in [Engine::Rego, Engine::Cel] {
        let (mut count, mut explained) = (0, 0);
        for suite in &suites {
            for case in cases(suite, &options.library)? {
                let is_selected = options.only.as_ref().is_none_or(|only| case.name.contains(only));
                if !is_selected || !has_engine(&case.files[0], engine)? {
                    continue;
                }
                count += 1;
                let difference = check(&krm, &case, engine)?;
                let reason = EXPLAINED
                    .iter()
                    .find(|(it, name, _)| *it == engine && case.name.ends_with(name));
                match (difference, reason) {
                    (None, None) => {}
                    (Some(_), Some((_, _, reason))) => {
                        explained += 1;
                        println!("  {}: explained: {reason}", case.name);
                    }
                    (Some(difference), None) => {
                        wrong += 1;
                        println!("  {}: {difference}", case.name);
                    }
                    (None, Some(_)) => {
                        wrong += 1;
                        println!("  {}: does not differ any more", case.name);
                    }
                }
            }
        }
        println!("{engine}: {count} cases, of which {explained} differ for a known reason");
    }
    match wrong {
        0 => Ok(()),
        count => Err(format!("{count} verdicts differ").into()),
    }
}

fn find_suites(directory: &Path, found: &mut Vec<PathBuf>) -> TaskResult {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(directory)?.map(|it| Ok(it?.path())).collect::<std::io::Result<_>>()?;
    entries.sort();
    for path in entries {
        if path.is_dir() {
            find_suites(&path, found)?;
        } else if path.file_name().is_some_and(|name| name == "suite.yaml") {
            found.push(path);
        }
    }
    Ok(())
}

fn read(path: &Path) -> TaskResult<Vec<Value<'static>>> {
    let file = File::parse(fs::read_to_string(path)?)?;
    let roots = file.documents().filter_map(|document| document.root());
    Ok(roots.map(|root| root.to_value()?.into_owned()).collect::<Result<_, _>>()?)
}

fn field<'v>(value: &'v Value<'static>, name: &str) -> Option<&'v Value<'static>> {
    let Value::Mapping(entries) = value else { return None };
    let is_name = |key: &Value<'_>| matches!(key, Value::String(text) if text == name);
    entries.iter().find(|(key, _)| is_name(key)).map(|(_, value)| value)
}

fn text<'v>(value: &'v Value<'static>, name: &str) -> Option<&'v str> {
    match field(value, name) {
        Some(Value::String(text) | Value::Number(text)) => Some(text),
        _ => None,
    }
}

fn elements<'v>(value: &'v Value<'static>, name: &str) -> &'v [Value<'static>] {
    match field(value, name) {
        Some(Value::Sequence(items)) => items,
        _ => &[],
    }
}

/// The cases of a suite.
fn cases(suite: &Path, library: &Path) -> TaskResult<Vec<Case>> {
    let directory = suite.parent().unwrap_or(library);
    let prefix = directory.strip_prefix(library).unwrap_or(directory).display().to_string();
    let mut found = Vec::new();
    for suite in read(suite)? {
        for test in elements(&suite, "tests") {
            for case in elements(test, "cases") {
                let name = |value| text(value, "name").unwrap_or_default();
                let path = |value, key| {
                    let missing = || format!("{prefix}: a case without `{key}`");
                    text(value, key).map(|it| directory.join(it)).ok_or_else(missing)
                };
                let mut files = vec![path(test, "template")?, path(test, "constraint")?];
                for other in elements(case, "inventory") {
                    if let Value::String(other) = other {
                        files.push(directory.join(&**other));
                    }
                }
                files.push(path(case, "object")?);
                let assertions = elements(case, "assertions").iter().map(assertion);
                found.push(Case {
                    name: format!("{prefix}/{}/{}", name(test), name(case)),
                    files,
                    assertions: assertions.collect::<TaskResult<_>>()?,
                });
            }
        }
    }
    Ok(found)
}

fn assertion(value: &Value<'static>) -> TaskResult<Assertion> {
    let violations = match field(value, "violations") {
        None | Some(Value::Bool(true)) => None,
        Some(Value::Bool(false)) => Some(0),
        Some(Value::String(text)) if text == "yes" => None,
        Some(Value::String(text)) if text == "no" => Some(0),
        Some(Value::String(text) | Value::Number(text)) => Some(text.parse()?),
        Some(_) => return Err("`violations` is not a number, yes or no".into()),
    };
    Ok(Assertion { violations, message: text(value, "message").map(Regex::new).transpose()? })
}

/// Whether a template has code for an engine.
fn has_engine(template: &Path, engine: Engine) -> TaskResult<bool> {
    let template = read(template)?;
    let code = template.iter().flat_map(targets).flat_map(|target| elements(target, "code"));
    let mut names = code.filter_map(|code| text(code, "engine"));
    Ok(engine == Engine::Rego || names.any(|name| name == "K8sNativeValidation"))
}

fn targets<'v>(template: &'v Value<'static>) -> &'v [Value<'static>] {
    field(template, "spec").map_or(&[], |spec| elements(spec, "targets"))
}

/// What differs from the assertions of a case.
fn check(krm: &Path, case: &Case, engine: Engine) -> TaskResult<Option<String>> {
    let mut items = Vec::new();
    for (at, file) in case.files.iter().enumerate() {
        let is_object = at + 1 == case.files.len();
        for mut resource in read(file)? {
            if at == 0 && engine == Engine::Cel {
                remove_rego(&mut resource);
            }
            annotate(&mut resource, if is_object { OBJECT_FILE } else { "other.yaml" });
            items.push(json::flow(&resource)?);
        }
    }
    let list = format!(
        "{{\"apiVersion\":\"config.kubernetes.io/v1\",\"kind\":\"ResourceList\",\"items\":[\n{}\n]}}\n",
        items.join(",\n")
    );
    let mut command = shell::program(krm);
    command.args(["fn", "call", "gatekeeper"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(list.as_bytes())?;
    }
    let done = child.wait_with_output()?;
    let output = String::from_utf8_lossy(&done.stdout).into_owned();
    let Some(output) = File::parse(output)?
        .documents()
        .find_map(|it| it.root()?.to_value().ok()?.into_owned().ok())
    else {
        let stderr = String::from_utf8_lossy(&done.stderr).into_owned();
        return Ok(Some(format!("no result: {}", stderr.lines().next().unwrap_or_default())));
    };
    let results = elements(&output, "results");
    let is_of_object = |result: &&Value<'static>| {
        field(result, "file").and_then(|file| text(file, "path")) == Some(OBJECT_FILE)
    };
    let is_failure = |result: &&Value<'static>| {
        !text(result, "message").unwrap_or_default().contains("violatedConstraint")
    };
    if let Some(failure) = results.iter().find(is_failure) {
        return Ok(Some(text(failure, "message").unwrap_or_default().to_owned()));
    }
    let messages = results.iter().filter(is_of_object).filter_map(|it| text(it, "message"));
    let messages: Vec<&str> = messages.map(without_constraint).collect();
    Ok(case.assertions.iter().find_map(|it| it.difference(&messages)))
}

/// The message of a policy, to which the function appends the name of the constraint. An assertion is about the message alone.
fn without_constraint(message: &str) -> &str {
    message.rsplit_once("\nviolatedConstraint: ").map_or(message, |(message, _)| message)
}

impl Assertion {
    fn difference(&self, messages: &[&str]) -> Option<String> {
        let is_counted =
            |message: &&&str| self.message.as_ref().is_none_or(|it| it.is_match(message));
        let count = messages.iter().filter(is_counted).count();
        let is_met = self.violations.map_or(count > 0, |expected| count == expected);
        let expected = self.violations.map_or("some".to_owned(), |it| it.to_string());
        let like = self.message.as_ref().map_or(String::new(), |it| format!(" like `{it}`"));
        (!is_met)
            .then(|| format!("expected {expected} violations{like}, found {count} in {messages:?}"))
    }
}

/// Leaves only CEL in a template.
fn remove_rego(template: &mut Value<'static>) {
    let Some(Value::Sequence(targets)) =
        field_mut(template, "spec").and_then(|it| field_mut(it, "targets"))
    else {
        return;
    };
    for target in targets {
        if let Value::Mapping(entries) = target {
            entries.retain(
                |(key, _)| !matches!(key, Value::String(it) if it == "rego" || it == "libs"),
            );
        }
        if let Some(Value::Sequence(code)) = field_mut(target, "code") {
            code.retain(|code| text(code, "engine") != Some("Rego"));
        }
    }
}

fn field_mut<'v>(value: &'v mut Value<'static>, name: &str) -> Option<&'v mut Value<'static>> {
    let Value::Mapping(entries) = value else { return None };
    let is_name = |key: &Value<'_>| matches!(key, Value::String(text) if text == name);
    entries.iter_mut().find(|(key, _)| is_name(key)).map(|(_, value)| value)
}

/// Sets the file of a resource.
fn annotate(resource: &mut Value<'static>, file: &'static str) {
    let mut holder = resource;
    for name in ["metadata", "annotations"] {
        if field(holder, name).is_none() {
            let Value::Mapping(entries) = holder else { return };
            entries.push((Value::string(name), Value::Mapping(Vec::new())));
        }
        match field_mut(holder, name) {
            Some(next) => holder = next,
            None => return,
        }
    }
    if let Value::Mapping(entries) = holder {
        entries.push((Value::string(PATH_ANNOTATION), Value::string(file)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Value<'static> {
        let file = File::parse(text.to_owned()).unwrap();
        file.document(0).unwrap().root().unwrap().to_value().unwrap().into_owned().unwrap()
    }

    #[test]
    fn assertions_count_violations() {
        let holds = |text: &str, messages: &[&str]| {
            assertion(&value(text)).unwrap().difference(messages).is_none()
        };
        assert!(holds("violations: yes", &["a"]) && !holds("violations: yes", &[]));
        assert!(holds("violations: no", &[]) && !holds("violations: no", &["a"]));
        assert!(holds("{violations: 1, message: ^b}", &["ab", "b"]));
        assert!(!holds("violations: 1", &["a", "b"]));
        assert!(holds("message: a", &["a"]) && !holds("message: b", &["a"]));
    }

    #[test]
    fn name_of_the_constraint_is_not_part_of_a_message() {
        assert_eq!(without_constraint("a\nb\nviolatedConstraint: c"), "a\nb");
        assert_eq!(without_constraint("a"), "a");
    }

    #[test]
    fn template_without_rego_has_only_cel() {
        let mut template = value(
            "spec: {targets: [{rego: x, libs: [], code: [{engine: Rego}, {engine: K8sNativeValidation}]}]}",
        );
        remove_rego(&mut template);
        let expected =
            "{\"spec\":{\"targets\":[{\"code\":[{\"engine\":\"K8sNativeValidation\"}]}]}}";
        assert_eq!(json::flow(&template).unwrap().replace(": ", ":"), expected);
    }
}
