//! Writes models as YAML in random styles.

use super::model::{Entry, Item, Model};
use crate::properties::draw::Draw;

/// Writes a model; the choices are about style only.
pub(crate) fn text(model: &Model, draw: &mut Draw<'_>) -> String {
    let mut writer = Writer { draw, out: String::new(), compact: false };
    writer.compact = writer.draw.once_in(2);
    match model {
        Model::Map(entries) if !entries.is_empty() => writer.map(entries, 0, false),
        other => {
            let flow = flow(other);
            writer.out.push_str(&format!("{flow}\n"));
        }
    }
    writer.out
}

struct Writer<'d, 'b> {
    draw: &'d mut Draw<'b>,
    out: String,
    /// Whether sequences are indented as their key is.
    compact: bool,
}

impl Writer<'_, '_> {
    fn line(&mut self, depth: usize, text: &str) {
        self.out.push_str(&format!("{}{text}\n", " ".repeat(depth)));
    }

    fn map(&mut self, entries: &[Entry], depth: usize, mut behind_dash: bool) {
        for entry in entries {
            if self.draw.percent(8) && !behind_dash {
                self.out.push('\n');
            }
            if let Some(above) = entry.above.as_ref().filter(|_| !behind_dash) {
                self.line(depth, &format!("# {above}"));
            }
            if !behind_dash {
                self.out.push_str(&" ".repeat(depth));
            }
            behind_dash = false;
            self.out.push_str(&format!("{}:", key(&entry.key)));
            self.value(&entry.value, entry.beside.as_deref(), depth);
        }
    }

    fn value(&mut self, value: &Model, beside: Option<&str>, depth: usize) {
        let comment = beside.map(|text| format!(" # {text}")).unwrap_or_default();
        let in_flow = self.draw.percent(15) && !has_comments(value) || is_empty(value);
        match value {
            Model::Map(entries) if !in_flow => {
                self.out.push_str(&format!("{comment}\n"));
                self.map(entries, depth + 2, false);
            }
            Model::List(items) if !in_flow => {
                self.out.push_str(&format!("{comment}\n"));
                let depth = if self.compact { depth } else { depth + 2 };
                items.iter().for_each(|item| self.item(item, depth));
            }
            Model::Text(text) if text == "two\nlines\n" && self.draw.once_in(2) => {
                self.out.push_str(&format!(" |{comment}\n"));
                text.lines().for_each(|line| self.line(depth + 2, line));
            }
            other => {
                let scalar = self.scalar(other);
                self.out.push_str(&format!(" {scalar}{comment}\n"));
            }
        }
    }

    fn scalar(&mut self, value: &Model) -> String {
        match value {
            Model::Text(text) if is_plain(text) => {
                let single = format!("'{text}'");
                self.draw.pick(&[text.as_str(), text, &single, &format!("\"{text}\"")]).to_owned()
            }
            other => flow(other),
        }
    }

    fn item(&mut self, item: &Item, depth: usize) {
        if let Some(above) = &item.above {
            self.line(depth, &format!("# {above}"));
        }
        self.out.push_str(&format!("{}-", " ".repeat(depth)));
        match &item.value {
            Model::Map(entries) if !entries.is_empty() => {
                self.out.push(' ');
                self.map(entries, depth + 2, true);
            }
            other => {
                let scalar = self.scalar(other);
                self.out.push_str(&format!(" {scalar}\n"));
            }
        }
    }
}

fn is_empty(value: &Model) -> bool {
    match value {
        Model::Map(entries) => entries.is_empty(),
        Model::List(items) => items.is_empty(),
        _ => true,
    }
}

fn has_comments(value: &Model) -> bool {
    match value {
        Model::Map(entries) => entries
            .iter()
            .any(|it| it.above.is_some() || it.beside.is_some() || has_comments(&it.value)),
        Model::List(items) => items.iter().any(|it| it.above.is_some() || has_comments(&it.value)),
        _ => false,
    }
}

fn is_plain(text: &str) -> bool {
    text.len() > 1 && text.starts_with(['v', 'n']) && text.ends_with(|c: char| c.is_ascii_digit())
}

fn key(key: &str) -> String {
    if ["no", "12"].contains(&key) { format!("\"{key}\"") } else { key.to_owned() }
}

/// A model in flow style.
fn flow(value: &Model) -> String {
    let join = |parts: Vec<String>| parts.join(", ");
    match value {
        Model::Text(text) if is_plain(text) => text.clone(),
        Model::Text(text) => format!("{text:?}"),
        Model::Number(number) => number.to_string(),
        Model::Bool(value) => value.to_string(),
        Model::List(items) => {
            format!("[{}]", join(items.iter().map(|it| flow(&it.value)).collect()))
        }
        Model::Map(entries) => {
            let entry = |it: &Entry| format!("{}: {}", key(&it.key), flow(&it.value));
            format!("{{{}}}", join(entries.iter().map(entry).collect()))
        }
    }
}
