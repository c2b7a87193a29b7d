//! The corpus of edge cases: the actions of each case give the expected output.

use krm_testkit::{Case, Section, diff_from_input, run_dir};
use krm_yaml::{Comment, CommentPosition, DocumentRef, File, NodeRef, Path, ScalarType, Value};

use crate::actions;

#[test]
fn cases_give_their_expected_output() {
    run_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases"), act);
}

fn act(case: &Case, section: &Section) -> String {
    let input = case.input();
    let file = File::parse(input.input_text()).expect("cases are small");
    let (document, action) = split_document(&section.title);
    match action.split_whitespace().next().unwrap_or_default() {
        "noop" => diff_from_input(
            input,
            &File::parse(input.input_text()).expect("cases are small").into_text(),
        ),
        "check" => check(&file),
        "comments" => file.document(document).map(comments).unwrap_or_default(),
        "get" => get(&file, document, action["get".len()..].trim()),
        _ => match actions::edit(case, &file, document, action) {
            Ok(text) => diff_from_input(input, &text),
            Err(message) => format!("error: {message}\n"),
        },
    }
}

/// Splits `doc N:` from an action.
fn split_document(title: &str) -> (usize, &str) {
    let Some((number, action)) = title.strip_prefix("doc ").and_then(|rest| rest.split_once(':'))
    else {
        return (0, title);
    };
    (number.trim().parse().expect("a document is named by its number"), action.trim())
}

fn check(file: &File) -> String {
    let mut out: Vec<(u32, String)> = Vec::new();
    for error in file.errors() {
        let place = file.position(error.span.start);
        let mut line = format!("error: {}:{} {}", place.line, place.column, error.kind);
        if let Some((span, what)) = &error.related {
            let place = file.position(span.start);
            line.push_str(&format!(", {what}: {}:{}", place.line, place.column));
        }
        out.push((error.span.start, line));
    }
    let documents = file.documents().filter_map(DocumentRef::root);
    for (again, first) in documents.flat_map(duplicates) {
        let (place, before) = (again.position(), first.position());
        let message = format!(
            "warning: {}:{} `{}` is a duplicate key, first at {}:{}: the last counts",
            place.line,
            place.column,
            again.path(),
            before.line,
            before.column
        );
        out.push((again.start(), message));
    }
    out.sort();
    out.into_iter().map(|(_, line)| line + "\n").collect()
}

/// Duplicate keys, each with the previous one.
fn duplicates<'a>(node: NodeRef<'a>) -> Vec<(NodeRef<'a>, NodeRef<'a>)> {
    let mut found = Vec::new();
    if let Some(mapping) = node.as_mapping() {
        let keys: Vec<NodeRef<'a>> = mapping.entries().map(|entry| entry.key).collect();
        for (at, key) in keys.iter().enumerate() {
            let Some(name) = key.as_scalar().map(|key| key.value()) else { continue };
            let first = keys[..at]
                .iter()
                .find(|other| other.as_scalar().is_some_and(|other| other.is(&name)));
            found.extend(first.map(|first| (*key, *first)));
        }
    }
    found.extend(node.children().flat_map(duplicates));
    found
}

fn comments(document: DocumentRef<'_>) -> String {
    document.comments().iter().map(|comment| describe(document, comment)).collect()
}

fn describe(document: DocumentRef<'_>, comment: &Comment<'_>) -> String {
    let line = document.file().position(comment.span.start).line;
    let place = match comment.position {
        CommentPosition::Head => "above",
        CommentPosition::Line => "beside",
        CommentPosition::Foot => "below",
        CommentPosition::Free => "free",
    };
    let owner = comment.owner.map_or_else(String::new, |owner| owner.path().to_string());
    let owner = if owner.is_empty() { "." } else { &owner };
    let text = comment.text.strip_prefix('#').unwrap_or(comment.text);
    format!("{line} {place} {owner} {}\n", text.strip_prefix(' ').unwrap_or(text))
        .replace(" \n", "\n")
}

fn get(file: &File, document: usize, path: &str) -> String {
    let path: Path = match path.parse() {
        Ok(path) => path,
        Err(error) => return format!("error: {error}\n"),
    };
    let Some(node) = file.document(document).and_then(|document| document.find(&path)) else {
        return format!("error: no such path `{path}`\n");
    };
    match node.to_value() {
        Ok(value) => json(&value) + "\n",
        Err(error) => format!("error: {error}\n"),
    }
}

/// A value as JSON on one line.
pub(crate) fn json(value: &Value<'_>) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(text) => number(text),
        Value::String(text) => quote(text),
        Value::Sequence(items) => {
            format!("[{}]", items.iter().map(json).collect::<Vec<_>>().join(","))
        }
        Value::Mapping(entries) => {
            let entry = |(key, value): &(Value<'_>, Value<'_>)| {
                let key = match key {
                    Value::String(text) => quote(text),
                    other => quote(&json(other)),
                };
                format!("{key}:{}", json(value))
            };
            format!("{{{}}}", entries.iter().map(entry).collect::<Vec<_>>().join(","))
        }
        Value::Node(node) => format!("{node:?}"),
        Value::OwnedNode(graft) => format!("{graft:?}"),
    }
}

/// The JSON spelling of a number.
fn number(text: &str) -> String {
    let file = File::parse(text.to_owned()).expect("numbers are short");
    let scalar = file.document(0).and_then(DocumentRef::root).and_then(NodeRef::as_scalar);
    match scalar.map(|scalar| scalar.resolve()) {
        Some(ScalarType::Int(Some(value))) => value.to_string(),
        _ => text.to_owned(),
    }
}

fn quote(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\x08' => out.push_str("\\b"),
            '\x0c' => out.push_str("\\f"),
            c if (c as u32) < 0x20
                || matches!(c as u32, 0x7f..=0x9f | 0x2028 | 0x2029 | 0xfeff) =>
            {
                out.push_str(&format!("\\u{:04x}", c as u32));
            }
            c => out.push(c),
        }
    }
    out + "\""
}
