//! Random sequences of lines of common files: mostly valid documents.

use super::draw::Draw;

/// The content of a line after its indentation and dashes.
const CONTENTS: &[&str] = &[
    "key: value",
    "other: 'it''s'",
    "name: \"x \\\"y\\\" \\u00e9\"",
    "list:",
    "map:",
    "text: |",
    "text: >-",
    "text: |+",
    "text: |2-",
    "text of a text",
    "# a comment",
    "",
    "key: value # beside",
    "map: # beside",
    "flow: [a, \"b\", {c: d}]",
    "flow: {a: b, \"c\":1, 'd' : [e, ]}",
    "flow: [",
    "a: b,",
    "word,",
    "],",
    "]",
    "{}",
    "[]",
    "image: nginx:1.25@sha256:ab",
    "url: http://x:80/?a=b#c",
    "number: -1",
    "--flag=x",
    "\"quoted\": yes",
    "'single' : no",
    "é: ü—😀",
    "a b : c d",
    "---",
    "--- # beside",
    "...",
    "key: value: wrong",
    "key: &a x",
    "key: - x",
    "? key",
    "|",
    ">+ # beside",
    "\"over",
    "lines\"",
    "a,b: ]}",
    "key:\tx",
    "~",
    "<<: x",
    "key: %x",
    "key: a # b: c",
    "key:value",
    "-",
    "- ",
    "#no space",
    "a #b",
    "a#b: c#d",
];

const DASHES: &[&str] = &["", "", "", "", "- ", "- ", "-   ", "- - "];

/// The change of the indentation from one line to the next.
const STEPS: &[isize] = &[0, 0, 0, 0, 2, 2, -2, -2, -4, 1, -1, 4, -100];

/// A text of up to thirty lines.
pub(crate) fn lines(draw: &mut Draw<'_>) -> String {
    let eol = if draw.once_in(6) { "\r\n" } else { "\n" };
    let mut out = String::new();
    let mut column = 0_usize;
    for _ in 0..1 + draw.below(30) {
        column = column.saturating_add_signed(draw.pick(STEPS)).min(20);
        let indentation = if draw.once_in(20) { draw.below(9) } else { column };
        out.push_str(&" ".repeat(indentation));
        out.push_str(draw.pick(DASHES));
        out.push_str(draw.pick(CONTENTS));
        out.push_str(if draw.once_in(12) { "  " } else { "" });
        out.push_str(eol);
    }
    if draw.once_in(4) {
        out.truncate(out.trim_end_matches(['\n', '\r']).len());
    }
    out
}
