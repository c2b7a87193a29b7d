//! Anchor and tag of a value that is replaced: which of them are kept, and where new text may start.

use super::lower::EditContext;
use super::splice::Splice;
use crate::node_ref::NodeRef;
use crate::span::{Span, skip_blanks};
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

    /// Where the new text starts that replaces a value at `start`. A removed tag before the floor gets a splice of its own.
    pub(super) fn cover_tag(&self, context: &mut EditContext<'_>, start: u32) -> u32 {
        match self.tag {
            Some(tag) if tag.start >= self.floor => tag.start.min(start),
            Some(tag) => {
                let end = skip_blanks(context.text, tag.end, start);
                context.splices.push(Splice::remove(Span::new(tag.start, end)));
                start
            }
            None => start,
        }
    }
}
