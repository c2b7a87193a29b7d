//! Anchor and tag of a value that is replaced: which of them are kept, and where new text may start.

use super::lower::EditContext;
use super::splice::Splice;
use super::{Edit, EditError};
use crate::node_ref::NodeRef;
use crate::span::{
    Span, is_first_on_line, line_end, line_start, next_line, skip_blanks, skip_blanks_back,
};
use crate::value::Value;

/// The tag to remove: one that is replaced, and a core tag that contradicts the new value. Other tags are kept.
fn dropped_tag(context: &EditContext<'_>, node: NodeRef<'_>, value: &Value<'_>) -> Option<Span> {
    let tag = node.properties()?.tag?;
    let has_own = value.node().is_some_and(|new| new.tag().is_some());
    if has_own || context.retagged.contains(&node.index) {
        return Some(tag);
    }
    let name = tag.of(context.text);
    let is_core = name.starts_with("!!") || name.starts_with("!<tag:yaml.org,2002:") || name == "!";
    let fits = match value {
        Value::String(_) => name == "!!str" || name == "!",
        Value::Mapping(_) => name == "!!map",
        Value::Sequence(_) => name == "!!seq",
        _ => false,
    };
    (is_core && !fits).then_some(tag)
}

/// Edits that replace the tag of a node.
impl<'a> Edit<'a> {
    /// Like [`Edit::overwrite`], but also replaces the tag of the node: by that of a copied node, or by none.
    ///
    /// ```
    /// use krm_yaml::{Edit, File};
    ///
    /// let file = File::parse("a: !secret x # of a\n".to_owned())?;
    /// let a = file.get("a").expect("it is there");
    /// let (mut set, mut replace) = (Edit::new(&file), Edit::new(&file));
    /// set.overwrite(a, "new")?;
    /// replace.replace(a, "new")?;
    /// assert_eq!(set.apply()?, "a: !secret new # of a\n");
    /// assert_eq!(replace.apply()?, "a: new # of a\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn replace(
        &mut self,
        node: NodeRef<'a>,
        value: impl Into<Value<'a>>,
    ) -> Result<(), EditError> {
        self.overwrite(node, value)?;
        self.document(node).retagged.insert(node.index);
        Ok(())
    }
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
    pub(super) fn of(
        context: &EditContext<'_>,
        node: NodeRef<'_>,
        indicator: u32,
        value: &Value<'_>,
    ) -> Self {
        let dropped = dropped_tag(context, node, value);
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
