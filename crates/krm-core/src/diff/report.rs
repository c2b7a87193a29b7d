//! Diffs as lines of text and as records for `-o json`. Values of Secrets are masked unless they are asked for.

use std::collections::BTreeMap;

use krm_yaml::{CommentPosition, NodeKind, NodeRef, Path, Segment, Value};

use super::packages::{DiffItem, ResourceDiff};
use super::{ChangeKind, CommentChange, FieldChange, FormatChange, FormatKind};
use crate::print::Record;
use crate::print::one_line;

/// Longer values are cut; `-o json` has all of them.
const MAX_CHARS: usize = 100;

const MASK: &str = "***";

/// One line: how the resource changed, its name and its file.
pub fn heading(change: &ResourceDiff<'_>) -> String {
    match (&change.old, &change.new) {
        (Some(old), Some(new)) => {
            let verbs = verbs(change).join(" and ");
            let name = arrow(&old.label(), &new.label());
            match change.is_moved {
                true => format!("{verbs} {name}: {} → {}", old.path(), new.path()),
                false => format!("{verbs} {name} in {}", new.path()),
            }
        }
        (Some(old), None) => format!("removed {} in {}", old.label(), old.path()),
        (_, new) => new
            .as_ref()
            .map_or(String::new(), |new| format!("added {} in {}", new.label(), new.path())),
    }
}

fn arrow(old: &str, new: &str) -> String {
    if old == new { new.to_owned() } else { format!("{old} → {new}") }
}

/// How a resource changed that both packages have.
fn verbs(change: &ResourceDiff<'_>) -> Vec<&'static str> {
    let names =
        |path: &Path| matches!(path.to_string().as_str(), "metadata.name" | "metadata.namespace");
    let is_changed =
        change.nodes.fields.iter().any(|field| !change.is_renamed || !names(&field.path));
    let all = [(change.is_renamed, "renamed"), (change.is_moved, "moved"), (is_changed, "changed")];
    all.into_iter().filter(|(holds, _)| *holds).map(|(_, verb)| verb).collect()
}

/// One line for each changed value.
pub fn field_lines(change: &ResourceDiff<'_>, show_secrets: bool) -> Vec<String> {
    let masks = masks(change, show_secrets);
    let mut shown = [const { BTreeMap::new() }; 2];
    let line = |field: &FieldChange<'_>| field_line(field, masks(&field.path), &mut shown);
    change.nodes.fields.iter().map(line).collect()
}

/// The values that are shown, by the index of the node that aliases lead to: thousands of them may share one long value.
type ShownValues = BTreeMap<usize, String>;

fn field_line(change: &FieldChange<'_>, is_masked: bool, shown: &mut [ShownValues; 2]) -> String {
    let path = &change.path;
    let mut show = |side: usize, node: Option<NodeRef<'_>>| match node {
        _ if is_masked => MASK.to_owned(),
        None => String::new(),
        Some(node) if node.kind() == NodeKind::Alias => {
            let value = || short(&one_line(node));
            shown[side].entry(node.resolve().index()).or_insert_with(value).clone()
        }
        Some(node) => short(&one_line(node)),
    };
    let [old, new] = [show(0, change.old), show(1, change.new)];
    match change.kind {
        ChangeKind::Added => format!("+ {path}: {new}"),
        ChangeKind::Removed => format!("- {path}: {old}"),
        ChangeKind::Changed => format!("~ {path}: {old} → {new}"),
        ChangeKind::Reordered => format!("% {path}: order changed"),
    }
}

/// One line for each changed comment and each change of formatting.
pub fn formatting_lines(change: &ResourceDiff<'_>, show_secrets: bool) -> Vec<String> {
    let masks = masks(change, show_secrets);
    let comments = change.nodes.comments.iter().map(comment_line);
    let formats = change.nodes.formatting.iter();
    comments.chain(formats.map(|it| format_line(it, masks(&it.path)))).collect()
}

fn comment_line(change: &CommentChange<'_>) -> String {
    let lines = |lines: &[&str]| match lines.is_empty() {
        true => "none".to_owned(),
        false => short(&lines.join(" ")),
    };
    let owner = owner(&change.path, place_name(change.place));
    format!("# {owner}: {} → {}", lines(&change.old), lines(&change.new))
}

fn place_name(place: CommentPosition) -> &'static str {
    match place {
        CommentPosition::Head => "above",
        CommentPosition::Line => "beside",
        CommentPosition::Foot => "below",
        CommentPosition::Free => "near",
    }
}

fn owner(path: &Path, place: &str) -> String {
    if path.segments().is_empty() { "document".to_owned() } else { format!("{place} {path}") }
}

fn format_line(change: &FormatChange<'_>, is_masked: bool) -> String {
    let prefix = if change.path.segments().is_empty() {
        String::new()
    } else {
        format!("{}: ", change.path)
    };
    let style = |node: NodeRef<'_>| if node.is_block() { "block style" } else { "flow style" };
    let (old, new) = (change.old, change.new);
    let description = match change.kind {
        FormatKind::ScalarStyle if is_masked => "style changed".to_owned(),
        FormatKind::ScalarStyle => format!("{} → {}", raw(old), raw(new)),
        FormatKind::CollectionStyle => format!("{} → {}", style(old), style(new)),
        FormatKind::KeyOrder => "key order changed".to_owned(),
        FormatKind::Alias => "alias or merge key expanded, or the reverse".to_owned(),
        FormatKind::Layout => "white space or line breaks changed".to_owned(),
    };
    format!("= {prefix}{description}")
}

/// The first line as it is written, with quotes and block scalar indicators.
fn raw(node: NodeRef<'_>) -> String {
    let text = node.text();
    let line = text.lines().next().unwrap_or_default();
    short(&if line.len() < text.trim_end().len() { format!("{line} …") } else { line.to_owned() })
}

fn short(text: &str) -> String {
    match text.char_indices().nth(MAX_CHARS) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// Which fields must be masked.
fn masks(change: &ResourceDiff<'_>, show_secrets: bool) -> impl Fn(&Path) -> bool {
    let is_secret = [&change.old, &change.new].into_iter().flatten().any(DiffItem::is_secret);
    move |path| {
        let first = path.segments().first();
        let holds = |name: &String| matches!(name.as_str(), "data" | "stringData");
        is_secret
            && !show_secrets
            && first.is_none_or(|step| matches!(step, Segment::Key(name) if holds(name)))
    }
}

/// A diff as a record for other programs.
pub fn record<'a>(
    change: &ResourceDiff<'a>,
    show_secrets: bool,
    only_semantic: bool,
) -> Record<'a> {
    let mut record = Record::new();
    let changes = match (&change.old, &change.new) {
        (None, _) => vec!["added"],
        (_, None) => vec!["removed"],
        _ => verbs(change),
    };
    record.push(("changes", Value::Sequence(changes.into_iter().map(Value::from).collect())));
    for (side, item) in [("old", &change.old), ("new", &change.new)] {
        if let Some(item) = item {
            record.push((side, Value::Mapping(item_record(item))));
        }
    }
    let masks = masks(change, show_secrets);
    let nodes = &change.nodes;
    let fields = nodes.fields.iter().map(|it| field_record(it, masks(&it.path)));
    record.push(("fields", Value::Sequence(fields.collect())));
    if !only_semantic {
        let comments = nodes.comments.iter().map(comment_record);
        record.push(("comments", Value::Sequence(comments.collect())));
        let formatting = nodes.formatting.iter().map(format_record);
        record.push(("formatting", Value::Sequence(formatting.collect())));
    }
    record
}

type Entries<'a> = Vec<(Value<'a>, Value<'a>)>;

fn entry<'a>(name: &'static str, value: impl Into<Value<'a>>) -> (Value<'a>, Value<'a>) {
    (Value::from(name), value.into())
}

fn item_record<'a>(item: &DiffItem<'a>) -> Entries<'a> {
    let mut entries = vec![entry("file", Value::string(item.path().to_owned()))];
    let line = i64::from(item.node.position().line);
    entries.push(entry("line", line));
    if let Some(resource) = item.resource {
        entries.push(entry("apiVersion", Value::String(resource.api_version())));
        entries.push(entry("kind", Value::String(resource.kind())));
        let names = [("namespace", resource.namespace()), ("name", resource.name())];
        let given = names.into_iter().filter(|(_, value)| !value.is_empty());
        entries.extend(given.map(|(name, value)| entry(name, Value::String(value))));
    }
    entries
}

fn field_record<'a>(change: &FieldChange<'a>, is_masked: bool) -> Value<'a> {
    let kind = match change.kind {
        ChangeKind::Added => "added",
        ChangeKind::Removed => "removed",
        ChangeKind::Changed => "changed",
        ChangeKind::Reordered => "reordered",
    };
    let show = |node| if is_masked { Value::from(MASK) } else { Value::Node(node) };
    let mut entries =
        vec![entry("path", Value::string(change.path.to_string())), entry("change", kind)];
    entries.extend(change.old.map(|node| entry("old", show(node))));
    entries.extend(change.new.map(|node| entry("new", show(node))));
    Value::Mapping(entries)
}

fn comment_record<'a>(change: &CommentChange<'a>) -> Value<'a> {
    let lines =
        |lines: &[&'a str]| Value::Sequence(lines.iter().map(|line| Value::from(*line)).collect());
    Value::Mapping(vec![
        entry("path", Value::string(change.path.to_string())),
        entry("place", place_name(change.place)),
        entry("old", lines(&change.old)),
        entry("new", lines(&change.new)),
    ])
}

fn format_record<'a>(change: &FormatChange<'a>) -> Value<'a> {
    let kind = match change.kind {
        FormatKind::ScalarStyle => "style",
        FormatKind::CollectionStyle => "notation",
        FormatKind::KeyOrder => "key-order",
        FormatKind::Alias => "alias",
        FormatKind::Layout => "layout",
    };
    let path = Value::string(change.path.to_string());
    Value::Mapping(vec![entry("path", path), entry("format", kind)])
}
