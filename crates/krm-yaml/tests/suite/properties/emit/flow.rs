//! Emits flow style, on one or several lines, and JSON files.

use krm_yaml::{CollectionStyle, ScalarStyle};

use super::super::draw::Draw;
use super::super::generate::{self, TreeOptions};
use super::super::model::{Kind, Shape, Tree};
use super::block::set_style;
use super::scalar::{ScalarContext, spell};
use super::{Emitter, Sample, Written};

impl Emitter<'_, '_> {
    /// Writes a flow collection. `tight`: on one line, as before a colon.
    pub(super) fn flow(&mut self, tree: &mut Tree, parent: i32, tight: bool) {
        let many = !tight && self.draw.once_in(4);
        match &mut tree.shape {
            Shape::Sequence { items, notation } => {
                *notation = Some(CollectionStyle::Flow);
                self.out.push('[');
                let count = items.len();
                for (at, item) in items.iter_mut().enumerate() {
                    self.path.push(at);
                    self.flow_gap(parent, many, at == 0);
                    if !tight && is_pair(item) && self.draw.once_in(3) {
                        self.pair(item, parent);
                    } else {
                        self.flow_node(item, parent, tight, true);
                    }
                    self.path.pop();
                    self.comma(parent, many, at + 1 == count);
                }
                self.close(']', parent, many);
            }
            Shape::Mapping { entries, notation } => {
                *notation = Some(CollectionStyle::Flow);
                self.out.push('{');
                let count = entries.len();
                for (at, (key, value)) in entries.iter_mut().enumerate() {
                    self.path.push(at * 2 + 1);
                    self.flow_gap(parent, many, at == 0);
                    self.flow_entry(key, value, parent, tight);
                    self.path.pop();
                    self.comma(parent, many, at + 1 == count);
                }
                self.close('}', parent, many);
            }
            _ => {}
        }
    }

    fn flow_entry(&mut self, key: &mut Tree, value: &mut Tree, parent: i32, tight: bool) {
        let is_empty =
            matches!(&value.shape, Shape::Scalar { text, kind: Kind::Null, .. } if text.is_empty());
        let explicit = !tight && self.draw.percent(self.style.odd / 3);
        if explicit {
            self.out.push_str("? ");
        }
        let key_start = self.out.len();
        if key.as_text().is_some() {
            self.implicit_key(key, true);
        } else {
            self.flow(key, parent, true);
        }
        // An implicit key has at most 1024 characters.
        if !explicit && self.out.len() - key_start > 500 {
            self.out.insert_str(key_start, "? ");
        }
        if is_empty {
            set_style(value, ScalarStyle::Plain);
            // `{a}` and `{a: }` are the same.
            if self.draw.once_in(2) {
                self.out.push_str(": ");
            }
            return;
        }
        // A plain key may end with a quote, too.
        let quoted = self.out[key_start..].starts_with('"') && self.out.ends_with('"');
        self.out.push_str(if quoted && self.draw.percent(self.style.odd) { ":" } else { ": " });
        self.flow_node(value, parent, tight, true);
    }

    /// `[a: b]`: an implicit pair.
    fn pair(&mut self, tree: &mut Tree, parent: i32) {
        let Shape::Mapping { entries, notation } = &mut tree.shape else { return };
        *notation = Some(CollectionStyle::Pair);
        let (key, value) = &mut entries[0];
        self.path.push(1);
        self.implicit_key(key, true);
        self.out.push_str(": ");
        self.flow_node(value, parent, false, true);
        self.path.pop();
    }

    fn flow_node(&mut self, tree: &mut Tree, parent: i32, tight: bool, may_share: bool) {
        if may_share && self.alias(tree) {
            let Shape::Alias(name) = &tree.shape else { return };
            let text = format!("*{name} ");
            self.out.push_str(&text);
            return;
        }
        let Shape::Scalar { text, kind, .. } = &tree.shape else {
            if self.properties(tree, true) {
                self.out.push(' ');
            }
            self.flow(tree, parent, tight);
            self.finish_anchor(tree);
            return;
        };
        let kind = *kind;
        let text =
            if text.is_empty() && kind == Kind::Null { "null".to_owned() } else { text.clone() };
        let spelled = spell(
            self.draw,
            &text,
            kind,
            ScalarContext { flow: true, key: tight, block: false, parent },
        );
        tree.shape = Shape::Scalar { text, kind, style: Some(spelled.style) };
        if self.properties(tree, true) {
            self.out.push(' ');
        }
        self.out.push_str(&spelled.head);
        for line in &spelled.lines {
            self.end_line();
            self.out.push_str(line);
        }
        self.finish_anchor(tree);
    }

    fn flow_gap(&mut self, parent: i32, many: bool, first: bool) {
        if many {
            self.flow_break(parent);
        } else if !first || self.draw.once_in(4) {
            self.out.push(' ');
        }
    }

    fn comma(&mut self, parent: i32, many: bool, last: bool) {
        if self.draw.percent(self.style.odd / 2) {
            self.out.push(' ');
        }
        if last && many && self.draw.percent(self.style.odd) {
            self.flow_break(parent);
        }
        if !last || self.draw.percent(self.style.odd) {
            self.out.push(',');
        }
    }

    fn close(&mut self, bracket: char, parent: i32, many: bool) {
        if many {
            self.flow_break(parent);
        }
        self.out.push(bracket);
    }

    /// A line break in a flow collection, sometimes with a comment before it or on a line of its own.
    fn flow_break(&mut self, parent: i32) {
        let column = (parent + 1).max(0) as usize + self.style.width;
        if self.draw.percent(self.style.comments / 2) {
            self.out.push(' ');
            self.comment(Written::Loose);
        }
        self.end_line();
        if self.draw.percent(self.style.comments / 3) {
            self.spaces(column);
            self.comment(Written::Loose);
            self.end_line();
        }
        self.spaces(column);
    }
}

fn is_pair(tree: &Tree) -> bool {
    matches!(&tree.shape, Shape::Mapping { entries, .. } if entries.len() == 1 && entries[0].0.as_text().is_some())
        && tree.anchor.is_none()
}

/// A JSON file: compact, spaced or indented with spaces or tabs.
pub(super) fn json(draw: &mut Draw<'_>) -> Sample {
    let mut tree = generate::tree(draw, TreeOptions { json: true, nodes: 24 });
    let indent = draw.pick(&["", "  ", "    ", "\t"]);
    let eol = draw.pick(&["\n", "\n", "\r\n"]);
    let mut text = String::new();
    json_node(draw, &mut tree, indent, eol, 0, &mut text);
    if !draw.once_in(4) {
        text.push_str(eol);
    }
    Sample { text, documents: vec![tree], comments: Vec::new(), has_anchors: false, json: true }
}

fn json_node(
    draw: &mut Draw<'_>,
    tree: &mut Tree,
    indent: &str,
    eol: &str,
    depth: usize,
    out: &mut String,
) {
    let pretty = !indent.is_empty();
    let line = |out: &mut String, depth: usize| {
        if pretty {
            out.push_str(eol);
            out.push_str(&indent.repeat(depth));
        }
    };
    match &mut tree.shape {
        Shape::Scalar { text, kind, style } if *kind == Kind::Text => {
            *style = Some(ScalarStyle::DoubleQuoted);
            out.push_str(&json_text(draw, text));
        }
        Shape::Scalar { text, style, .. } => {
            *style = Some(ScalarStyle::Plain);
            out.push_str(text);
        }
        Shape::Sequence { items, notation } => {
            *notation = Some(CollectionStyle::Flow);
            out.push('[');
            let count = items.len();
            for (at, item) in items.iter_mut().enumerate() {
                line(out, depth + 1);
                json_node(draw, item, indent, eol, depth + 1, out);
                out.push_str(if at + 1 < count { "," } else { "" });
            }
            if count > 0 {
                line(out, depth);
            }
            out.push(']');
        }
        Shape::Mapping { entries, notation } => {
            *notation = Some(CollectionStyle::Flow);
            out.push('{');
            let count = entries.len();
            for (at, (key, value)) in entries.iter_mut().enumerate() {
                line(out, depth + 1);
                json_node(draw, key, indent, eol, depth + 1, out);
                out.push_str(if pretty { ": " } else { ":" });
                json_node(draw, value, indent, eol, depth + 1, out);
                out.push_str(if at + 1 < count { "," } else { "" });
            }
            if count > 0 {
                line(out, depth);
            }
            out.push('}');
        }
        Shape::Alias(_) => {}
    }
}

fn json_text(draw: &mut Draw<'_>, text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '/' if draw.once_in(4) => out.push_str("\\/"),
            ' '..='~' | 'à'..='ÿ' => out.push(c),
            c => {
                let mut units = [0; 2];
                for unit in c.encode_utf16(&mut units) {
                    out.push_str(&format!("\\u{unit:04x}"));
                }
            }
        }
    }
    out.push('"');
    out
}
