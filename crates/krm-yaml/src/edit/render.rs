//! Renders values as YAML, in the style of the surrounding text.

use super::copy::{comments_above, copy_block, copy_root};
use super::lower::CollectionLayout;
use crate::flow_style::FlowStyle;
use crate::node::ScalarStyle;
use crate::scalar::{
    BlockScalarIndent, ScalarContext, is_plain, json_scalar, write_plain_or_quoted, write_scalar,
};
use crate::span::{line_end, next_line, skip_blanks};
use crate::style::DocumentStyle;
use crate::value::Value;

/// The text of a value: the head goes on the line of its key, the lines below it.
#[derive(Debug, Default)]
pub(crate) struct Rendered {
    pub(crate) head: String,
    /// A comment after the head, starting with `#`.
    pub(crate) comment: Option<String>,
    /// Further lines, indented.
    pub(crate) lines: Vec<String>,
}

/// Renders values next to a node of a document.
#[derive(Clone, Copy)]
pub(crate) struct Renderer<'m> {
    pub(super) style: &'m DocumentStyle<'m>,
    /// The node whose neighbours determine the style.
    pub(super) near: u32,
    /// The style of flow collections.
    pub(super) brackets: FlowStyle,
    /// Whether numbers, booleans and null are spelled as in JSON.
    json_scalars: bool,
    /// The quotes that all elements of the sequence have.
    item_style: Option<ScalarStyle>,
    /// The distance from a dash to a collection on its line.
    dash: u32,
    /// Whether the new text ends the file, without a line break.
    pub(super) ends_file: bool,
    /// Whether a line of only spaces follows.
    before_blanks: bool,
}

impl<'m> Renderer<'m> {
    pub(crate) fn new(style: &'m DocumentStyle<'m>, near: u32) -> Self {
        let brackets = FlowStyle { json: style.json, ..FlowStyle::default() };
        Self {
            style,
            near,
            brackets,
            json_scalars: style.json_scalars,
            item_style: None,
            dash: 2,
            ends_file: false,
            before_blanks: false,
        }
    }

    /// Uses the style of the collection that the new text is inserted into.
    pub(crate) fn within(self, layout: &CollectionLayout<'_>) -> Self {
        Self {
            brackets: layout.brackets,
            item_style: layout.style.item_style,
            dash: layout.style.dash.unwrap_or(self.dash),
            ..self
        }
    }

    /// Considers what follows the new text, which will end at the offset `at`: the end of the file, or a line of spaces that a block
    /// scalar would include.
    pub(crate) fn before(self, text: &str, at: u32) -> Self {
        let end = line_end(text, at);
        let next = next_line(text, at);
        let is_blank = line_end(text, next) > next
            && skip_blanks(text, next, text.len() as u32) == line_end(text, next);
        Self { ends_file: end as usize == text.len(), before_blanks: is_blank, ..self }
    }

    fn context(&self, flow: bool, key: bool, block: Option<BlockScalarIndent>) -> ScalarContext {
        ScalarContext {
            flow,
            key,
            json: self.brackets.json,
            quote: self.style.quote(self.near),
            block,
        }
    }

    pub(super) fn block_place(&self, column: u32) -> Option<BlockScalarIndent> {
        let width = self.style.indent(self.near);
        (!self.before_blanks).then_some(BlockScalarIndent {
            column: column + width,
            width,
            explicit: false,
            ends_file: self.ends_file,
        })
    }

    /// A key as it is written before its colon; `like` is the style of another key of the mapping.
    pub(crate) fn key(&self, key: &Value<'_>, flow: bool, like: Option<ScalarStyle>) -> String {
        match key {
            Value::String(text) => match like {
                Some(style) if style.is_quoted() => {
                    write_scalar(text, style, self.context(flow, true, None)).head
                }
                _ => write_plain_or_quoted(text, self.context(flow, true, None)),
            },
            Value::OwnedNode(graft) => self.key(&Value::Node(graft.node()), flow, like),
            Value::Node(node)
                if node.as_scalar().is_some_and(|s| !s.style().is_block())
                    && !node.text().contains('\n') =>
            {
                node.full_span().of(node.source()).to_owned()
            }
            other => self.of_key().flow(other),
        }
    }

    /// A renderer for keys, which are not converted to JSON spelling.
    pub(super) fn of_key(&self) -> Self {
        Self { json_scalars: false, ..*self }
    }

    /// A scalar that is not a string. One that JSON cannot represent is written unchanged.
    pub(super) fn word(&self, text: &str) -> String {
        let word = json_scalar(text).filter(|_| self.json_scalars);
        word.unwrap_or_else(|| text.to_owned())
    }

    /// The value of an entry that starts at `column`; block style if it is a non-empty collection.
    pub(crate) fn block_value(
        &self,
        value: &Value<'_>,
        column: u32,
        old: Option<ScalarStyle>,
    ) -> Rendered {
        if let Some(node) = value.node() {
            return self.copy(node, column);
        }
        if value.is_filled_collection() {
            let inner = match value {
                Value::Sequence(_) => column + self.style.list_indent(self.near),
                _ => column + self.style.indent(self.near),
            };
            return Rendered { lines: self.body(value, inner), ..Rendered::default() };
        }
        match value {
            Value::String(text) => {
                let old = old.unwrap_or(ScalarStyle::Plain);
                // Only a text of several lines becomes a block scalar, unless the old one is one.
                let may_be_block = old.is_block() || text.contains('\n');
                let place = may_be_block.then(|| self.block_place(column)).flatten();
                self.text(text, old, place)
            }
            other => Rendered { head: self.flow(other), ..Rendered::default() },
        }
    }

    /// A value after a dash whose line has a comment, so that further lines start below it.
    pub(crate) fn element_value(
        &self,
        value: &Value<'_>,
        column: u32,
        old: Option<ScalarStyle>,
    ) -> Rendered {
        match value.node() {
            Some(node) if node.is_block() => {
                let lines = copy_block(node, column + self.dash);
                Rendered { lines, ..self.copy(node, column) }
            }
            None if value.is_filled_collection() => {
                Rendered { lines: self.body(value, column + self.dash), ..Rendered::default() }
            }
            _ => self.block_value(value, column, old),
        }
    }

    /// A string in block context, in the old style if that can represent it.
    pub(crate) fn text(
        &self,
        text: &str,
        old: ScalarStyle,
        place: Option<BlockScalarIndent>,
    ) -> Rendered {
        let written = write_scalar(text, old, self.context(false, false, place));
        Rendered { head: written.head, comment: None, lines: written.lines }
    }

    /// The lines of a non-empty collection whose entries start at `column`.
    fn body(&self, value: &Value<'_>, column: u32) -> Vec<String> {
        match value {
            Value::Mapping(entries) => entries
                .iter()
                .flat_map(|(key, value)| self.entry(Some(key), value, column, None))
                .collect(),
            Value::Sequence(items) => {
                items.iter().flat_map(|item| self.entry(None, item, column, None)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The lines of one new entry that starts at `column`.
    pub(crate) fn entry(
        &self,
        key: Option<&Value<'_>>,
        value: &Value<'_>,
        column: u32,
        like: Option<ScalarStyle>,
    ) -> Vec<String> {
        let mut out = match value.node() {
            Some(node) => {
                let indent = " ".repeat(column as usize);
                let comments = comments_above(node).into_iter();
                comments.map(|comment| format!("{indent}{comment}")).collect()
            }
            None => Vec::new(),
        };
        let Some(key) = key else {
            out.extend(self.item(value, column));
            return out;
        };
        let mut first = String::with_capacity(column as usize + 64);
        first.extend(std::iter::repeat_n(' ', column as usize));
        match key {
            Value::String(text)
                if like.is_none_or(|style| !style.is_quoted()) && self.is_plain(text, true) =>
            {
                first.push_str(text);
            }
            key => first.push_str(&self.key(key, false, like)),
        }
        first.push(':');
        match value {
            Value::String(text) if self.is_plain(text, false) => {
                first.push(' ');
                first.push_str(text);
                out.push(first);
            }
            value => {
                let rendered = self.block_value(value, column, None);
                push_head(&mut first, &rendered);
                out.push(first);
                out.extend(rendered.lines);
            }
        }
        out
    }

    /// Whether a string in block context is written without quotes, so that the style of other strings does not matter.
    fn is_plain(&self, text: &str, key: bool) -> bool {
        !self.brackets.json && is_plain(text, false, key)
    }

    /// The lines of one element; a collection starts on the line of the dash.
    pub(crate) fn item(&self, value: &Value<'_>, column: u32) -> Vec<String> {
        let indent = " ".repeat(column as usize);
        let mut first = format!("{indent}-");
        let inner = (column + self.dash) as usize;
        let lines = match value.node() {
            Some(node) if node.is_block() => {
                let head = self.copy(node, column);
                push_head(&mut first, &head);
                Some(copy_block(node, inner as u32))
            }
            Some(_) => None,
            None => value.is_filled_collection().then(|| self.body(value, inner as u32)),
        };
        if let Some(mut lines) = lines {
            let is_bare = first.len() == column as usize + 1;
            let begins = lines
                .first()
                .is_some_and(|line| line.len() > inner && !line[inner..].starts_with('#'));
            if is_bare && begins {
                lines[0].replace_range(..=column as usize, &first);
            } else {
                lines.insert(0, first);
            }
            return lines;
        }
        let rendered = self.block_value(value, column, self.item_style);
        push_head(&mut first, &rendered);
        let mut out = vec![first];
        out.extend(rendered.lines);
        out
    }

    /// The lines of a non-empty collection that is the root of a document.
    pub(crate) fn root_lines(&self, value: &Value<'_>, column: u32) -> Vec<String> {
        match value {
            Value::Node(node) => copy_root(*node, column),
            Value::OwnedNode(graft) => copy_root(graft.node(), column),
            value => self.body(value, column),
        }
    }

    /// A new element of a flow sequence, quoted like the others.
    pub(crate) fn flow_element(&self, value: &Value<'_>) -> String {
        match (value, self.item_style) {
            (Value::String(text), Some(style)) => {
                write_scalar(text, style, self.context(true, false, None)).head
            }
            _ => self.flow(value),
        }
    }

    /// A string in a flow collection, in the old style if that can represent it.
    pub(crate) fn flow_text(&self, text: &str, old: ScalarStyle) -> String {
        write_scalar(text, old, self.context(true, false, None)).head
    }

    /// A value in flow style, on one line.
    pub(crate) fn flow(&self, value: &Value<'_>) -> String {
        match value {
            Value::Null => "null".to_owned(),
            Value::Bool(value) => value.to_string(),
            Value::Number(text) => self.word(text),
            Value::String(text) => write_plain_or_quoted(text, self.context(true, false, None)),
            Value::Sequence(items) => {
                self.brackets.join('[', items.iter().map(|item| self.flow(item)), ']')
            }
            Value::Mapping(entries) => {
                let entry = |(key, value): &(Value<'_>, Value<'_>)| {
                    self.brackets.entry(&self.key(key, true, None), &self.flow(value))
                };
                self.brackets.join('{', entries.iter().map(entry), '}')
            }
            Value::Node(node) => self.flow_node(*node),
            Value::OwnedNode(graft) => self.flow_node(graft.node()),
        }
    }

    /// A value in flow style over several lines, as pretty-printed JSON has it. `indent` is the indentation of the entry that contains it.
    pub(crate) fn flow_lines(&self, value: &Value<'_>, indent: &str) -> String {
        let inner = format!("{indent}{}", self.style.unit());
        let eol = self.style.line_break;
        let join = |parts: Vec<String>, open: char, close: char| {
            let lines: Vec<String> =
                parts.into_iter().map(|part| format!("{inner}{part}")).collect();
            format!("{open}{eol}{}{eol}{indent}{close}", lines.join(&format!(",{eol}")))
        };
        match value {
            Value::Sequence(items) if !items.is_empty() => {
                join(items.iter().map(|item| self.flow_lines(item, &inner)).collect(), '[', ']')
            }
            Value::Mapping(entries) if !entries.is_empty() => {
                let entry = |(key, value): &(Value<'_>, Value<'_>)| {
                    format!("{}: {}", self.key(key, true, None), self.flow_lines(value, &inner))
                };
                join(entries.iter().map(entry).collect(), '{', '}')
            }
            other => self.flow(other),
        }
    }
}

/// Appends head and comment to the line of a key or a dash.
fn push_head(line: &mut String, rendered: &Rendered) {
    for part in [Some(&rendered.head).filter(|head| !head.is_empty()), rendered.comment.as_ref()]
        .into_iter()
        .flatten()
    {
        line.push(' ');
        line.push_str(part);
    }
}
