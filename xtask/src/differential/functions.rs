//! The same calls to built-in functions and to the originals of the catalog, on made-up packages: where the answers differ, by class.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use krm_yaml::{File, Value};

use super::config::{FUNCTIONS, Function};
use crate::corpus::{self, dice::Dice};
use crate::{Outcome, peers, shell};

const PACKAGES: usize = 300;

/// Runs every function that has an original here. Where krm stands in for the originals, the comparison itself is what is tried.
pub(super) fn run(is_stand_in: bool) -> Outcome {
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
                println!("{}: the original is not installed", function.name);
                continue;
            }
        };
        unexplained += compare(function, call(&krm), theirs)?;
    }
    match unexplained {
        0 => Ok(()),
        count => Err(format!("{count} differences have no reason").into()),
    }
}

/// Compares the answers to all packages, and says how many differences nobody has a reason for.
fn compare(function: &Function, mut ours: Command, mut theirs: Command) -> Outcome<usize> {
    let mut classes: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let mut same = 0;
    for number in 0..PACKAGES {
        let list = package(function, number);
        let [ours, theirs] = [answer(&mut ours, &list)?, answer(&mut theirs, &list)?];
        match class(&ours, &theirs) {
            Some(class) => classes.entry(class).or_insert((0, number)).0 += 1,
            None => same += 1,
        }
    }
    println!("{}: {same} of {PACKAGES} packages mean the same", function.name);
    let mut unexplained = 0;
    for (class, (count, first)) in classes {
        let known = function.reasons.iter().find(|(name, _)| class.starts_with(name));
        unexplained += if known.is_none() { count } else { 0 };
        let reason = known.map_or("no reason is known", |(_, reason)| reason);
        println!("  {class}: {count}, first in package {first}: {reason}");
    }
    Ok(unexplained)
}

/// A list of a few resources and a functionConfig.
fn package(function: &Function, number: usize) -> String {
    let mut dice = Dice::new(function.name, number);
    let first = usize::try_from(dice.between(0, 5000)).unwrap_or(0);
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
        // Comments above the first field would part it from its dash.
        let start = text.find("apiVersion:").unwrap_or(0);
        let dash = list.len();
        indented(&mut list, &text[start..]);
        list.replace_range(dash..dash + 1, "-");
    }
    list.push_str("functionConfig:\n");
    indented(&mut list, dice.pick(function.configs));
    list
}

fn indented(out: &mut String, text: &str) {
    for line in text.lines() {
        let indent = if line.is_empty() { "" } else { "  " };
        out.push_str(&format!("{indent}{line}\n"));
    }
}

/// What a function answered: whether it passed, and its list.
struct Answer {
    passed: bool,
    list: String,
}

fn answer(command: &mut Command, list: &str) -> Outcome<Answer> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // One that does not read to the end says why by its exit code.
        let _ = stdin.write_all(list.as_bytes());
    }
    let done = child.wait_with_output()?;
    let list = String::from_utf8_lossy(&done.stdout).into_owned();
    Ok(Answer { passed: done.status.success(), list })
}

/// Where two answers differ first; none where they mean the same.
fn class(ours: &Answer, theirs: &Answer) -> Option<String> {
    if ours.passed != theirs.passed {
        return Some("exit code".to_owned());
    }
    let files = [ours, theirs].map(|it| File::parse(it.list.clone()));
    let [Ok(ours), Ok(theirs)] = &files else { return Some("no YAML".to_owned()) };
    let value =
        |file: &'_ File| file.document(0)?.root()?.to_value().ok().map(|it| json_of(&it, 0));
    match (value(ours), value(theirs)) {
        (Some(ours), Some(theirs)) => first_difference(&ours, &theirs, ""),
        _ => Some("no list".to_owned()),
    }
}

/// A value with its fields in order; results without what older functions leave out, and in any order.
fn json_of(value: &Value<'_>, depth: usize) -> Node {
    match value {
        Value::Mapping(entries) => {
            let text =
                |key: &Value<'_>| krm_core::print::json::write(key).trim_matches('"').to_owned();
            let is_kept =
                |(key, _): &&(Value<'_>, Value<'_>)| depth != 0 || text(key) != "functionConfig";
            let fields = entries.iter().filter(is_kept);
            Node::Fields(fields.map(|(k, v)| (text(k), json_of(v, depth + 1))).collect())
        }
        Value::Sequence(items) => {
            Node::Items(items.iter().map(|it| json_of(it, depth + 1)).collect())
        }
        other => Node::Value(krm_core::print::json::write(other)),
    }
}

enum Node {
    Fields(BTreeMap<String, Node>),
    Items(Vec<Node>),
    Value(String),
}

/// The path of the first difference, with all items of a list as one.
fn first_difference(a: &Node, b: &Node, path: &str) -> Option<String> {
    match (a, b) {
        (Node::Fields(a), Node::Fields(b)) => {
            let names = a.keys().chain(b.keys().filter(|name| !a.contains_key(*name)));
            names.into_iter().find_map(|name| match (a.get(name), b.get(name)) {
                (Some(a), Some(b)) => first_difference(a, b, &format!("{path}.{name}")),
                // Compat: older functions give results no severity.
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
        let answer = |list: &str| Answer { passed: true, list: list.to_owned() };
        class(&answer(ours), &answer(theirs))
    }

    #[test]
    fn differences_have_the_path_of_the_first_one() {
        let list = "items:\n- {a: 1, b: [x, y]}\nresults:\n- {message: m, severity: info}\n";
        assert_eq!(class_of(list, list), None);
        assert_eq!(class_of(list, "results: [{message: m}]\nitems: [{b: [x, y], a: 1}]"), None);
        let differs = |old: &str, new: &str| class_of(list, &list.replacen(old, new, 1));
        assert_eq!(differs("y]", "z]").as_deref(), Some(".items[].b[]"));
        assert_eq!(differs("a: 1", "a: '1'").as_deref(), Some(".items[].a"));
        assert_eq!(differs("message: m", "message: n").as_deref(), Some(".results[].message"));
        let failed = Answer { passed: false, list: list.to_owned() };
        let passed = Answer { passed: true, list: list.to_owned() };
        assert_eq!(class(&failed, &passed).as_deref(), Some("exit code"));
    }

    #[test]
    fn packages_are_lists_that_can_be_read_and_the_same_every_time() {
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
