//! A model of the three-way merge, independent of krm's own: what a side changed must be in the result, or be reported.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use krm_core::merge::MergedFile;
use krm_core::print::json;
use krm_yaml::{File, NodeRef};

use super::Fault;
use crate::TaskResult;

/// The merge keys of the specification, in order of precedence.
const KEYS: [&str; 7] =
    ["mountPath", "devicePath", "ip", "type", "topologyKey", "name", "containerPort"];

/// Base, local, upstream and the result of the merge.
type Versions<'a> = [Option<NodeRef<'a>>; 4];

/// Changes of a side that neither are in the result nor reported.
pub(super) fn lost(texts: [&str; 4], merged: &MergedFile) -> TaskResult<Vec<Fault>> {
    let mut files = Vec::new();
    for text in texts {
        files.push(
            File::parse(text.to_owned()).map_err(|error| format!("invalid result: {error}"))?,
        );
    }
    let mut documents: Vec<BTreeMap<String, NodeRef<'_>>> = files.iter().map(documents).collect();
    // Files of one document each are versions of the same document, whatever its name is.
    if documents.iter().all(|it| it.len() == 1) {
        let only =
            |it: BTreeMap<_, _>| it.into_values().map(|root| (String::new(), root)).collect();
        documents = documents.into_iter().map(only).collect();
    }
    let mut model = Model { merged, faults: Vec::new() };
    for name in documents.iter().flat_map(BTreeMap::keys).collect::<BTreeSet<_>>() {
        let versions = [0, 1, 2, 3].map(|at| documents[at].get(name).copied());
        model.walk("", versions);
    }
    Ok(model.faults)
}

/// The roots of documents by kind, namespace and name. Further documents of the same identity are counted.
fn documents(file: &File) -> BTreeMap<String, NodeRef<'_>> {
    let mut all = BTreeMap::new();
    let mut counts = BTreeMap::<String, usize>::new();
    for root in file.documents().filter_map(|document| document.root()) {
        let text = |path: &[&str]| -> String {
            let node = path.iter().try_fold(root, |node, name| node.as_mapping()?.get(name));
            node.and_then(NodeRef::as_str).unwrap_or_default().into_owned()
        };
        let identity =
            [text(&["kind"]), text(&["metadata", "namespace"]), text(&["metadata", "name"])]
                .join("/");
        let count = counts.entry(identity.clone()).or_default();
        *count += 1;
        all.insert(format!("{identity}#{count}"), root);
    }
    all
}

struct Model<'m> {
    merged: &'m MergedFile,
    faults: Vec<Fault>,
}

impl Model<'_> {
    fn walk(&mut self, path: &str, versions: Versions<'_>) {
        let versions = versions.map(|node| node.map(NodeRef::resolve));
        let [base, local, upstream, _] = versions;
        let present: Vec<NodeRef<'_>> = [base, local, upstream].into_iter().flatten().collect();
        if present.iter().all(|node| node.as_mapping().is_some_and(|it| it.entries().count() > 0)) {
            let names: BTreeSet<Cow<'_, str>> = versions
                .into_iter()
                .flatten()
                .filter_map(|it| it.as_mapping())
                .flat_map(|it| it.entries())
                .filter_map(|it| it.key.as_str())
                .collect();
            for name in names {
                let values = versions.map(|node| node.and_then(|it| it.as_mapping()?.get(&name)));
                self.walk(&format!("{path}.{name}"), values);
            }
        } else if present.iter().all(|node| node.as_sequence().is_some())
            && let Some(key) = merge_key(&present)
        {
            let elements = versions.map(|node| node.map(|it| by_key(it, key)).unwrap_or_default());
            for id in elements.iter().flat_map(BTreeMap::keys).collect::<BTreeSet<_>>() {
                let versions = [0, 1, 2, 3].map(|at| elements[at].get(id).copied());
                self.walk(&format!("{path}[{key}={id}]"), versions);
            }
        } else if present.iter().all(|node| node.as_sequence().is_some()) {
            self.sequence(path, versions);
        } else {
            self.value(path, versions);
        }
    }

    /// A value is one side's if only that side changed it. If both did, it is one of theirs, and the conflict is reported.
    fn value(&mut self, path: &str, versions: Versions<'_>) {
        let texts = versions.map(|node| node.map(text));
        let [base, local, upstream, result] = &texts;
        let (class, expected) = match (local == base, upstream == base) {
            (true, true) => ("a value that nobody changed is changed", local),
            (false, true) => ("a local change is lost", local),
            (true, false) => ("an upstream change is lost", upstream),
            _ if local == upstream => ("a change of both sides is lost", local),
            _ => {
                if !self.is_reported(path) {
                    self.fault("a conflict is not reported", path, &texts);
                }
                return;
            }
        };
        // An empty mapping or sequence may have got elements of the other side.
        let is_filled = matches!(expected.as_deref(), Some("{}" | "[]")) && result.is_some();
        if result != expected && !is_filled && !self.is_reported(path) {
            self.fault(class, path, &texts);
        }
    }

    /// A sequence without keys: every scalar that a side added must be in the result.
    fn sequence(&mut self, path: &str, versions: Versions<'_>) {
        let [base, local, upstream, result] = versions.map(|node| node.map(text));
        if local == upstream || base == local || base == upstream {
            return self.value(path, versions);
        }
        let [base_scalars, local_scalars, upstream_scalars, result_scalars] = versions.map(scalars);
        let sides = [
            (local_scalars, "a local change is lost"),
            (upstream_scalars, "an upstream change is lost"),
        ];
        for (side, class) in sides {
            let is_lost = |(scalar, count): &(&String, &usize)| {
                base_scalars.get(*scalar).is_none_or(|base| base < count)
                    && !result_scalars.contains_key(*scalar)
            };
            if side.iter().any(|it| is_lost(&it)) && !self.is_reported(path) {
                let texts = [base.clone(), local.clone(), upstream.clone(), result.clone()];
                self.fault(class, path, &texts);
            }
        }
    }

    /// Whether a conflict or a warning is about a field, what contains it, or what it contains.
    fn is_reported(&self, path: &str) -> bool {
        let path = without_elements(path);
        let conflicts = self.merged.conflicts.iter().map(|it| it.path.as_str());
        let warnings = self.merged.warnings.iter().filter_map(|it| it.field.as_deref());
        conflicts.chain(warnings).map(without_elements).any(|reported| {
            path.starts_with(&reported)
                || reported.starts_with(&path)
                || parent(&path) == parent(&reported)
        })
    }

    fn fault(&mut self, class: &'static str, path: &str, texts: &[Option<String>; 4]) {
        let show = |at: usize| match texts[at].as_deref() {
            Some(text) => text.chars().take(300).collect(),
            None => "nothing".to_owned(),
        };
        let description = format!(
            "{path}\n  base     {}\n  local    {}\n  upstream {}\n  result   {}",
            show(0),
            show(1),
            show(2),
            show(3)
        );
        self.faults.push(Fault::new(class, description));
    }
}

/// A path without merge keys and indices, beginning with a dot.
fn without_elements(path: &str) -> String {
    let mut out = String::new();
    if !path.starts_with(['.', '[']) {
        out.push('.');
    }
    let mut depth = 0_usize;
    for c in path.chars() {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            c if depth == 0 && c != '"' => out.push(c),
            _ => {}
        }
    }
    out
}

fn parent(path: &str) -> &str {
    path.rsplit_once('.').map_or("", |(parent, _)| parent)
}

/// The first merge key that every element of every version has, with a value of its own in its version.
fn merge_key(sequences: &[NodeRef<'_>]) -> Option<&'static str> {
    let identifies = |key: &&str| {
        sequences.iter().all(|it| {
            let count = it.children().count();
            by_key(*it, key).len() == count
        })
    };
    let has_elements = sequences.iter().any(|it| it.children().next().is_some());
    KEYS.into_iter().find(|key| has_elements && identifies(key))
}

fn by_key<'a>(sequence: NodeRef<'a>, key: &str) -> BTreeMap<String, NodeRef<'a>> {
    let id = |node: NodeRef<'a>| {
        Some((node.resolve().as_mapping()?.get(key)?.as_str()?.into_owned(), node))
    };
    sequence.children().filter_map(id).collect()
}

fn text(node: NodeRef<'_>) -> String {
    node.to_value().map_or_else(|_| node.text().to_owned(), |value| json::display(&value))
}

fn scalars(node: Option<NodeRef<'_>>) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    let nodes = node.into_iter().flat_map(NodeRef::descendants);
    for scalar in nodes.filter(|node| node.as_scalar().is_some()) {
        *counts.entry(text(scalar)).or_insert(0) += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classes(texts: [&str; 4]) -> Vec<&'static str> {
        let merged =
            MergedFile { text: String::new(), conflicts: Vec::new(), warnings: Vec::new() };
        lost(texts, &merged).unwrap().into_iter().map(|fault| fault.class).collect()
    }

    #[test]
    fn a_lost_change_is_a_fault() {
        assert_eq!(
            classes(["a: 1\nb: 1\n", "a: 2\nb: 1\n", "a: 1\nb: 2\n", "a: 2\nb: 2\n"]),
            [""; 0]
        );
        let lost = classes(["a: 1\nb: 1\n", "a: 2\nb: 1\n", "a: 1\nb: 2\n", "a: 1\nb: 1\n"]);
        assert_eq!(lost, ["a local change is lost", "an upstream change is lost"]);
    }

    #[test]
    fn a_conflict_must_be_reported() {
        assert_eq!(
            classes(["a: 1\n", "a: 2\n", "a: 3\n", "a: 3\n"]),
            ["a conflict is not reported"]
        );
    }

    #[test]
    fn elements_are_compared_by_their_merge_key() {
        let base = "l:\n- name: a\n  v: 1\n- name: b\n";
        let local = "l:\n- name: b\n- name: a\n  v: 1\n- name: c\n";
        let upstream = "l:\n- name: a\n  v: 2\n- name: b\n";
        let result = "l:\n- name: b\n- name: a\n  v: 2\n- name: c\n";
        assert_eq!(classes([base, local, upstream, result]), [""; 0]);
        assert_eq!(classes([base, local, upstream, local]), ["an upstream change is lost"]);
    }
}
