//! Functions that parse and print a resource, and checks of what must become of its text. Property tests and the fuzz target call the
//! same checks.

use std::collections::BTreeSet;

use krm_core::functions::resource_list::{InputList, InputOptions, Item};
use krm_yaml::{File, NodeKind, NodeRef, Scalar, ScalarStyle, ScalarType};

use crate::properties::draw::Draw;
use crate::properties::{Verdict, ensure};

/// A parsed value, without its style.
#[derive(Clone, Debug)]
enum Read {
    /// A scalar as it is printed.
    Scalar(String),
    List(Vec<Read>),
    Map(Vec<(String, Read)>),
}

/// How a function parses and prints.
struct Reprinter {
    /// Parses YAML 1.1: `on` is `true`.
    is_yaml_1_1: bool,
    /// Sorts keys.
    sorts: bool,
    /// Prints JSON.
    is_json: bool,
    /// Drops fields that are null.
    drops_nulls: bool,
}

impl Reprinter {
    fn draw(draw: &mut Draw<'_>) -> Self {
        let mut flip = || draw.once_in(2);
        Self { is_yaml_1_1: flip(), sorts: flip(), is_json: flip(), drops_nulls: flip() }
    }
}

/// A mapping as the `spec` of a resource; `None` where functions cannot be expected to parse it.
pub(crate) fn resource(text: &str) -> Option<String> {
    let is_plain = !text.contains(['%', '\r', '\t', '\u{feff}', '\u{85}', '\u{2028}', '\u{2029}'])
        && !text.contains("---")
        && !text.contains("...")
        && !text.contains("<<");
    let lines =
        text.lines().map(|line| if line.is_empty() { line.into() } else { format!("  {line}") });
    let body: Vec<String> = lines.collect();
    let text = format!(
        "apiVersion: v1\nkind: Any\nmetadata:\n  name: a\nspec:\n{}\nlast: true\n",
        body.join("\n")
    );
    let file = File::parse(text.clone()).ok().filter(|_| is_plain)?;
    let document = file.document(0).filter(|_| file.documents().len() == 1)?;
    let spec = document.root()?.as_mapping()?.get("spec");
    let is_whole = document.error().is_none() && document.root()?.children().count() == 10;
    (is_whole && spec?.as_mapping().is_some()).then_some(text)
}

/// Parses a node; `None` where a key is a collection, or two keys are the same to the function.
fn read(node: NodeRef<'_>, reprinter: &Reprinter, depth: usize) -> Option<Read> {
    let node = node.resolve();
    let depth = depth.checked_sub(1)?;
    if let Some(scalar) = node.as_scalar() {
        return Some(Read::Scalar(scalar_text(scalar, reprinter)));
    }
    if node.kind() == NodeKind::Sequence {
        let items = node.children().map(|item| read(item, reprinter, depth));
        return items.collect::<Option<_>>().map(Read::List);
    }
    let (mut entries, mut names, mut texts) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
    for entry in node.as_mapping()?.entries() {
        let key = entry.key.resolve().as_scalar()?;
        let text = scalar_text(key, reprinter);
        // A key of JSON is a string.
        if !names.insert(inner(&text).to_owned()) || !texts.insert(key.value().into_owned()) {
            return None;
        }
        let value = entry.value.resolve().as_scalar();
        let is_null = value.is_some_and(|it| it.resolve() == ScalarType::Null);
        if !(reprinter.drops_nulls && is_null) {
            let is_text = text.starts_with('"');
            let key = if reprinter.is_json && !is_text { quoted(&text) } else { text };
            entries.push((key, read(entry.value, reprinter, depth)?));
        }
    }
    if reprinter.sorts {
        entries.sort_by(|a, b| a.0.cmp(&b.0));
    }
    Some(Read::Map(entries))
}

fn scalar_text(scalar: Scalar<'_>, reprinter: &Reprinter) -> String {
    let is_yaml_1_1 = reprinter.is_yaml_1_1 && scalar.style() == ScalarStyle::Plain;
    let resolved = if is_yaml_1_1 { scalar.resolve_1_1() } else { scalar.resolve() };
    match resolved {
        ScalarType::Null => "null".to_owned(),
        ScalarType::Bool(value) => value.to_string(),
        ScalarType::Int(Some(value)) => value.to_string(),
        ScalarType::Float(value) if value.is_finite() => format!("{value:?}"),
        ScalarType::Int(None) | ScalarType::Float(_) => scalar.value().into_owned(),
        ScalarType::String => quoted(&scalar.value()),
    }
}

/// The text between quotes.
fn inner(text: &str) -> &str {
    let inner = text.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
    inner.unwrap_or(text)
}

/// A string in double quotes.
fn quoted(text: &str) -> String {
    let mut out = "\"".to_owned();
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            ' '..='~' => out.push(c),
            c if (c as u32) < 0x1_0000 => out += &format!("\\u{:04x}", c as u32),
            c => out += &format!("\\U{:08x}", c as u32),
        }
    }
    out + "\""
}

fn flow(value: &Read) -> String {
    match value {
        Read::Scalar(text) => text.clone(),
        Read::List(items) => format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", ")),
        Read::Map(entries) => {
            let entries = entries.iter().map(|(key, value)| format!("{key}: {}", flow(value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
    }
}

fn lines(value: &Read, depth: usize, out: &mut String) {
    let indent = "  ".repeat(depth);
    match value {
        Read::Map(entries) if !entries.is_empty() => {
            for (key, value) in entries {
                *out += &format!("{indent}{key}:");
                nested(value, depth, out);
            }
        }
        Read::List(items) if !items.is_empty() => {
            for item in items {
                *out += &format!("{indent}-");
                nested(item, depth, out);
            }
        }
        other => *out += &format!("{indent}{}\n", flow(other)),
    }
}

fn nested(value: &Read, depth: usize, out: &mut String) {
    let is_empty = match value {
        Read::Scalar(_) => true,
        Read::List(items) => items.is_empty(),
        Read::Map(entries) => entries.is_empty(),
    };
    if is_empty {
        *out += &format!(" {}\n", flow(value));
    } else {
        out.push('\n');
        lines(value, depth + 1, out);
    }
}

/// The output of a function for a list of one resource.
fn output(value: &Read, reprinter: &Reprinter) -> String {
    let list = Read::Map(vec![
        ("\"kind\"".to_owned(), Read::Scalar("\"ResourceList\"".to_owned())),
        ("\"items\"".to_owned(), Read::List(vec![value.clone()])),
    ]);
    let mut text = String::new();
    match reprinter.is_json {
        true => text = flow(&list) + "\n",
        false => lines(&list, 0, &mut text),
    }
    text
}

/// The text of an item after a function reprinted it with a change, and the output of the function.
fn reprinted(
    text: &str,
    reprinter: &Reprinter,
    change: impl FnOnce(&mut Read),
) -> Result<Option<(String, String)>, String> {
    let items = [Item::parse(text.to_owned()).map_err(|error| error.message().to_owned())?];
    let sending = InputList::of(&items, &InputOptions::default())
        .map_err(|error| error.message().to_owned())?;
    let sent = File::parse(sending.text().to_owned()).map_err(|error| error.to_string())?;
    let root = sent.document(0).and_then(|it| it.root());
    let item = root.and_then(|it| it.as_mapping()?.get("items")?.children().next());
    let Some(mut value) = item.and_then(|item| read(item, reprinter, 64)) else { return Ok(None) };
    change(&mut value);
    let output = output(&value, reprinter);
    let applied = sending.apply_output(output.clone());
    let mut applied =
        applied.map_err(|it| format!("{}\n--- output\n{output}", it.error.message()))?;
    Ok(Some((applied.items.remove(0).text().to_owned(), output)))
}

/// A function that reprints a resource in any style changes no byte of it.
pub(crate) fn same_meaning_same_bytes(text: &str, draw: &mut Draw<'_>) -> Verdict {
    let Some((now, output)) = reprinted(text, &Reprinter::draw(draw), |_| {})? else {
        return Ok(());
    };
    ensure!(now == text, "--- sent\n{text}\n--- output\n{output}\n--- became\n{now}");
    Ok(())
}

/// The scalars that are in no list, by their keys.
fn fields(value: &mut Read) -> Vec<(Vec<String>, &mut String)> {
    let Read::Map(entries) = value else { return Vec::new() };
    let mut all = Vec::new();
    for (key, value) in entries {
        match value {
            Read::Scalar(text) => all.push((vec![key.clone()], text)),
            other => all.extend(fields(other).into_iter().map(|(mut path, text)| {
                path.insert(0, key.clone());
                (path, text)
            })),
        }
    }
    all
}

/// Where one field gets another value, only the lines of its entry change.
pub(crate) fn one_field_one_place(text: &str, draw: &mut Draw<'_>) -> Verdict {
    let reprinter = Reprinter { drops_nulls: false, ..Reprinter::draw(draw) };
    // A value that aliases share is in more than one place.
    if text.contains(['&', '*', '!']) {
        return Ok(());
    }
    let mut place = None;
    let change = |value: &mut Read| {
        let Read::Map(entries) = value else { return };
        let Some((_, spec)) = entries.iter_mut().find(|(key, _)| key == "\"spec\"") else { return };
        let mut all = fields(spec);
        if all.is_empty() {
            return;
        }
        let at = draw.below(all.len());
        let (path, text) = all.swap_remove(at);
        *text = "\"another\"".to_owned();
        place = Some(path);
    };
    let Some((now, output)) = reprinted(text, &reprinter, change)? else { return Ok(()) };
    let Some(path) = place else { return Ok(()) };
    let file = File::parse(text.to_owned()).map_err(|error| error.to_string())?;
    let spec = file.document(0).and_then(|it| it.root()?.as_mapping()?.get("spec"));
    let entry = spec.and_then(|spec| entry_at(spec, &path, &reprinter));
    let Some((key, value)) = entry else { return Ok(()) };
    let start = text[..key.start() as usize].rfind('\n').map_or(0, |at| at + 1);
    let end = value.end().max(key.end()) as usize;
    let end = text[end..].find('\n').map_or(text.len(), |at| end + at);
    ensure!(
        now.starts_with(&text[..start]) && now.ends_with(&text[end..]) && now != text,
        "{path:?}\n--- sent\n{text}\n--- output\n{output}\n--- became\n{now}"
    );
    let after = File::parse(now.clone()).map_err(|error| error.to_string())?;
    ensure!(
        key_types(&file) == key_types(&after),
        "a key changed its type\n--- sent\n{text}\n--- output\n{output}\n--- became\n{now}"
    );
    Ok(())
}

/// The types of all keys, sorted: the string `"null"` is not null.
fn key_types(file: &File) -> Vec<String> {
    let root = file.document(0).and_then(|it| it.root());
    let nodes = root.into_iter().flat_map(|root| root.descendants());
    let keys = nodes.filter_map(|node| node.key()?.as_scalar());
    let mut types: Vec<String> = keys.map(type_of).collect();
    types.sort();
    types
}

fn type_of(key: Scalar<'_>) -> String {
    match (key.resolve(), key.resolve_1_1()) {
        (ScalarType::String, ScalarType::String) => key.value().into_owned(),
        types => format!("{types:?}"),
    }
}

/// The entry with these keys, as a function sees them.
fn entry_at<'a>(
    node: NodeRef<'a>,
    path: &[String],
    reprinter: &Reprinter,
) -> Option<(NodeRef<'a>, NodeRef<'a>)> {
    let (first, rest) = path.split_first()?;
    let is_it = |key: NodeRef<'a>| {
        let text = key.resolve().as_scalar().map(|it| scalar_text(it, reprinter))?;
        Some(inner(&text) == inner(first))
    };
    let mut entries = node.resolve().as_mapping()?.entries();
    let entry = entries.find(|entry| is_it(entry.key) == Some(true))?;
    match rest {
        [] => Some((entry.key, entry.value)),
        rest => entry_at(entry.value, rest, reprinter),
    }
}
