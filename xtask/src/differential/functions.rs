//! Runs built-in functions and the Go programs of the catalog on generated packages, and classifies the differences.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use krm_yaml::{File, Value};

use super::config::{FUNCTIONS, Function};
use crate::corpus::{self, random::Random};
use crate::{TaskResult, peers, shell};

const PACKAGES: usize = 300;

/// Compares every function whose Go program is installed. With `is_stand_in`, krm replaces the Go program, to test the comparison itself.
pub(super) fn run(is_stand_in: bool) -> TaskResult {
    shell::run(shell::cargo().args(["build", "--quiet", "-p", "krm-cli"]))?;
    let krm = shell::target().join("debug/krm");
    let mut unexplained = 0;
    for function in FUNCTIONS {
        let call = |program: &Path| {
            let mut command = shell::program(program);
            command.args(["fn", "call", function.name]);
            command
        };
        let theirs = match (peers::find(function.name), is_stand_in) {
            (_, true) => call(&krm),
            (Some(original), _) => shell::program(original),
            (None, _) => {
                println!("{}: the Go program is not installed", function.name);
                continue;
            }
        };
        unexplained += compare(function, call(&krm), theirs)?;
    }
    match unexplained {
        0 => Ok(()),
        count => Err(format!("{count} unexplained differences").into()),
    }
}

/// Compares the output for all packages; returns the number of unexplained differences.
fn compare(function: &Function, mut ours: Command, mut theirs: Command) -> TaskResult<usize> {
    let mut classes: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let mut same = 0;
    for number in 0..PACKAGES {
        let list = package(function, number);
        let [ours, theirs] = [call_function(&mut ours, &list)?, call_function(&mut theirs, &list)?];
        match class(&ours, &theirs) {
            Some(class) => classes.entry(class).or_insert((0, number)).0 += 1,
            None => same += 1,
        }
    }
    println!("{}: {same} of {PACKAGES} packages are equal", function.name);
    let mut unexplained = 0;
    for (class, (count, first)) in classes {
        let known = function.reasons.iter().find(|(name, _)| class.starts_with(name));
        unexplained += if known.is_none() { count } else { 0 };
        let reason = known.map_or("unexplained", |(_, reason)| reason);
        println!("  {class}: {count}, first in package {first}: {reason}");
    }
    Ok(unexplained)
}

/// A ResourceList with a few resources and a functionConfig.
fn package(function: &Function, number: usize) -> String {
    let mut random = Random::new(function.name, number);
    let first = usize::try_from(random.between(0, 5000)).unwrap_or(0);
    let mut list = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n".to_owned();
    for (at, id) in (first..first + 4).enumerate() {
        let file = format!("internal.config.kubernetes.io/path: file-{at}.yaml");
        let index = "internal.config.kubernetes.io/index: '0'";
        let text = corpus::document(id);
        let text = match text.contains("\n  annotations:\n") {
            true => text.replacen(
                "\n  annotations:\n",
                &format!("\n  annotations:\n    {file}\n    {index}\n"),
                1,
            ),
            false => text.replacen(
                "\nmetadata:\n",
                &format!("\nmetadata:\n  annotations:\n    {file}\n    {index}\n"),
                1,
            ),
        };
        // Drop comments above the first field, which would separate it from its dash.
        let start = text.find("apiVersion:").unwrap_or(0);
        let dash = list.len();
        indented(&mut list, &text[start..]);
        list.replace_range(dash..dash + 1, "-");
    }
    list.push_str("functionConfig:\n");
    indented(&mut list, random.pick(function.configs));
    list
}

fn indented(out: &mut String, text: &str) {
    for line in text.lines() {
        let indent = if line.is_empty() { "" } else { "  " };
        out.push_str(&format!("{indent}{line}\n"));
    }
}

/// The output of a function: whether it succeeded, and its ResourceList.
struct FunctionOutput {
    succeeded: bool,
    list: String,
}

fn call_function(command: &mut Command, list: &str) -> TaskResult<FunctionOutput> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // A function that does not read all input reports it by its exit code.
        let _ = stdin.write_all(list.as_bytes());
    }
    let done = child.wait_with_output()?;
    let list = String::from_utf8_lossy(&done.stdout).into_owned();
    Ok(FunctionOutput { succeeded: done.status.success(), list })
}

/// The first difference between two outputs; `None` if they are equal.
fn class(ours: &FunctionOutput, theirs: &FunctionOutput) -> Option<String> {
    if ours.succeeded != theirs.succeeded {
        return Some("exit code".to_owned());
    }
    let files = [ours, theirs].map(|it| File::parse(it.list.clone()));
    let [Ok(ours), Ok(theirs)] = &files else { return Some("invalid YAML".to_owned()) };
    let value =
        |file: &'_ File| file.document(0)?.root()?.to_value().ok().map(|it| json_of(&it, 0));
    match (value(ours), value(theirs)) {
        (Some(ours), Some(theirs)) => first_difference(&ours, &theirs, ""),
        _ => Some("no ResourceList".to_owned()),
    }
}

/// A value with sorted fields and without the functionConfig.
fn json_of(value: &Value<'_>, depth: usize) -> Node {
    match value {
        Value::Mapping(entries) => {
            let text =
                |key: &Value<'_>| krm_core::print::json::display(key).trim_matches('"').to_owned();
            let is_kept =
                |(key, _): &&(Value<'_>, Value<'_>)| depth != 0 || text(key) != "functionConfig";
            let fields = entries.iter().filter(is_kept);
            Node::Fields(fields.map(|(k, v)| (text(k), json_of(v, depth + 1))).collect())
        }
        Value::Sequence(items) => {
            Node::Items(items.iter().map(|it| json_of(it, depth + 1)).collect())
        }
        other => Node::Value(krm_core::print::json::display(other)),
    }
}

enum Node {
    Fields(BTreeMap<String, Node>),
    Items(Vec<Node>),
    Value(String),
}

/// The path of the first difference; all elements of a list share the path `[]`.
fn first_difference(a: &Node, b: &Node, path: &str) -> Option<String> {
    match (a, b) {
        (Node::Fields(a), Node::Fields(b)) => {
            let names = a.keys().chain(b.keys().filter(|name| !a.contains_key(*name)));
            names.into_iter().find_map(|name| match (a.get(name), b.get(name)) {
                (Some(a), Some(b)) => first_difference(a, b, &format!("{path}.{name}")),
                // Compat: older functions return results without a severity.
                _ if path == ".results[]" && name == "severity" => None,
                _ => Some(format!("{path}.{name}")),
            })
        }
        (Node::Items(a), Node::Items(b)) if a.len() == b.len() => {
            let path = format!("{path}[]");
            a.iter().zip(b).find_map(|(a, b)| first_difference(a, b, &path))
        }
        (Node::Value(a), Node::Value(b)) if a == b => None,
        _ => Some(path.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class_of(ours: &str, theirs: &str) -> Option<String> {
        let output = |list: &str| FunctionOutput { succeeded: true, list: list.to_owned() };
        class(&output(ours), &output(theirs))
    }

    #[test]
    fn class_is_the_path_of_the_first_difference() {
        let list = "items:\n- {a: 1, b: [x, y]}\nresults:\n- {message: m, severity: info}\n";
        assert_eq!(class_of(list, list), None);
        assert_eq!(class_of(list, "results: [{message: m}]\nitems: [{b: [x, y], a: 1}]"), None);
        let differs = |old: &str, new: &str| class_of(list, &list.replacen(old, new, 1));
        assert_eq!(differs("y]", "z]").as_deref(), Some(".items[].b[]"));
        assert_eq!(differs("a: 1", "a: '1'").as_deref(), Some(".items[].a"));
        assert_eq!(differs("message: m", "message: n").as_deref(), Some(".results[].message"));
        let failed = FunctionOutput { succeeded: false, list: list.to_owned() };
        let succeeded = FunctionOutput { succeeded: true, list: list.to_owned() };
        assert_eq!(class(&failed, &succeeded).as_deref(), Some("exit code"));
    }

    #[test]
    fn packages_are_valid_and_deterministic() {
        for function in FUNCTIONS {
            for number in [0, 7, 299] {
                let list = package(function, number);
                assert_eq!(list, package(function, number));
                let file = File::parse(list).expect("it is YAML");
                assert!(file.errors().next().is_none(), "{}", function.name);
                let items = krm_yaml::Path::default().join("items");
                let items = file.document(0).and_then(|it| it.find(&items)).expect("items");
                assert_eq!(items.as_sequence().expect("a list").items().count(), 4);
            }
        }
    }
}
