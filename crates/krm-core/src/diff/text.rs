//! Changes as people read them, and as records for other programs; values of Secrets are hidden where they are not asked for.

use krm_yaml::{CommentPosition, NodeRef, Path, Segment, Value};

use super::packages::{Item, ItemChange};
use super::{CommentChange, FieldChange, Format, FormatChange, What};
use crate::print::Record;
use crate::print::one_line;

/// More of a value than this is for `-o json`.
const MOST_CHARS: usize = 100;

const HIDDEN: &str = "***";

/// Which resource, and what became of it.
pub fn heading(change: &ItemChange<'_>) -> String {
    match (&change.old, &change.new) {
        (Some(old), Some(new)) => {
            let words = verbs(change).join(" and ");
            let name = arrow(&old.label(), &new.label());
            match change.is_moved {
                true => format!("{words} {name}: {} → {}", old.place(), new.place()),
                false => format!("{words} {name} in {}", new.place()),
            }
        }
        (Some(old), None) => format!("removed {} in {}", old.label(), old.place()),
        (_, new) => new
            .as_ref()
            .map_or(String::new(), |new| format!("added {} in {}", new.label(), new.place())),
    }
}

fn arrow(old: &str, new: &str) -> String {
    if old == new { new.to_owned() } else { format!("{old} → {new}") }
}

/// What became of a resource that both packages have.
fn verbs(change: &ItemChange<'_>) -> Vec<&'static str> {
    let names =
        |path: &Path| matches!(path.to_string().as_str(), "metadata.name" | "metadata.namespace");
    let is_changed =
        change.difference.fields.iter().any(|field| !change.is_renamed || !names(&field.path));
    let all = [(change.is_renamed, "renamed"), (change.is_moved, "moved"), (is_changed, "changed")];
    all.into_iter().filter(|(holds, _)| *holds).map(|(_, word)| word).collect()
}

/// One line for each change of meaning.
pub fn fields(change: &ItemChange<'_>, show_secrets: bool) -> Vec<String> {
    let hide = hides(change, show_secrets);
    change.difference.fields.iter().map(|field| field_line(field, hide(&field.path))).collect()
}

fn field_line(change: &FieldChange<'_>, hide: bool) -> String {
    let path = &change.path;
    let show = |node: Option<NodeRef<'_>>| match (hide, node) {
        (true, _) => HIDDEN.to_owned(),
        (false, Some(node)) => short(&one_line(node)),
        (false, None) => String::new(),
    };
    match change.what {
        What::Added => format!("+ {path}: {}", show(change.new)),
        What::Removed => format!("- {path}: {}", show(change.old)),
        What::Changed => format!("~ {path}: {} → {}", show(change.old), show(change.new)),
        What::Reordered => format!("% {path}: in another order"),
    }
}

/// One line for each change of comments and formatting.
pub fn apart(change: &ItemChange<'_>, show_secrets: bool) -> Vec<String> {
    let hide = hides(change, show_secrets);
    let comments = change.difference.comments.iter().map(comment_line);
    let formats = change.difference.formatting.iter();
    comments.chain(formats.map(|it| format_line(it, hide(&it.path)))).collect()
}

fn comment_line(change: &CommentChange<'_>) -> String {
    let lines = |lines: &[&str]| match lines.is_empty() {
        true => "none".to_owned(),
        false => short(&lines.join(" ")),
    };
    let place = place(change.place);
    format!("# {}: {} → {}", of(&change.path, place), lines(&change.old), lines(&change.new))
}

fn place(place: CommentPosition) -> &'static str {
    match place {
        CommentPosition::Head => "above",
        CommentPosition::Line => "beside",
        CommentPosition::Foot => "below",
        CommentPosition::Free => "near",
    }
}

fn of(path: &Path, place: &str) -> String {
    if path.segments().is_empty() { "document".to_owned() } else { format!("{place} {path}") }
}

fn format_line(change: &FormatChange<'_>, hide: bool) -> String {
    let at = if change.path.segments().is_empty() {
        String::new()
    } else {
        format!("{}: ", change.path)
    };
    let notation = |node: NodeRef<'_>| if node.is_block() { "by lines" } else { "in brackets" };
    let (old, new) = (change.old, change.new);
    let words = match change.format {
        Format::Style if hide => "written otherwise".to_owned(),
        Format::Style => format!("{} → {}", raw(old), raw(new)),
        Format::CollectionStyle => format!("{} → {}", notation(old), notation(new)),
        Format::KeyOrder => "keys in another order".to_owned(),
        Format::Alias => "through an alias or by itself".to_owned(),
        Format::Layout => "blanks or line breaks".to_owned(),
    };
    format!("= {at}{words}")
}

/// The first line as it is written: quotes and block styles are what is meant.
fn raw(node: NodeRef<'_>) -> String {
    let text = node.text();
    let line = text.lines().next().unwrap_or_default();
    short(&if line.len() < text.trim_end().len() { format!("{line} …") } else { line.to_owned() })
}

fn short(text: &str) -> String {
    match text.char_indices().nth(MOST_CHARS) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// Which fields nobody should see.
fn hides(change: &ItemChange<'_>, show_secrets: bool) -> impl Fn(&Path) -> bool {
    let is_secret = [&change.old, &change.new].into_iter().flatten().any(Item::is_secret);
    move |path| {
        let first = path.segments().first();
        let holds = |name: &String| matches!(name.as_str(), "data" | "stringData");
        is_secret
            && !show_secrets
            && first.is_none_or(|step| matches!(step, Segment::Key(name) if holds(name)))
    }
}

/// A change as a record: what, which resource, where, and lists of the changes in it.
pub fn record<'a>(change: &ItemChange<'a>, show_secrets: bool, only_meaning: bool) -> Record<'a> {
    let mut record = Record::new();
    let words = match (&change.old, &change.new) {
        (None, _) => vec!["added"],
        (_, None) => vec!["removed"],
        _ => verbs(change),
    };
    record.push(("changes", Value::Sequence(words.into_iter().map(Value::from).collect())));
    for (names, item) in [(OLD_NAMES, &change.old), (NEW_NAMES, &change.new)] {
        if let Some(item) = item {
            record.push((names, Value::Mapping(item_record(item))));
        }
    }
    let hide = hides(change, show_secrets);
    let difference = &change.difference;
    let fields = difference.fields.iter().map(|it| field_record(it, hide(&it.path)));
    record.push(("fields", Value::Sequence(fields.collect())));
    if !only_meaning {
        let comments = difference.comments.iter().map(comment_record);
        record.push(("comments", Value::Sequence(comments.collect())));
        let formatting = difference.formatting.iter().map(format_record);
        record.push(("formatting", Value::Sequence(formatting.collect())));
    }
    record
}

const OLD_NAMES: &str = "old";
const NEW_NAMES: &str = "new";

type Entries<'a> = Vec<(Value<'a>, Value<'a>)>;

fn entry<'a>(name: &'static str, value: impl Into<Value<'a>>) -> (Value<'a>, Value<'a>) {
    (Value::from(name), value.into())
}

fn item_record<'a>(item: &Item<'a>) -> Entries<'a> {
    let mut entries = vec![entry("file", Value::string(item.place().to_owned()))];
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

fn field_record<'a>(change: &FieldChange<'a>, hide: bool) -> Value<'a> {
    let what = match change.what {
        What::Added => "added",
        What::Removed => "removed",
        What::Changed => "changed",
        What::Reordered => "reordered",
    };
    let show = |node| if hide { Value::from(HIDDEN) } else { Value::Node(node) };
    let mut entries =
        vec![entry("path", Value::string(change.path.to_string())), entry("change", what)];
    entries.extend(change.old.map(|node| entry("old", show(node))));
    entries.extend(change.new.map(|node| entry("new", show(node))));
    Value::Mapping(entries)
}

fn comment_record<'a>(change: &CommentChange<'a>) -> Value<'a> {
    let lines =
        |lines: &[&'a str]| Value::Sequence(lines.iter().map(|line| Value::from(*line)).collect());
    Value::Mapping(vec![
        entry("path", Value::string(change.path.to_string())),
        entry("place", place(change.place)),
        entry("old", lines(&change.old)),
        entry("new", lines(&change.new)),
    ])
}

fn format_record<'a>(change: &FormatChange<'a>) -> Value<'a> {
    let format = match change.format {
        Format::Style => "style",
        Format::CollectionStyle => "notation",
        Format::KeyOrder => "key-order",
        Format::Alias => "alias",
        Format::Layout => "layout",
    };
    let path = Value::string(change.path.to_string());
    Value::Mapping(vec![entry("path", path), entry("format", format)])
}
