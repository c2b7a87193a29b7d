//! Lowers new values and renamed keys.

use super::comments::with_hash;
use super::lower::EditContext;
use super::properties::KeptProperties;
use super::render::Rendered;
use super::splice::{Part, Splice};
use super::{EditError, EditErrorKind, block_scalar, flow, root};
use crate::layout::{EntryLayout, comment_beside, comment_line, is_below_comment};
use crate::node::{CollectionStyle, NodeKind, ScalarStyle};
use crate::node_ref::NodeRef;
use crate::scalar::{ScalarContext, write_scalar};
use crate::span::{Span, column, line_end, line_start, past_blanks};
use crate::style::indentation;
use crate::trivia::Gap;
use crate::value::Value;

/// Replaces the value of `node`.
pub(crate) fn lower<'a>(
    context: &mut EditContext<'a>,
    node: NodeRef<'a>,
    value: &Value<'_>,
) -> Result<(), EditError> {
    let entry = context.entry_of(node);
    if entry.is_some_and(|entry| entry.key == Some(node)) {
        return Err(EditError::at(node, EditErrorKind::SetKey));
    }
    let in_flow = node
        .parent()
        .map_or(context.style.json, |parent| parent.collection_style() != CollectionStyle::Block);
    if in_flow {
        in_flow_collection(context, node, value);
        return Ok(());
    }
    in_block(context, node, value);
    Ok(())
}

/// Replaces a value of a block collection, or the root.
pub(super) fn in_block<'a>(context: &mut EditContext<'a>, node: NodeRef<'a>, value: &Value<'_>) {
    match context.entry_of(node) {
        Some(entry) => in_entry(context, node, &entry, value),
        None => root::replace(context, node, value),
    }
}

/// Renames a key, keeping its quotes if the name allows it.
pub(crate) fn rename<'a>(context: &mut EditContext<'a>, key: NodeRef<'a>, name: &str) {
    let flow =
        key.parent().is_some_and(|parent| parent.collection_style() != CollectionStyle::Block);
    let scalar_context = ScalarContext {
        flow,
        key: true,
        json: context.style.json,
        quote: context.style.quote(key.index),
        block: None,
    };
    let style = key.as_scalar().map_or(ScalarStyle::Plain, |key| key.style());
    let style = if style.is_block() { ScalarStyle::Plain } else { style };
    context.splices.push(Splice::new(key.span(), write_scalar(name, style, scalar_context).head));
}

fn in_flow_collection<'a>(context: &mut EditContext<'a>, node: NodeRef<'a>, value: &Value<'_>) {
    let layout = context.layout(node.parent().unwrap_or(node));
    let renderer = context.renderer(node).within(&layout);
    let over_lines =
        context.style.json && flow::is_over_lines(context.text, node.parent().unwrap_or(node));
    let new = match (value, node.as_scalar()) {
        (Value::String(text), Some(old)) if !old.raw().is_empty() => {
            renderer.flow_text(text, old.style())
        }
        _ if over_lines => renderer.flow_lines(value, indentation(context.text, node.start())),
        _ => renderer.flow(value),
    };
    let span = node.span();
    let text = if span.is_empty() { format!("{}{new}", lead(context, node)) } else { new };
    let front = KeptProperties::of(context, node, node.full_span().start, value);
    let start = front.cover_tag(context, span.start);
    let entry = context.entry_of(node);
    let above = entry.map(|entry| (entry.head, flow::comments_of(context, &entry, value)));
    let splice = match above {
        // They go above the entry, not between its key and its value.
        Some((head, above)) if !above.is_empty() => {
            let parts = vec![Part::New(above), Part::Keep(Span::new(head, start)), Part::New(text)];
            Splice::parts(Span::new(head, span.end), parts)
        }
        _ => Splice::new(Span::new(start, span.end), text),
    };
    context.splices.push(splice);
}

/// The separator between an indicator and a value that replaces an empty node.
fn lead(context: &EditContext<'_>, node: NodeRef<'_>) -> &'static str {
    let before = context.text.as_bytes().get((node.start() as usize).wrapping_sub(1));
    let is_value = node.parent().is_some_and(|parent| parent.kind() == NodeKind::Mapping);
    if node.properties().is_some() {
        return " ";
    }
    match before {
        Some(b' ' | b'\t' | b'[' | b'{') => "",
        Some(b':' | b'-' | b'?') => " ",
        _ if is_value => ": ",
        _ => " ",
    }
}

/// The offset after the colon or dash of an entry.
fn indicator_end(text: &str, entry: &EntryLayout<'_>) -> u32 {
    match entry.key {
        Some(key) => {
            Gap::from(text, key.end()).find(b":", b"").map_or(key.end(), |colon| colon.end)
        }
        None => entry.head + 1,
    }
}

/// The old text of a value: the bytes to replace, and the comment to keep.
struct Old {
    /// The bytes to replace.
    span: Span,
    /// The line comment with the spaces before it.
    comment: Option<Span>,
}

fn old_text(
    context: &EditContext<'_>,
    node: NodeRef<'_>,
    front: &KeptProperties,
    entry_tail: u32,
) -> Old {
    let text = context.text;
    if node.is_block() {
        let comment = comment_beside(text, front.end);
        return Old {
            span: Span::new(front.floor, entry_tail),
            comment: (!comment.is_empty()).then_some(Span::new(front.end, comment.end)),
        };
    }
    // A block scalar has its comment in its header line.
    let header = node.as_scalar().and_then(|scalar| scalar.header());
    let behind = header.map_or(node.end(), |header| header.end);
    let comment = comment_beside(text, behind);
    Old {
        span: Span::new(node.start(), comment.end.max(node.end())),
        comment: (!comment.is_empty()).then_some(Span::new(behind, comment.end)),
    }
}

fn in_entry<'a>(
    context: &mut EditContext<'a>,
    node: NodeRef<'a>,
    entry: &EntryLayout<'a>,
    value: &Value<'_>,
) {
    let text = context.text;
    let eol = context.style.line_break;
    let depth = column(text, entry.head);
    let front = KeptProperties::of(context, node, indicator_end(text, entry), value);
    let old = old_text(context, node, &front, entry.tail);
    let style =
        node.as_scalar().filter(|scalar| !scalar.raw().is_empty()).map(|scalar| scalar.style());
    let renderer = context.renderer(node).before(text, old.span.end);
    let is_item = entry.key.is_none();
    let starts_line = value.is_filled_collection() && !is_inline(value);
    let new_line =
        !node.is_block() && line_start(text, node.start()) != line_start(text, front.floor);
    let is_bare = is_item && old.comment.is_none() && front.floor == entry.head + 1;
    if is_bare && starts_line && !new_line {
        // A collection starts on the line of its dash.
        let lines = renderer.item(value, depth).join(eol);
        let behind = lines.trim_start_matches(' ').strip_prefix('-').unwrap_or(&lines);
        let span = Span::new(front.floor, past_blanks(text, old.span.end));
        context.splices.push(Splice::new(span, behind.to_owned()));
        return;
    }
    let mut rendered = match (value, style) {
        (Value::String(new), Some(old)) if old.is_block() => {
            if let Some(splice) = block_scalar::change_chomping(context, node, new) {
                let start = front.cover_tag(context, node.start());
                if start < node.start() {
                    context.splices.push(Splice::remove(Span::new(start, node.start())));
                }
                context.splices.push(splice);
                return;
            }
            renderer.text(new, old, block_scalar::place(context, node, depth))
        }
        _ if is_item => renderer.element_value(value, depth, style),
        _ => renderer.block_value(value, depth, style),
    };
    let mut comment = old.comment;
    let ahead = comment_beside(text, front.end);
    let has_ahead = !ahead.is_empty();
    if !(new_line && (rendered.head.is_empty() || has_ahead))
        && context.beside.get(node.index).is_some_and(|comment| !has_lines(comment.as_deref()))
    {
        comment = None;
        let comment = context.beside.remove(node.index).flatten();
        rendered.comment = comment.map(|text| with_hash(&text));
    } else if new_line && has_ahead && !rendered.head.is_empty() {
        // The comment beside the key belongs to the entry; the new one replaces it.
        let new = rendered.comment.take().map(|new| Splice::new(ahead, new));
        context.splices.extend(new);
    }
    let from = match (rendered.head.is_empty(), node.is_block()) {
        (true, false) if new_line => {
            own_line_value(context, node, &front, &old, &rendered);
            return;
        }
        // The value is on the lines below the key: only the comment stays on the key's line.
        (true, _) | (false, true) => front.cover_tag(context, front.floor),
        (false, false) => front.cover_tag(context, old.span.start),
    };
    let end =
        if rendered.lines.is_empty() { old.span.end } else { past_blanks(text, old.span.end) };
    let mut parts = Vec::new();
    if !rendered.head.is_empty() {
        let lead = match node.is_block() {
            true => " ",
            false if node.span().is_empty() => {
                match entry.key.filter(|key| Gap::from(text, key.end()).find(b":", b"").is_none()) {
                    // A key without a value: `? key`.
                    Some(_) => ": ",
                    None => lead(context, node),
                }
            }
            false => "",
        };
        let lead = if lead == ": " {
            format!("{eol}{}: ", " ".repeat(depth as usize))
        } else {
            lead.to_owned()
        };
        parts.push(Part::New(format!("{lead}{}", rendered.head)));
    }
    push_comment(&mut parts, &rendered, comment);
    for line in &rendered.lines {
        parts.push(Part::New(format!("{eol}{line}")));
    }
    context.splices.push(Splice::parts(Span::new(from, end), parts));
}

/// Whether a comment has several lines, so that it cannot be a line comment.
fn has_lines(text: Option<&str>) -> bool {
    text.is_some_and(|text| text.contains(['\n', '\r']))
}

/// Whether a value is a flow collection or a scalar that is copied as it is written.
pub(super) fn is_inline(value: &Value<'_>) -> bool {
    value.node().is_some_and(|node| !node.is_block())
}

fn push_comment(parts: &mut Vec<Part>, rendered: &Rendered, old: Option<Span>) {
    match (&rendered.comment, old) {
        (Some(comment), _) => parts.push(Part::New(format!(" {comment}"))),
        (None, Some(span)) => parts.push(Part::Keep(span)),
        (None, None) => {}
    }
}

/// Replaces a value on the lines below its key with further lines.
fn own_line_value<'a>(
    context: &mut EditContext<'a>,
    node: NodeRef<'a>,
    front: &KeptProperties,
    old: &Old,
    rendered: &Rendered,
) {
    let text = context.text;
    let mut lines = rendered.lines.clone();
    let mut above = None;
    let ahead = comment_beside(text, front.end);
    let wanted = match context.beside.get(node.index) {
        Some(comment) if !has_lines(comment.as_deref()) => Some(comment.as_deref().map(with_hash)),
        _ => rendered.comment.clone().map(Some),
    };
    if let Some(comment) = wanted {
        // It replaces the old one, wherever that was.
        context.beside.remove(node.index);
        let comment = comment.map_or(String::new(), |comment| format!(" {comment}"));
        context.splices.push(Splice::new(Span::new(front.end, ahead.end), comment));
    } else if let Some(comment) = old.comment.map(|span| span.of(text)) {
        let is_free = comment_beside(text, front.end).is_empty();
        if is_free && line_end(text, front.end) == past_blanks(text, front.end) {
            let rest = Span::new(front.end, past_blanks(text, front.end));
            context.splices.push(Splice::new(rest, comment));
        } else {
            // The key's line has a comment already: this one goes above the lines.
            above = Some(comment.trim_start());
        }
    }
    let start = front.cover_tag(context, line_start(text, node.start()));
    let has_comment_above = above.is_some() || is_below_comment(text, start, front.end);
    let first = lines.first().map_or("", String::as_str);
    let indent = indentation(first, first.len() as u32).to_owned();
    if has_comment_above && comment_line(first, 0).is_some() {
        // Without a blank line the comment of the old value would become a part of the one above the first entry.
        lines.insert(0, String::new());
    }
    if let Some(comment) = above {
        lines.insert(0, format!("{indent}{comment}"));
    }
    let span = Span::new(start, past_blanks(text, old.span.end));
    context.splices.push(Splice::new(span, lines.join(context.style.line_break)));
}
