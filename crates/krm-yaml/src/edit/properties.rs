//! What stands between an indicator and its value: the anchor, the tag, and where new text may begin.

use super::lower::EditContext;
use super::splice::Splice;
use crate::node_ref::NodeRef;
use crate::span::{Span, skip_blanks};
use crate::value::Value;

/// A core tag that contradicts the new value goes; any other stays.
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

/// What stands between an indicator and its value.
pub(super) struct KeptProperties {
    /// Where new text may begin: behind the indicator and what stays of anchor and tag.
    pub(super) floor: u32,
    /// Behind all of anchor and tag, those that go among them.
    pub(super) end: u32,
    /// The tag that goes, where the new text does not cover it.
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

    /// Where the new text begins in the place of a value at `start`; a tag before the floor goes by itself.
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
