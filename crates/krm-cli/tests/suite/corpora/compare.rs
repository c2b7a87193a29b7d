//! Compares a run with the expected output: documents semantically, comments, changed lines and results.

use std::collections::{BTreeMap, BTreeSet};

use krm_yaml::{File, NodeRef, ScalarType};
use similar::{ChangeTag, TextDiff};

use super::case::{Case, CaseRun, Files};

/// Functions whose messages come from an engine and are worded differently by ours.
const ENGINES: [&str; 4] = ["starlark", "gatekeeper", "kubeconform", "kubeval"];

pub(crate) fn is_yaml(name: &str) -> bool {
    let last = name.rsplit('/').next().unwrap_or_default();
    last == "Kptfile" || [".yaml", ".yml", ".json"].iter().any(|end| last.ends_with(end))
}

/// Whether a message comes from a parser, Go's or ours, and not from the function: parsers are worded differently.
fn is_parser_message(message: &str) -> bool {
    let is_ours = message.contains("expected ") && message.contains(", found ");
    message.contains("json: cannot unmarshal") || is_ours
}

/// The differences between a run and the expected output.
pub(crate) fn differences(case: &Case, ran: &CaseRun) -> Vec<String> {
    let mut why: Vec<String> = ran.stale.clone().into_iter().collect();
    if (ran.exit != 0) != case.expects_failure() || ran.exit == 70 {
        why.push(format!("exit code {}", ran.exit));
    }
    why.extend(documents(ran));
    why.extend(comments(ran));
    why.extend(lines(ran));
    if let Some(expected) = &ran.golden_results {
        match &ran.results {
            Some(results) => why.extend(result_differences(expected, results)),
            None => why.push("no results were written".to_owned()),
        }
    }
    why
}

/// The differences between the first and the second run.
pub(crate) fn differences_after_rerun(ran: &CaseRun) -> Vec<String> {
    let mut why = Vec::new();
    if ran.exit_again != ran.exit {
        why.push(format!("exit code {} and then {}", ran.exit, ran.exit_again));
    }
    for name in names(&ran.after, &ran.again) {
        if ran.after.get(&name) != ran.again.get(&name) {
            why.push(format!("{name} changed again"));
        }
    }
    why
}

fn names(a: &Files, b: &Files) -> BTreeSet<String> {
    a.keys().chain(b.keys()).cloned().collect()
}

fn documents(ran: &CaseRun) -> Vec<String> {
    let (golden, after) = (&ran.golden, &ran.after);
    let mut why = Vec::new();
    if has_lost_paths(golden) {
        let all = |files: &Files| {
            let texts = files.iter().filter(|(name, _)| is_yaml(name));
            let mut all: Vec<String> =
                texts.flat_map(|(_, text)| canonical_documents(text)).collect();
            all.sort();
            all
        };
        let [expected, actual] = [golden, after].map(all);
        if expected != actual {
            why.push(format!("expected {expected:?}\n    found {actual:?}"));
        }
        if !ran.before.keys().eq(after.keys()) {
            why.push("resources moved to other files".to_owned());
        }
        return why;
    }
    for name in names(golden, after) {
        match (golden.get(&name), after.get(&name)) {
            (Some(expected), Some(actual)) if expected == actual => {}
            (Some(expected), Some(actual)) if is_yaml(&name) => {
                let [expected, actual] = [expected, actual].map(|text| canonical_documents(text));
                if expected != actual {
                    why.push(format!("{name}: expected {expected:?}\n    found {actual:?}"));
                }
            }
            (Some(_), Some(_)) => why.push(format!("{name} has other content")),
            (Some(_), None) => why.push(format!("{name} is missing")),
            (None, _) => why.push(format!("{name} is unexpected")),
        }
    }
    why
}

/// Whether the function that made the expected output dropped path annotations, so that kpt moved each resource to a new file, and the
/// Kptfile to one that is not read. Then only documents can be compared, and with krm they must stay in their files.
fn has_lost_paths(golden: &Files) -> bool {
    golden.keys().any(|name| name.starts_with("kptfile_") && name.ends_with(".yaml"))
}

/// The documents of a file in a canonical form; a Kptfile without its status.
fn canonical_documents(text: &str) -> Vec<String> {
    let Ok(file) = File::parse(text.to_owned()) else { return vec![text.to_owned()] };
    if file.errors().next().is_some() {
        return vec![text.to_owned()];
    }
    file.documents()
        .filter_map(|document| document.root())
        .map(|root| canonical(root, true))
        .collect()
}

fn canonical(node: NodeRef<'_>, is_root: bool) -> String {
    let node = node.resolve();
    if let Some(mapping) = node.as_mapping() {
        let is_kptfile =
            is_root && mapping.get("kind").and_then(NodeRef::as_str).as_deref() == Some("Kptfile");
        let mut entries: BTreeMap<String, String> = BTreeMap::new();
        for entry in mapping.entries().filter(|entry| !(is_kptfile && entry.is("status"))) {
            entries.insert(canonical(entry.key, false), canonical(entry.value, false));
        }
        let entries: Vec<String> = entries.iter().map(|(k, v)| format!("{k}: {v}")).collect();
        return format!("{{{}}}", entries.join(", "));
    }
    if let Some(list) = node.as_sequence() {
        let items: Vec<String> = list.items().map(|item| canonical(item, false)).collect();
        return format!("[{}]", items.join(", "));
    }
    let Some(scalar) = node.as_scalar() else { return String::new() };
    match scalar.resolve() {
        ScalarType::String => format!("{:?}", scalar.value()),
        ScalarType::Float(number) => number.to_string(),
        ScalarType::Null => "null".to_owned(),
        _ => scalar.value().into_owned(),
    }
}

/// Comments of the expected output that are missing.
fn comments(ran: &CaseRun) -> Vec<String> {
    let [golden, after] = [&ran.golden, &ran.after].map(counted);
    let lost = golden.into_iter().filter(|(text, count)| after.get(text).unwrap_or(&0) < count);
    lost.map(|(text, _)| format!("the comment `{text}` is lost")).collect()
}

fn counted(files: &Files) -> BTreeMap<String, usize> {
    let mut count = BTreeMap::new();
    for (_, text) in files.iter().filter(|(name, _)| is_yaml(name)) {
        let Ok(file) = File::parse(text.clone()) else { continue };
        for comment in file.documents().flat_map(|document| document.comments()) {
            for line in comment.text.lines() {
                *count.entry(line.trim().to_owned()).or_default() += 1;
            }
        }
    }
    count
}

/// Lines of the input that changed, but are unchanged in the expected output.
fn lines(ran: &CaseRun) -> Vec<String> {
    let mut why = Vec::new();
    for (name, before) in &ran.before {
        let text = |files: &Files| files.get(name).cloned().unwrap_or_default();
        let allowed = removed_lines(before, &text(&ran.golden));
        for (at, line) in removed_lines(before, &text(&ran.after)) {
            // A diff may pick any of several equal adjacent lines.
            if !allowed.contains_key(&at) && !allowed.values().any(|other| *other == line) {
                why.push(format!("{name}:{} changed: {line}", at + 1));
            }
        }
    }
    why
}

fn removed_lines(before: &str, after: &str) -> BTreeMap<usize, String> {
    let diff = TextDiff::from_lines(before, after);
    let gone = diff.iter_all_changes().filter(|change| change.tag() == ChangeTag::Delete);
    gone.map(|it| (it.old_index().unwrap(), it.value().trim_end().to_owned())).collect()
}

/// Compares results files: functions, their results and messages.
fn result_differences(expected: &str, actual: &str) -> Vec<String> {
    let [expected, actual] = [expected, actual].map(|text| File::parse(text.to_owned()).unwrap());
    let [expected, actual] = [&expected, &actual].map(functions);
    let mut why = Vec::new();
    if expected.len() != actual.len() {
        why.push(format!(
            "expected results of {} functions, found {}",
            expected.len(),
            actual.len()
        ));
    }
    for (expected, actual) in expected.iter().zip(&actual) {
        let is_same = expected.len() == actual.len()
            && expected.iter().zip(actual).all(|(a, b)| is_same_result(a, b));
        if !is_same {
            why.push(format!("expected results {expected:#?}\n    found {actual:#?}"));
        }
    }
    why
}

/// Whether two results are equal. Old functions have no severity.
fn is_same_result(expected: &str, actual: &str) -> bool {
    expected == actual
        || expected.strip_suffix(" | ").is_some_and(|it| actual.starts_with(&format!("{it} | ")))
}

fn functions(file: &File) -> Vec<Vec<String>> {
    let Some(root) = file.document(0).and_then(|it| it.root()) else { return Vec::new() };
    items(root, "items").map(|function| results(function)).collect()
}

fn results(function: NodeRef<'_>) -> Vec<String> {
    let image = text(function, "image").unwrap_or_default();
    let is_engine = ENGINES.iter().any(|name| image.contains(&format!("/{name}:")));
    let mut lines = vec![format!("{image} {}", text(function, "exitCode").unwrap_or_default())];
    let mut found: Vec<String> = Vec::new();
    for result in items(function, "results") {
        let field = |node: Option<NodeRef<'_>>, name| node.and_then(|it| text(it, name));
        let part = |name: &str| result.as_mapping().and_then(|it| it.get(name));
        let of = [
            field(part("resourceRef"), "kind").unwrap_or_default(),
            field(part("resourceRef"), "name").unwrap_or_default(),
            field(part("field"), "path").unwrap_or_default(),
            field(part("file"), "path").unwrap_or_default(),
            field(part("file"), "index").filter(|it| it != "0").unwrap_or_default(),
            text(result, "message")
                .filter(|it| !is_engine && !is_parser_message(it))
                .unwrap_or_default(),
            text(result, "severity").unwrap_or_default(),
        ];
        found.push(of.join(" | "));
    }
    found.sort();
    lines.extend(found);
    lines
}

fn items<'a>(node: NodeRef<'a>, name: &str) -> impl Iterator<Item = NodeRef<'a>> {
    let list = node.as_mapping().and_then(|it| it.get(name)).and_then(NodeRef::as_sequence);
    list.into_iter().flat_map(|list| list.items())
}

fn text(node: NodeRef<'_>, name: &str) -> Option<String> {
    let scalar = node.as_mapping()?.get(name)?.as_scalar()?;
    Some(scalar.value().into_owned())
}
