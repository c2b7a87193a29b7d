//! Replaces the root of a document.

use super::lower::EditContext;
use super::properties::KeptProperties;
use super::render::Rendered;
use super::replace::is_inline;
use super::splice::{Part, Splice};
use crate::layout::{comment_beside, is_below_comment};
use crate::node_ref::NodeRef;
use crate::span::{Span, column, is_first_on_line, line_end, line_start, past_blanks};
use crate::value::Value;

/// Replaces the root.
pub(super) fn replace<'a>(context: &mut EditContext<'a>, node: NodeRef<'a>, value: &Value<'_>) {
    let text = context.text;
    let eol = context.style.line_break;
    let marker = context.document.start_marker().map(|marker| marker.end);
    let (start, end) = match node.is_block() {
        true => {
            let entries = &context.layout(node).entries;
            let tail = entries.last().map_or(node.end(), |last| last.tail);
            (entries.first().map_or(node.start(), |first| first.head), tail)
        }
        false => (node.start(), node.end()),
    };
    let renderer = context.renderer(node).before(text, end);
    let depth = if is_first_on_line(text, start) { column(text, start) } else { 0 };
    let style =
        node.as_scalar().filter(|scalar| !scalar.raw().is_empty()).map(|scalar| scalar.style());
    let starts_line = value.is_filled_collection() && !is_inline(value);
    let Rendered { head, comment: new_comment, lines } = match starts_line {
        true => Rendered { lines: renderer.root_lines(value, depth), ..Rendered::default() },
        false => renderer.block_value(value, depth, style),
    };
    let behind_marker =
        marker.filter(|&marker| line_start(text, start) == line_start(text, marker));
    let front =
        KeptProperties::of(context, node, behind_marker.unwrap_or(node.full_span().start), value);
    if node.span().is_empty() && !node.is_block() {
        let at = if front.end > node.full_span().start {
            front.end
        } else {
            marker.map_or(start, |end| line_end(text, end))
        };
        let lead = if at > context.document.span().start { eol } else { "" };
        let new = std::iter::once(head).filter(|head| !head.is_empty()).chain(lines);
        let new = new.collect::<Vec<_>>().join(eol);
        context.splices.push(Splice::insert(at, format!("{lead}{new}")));
        return;
    }
    let comment = comment_beside(text, end);
    // A comment that the same edit removes is removed together with the value.
    let is_dropped = starts_line && context.beside.get(node.index).is_some_and(Option::is_none);
    if is_dropped {
        context.beside.remove(node.index);
    }
    let has_front = behind_marker.is_some() || front.floor < start && node.properties().is_some();
    let shares_line = has_front && line_start(text, front.floor) == line_start(text, start);
    let kept = Span::new(end, comment.end.max(end));
    if starts_line && shares_line && front.floor > line_start(text, start) {
        let stays = Part::Keep(if is_dropped { Span::empty(end) } else { kept });
        let parts = vec![stays, Part::New(format!("{eol}{}", lines.join(eol)))];
        let from = front.cover_tag(context, front.floor);
        context.splices.push(Splice::parts(Span::new(from, past_blanks(text, kept.end)), parts));
        return;
    }
    let from = front.cover_tag(context, start);
    if starts_line {
        let new = lines.join(eol);
        let new = new.trim_start_matches(' ');
        let indent = " ".repeat(depth as usize);
        // The line comment belonged to the value as a whole: it is moved above it.
        let above = match node.is_block() || comment.is_empty() || is_dropped {
            true => String::new(),
            false => format!("{}{eol}", comment.of(text)),
        };
        // Without a blank line the comments above would become a part of the one above the first entry.
        let floor = context.document.span().start;
        let is_below = || is_below_comment(text, line_start(text, from), floor);
        let above = match new.starts_with('#') && (!above.is_empty() || is_below()) {
            true => format!("{above}{eol}{indent}"),
            false if above.is_empty() => above,
            false => format!("{above}{indent}"),
        };
        let end = if node.is_block() { end } else { past_blanks(text, kept.end) };
        context.splices.push(Splice::new(Span::new(from, end), format!("{above}{new}")));
        return;
    }
    let mut parts = vec![Part::New(head)];
    match new_comment {
        Some(comment) => parts.push(Part::New(format!(" {comment}"))),
        None => parts.push(Part::Keep(kept)),
    }
    parts.extend(lines.iter().map(|line| Part::New(format!("{eol}{line}"))));
    let end = if lines.is_empty() { kept.end } else { past_blanks(text, kept.end) };
    context.splices.push(Splice::parts(Span::new(from, end), parts));
}
