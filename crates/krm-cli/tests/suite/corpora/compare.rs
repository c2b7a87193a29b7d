//! What was made against what is wanted: documents by meaning, comments, touched lines and results.

use std::collections::{BTreeMap, BTreeSet};

use krm_yaml::{File, NodeRef, ScalarType};
use similar::{ChangeTag, TextDiff};

use super::case::{Case, Files, Ran};

/// Functions whose words are made by an engine, which may say the same in other words.
const ENGINES: [&str; 4] = ["starlark", "gatekeeper", "kubeconform", "kubeval"];

pub(crate) fn is_yaml(name: &str) -> bool {
    let last = name.rsplit('/').next().unwrap_or_default();
    last == "Kptfile" || [".yaml", ".yml", ".json"].iter().any(|end| last.ends_with(end))
}

/// Whether the words are those of Go's own reader of JSON, and no function's.
fn is_of_reader(message: &str) -> bool {
    message.contains("json: cannot unmarshal") || message.contains("is wanted, and this is")
}

/// Why a case is not what is wanted; nothing where it is.
pub(crate) fn judge(case: &Case, ran: &Ran) -> Vec<String> {
    let mut why: Vec<String> = ran.stale.clone().into_iter().collect();
    if (ran.exit != 0) != case.wants_failure() || ran.exit == 70 {
        why.push(format!("exit code {}", ran.exit));
    }
    why.extend(documents(ran));
    why.extend(comments(ran));
    why.extend(lines(ran));
    if let Some(wanted) = &ran.golden_results {
        match &ran.results {
            Some(results) => why.extend(same_results(wanted, results)),
            None => why.push("no results were written".to_owned()),
        }
    }
    why
}

/// Why the same again is not the same.
pub(crate) fn judge_again(ran: &Ran) -> Vec<String> {
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

fn documents(ran: &Ran) -> Vec<String> {
    let (golden, after) = (&ran.golden, &ran.after);
    let mut why = Vec::new();
    if has_lost_places(golden) {
        let all = |files: &Files| {
            let texts = files.iter().filter(|(name, _)| is_yaml(name));
            let mut all: Vec<String> = texts.flat_map(|(_, text)| meanings(text)).collect();
            all.sort();
            all
        };
        let [wanted, is] = [golden, after].map(all);
        if wanted != is {
            why.push(format!("there is {is:?}\n    and not {wanted:?}"));
        }
        if !ran.before.keys().eq(after.keys()) {
            why.push("resources moved to other files, and nobody asked for it".to_owned());
        }
        return why;
    }
    for name in names(golden, after) {
        match (golden.get(&name), after.get(&name)) {
            (Some(wanted), Some(is)) if wanted == is => {}
            (Some(wanted), Some(is)) if is_yaml(&name) => {
                let [wanted, is] = [wanted, is].map(|text| meanings(text));
                if wanted != is {
                    why.push(format!("{name} means {is:?}\n    and not {wanted:?}"));
                }
            }
            (Some(_), Some(_)) => why.push(format!("{name} has another content")),
            (Some(_), None) => why.push(format!("{name} is missing")),
            (None, _) => why.push(format!("{name} is too much")),
        }
    }
    why
}

/// Whether the function that made the golden forgot where its resources came from, so that each went to a new file, and the
/// Kptfile to one that makes no package. Then only documents can be compared, and here they must stay where they were.
fn has_lost_places(golden: &Files) -> bool {
    golden.keys().any(|name| name.starts_with("kptfile_") && name.ends_with(".yaml"))
}

/// The documents of a text in one spelling; a Kptfile without its status.
fn meanings(text: &str) -> Vec<String> {
    let Ok(file) = File::parse(text.to_owned()) else { return vec![text.to_owned()] };
    if file.errors().next().is_some() {
        return vec![text.to_owned()];
    }
    file.documents()
        .filter_map(|document| document.root())
        .map(|root| meaning(root, true))
        .collect()
}

fn meaning(node: NodeRef<'_>, is_root: bool) -> String {
    let node = node.resolve();
    if let Some(mapping) = node.as_mapping() {
        let is_kptfile =
            is_root && mapping.get("kind").and_then(NodeRef::as_str).as_deref() == Some("Kptfile");
        let mut entries: BTreeMap<String, String> = BTreeMap::new();
        for entry in mapping.entries().filter(|entry| !(is_kptfile && entry.is("status"))) {
            entries.insert(meaning(entry.key, false), meaning(entry.value, false));
        }
        let entries: Vec<String> = entries.iter().map(|(k, v)| format!("{k}: {v}")).collect();
        return format!("{{{}}}", entries.join(", "));
    }
    if let Some(list) = node.as_sequence() {
        let items: Vec<String> = list.items().map(|item| meaning(item, false)).collect();
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

/// Comments that the golden has, each as often.
fn comments(ran: &Ran) -> Vec<String> {
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

/// Lines of the input that were touched, though the golden leaves them alone.
fn lines(ran: &Ran) -> Vec<String> {
    let mut why = Vec::new();
    for (name, before) in &ran.before {
        let text = |files: &Files| files.get(name).cloned().unwrap_or_default();
        let allowed = touched(before, &text(&ran.golden));
        for (at, line) in touched(before, &text(&ran.after)) {
            // Of equal lines side by side it does not matter which one is said to go.
            if !allowed.contains_key(&at) && !allowed.values().any(|other| *other == line) {
                why.push(format!("{name}:{} was touched: {line}", at + 1));
            }
        }
    }
    why
}

fn touched(before: &str, after: &str) -> BTreeMap<usize, String> {
    let diff = TextDiff::from_lines(before, after);
    let gone = diff.iter_all_changes().filter(|change| change.tag() == ChangeTag::Delete);
    gone.map(|it| (it.old_index().unwrap(), it.value().trim_end().to_owned())).collect()
}

/// What a results file says of each function, and in what words.
fn same_results(wanted: &str, is: &str) -> Vec<String> {
    let [wanted, is] = [wanted, is].map(|text| File::parse(text.to_owned()).unwrap());
    let [wanted, is] = [&wanted, &is].map(functions);
    let mut why = Vec::new();
    if wanted.len() != is.len() {
        why.push(format!("results of {} functions, and not of {}", is.len(), wanted.len()));
    }
    for (wanted, is) in wanted.iter().zip(&is) {
        let is_same = wanted.len() == is.len() && wanted.iter().zip(is).all(|(a, b)| same(a, b));
        if !is_same {
            why.push(format!("results are {is:#?}\n    and not {wanted:#?}"));
        }
    }
    why
}

/// Old functions give no severity.
fn same(wanted: &str, is: &str) -> bool {
    wanted == is || wanted.strip_suffix(" | ").is_some_and(|it| is.starts_with(&format!("{it} | ")))
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
        let said = |node: Option<NodeRef<'_>>, name| node.and_then(|it| text(it, name));
        let part = |name: &str| result.as_mapping().and_then(|it| it.get(name));
        let of = [
            said(part("resourceRef"), "kind").unwrap_or_default(),
            said(part("resourceRef"), "name").unwrap_or_default(),
            said(part("field"), "path").unwrap_or_default(),
            said(part("file"), "path").unwrap_or_default(),
            said(part("file"), "index").filter(|it| it != "0").unwrap_or_default(),
            text(result, "message")
                .filter(|it| !is_engine && !is_of_reader(it))
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
