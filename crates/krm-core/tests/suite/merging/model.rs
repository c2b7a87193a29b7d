//! Models of generated resources, independent of how they are written.

use crate::properties::draw::Draw;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Model {
    /// A string; quoted where a plain scalar would be read as something else.
    Text(String),
    Number(i64),
    Bool(bool),
    Map(Vec<Entry>),
    /// A list whose elements have a `name`, or one of scalars.
    List(Vec<Item>),
}

/// A field with its comments.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) value: Model,
    pub(crate) above: Option<String>,
    pub(crate) beside: Option<String>,
}

/// An element with the comment above it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Item {
    pub(crate) value: Model,
    pub(crate) above: Option<String>,
}

const KEYS: [&str; 12] =
    ["a", "b", "image", "ports", "env", "x.y/z", "data", "m", "no", "spec", "k1", "12"];
const TEXTS: [&str; 14] = [
    "nginx",
    "",
    "true",
    "12",
    "a: b",
    "# no comment",
    "two\nlines\n",
    "é – ü",
    "null",
    "-",
    "1e3",
    "'quoted'",
    "kept\n\n",
    " edge ",
];

pub(crate) fn scalar(draw: &mut Draw<'_>) -> Model {
    match draw.below(6) {
        0 | 1 => Model::Text(format!("v{}", draw.below(20))),
        2 => Model::Text(draw.pick(&TEXTS).to_owned()),
        3 => Model::Bool(draw.once_in(2)),
        _ => Model::Number(draw.below(30) as i64),
    }
}

fn comment(draw: &mut Draw<'_>) -> Option<String> {
    draw.percent(20).then(|| format!("c{}", draw.below(40)))
}

pub(crate) fn entry(draw: &mut Draw<'_>, key: &str, depth: usize) -> Entry {
    let value = value(draw, depth);
    Entry { key: key.to_owned(), value, above: comment(draw), beside: comment(draw) }
}

pub(crate) fn value(draw: &mut Draw<'_>, depth: usize) -> Model {
    if depth == 0 {
        return scalar(draw);
    }
    match draw.below(8) {
        0..=2 => map(draw, depth - 1),
        3 => keyed(draw, depth - 1),
        4 => scalars(draw),
        _ => scalar(draw),
    }
}

pub(crate) fn map(draw: &mut Draw<'_>, depth: usize) -> Model {
    let mut entries: Vec<Entry> = Vec::new();
    for _ in 0..draw.below(5) {
        let key = draw.pick(&KEYS);
        if entries.iter().all(|entry| entry.key != key) {
            entries.push(entry(draw, key, depth));
        }
    }
    Model::Map(entries)
}

pub(crate) fn element(draw: &mut Draw<'_>, name: usize, depth: usize) -> Item {
    let Model::Map(mut entries) = map(draw, depth) else { unreachable!("a map is a map") };
    let own = Entry {
        key: "name".to_owned(),
        value: Model::Text(format!("n{name}")),
        above: None,
        beside: comment(draw),
    };
    entries.insert(draw.below(entries.len() + 1), own);
    Item { value: Model::Map(entries), above: comment(draw) }
}

fn keyed(draw: &mut Draw<'_>, depth: usize) -> Model {
    let mut items: Vec<Item> = Vec::new();
    for name in 0..draw.below(5) {
        if !draw.once_in(3) {
            items.push(element(draw, name, depth));
        }
    }
    Model::List(items)
}

pub(crate) fn scalars(draw: &mut Draw<'_>) -> Model {
    let count = draw.below(4);
    let items = (0..count).map(|_| Item { value: scalar(draw), above: comment(draw) });
    Model::List(items.collect())
}

/// A resource.
pub(crate) fn resource(draw: &mut Draw<'_>) -> Model {
    let text = |key: &str, value: &str| Entry {
        key: key.to_owned(),
        value: Model::Text(value.to_owned()),
        above: None,
        beside: None,
    };
    let meta = Model::Map(vec![text("name", "web"), entry(draw, "labels", 1)]);
    let metadata = Entry { key: "metadata".to_owned(), value: meta, above: None, beside: None };
    let mut entries = vec![text("apiVersion", "example.com/v1"), text("kind", "Thing"), metadata];
    for key in ["spec", "data", "status"] {
        let value = map(draw, 3);
        entries.push(Entry {
            key: key.to_owned(),
            value,
            above: comment(draw),
            beside: comment(draw),
        });
    }
    Model::Map(entries)
}
