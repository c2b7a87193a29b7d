//! A new value in the place of an old one, and a new name in the place of a key.

use super::ahead::Ahead;
use super::lower::Ground;
use super::notes::hashed;
use super::render::Rendered;
use super::splice::{Part, Splice};
use super::{EditError, EditErrorKind, block_text, flow, root};
use crate::gap::Gap;
use crate::layout::{EntryLayout, comment_beside};
use crate::manners::indentation;
use crate::node::{CollectionStyle, NodeKind, ScalarStyle};
use crate::scalar::{Context, write_scalar};
use crate::span::{Span, column, line_end, line_start, past_blanks};
use crate::value::Value;
use crate::view::NodeRef;

/// Replaces the value of `node`.
pub(crate) fn lower<'a>(
    ground: &mut Ground<'a>,
    node: NodeRef<'a>,
    value: &Value<'_>,
) -> Result<(), EditError> {
    let entry = ground.entry_of(node);
    if entry.is_some_and(|entry| entry.key == Some(node)) {
        return Err(EditError::at(node, EditErrorKind::SetKey));
    }
    let in_flow = node
        .parent()
        .map_or(ground.manners.json, |parent| parent.collection_style() != CollectionStyle::Block);
    if in_flow {
        in_brackets(ground, node, value);
        return Ok(());
    }
    in_block(ground, node, value);
    Ok(())
}

/// Replaces a value that stands in a block collection, or is the root.
pub(super) fn in_block<'a>(ground: &mut Ground<'a>, node: NodeRef<'a>, value: &Value<'_>) {
    match ground.entry_of(node) {
        Some(entry) => in_entry(ground, node, &entry, value),
        None => root::replace(ground, node, value),
    }
}

/// Renames a key; it keeps its quotes where the name allows.
pub(crate) fn rename<'a>(ground: &mut Ground<'a>, key: NodeRef<'a>, name: &str) {
    let flow =
        key.parent().is_some_and(|parent| parent.collection_style() != CollectionStyle::Block);
    let context = Context {
        flow,
        key: true,
        json: ground.manners.json,
        quote: ground.manners.quote(key.index),
        block: None,
    };
    let style = key.as_scalar().map_or(ScalarStyle::Plain, |key| key.style());
    let style = if style.is_block() { ScalarStyle::Plain } else { style };
    ground.splices.push(Splice::new(key.span(), write_scalar(name, style, context).head));
}

fn in_brackets<'a>(ground: &mut Ground<'a>, node: NodeRef<'a>, value: &Value<'_>) {
    let listing = ground.listing(node.parent().unwrap_or(node));
    let renderer = ground.renderer(node).within(&listing);
    let over_lines =
        ground.manners.json && flow::is_over_lines(ground.text, node.parent().unwrap_or(node));
    let new = match (value, node.as_scalar()) {
        (Value::String(text), Some(old)) if !old.raw().is_empty() => {
            renderer.flow_text(text, old.style())
        }
        _ if over_lines => renderer.flow_lines(value, indentation(ground.text, node.start())),
        _ => renderer.flow(value),
    };
    let span = node.span();
    let text = if span.is_empty() { format!("{}{new}", lead(ground, node)) } else { new };
    let front = Ahead::of(ground.text, node, node.full_span().start, value);
    let start = front.cover_tag(ground, span.start);
    let entry = ground.entry_of(node);
    let above = entry.map(|entry| (entry.head, flow::comments_of(ground, &entry, value)));
    let splice = match above {
        // They stand above the entry, not between its key and its value.
        Some((head, above)) if !above.is_empty() => {
            let parts = vec![Part::New(above), Part::Keep(Span::new(head, start)), Part::New(text)];
            Splice::parts(Span::new(head, span.end), parts)
        }
        _ => Splice::new(Span::new(start, span.end), text),
    };
    ground.splices.push(splice);
}

/// What must stand between a key and the value that an empty node gets.
fn lead(ground: &Ground<'_>, node: NodeRef<'_>) -> &'static str {
    let before = ground.text.as_bytes().get((node.start() as usize).wrapping_sub(1));
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

/// Behind the colon or dash of an entry.
fn indicator_end(text: &str, entry: &EntryLayout<'_>) -> u32 {
    match entry.key {
        Some(key) => {
            Gap::from(text, key.end()).find(b":", b"").map_or(key.end(), |colon| colon.end)
        }
        None => entry.head + 1,
    }
}

/// The old text of a value: what goes, and the comment that stays.
struct Old {
    /// From the first byte that goes to the last.
    span: Span,
    /// The comment beside, with the blanks before it.
    comment: Option<Span>,
}

fn old_text(ground: &Ground<'_>, node: NodeRef<'_>, front: &Ahead, entry_tail: u32) -> Old {
    let text = ground.text;
    if node.is_block() {
        let comment = comment_beside(text, front.end);
        return Old {
            span: Span::new(front.floor, entry_tail),
            comment: (!comment.is_empty()).then_some(Span::new(front.end, comment.end)),
        };
    }
    // A block scalar has its comment on its head line.
    let header = node.as_scalar().and_then(|scalar| scalar.header());
    let behind = header.map_or(node.end(), |header| header.end);
    let comment = comment_beside(text, behind);
    Old {
        span: Span::new(node.start(), comment.end.max(node.end())),
        comment: (!comment.is_empty()).then_some(Span::new(behind, comment.end)),
    }
}

fn in_entry<'a>(
    ground: &mut Ground<'a>,
    node: NodeRef<'a>,
    entry: &EntryLayout<'a>,
    value: &Value<'_>,
) {
    let text = ground.text;
    let eol = ground.manners.line_break;
    let depth = column(text, entry.head);
    let front = Ahead::of(text, node, indicator_end(text, entry), value);
    let old = old_text(ground, node, &front, entry.tail);
    let style =
        node.as_scalar().filter(|scalar| !scalar.raw().is_empty()).map(|scalar| scalar.style());
    let renderer = ground.renderer(node).before(text, old.span.end);
    let is_item = entry.key.is_none();
    let starts_line = value.is_filled_collection() && !is_inline(value);
    let new_line =
        !node.is_block() && line_start(text, node.start()) != line_start(text, front.floor);
    let is_bare = is_item && old.comment.is_none() && front.floor == entry.head + 1;
    if is_bare && starts_line && !new_line {
        // A collection begins beside its dash.
        let lines = renderer.item(value, depth).join(eol);
        let behind = lines.trim_start_matches(' ').strip_prefix('-').unwrap_or(&lines);
        let span = Span::new(front.floor, past_blanks(text, old.span.end));
        ground.splices.push(Splice::new(span, behind.to_owned()));
        return;
    }
    let mut rendered = match (value, style) {
        (Value::String(new), Some(old)) if old.is_block() => {
            if let Some(splice) = block_text::rechomp(ground, node, new) {
                ground.splices.push(splice);
                return;
            }
            renderer.text(new, old, block_text::place(ground, node, depth))
        }
        _ if is_item => renderer.item_value(value, depth, style),
        _ => renderer.block_value(value, depth, style),
    };
    let mut comment = old.comment;
    let ahead = comment_beside(text, front.end);
    let has_ahead = !ahead.is_empty();
    if !(new_line && (rendered.head.is_empty() || has_ahead))
        && ground.beside.get(&node.index).is_some_and(|note| !has_lines(note.as_deref()))
    {
        comment = None;
        let note = ground.beside.remove(&node.index).flatten();
        rendered.comment = note.map(|text| hashed(&text));
    } else if new_line && has_ahead && !rendered.head.is_empty() {
        // The comment beside the key is the entry's: the one that comes takes its place.
        let new = rendered.comment.take().map(|new| Splice::new(ahead, new));
        ground.splices.extend(new);
    }
    let from = match (rendered.head.is_empty(), node.is_block()) {
        (true, false) if new_line => {
            own_line_value(ground, node, &front, &old, &rendered);
            return;
        }
        // Lines below the key: nothing stays behind it but its comment.
        (true, _) | (false, true) => front.cover_tag(ground, front.floor),
        (false, false) => front.cover_tag(ground, old.span.start),
    };
    let end =
        if rendered.lines.is_empty() { old.span.end } else { past_blanks(text, old.span.end) };
    let mut parts = Vec::new();
    if !rendered.head.is_empty() {
        let lead = match node.is_block() {
            true => " ",
            false if node.span().is_empty() => {
                match entry.key.filter(|key| Gap::from(text, key.end()).find(b":", b"").is_none()) {
                    // A key without a colon: `? key`.
                    Some(_) => ": ",
                    None => lead(ground, node),
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
    ground.splices.push(Splice::parts(Span::new(from, end), parts));
}

/// A comment of several lines, which cannot stand beside anything.
fn has_lines(text: Option<&str>) -> bool {
    text.is_some_and(|text| text.contains(['\n', '\r']))
}

/// A flow collection or a scalar that is taken over as it stands.
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

/// The old value stands on a line below its key, and lines come in its place.
fn own_line_value<'a>(
    ground: &mut Ground<'a>,
    node: NodeRef<'a>,
    front: &Ahead,
    old: &Old,
    rendered: &Rendered,
) {
    let text = ground.text;
    let mut lines = rendered.lines.clone();
    let ahead = comment_beside(text, front.end);
    let wanted = match ground.beside.get(&node.index) {
        Some(note) if !has_lines(note.as_deref()) => Some(note.as_deref().map(hashed)),
        _ => rendered.comment.clone().map(Some),
    };
    if let Some(comment) = wanted {
        // It takes the place of the old one, wherever that stood.
        ground.beside.remove(&node.index);
        let comment = comment.map_or(String::new(), |comment| format!(" {comment}"));
        ground.splices.push(Splice::new(Span::new(front.end, ahead.end), comment));
    } else if let Some(comment) = old.comment.map(|span| span.of(text)) {
        let is_free = comment_beside(text, front.end).is_empty();
        if is_free && line_end(text, front.end) == past_blanks(text, front.end) {
            let rest = Span::new(front.end, past_blanks(text, front.end));
            ground.splices.push(Splice::new(rest, comment));
        } else {
            // The key's line has a comment of its own: this one goes above the lines.
            let indent = lines.first().map_or("", |line| indentation(line, line.len() as u32));
            lines.insert(0, format!("{indent}{}", comment.trim_start()));
        }
    }
    let start = front.cover_tag(ground, line_start(text, node.start()));
    let span = Span::new(start, past_blanks(text, old.span.end));
    ground.splices.push(Splice::new(span, lines.join(ground.manners.line_break)));
}
