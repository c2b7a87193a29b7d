//! Properties with Kubernetes' own reader as the reference: krm reads what Kubernetes reads, with the same meaning, before and after
//! an edit.

use std::collections::BTreeMap;

use krm_testkit::{KubernetesReader, Reading};
use krm_yaml::{DocumentRef, File, NodeKind, NodeRef, ScalarStyle, ScalarType};

use super::Verdict;
use super::editing::Edited;

/// How krm reads a text, compared with Kubernetes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Same,
    /// Kubernetes cannot read it.
    Refused,
    /// A difference that is known and explained.
    Known(&'static str),
    /// A difference, its class first.
    Different(String),
}

/// Compares the readings of one text.
pub(crate) fn compare(text: &str, reader: &mut KubernetesReader) -> Comparison {
    let reading = read(text, reader);
    if reading.error.is_some() {
        return Comparison::Refused;
    }
    let Ok(file) = File::parse(text.to_owned()) else { return Comparison::Refused };
    if let Some(known) = known_text(text) {
        return Comparison::Known(known);
    }
    if let Some(error) = file.errors().next() {
        let id = krm_yaml::DiagnosticKind::id(&error.kind);
        return match known_refusal(text, error.span.start, &reading, reader) {
            Some(known) => Comparison::Known(known),
            None => Comparison::Different(format!("refused: {id}: {error}")),
        };
    }
    let documents: Vec<NodeRef<'_>> =
        first_documents(&file).filter_map(DocumentRef::root).collect();
    let objects: Vec<&str> = reading.objects().collect();
    let ours: Vec<_> = documents.into_iter().filter(|root| !is_null(*root)).collect();
    if ours.len() != objects.len() {
        return match known_splitting(text).or(text.contains('!').then_some("tags")) {
            Some(known) => Comparison::Known(known),
            None => {
                let (ours, theirs) = (ours.len(), objects.len());
                Comparison::Different(format!("documents: krm {ours}, Kubernetes {theirs}"))
            }
        };
    }
    if first_documents(&file).filter_map(DocumentRef::root).any(has_flow_indicator) {
        return Comparison::Known("`?` and `:` in plain scalars of flow collections");
    }
    for (root, json) in ours.into_iter().zip(objects) {
        let parsed = File::parse(escaped(json)).expect("JSON is short");
        let theirs = parsed
            .document(0)
            .and_then(DocumentRef::root)
            .unwrap_or_else(|| panic!("JSON {json:?} of {text:?}"));
        if let Some(difference) = difference(root, theirs, &mut Vec::new()) {
            return difference;
        }
    }
    Comparison::Same
}

/// Property `kubernetes_reads_edits`: what Kubernetes reads like krm before an edit, it reads like krm after it.
pub(crate) fn reads_edit(edited: &Edited, reader: &mut KubernetesReader) -> Verdict {
    let old = edited.old.text();
    // JSON allows tabs anywhere between tokens; the result may be YAML.
    let is_json_with_tabs = old.trim_start().starts_with(['{', '[']) && old.contains('\t');
    if is_json_with_tabs || compare(old, reader) != Comparison::Same {
        return Ok(());
    }
    same_after(&edited.new, reader).map_err(|why| format!("{why}{}", edited.report()))
}

/// The result of an operation on a text that both readers read alike.
pub(crate) fn same_after(new: &str, reader: &mut KubernetesReader) -> Verdict {
    match compare(new, reader) {
        Comparison::Same | Comparison::Known(_) => Ok(()),
        Comparison::Refused => {
            let why = read(new, reader).error.unwrap_or_default();
            // The change asked for a value that JSON does not have.
            let is_asked = ["unsupported value", "map key", "escape", "beginning of value"];
            match is_asked.iter().any(|asked| why.contains(asked)) || has_odd_key(new) {
                true => Ok(()),
                false => Err(format!("Kubernetes refuses the result: {why}")),
            }
        }
        Comparison::Different(why) => Err(format!("Kubernetes reads the result otherwise: {why}")),
    }
}

/// Whether a mapping of the text has a collection as a key, which Kubernetes does not read.
fn has_odd_key(text: &str) -> bool {
    let Ok(file) = File::parse(text.to_owned()) else { return false };
    file.documents().filter_map(DocumentRef::root).any(|root| {
        root.descendants()
            .chain([root])
            .any(|node| node.kind() == NodeKind::Mapping && has_collection_as_key(node))
    })
}

pub(crate) fn read(text: &str, reader: &mut KubernetesReader) -> Reading {
    reader.read(text).expect("the reader answers")
}

/// Kubernetes splits the text at `---` and reads only the first document of each part.
fn first_documents(file: &File) -> impl Iterator<Item = DocumentRef<'_>> {
    let mut is_first = true;
    file.documents().filter(move |document| {
        let is_read = is_first || document.start_marker().is_some();
        is_first = false;
        is_read
    })
}

/// JSON with escape sequences for the control characters that JSON allows and YAML does not.
fn escaped(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '\u{7f}'..='\u{9f}' => text.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => text.push(c),
        }
    }
    text
}

fn is_null(root: NodeRef<'_>) -> bool {
    root.as_scalar().is_some_and(|scalar| scalar.resolve() == ScalarType::Null)
}

/// Why krm refuses what Kubernetes reads, if that is decided.
fn known_refusal(
    text: &str,
    at: u32,
    reading: &Reading,
    reader: &mut KubernetesReader,
) -> Option<&'static str> {
    let is_scalar = |json: &str| !json.starts_with(['{', '[']);
    if reading.objects().all(is_scalar) {
        return Some("text after a scalar at the root, which Kubernetes ignores");
    }
    if text.lines().any(|line| line.starts_with('%')) {
        return Some("a directive inside a document, which ends it for Kubernetes");
    }
    if text.trim_start().starts_with(['{', '[', '"']) && reading.documents.len() > 1 {
        return Some("JSON values without a separator");
    }
    // What Kubernetes ignores could hide anything.
    let at = at as usize;
    let line = text[..at].rfind('\n').map_or(0, |line| line + 1);
    let content = line + text[line..].len() - text[line..].trim_start_matches(' ').len();
    let ends = text[at..].match_indices(['\n', '}', ']', '"', '\'']).map(|(end, _)| at + end + 1);
    let is_ignored = [content, at].into_iter().chain(ends.take(100)).any(|from| {
        let next = text[from..].find("\n---").map_or(text.len(), |next| from + next);
        [" garbage", "garbage", "garbage: 1"].iter().any(|garbage| {
            let text = format!("{}{garbage}\n{}", &text[..from], &text[next..]);
            read(&text, reader) == *reading
        })
    });
    if is_ignored {
        return Some("text after the first document of a part, which Kubernetes ignores");
    }
    if text.contains('!') {
        return Some("tags");
    }
    let is_block = |line: &str| line.trim_start().starts_with(['|', '>']) || line.ends_with('>');
    text.lines().any(is_block).then_some("block scalars that are not indented, or only blank")
}

/// Why the readings of a text are not compared.
fn known_text(text: &str) -> Option<&'static str> {
    if text.contains(['\u{85}', '\u{2028}', '\u{2029}']) {
        return Some("line breaks of YAML 1.1");
    }
    if text.strip_prefix('\u{feff}').unwrap_or(text).contains('\u{feff}') {
        return Some("byte-order marks inside a document");
    }
    if text.starts_with("---#") || text.contains("---\n---#") {
        return Some("`---#` without text above it, which Kubernetes reads as a scalar");
    }
    // kubectl reads lines that end with `\n` and removes one `\r` before it.
    let is_alone = |at: usize| !text[at + 1..].starts_with('\n') || text[..at].ends_with('\r');
    text.match_indices('\r').any(|(at, _)| is_alone(at)).then_some("lines that end with `\\r`")
}

/// Why the number of documents differs, if that is decided.
fn known_splitting(text: &str) -> Option<&'static str> {
    let glued = text.lines().any(|line| line.starts_with("---") && line[3..].starts_with('#'));
    if glued {
        return Some("Kubernetes splits at `---#`");
    }
    let trimmed = text.trim_start();
    trimmed.starts_with('{').then_some("Kubernetes reads JSON values without a separator")
}

/// The first difference of a node from the JSON that Kubernetes reads.
fn difference(ours: NodeRef<'_>, json: NodeRef<'_>, path: &mut Vec<String>) -> Option<Comparison> {
    let ours = ours.resolve();
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if ours.anchor().is_some_and(|anchor| !anchor.chars().all(is_name)) {
        return Some(Comparison::Known("anchors with other characters than letters and digits"));
    }
    if let Some(tag) = ours.tag()
        && !matches!(tag, "!!str" | "!!int" | "!!float" | "!!bool" | "!!null" | "!!map" | "!!seq")
    {
        return Some(Comparison::Known("tags other than those of the core schema"));
    }
    match (ours.kind(), json.kind()) {
        (NodeKind::Scalar(_), NodeKind::Scalar(_)) => scalar_difference(ours, json, path),
        (NodeKind::Sequence, NodeKind::Sequence) => {
            let (a, b) = (ours.children().count(), json.children().count());
            if a != b {
                return differs(path, &format!("{a} elements, Kubernetes {b}"));
            }
            ours.children().zip(json.children()).enumerate().find_map(|(at, (ours, json))| {
                path.push(at.to_string());
                let found = difference(ours, json, path);
                path.pop();
                found
            })
        }
        (NodeKind::Mapping, NodeKind::Mapping) => {
            let mut entries = BTreeMap::new();
            if let Err(known) = collect(ours, &mut entries, 0) {
                return Some(Comparison::Known(known));
            }
            let mut theirs = BTreeMap::new();
            for entry in json.as_mapping()?.entries() {
                theirs.insert(entry.key.as_str()?.into_owned(), entry.value);
            }
            if !entries.keys().eq(theirs.keys()) {
                let keys = |map: &BTreeMap<String, NodeRef<'_>>| {
                    map.keys().cloned().collect::<Vec<_>>().join(",")
                };
                let why = format!("keys {}, Kubernetes {}", keys(&entries), keys(&theirs));
                return differs(path, &why);
            }
            entries.into_iter().zip(theirs).find_map(|((key, ours), (_, json))| {
                path.push(key);
                let found = difference(ours, json, path);
                path.pop();
                found
            })
        }
        (NodeKind::Mapping, _) if has_collection_as_key(ours) => {
            Some(Comparison::Known("collections as keys"))
        }
        (a, b) => differs(path, &format!("{a:?}, Kubernetes {b:?}")),
    }
}

/// Whether a flow collection has a plain scalar with `?`, or an empty value directly before a comma or bracket. Kubernetes reads the former as an
/// explicit key, and the latter as a part of the key.
fn has_flow_indicator(root: NodeRef<'_>) -> bool {
    root.descendants().any(|node| {
        let parent = node.parent().filter(|parent| !parent.is_block());
        let next = node.document().file().text()[node.end() as usize..].chars().next();
        let is_plain = node.kind() == NodeKind::Scalar(ScalarStyle::Plain);
        let is_glued = node.text().is_empty() && matches!(next, Some(',' | '}' | ']'));
        parent.is_some() && is_plain && (node.text().contains('?') || is_glued)
    })
}

fn has_collection_as_key(mapping: NodeRef<'_>) -> bool {
    let mut entries = mapping.as_mapping().into_iter().flat_map(|mapping| mapping.entries());
    entries.any(|entry| entry.key.is_collection())
}

fn differs(path: &[String], why: &str) -> Option<Comparison> {
    Some(Comparison::Different(format!("value: {why} at {path:?}")))
}

/// The entries of a mapping by the key that Kubernetes gives them, with merge keys; of duplicates the last one counts.
fn collect<'a>(
    mapping: NodeRef<'a>,
    entries: &mut BTreeMap<String, NodeRef<'a>>,
    depth: usize,
) -> Result<(), &'static str> {
    if depth > 20 {
        return Err("nested merge keys");
    }
    let mapping = mapping.resolve();
    for entry in mapping.as_mapping().into_iter().flat_map(|mapping| mapping.entries()) {
        let key = entry.key.resolve();
        if key.tag().is_some() {
            return Err("tags of keys");
        }
        if key.as_scalar().is_some_and(|it| it.style().is_block()) {
            return Err("block scalars as keys");
        }
        let Some(scalar) = key.as_scalar() else { return Err("keys that are not scalars") };
        let is_plain = scalar.style() == ScalarStyle::Plain;
        if is_plain && scalar.is("<<") {
            if !entries.is_empty() {
                // go-yaml lets a merge key override the keys above it.
                return Err("a merge key below other keys");
            }
            let merged = entry.value.resolve();
            match merged.kind() {
                NodeKind::Sequence => {
                    let items: Vec<_> = merged.children().collect();
                    items.into_iter().rev().try_for_each(|it| collect(it, entries, depth + 1))?;
                }
                _ => collect(merged, entries, depth + 1)?,
            }
            continue;
        }
        if scalar.resolve_1_1() != scalar.resolve() {
            return Err("scalars with another type in YAML 1.1");
        }
        let name = match scalar.resolve_1_1() {
            ScalarType::Int(Some(value)) if i64::try_from(value).is_ok() => value.to_string(),
            ScalarType::Bool(value) => value.to_string(),
            ScalarType::Float(_) | ScalarType::Int(_) => return Err("fractions as keys"),
            ScalarType::Null => return Err("null as a key"),
            ScalarType::String => scalar.value().into_owned(),
        };
        entries.insert(name, entry.value);
    }
    Ok(())
}

fn scalar_difference(ours: NodeRef<'_>, json: NodeRef<'_>, path: &[String]) -> Option<Comparison> {
    let (own, their) = (ours.as_scalar()?, json.as_scalar()?);
    let number = |kind: ScalarType, text: &str| match kind {
        ScalarType::Int(Some(value)) => Some(value as f64),
        ScalarType::Int(None) => text.parse().ok(),
        ScalarType::Float(value) => Some(value),
        _ => None,
    };
    let (a, b) = (own.resolve_1_1(), their.resolve());
    let is_same = match (a, b) {
        (ScalarType::Null, ScalarType::Null) => true,
        (ScalarType::Bool(a), ScalarType::Bool(b)) => a == b,
        (ScalarType::String, ScalarType::String) => own.value() == their.value(),
        (ScalarType::Int(Some(a)), ScalarType::Int(Some(b))) => a == b,
        _ => {
            let pair = (number(a, &own.value()), number(b, &their.value()));
            matches!(pair, (Some(a), Some(b)) if a == b)
        }
    };
    if is_same {
        return None;
    }
    if matches!(own.style(), ScalarStyle::Literal | ScalarStyle::Folded) {
        let at_root = ours.parent().is_none();
        if at_root {
            return Some(Comparison::Known("block scalars at the root"));
        }
        // kubectl adds a line break to the last line.
        if their.value().strip_suffix('\n') == Some(&own.value()) {
            return Some(Comparison::Known("a block scalar that ends without a line break"));
        }
    }
    if a != own.resolve() || ours.tag().is_some() {
        return Some(Comparison::Known("scalars with another type in YAML 1.1"));
    }
    let class = if a == ScalarType::String && b == a { "string" } else { "scalar" };
    let why = format!("{class} {:?}, Kubernetes {:?}", own.raw(), their.raw());
    differs(path, &why)
}
