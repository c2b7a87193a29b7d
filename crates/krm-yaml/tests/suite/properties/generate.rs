//! Random trees: common values, and edge cases that must be read.

use super::draw::Draw;
use super::model::{Shape, Tree};

/// Strings that some reader takes for another type.
const TRAPS: &[&str] = &[
    "yes",
    "no",
    "on",
    "off",
    "y",
    "N",
    "Yes",
    "OFF",
    "null",
    "Null",
    "~",
    "true",
    "False",
    "TRUE",
    "0o17",
    "017",
    "0x1F",
    "1_000",
    "12:30:45",
    "1:20",
    ".inf",
    "-.INF",
    ".nan",
    "1e3",
    "1.",
    ".5",
    "+1",
    "-0",
    "0",
    "42",
    "1.5",
    "<<",
    "=",
    "2001-12-14",
    "2001-12-14t21:59:43.10-05:00",
    "0b11",
    "00",
    "1e",
    "0o8",
    "0x",
    "+",
    "-",
    ".",
    "e1",
    "1__0",
    "99999999999999999999",
];

/// Strings with characters that have a meaning in YAML.
const NASTY: &[&str] = &[
    "",
    " ",
    " lead",
    "trail ",
    "a: b",
    "a:",
    ":a",
    "a #b",
    "#c",
    "a#b",
    "- x",
    "-x",
    "? x",
    "?x",
    ": x",
    "[x",
    "{x}",
    "]",
    "}",
    "a, b",
    "a,b",
    "&a",
    "*a",
    "!t",
    "!!str x",
    "|",
    ">",
    "|-",
    "%x",
    "@x",
    "`x",
    "'",
    "\"",
    "it's",
    "say \"so\"",
    "'q'",
    "\"d\"",
    "a\\b",
    "\\n",
    "--- x",
    "---",
    "...",
    "... x",
    "{{ .Values.x }}",
    "{{- if x }}",
    "${a:-b}",
    "a\tb",
    "\tx",
    "x\t",
    "a  b",
    "a\u{a0}b",
    "x:y:z",
    "http://x.y/z?a=b#c",
    "sh -c 'a; b'",
    "--flag=a:b",
    "key: [a, {b: c}]",
    "a: b: c",
    "# not a comment",
    "*",
    "&",
    "!",
    "-- ",
    "a -b",
];

/// Strings of several lines.
const LINES: &[&str] = &[
    "one\ntwo\n",
    "one\ntwo",
    "one\n\ntwo\n",
    "\n",
    "\n\n",
    "\none\n",
    "one\n\n",
    "one\n\n\n",
    "  indented\nback\n",
    " a\n  b\n c\n",
    "#!/bin/sh\nset -e\nif true; then\n  echo hi # no comment\nfi\n",
    "a: b\nc:\n- d\n",
    "one \ntwo\n",
    "\tone\n\ttwo\n",
    "a\n \nb\n",
    "---\na\n...\n",
    "one two three four\nfive six\n",
    "trail\n  ",
    "{\n  \"a\": 1\n}\n",
    "a\n\n  b\n\nc\n",
    "# one\n# two\n",
    "a\n# b\nc",
    "x\n\n\n\ny\n",
    " \n",
    "a\n\tb\n",
    "one\n two\nthree",
    "\n  a\n",
    "a long line that goes on and on and on until somebody folds it\nand more\n",
];

/// Non-ASCII characters, and characters that must be escaped.
const UNICODE: &[&str] = &[
    "é",
    "naïve",
    "日本語",
    "😀",
    "a\u{85}b",
    "a\u{2028}b",
    "x\u{feff}y",
    "\u{7}",
    "a\0b",
    "\u{1b}[0m",
    "\r",
    "a\rb",
    "a\r\nb",
    "\u{7f}",
    "e\u{301}",
    "\u{200b}",
    "\u{fffd}",
    "\u{10ffff}",
    "\u{80}",
    "שלום",
];

const WORDS: &[&str] = &[
    "a",
    "b",
    "web",
    "name",
    "nginx:1.27",
    "spec",
    "app.kubernetes.io/name",
    "100m",
    "1Gi",
    "v1",
    "apps/v1",
    "ClusterIP",
    "some longer text of text",
    "a-b_c",
    "x.y",
    "IfNotPresent",
    "/var/run",
    "kind",
    "c",
    "d",
];

const NUMBERS: &[&str] = &[
    "0",
    "1",
    "-1",
    "8080",
    "3.14",
    "1e3",
    "0o17",
    "0x1F",
    "017",
    ".5",
    "1.",
    "+7",
    "-0.0",
    "123456789012345678901234567890",
    ".inf",
    ".nan",
    "6.02E+23",
];
const JSON_NUMBERS: &[&str] =
    &["0", "1", "-1", "8080", "3.14", "1e3", "-0.5", "123456789012345678901234567890", "6.02E+23"];

/// Options for a generated tree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TreeOptions {
    /// Only values that JSON can represent.
    pub(crate) json: bool,
    /// The maximum number of nodes.
    pub(crate) nodes: usize,
}

/// A document's tree.
pub(crate) fn tree(draw: &mut Draw<'_>, options: TreeOptions) -> Tree {
    let mut left = options.nodes;
    match draw.below(12) {
        0..=8 => mapping(draw, options, 0, &mut left),
        9 | 10 => sequence(draw, options, 0, &mut left),
        _ => scalar(draw, options),
    }
}

/// A new scalar: mostly simple ones, and some that are almost simple.
pub(crate) fn swapped(draw: &mut Draw<'_>, json: bool) -> Tree {
    const SIMPLE: &[&str] =
        &["x", "nginx", "nginx:1.25.3", "a::b", "a/b_c-d.e", "v1", "10.0.0.1", "a--b"];
    const NEARLY: &[&str] = &[
        "",
        " ",
        "x:",
        ":x",
        "x-",
        "-x",
        "- x",
        "a: b",
        "a:\tb",
        "a #b",
        "a#b",
        "#a",
        "---",
        "...",
        "--- a",
        "don't",
        "say \"x\"",
        "a\\b",
        "a\nb",
        "a,b",
        "[x]",
        "{x}",
        "*x",
        "&x",
        "!x",
        "%x",
        "yes",
        "1",
        "1.5",
        "null",
        "true",
        "0x1f",
        "1:30",
        "2001-01-01",
        "é",
        "<<",
        "=",
        "x y",
    ];
    const PLAIN: &[&str] =
        &["4711", "47.11", "true", "null", "-4711", "4.7e11", "0x4711", "0o4711"];
    match draw.below(8) {
        0..=3 => Tree::text(draw.pick(SIMPLE)),
        4 | 5 => Tree::plain(draw.pick(if json { &PLAIN[..5] } else { PLAIN })),
        6 => Tree::text(draw.pick(NEARLY)),
        // Longer than a key may be.
        _ => Tree::text(&"long".repeat(draw.pick(&[250, 256, 257, 300]))),
    }
}

/// A small value for an edit.
pub(crate) fn value(draw: &mut Draw<'_>, json: bool) -> Tree {
    let options = TreeOptions { json, nodes: 6 };
    let mut left = options.nodes;
    match draw.below(8) {
        0..=4 => scalar(draw, options),
        5 => mapping(draw, options, 3, &mut left),
        6 => sequence(draw, options, 3, &mut left),
        _ => node(draw, options, 2, &mut left),
    }
}

fn node(draw: &mut Draw<'_>, options: TreeOptions, depth: usize, left: &mut usize) -> Tree {
    *left = left.saturating_sub(1);
    let deep = depth > 5 || *left == 0 || draw.is_spent();
    match draw.below(10) {
        5..=7 if !deep => mapping(draw, options, depth, left),
        8 | 9 if !deep => sequence(draw, options, depth, left),
        _ => scalar(draw, options),
    }
}

/// Empty collections are rare.
fn entry_count(draw: &mut Draw<'_>) -> usize {
    let count = draw.below(6);
    if count == 0 && !draw.is_spent() && !draw.once_in(4) { 2 } else { count }
}

fn sequence(draw: &mut Draw<'_>, options: TreeOptions, depth: usize, left: &mut usize) -> Tree {
    let count = entry_count(draw);
    Tree::sequence((0..count).map(|_| node(draw, options, depth + 1, left)).collect())
}

fn mapping(draw: &mut Draw<'_>, options: TreeOptions, depth: usize, left: &mut usize) -> Tree {
    let count = entry_count(draw);
    let mut entries: Vec<(Tree, Tree)> = Vec::new();
    for _ in 0..count {
        let key = key(draw, options, entries.len(), left);
        let value = node(draw, options, depth + 1, left);
        let text = key.as_text();
        if text.is_none() || entries.iter().all(|(other, _)| other.as_text() != text) {
            entries.push((key, value));
        }
    }
    Tree::mapping(entries)
}

fn key(draw: &mut Draw<'_>, options: TreeOptions, at: usize, left: &mut usize) -> Tree {
    match draw.below(24) {
        0..=17 => Tree::text(WORDS[(at + draw.below(WORDS.len())) % WORDS.len()]),
        18..=20 => Tree::text(&string(draw)),
        21 if !options.json => Tree::plain(draw.pick(NUMBERS)),
        22 if !options.json => Tree::plain(draw.pick(&["true", "~", "null", "False"])),
        23 if !options.json && draw.once_in(3) => sequence(draw, options, 5, left),
        _ => Tree::text(&format!("k{}", draw.below(100))),
    }
}

fn scalar(draw: &mut Draw<'_>, options: TreeOptions) -> Tree {
    match draw.below(10) {
        0..=6 => Tree::text(&string(draw)),
        7 if options.json => Tree::plain(draw.pick(JSON_NUMBERS)),
        7 => Tree::plain(draw.pick(NUMBERS)),
        8 => Tree::plain(draw.pick(&["true", "false"])),
        _ if options.json => Tree::plain("null"),
        _ => Tree::plain(draw.pick(&["null", "~", "", "Null", "TRUE"])),
    }
}

/// Any string.
pub(crate) fn string(draw: &mut Draw<'_>) -> String {
    match draw.below(16) {
        0..=5 => draw.pick(WORDS).to_owned(),
        6 | 7 => draw.pick(TRAPS).to_owned(),
        8..=10 => draw.pick(NASTY).to_owned(),
        11 | 12 => draw.pick(LINES).to_owned(),
        13 => draw.pick(UNICODE).to_owned(),
        14 => soup(draw),
        _ => format!("{}{}", draw.pick(NASTY), draw.pick(LINES)),
    }
}

/// A few random characters, most of them with a meaning in YAML.
fn soup(draw: &mut Draw<'_>) -> String {
    const SOUP: &[char] = &[
        'a', ' ', '\n', ':', '#', '-', '?', ',', '[', ']', '{', '}', '&', '*', '!', '|', '>', '\'',
        '"', '%', '@', '`', '\\', '\t', '0', '.', '~', 'é', '\u{85}', '=', '<', 'x',
    ];
    let count = draw.below(12);
    (0..count).map(|_| draw.pick(SOUP)).collect()
}

/// All scalar texts of a tree, including keys.
pub(crate) fn texts(tree: &Tree, out: &mut Vec<String>) {
    match &tree.shape {
        Shape::Scalar { text, .. } => out.push(text.clone()),
        Shape::Alias(_) => {}
        Shape::Sequence { items, .. } => items.iter().for_each(|item| texts(item, out)),
        Shape::Mapping { entries, .. } => {
            for (key, value) in entries {
                texts(key, out);
                texts(value, out);
            }
        }
    }
}
