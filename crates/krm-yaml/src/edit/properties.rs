//! Anchor and tag of a value that is replaced: which of them are kept, and where new text may start.

use super::lower::EditContext;
use super::splice::Splice;
use crate::node_ref::NodeRef;
use crate::span::{
    Span, is_first_on_line, line_end, line_start, next_line, skip_blanks, skip_blanks_back,
};
use crate::value::Value;

/// The tag to remove: a core tag that contradicts the new value. Other tags are kept.
fn dropped_tag(text: &str, node: NodeRef<'_>, value: &Value<'_>) -> Option<Span> {
    let tag = node.properties()?.tag?;
    let name = tag.of(text);
    let is_core = name.starts_with("!!") || name.starts_with("!<tag:yaml.org,2002:") || name == "!";
    let fits = match value {
        Value::String(_) => name == "!!str" || name == "!",
        Value::Mapping(_) => name == "!!map",
        Value::Sequence(_) => name == "!!seq",
        _ => false,
    };
    (is_core && !fits).then_some(tag)
}

/// The properties between an indicator (`:` or `-`) and its value.
pub(super) struct KeptProperties {
    /// Where new text may start: after the indicator and the properties that are kept.
    pub(super) floor: u32,
    /// The end of all properties, including those that are removed.
    pub(super) end: u32,
    /// The tag that is removed.
    tag: Option<Span>,
}

impl KeptProperties {
    pub(super) fn of(text: &str, node: NodeRef<'_>, indicator: u32, value: &Value<'_>) -> Self {
        let dropped = dropped_tag(text, node, value);
        let properties = node.properties();
        let anchor = properties.and_then(|p| p.anchor);
        let tag = properties.and_then(|p| p.tag);
        let kept = [anchor, tag.filter(|_| dropped.is_none())].into_iter().flatten();
        let floor = kept.map(|span| span.end).max().unwrap_or(indicator);
        let all = [anchor, tag].into_iter().flatten();
        Self { floor, end: all.map(|span| span.end).max().unwrap_or(indicator), tag: dropped }
    }

    /// Where the new text starts that replaces a value at `start`. A removed tag gets a splice of its own if it is before the floor, or on an
    /// earlier line than the value: what is between them, such as comments, stays.
    pub(super) fn cover_tag(&self, context: &mut EditContext<'_>, start: u32) -> u32 {
        let Some(tag) = self.tag.filter(|tag| tag.start < start) else { return start };
        let text = context.text;
        let is_on_line = line_end(text, tag.end) >= start;
        if tag.start >= self.floor && is_on_line {
            return tag.start;
        }
        let next = skip_blanks(text, tag.end, start);
        let ends_line = next == line_end(text, next);
        let is_last = ends_line || text.as_bytes()[next as usize] == b'#';
        let span = match is_first_on_line(text, tag.start) {
            true if ends_line => Span::new(line_start(text, tag.start), next_line(text, tag.end)),
            false if is_last => Span::new(skip_blanks_back(text, tag.start, 0), tag.end),
            _ => Span::new(tag.start, next),
        };
        context.splices.push(Splice::remove(span));
        start
    }
}
