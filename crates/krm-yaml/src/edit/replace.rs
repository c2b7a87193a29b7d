//! A new value in the place of an old one, and a new name in the place of a key.

use super::lower::Ground;
use super::render::Rendered;
use super::splice::{Part, Splice};
use super::{EditError, Insertion, flow};
use crate::gap::Gap;
use crate::layout::{EntryLayout, comment_beside};
use crate::manners::indentation;
use crate::node::{NodeKind, Notation, ScalarStyle};
use crate::scalar::{BlockPlace, Context, write_scalar};
use crate::span::{Span, column, is_first_on_line, line_end, line_start, past_blanks};
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
        return Err(EditError::at(node, "a key is renamed, not set"));
    }
    let in_flow =
        node.parent().map_or(ground.manners.json, |parent| parent.notation() != Notation::Block);
    if in_flow {
        in_brackets(ground, node, value);
        return Ok(());
    }
    match entry {
        Some(entry) => in_entry(ground, node, &entry, value),
        None => at_root(ground, node, value),
    }
    Ok(())
}

/// Gives an empty `{}` or `[]` its first entries, in block style.
pub(crate) fn fill_block<'a>(
    ground: &mut Ground<'a>,
    node: NodeRef<'a>,
    inserted: &[&Insertion<'_>],
) {
    let value = filled(node, inserted);
    match ground.entry_of(node) {
        Some(entry) => in_entry(ground, node, &entry, &value),
        None => at_root(ground, node, &value),
    }
}

/// Gives an empty `{}` or `[]` its first entries, on lines of their own as JSON is often printed.
pub(crate) fn fill_lines<'a>(
    ground: &mut Ground<'a>,
    node: NodeRef<'a>,
    inserted: &[&Insertion<'_>],
) {
    let listing = ground.listing(node);
    let renderer = ground.renderer(node).within(&listing);
    let text = renderer.flow_lines(&filled(node, inserted), indentation(ground.text, node.start()));
    ground.splices.push(Splice::new(node.span(), text));
}

/// The collection that an empty one becomes.
fn filled<'e>(node: NodeRef<'_>, inserted: &[&Insertion<'e>]) -> Value<'e> {
    let value = |new: &&Insertion<'e>| new.value.clone();
    match node.kind() {
        NodeKind::Mapping => {
            let entry = |new: &&Insertion<'e>| (new.key.clone().unwrap_or(Value::Null), value(new));
            Value::Mapping(inserted.iter().map(entry).collect())
        }
        _ => Value::Sequence(inserted.iter().map(value).collect()),
    }
}

/// Renames a key; it keeps its quotes where the name allows.
pub(crate) fn rename<'a>(ground: &mut Ground<'a>, key: NodeRef<'a>, name: &str) {
    let flow = key.parent().is_some_and(|parent| parent.notation() != Notation::Block);
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
struct Front {
    /// Where new text may begin: behind the indicator and what stays of anchor and tag.
    floor: u32,
    /// Behind all of anchor and tag, those that go among them.
    end: u32,
    /// The tag that goes, where the new text does not cover it.
    tag: Option<Span>,
}

impl Front {
    fn of(text: &str, node: NodeRef<'_>, indicator: u32, value: &Value<'_>) -> Self {
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
    fn cover_tag(&self, ground: &mut Ground<'_>, start: u32) -> u32 {
        match self.tag {
            Some(tag) if tag.start >= self.floor => tag.start.min(start),
            Some(tag) => {
                let end = crate::span::skip_blanks(ground.text, tag.end, start);
                ground.splices.push(Splice::remove(Span::new(tag.start, end)));
                start
            }
            None => start,
        }
    }
}

fn in_brackets<'a>(ground: &mut Ground<'a>, node: NodeRef<'a>, value: &Value<'_>) {
    let listing = ground.listing(node.parent().unwrap_or(node));
    let renderer = ground.renderer(node).within(&listing);
    let over_lines =
        ground.manners.json && is_over_lines(ground.text, node.parent().unwrap_or(node));
    let new = match (value, node.as_scalar()) {
        (Value::String(text), Some(old)) if !old.raw().is_empty() => {
            renderer.flow_text(text, old.style())
        }
        _ if over_lines => renderer.flow_lines(value, indentation(ground.text, node.start())),
        _ => renderer.flow(value),
    };
    let span = node.span();
    let text = if span.is_empty() { format!("{}{new}", lead(ground, node)) } else { new };
    let above = node.parent().map(|parent| flow::lines_above(ground, parent, value));
    let text = match above {
        Some(above) if !above.is_empty() => format!("{above}{}", text.trim_start()),
        _ => text,
    };
    let front = Front::of(ground.text, node, node.full_span().start, value);
    let start = front.cover_tag(ground, span.start);
    ground.splices.push(Splice::new(Span::new(start, span.end), text));
}

/// Whether a flow collection has its entries on lines of their own.
pub(crate) fn is_over_lines(text: &str, collection: NodeRef<'_>) -> bool {
    let first = collection.children().next();
    first.is_some_and(|child| is_first_on_line(text, child.full_span().start))
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

fn old_text(ground: &Ground<'_>, node: NodeRef<'_>, front: &Front, entry_tail: u32) -> Old {
    let text = ground.text;
    if node.is_block() {
        let comment = comment_beside(text, front.end);
        return Old {
            span: Span::new(front.floor, entry_tail),
            comment: (!comment.is_empty()).then_some(Span::new(front.end, comment.end)),
        };
    }
    if node.as_scalar().is_some_and(|scalar| scalar.style().is_block()) {
        let raw = &text[node.start() as usize..line_end(text, node.start()) as usize];
        let marks = node.start() + raw.find([' ', '\t']).unwrap_or(raw.len()) as u32;
        let comment = comment_beside(text, marks);
        return Old {
            span: Span::new(node.start(), node.end().max(comment.end)),
            comment: (!comment.is_empty()).then_some(Span::new(marks, comment.end)),
        };
    }
    let comment = comment_beside(text, node.end());
    Old {
        span: Span::new(node.start(), comment.end.max(node.end())),
        comment: (!comment.is_empty()).then_some(Span::new(node.end(), comment.end)),
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
    let front = Front::of(text, node, indicator_end(text, entry), value);
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
    let rendered = match (value, style) {
        (Value::String(new), Some(old)) if old.is_block() => {
            if let Some(splice) = rechomp(ground, node, new) {
                ground.splices.push(splice);
                return;
            }
            renderer.text(new, old, block_place(ground, node, depth))
        }
        _ if is_item => renderer.item_value(value, depth, style),
        _ => renderer.block_value(value, depth, style),
    };
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
    push_comment(&mut parts, &rendered, old.comment);
    for line in &rendered.lines {
        parts.push(Part::New(format!("{eol}{line}")));
    }
    ground.splices.push(Splice::parts(Span::new(from, end), parts));
}

/// Where the lines of the block scalar stand that is there already.
fn block_place(ground: &Ground<'_>, node: NodeRef<'_>, depth: u32) -> Option<BlockPlace> {
    let head = Span::new(node.start(), line_end(ground.text, node.start())).of(ground.text);
    let marks = &head[..head.find([' ', '\t']).unwrap_or(head.len())];
    let width = match node.node().indent().checked_sub(depth) {
        Some(width) if (1..10).contains(&width) => width,
        _ => ground.manners.indent(node.index),
    };
    Some(BlockPlace {
        column: depth + width,
        width,
        explicit: marks.contains(|c: char| c.is_ascii_digit()),
        ends_file: node.end() as usize == ground.text.len(),
    })
}

/// Where only the line break at the end differs, only the header changes.
fn rechomp(ground: &Ground<'_>, node: NodeRef<'_>, new: &str) -> Option<Splice> {
    let old = node.as_scalar()?.value();
    let head_end = line_end(ground.text, node.start());
    let head = &ground.text[node.start() as usize..head_end as usize];
    let marks = head.find([' ', '\t']).unwrap_or(head.len());
    let ends_file = node.end() as usize == ground.text.len();
    let breaks = new.len() - new.trim_end_matches('\n').len();
    let same = old.trim_end_matches('\n') == new.trim_end_matches('\n');
    if !same || new.is_empty() || head[..marks].contains('+') || breaks > 1 || ends_file {
        return None;
    }
    let mut mended: String = head[..marks].chars().filter(|&c| c != '-').collect();
    if breaks == 0 {
        mended.push('-');
    }
    Some(Splice::new(Span::new(node.start(), node.start() + marks as u32), mended))
}

/// A flow collection or a scalar that is taken over as it stands.
fn is_inline(value: &Value<'_>) -> bool {
    matches!(value, Value::Node(node) if !node.is_block())
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
    front: &Front,
    old: &Old,
    rendered: &Rendered,
) {
    let text = ground.text;
    let mut lines = rendered.lines.clone();
    if let Some(comment) = old.comment.map(|span| span.of(text)) {
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

fn at_root<'a>(ground: &mut Ground<'a>, node: NodeRef<'a>, value: &Value<'_>) {
    let text = ground.text;
    let eol = ground.manners.line_break;
    let marker = ground.document.start_marker().map(|marker| marker.end);
    let (start, end) = match node.is_block() {
        true => {
            let entries = &ground.listing(node).entries;
            let tail = entries.last().map_or(node.end(), |last| last.tail);
            (entries.first().map_or(node.start(), |first| first.head), tail)
        }
        false => (node.start(), node.end()),
    };
    let renderer = ground.renderer(node).before(text, end);
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
    let front = Front::of(text, node, behind_marker.unwrap_or(node.full_span().start), value);
    if node.span().is_empty() && !node.is_block() {
        let at = if front.end > node.full_span().start {
            front.end
        } else {
            marker.map_or(start, |end| line_end(text, end))
        };
        let lead = if at > ground.document.span().start { eol } else { "" };
        let new = std::iter::once(head).filter(|head| !head.is_empty()).chain(lines);
        let new = new.collect::<Vec<_>>().join(eol);
        ground.splices.push(Splice::insert(at, format!("{lead}{new}")));
        return;
    }
    let comment = comment_beside(text, end);
    let has_front = behind_marker.is_some() || front.floor < start && node.properties().is_some();
    let shares_line = has_front && line_start(text, front.floor) == line_start(text, start);
    let kept = Span::new(end, comment.end.max(end));
    if starts_line && shares_line && front.floor > line_start(text, start) {
        let parts = vec![Part::Keep(kept), Part::New(format!("{eol}{}", lines.join(eol)))];
        let from = front.cover_tag(ground, front.floor);
        ground.splices.push(Splice::parts(Span::new(from, past_blanks(text, kept.end)), parts));
        return;
    }
    let from = front.cover_tag(ground, start);
    if starts_line {
        let new = lines.join(eol);
        let new = new.trim_start_matches(' ');
        let indent = " ".repeat(depth as usize);
        // The comment beside was the whole value's: it stays above it.
        let above = match node.is_block() || comment.is_empty() {
            true => String::new(),
            false => format!("{}{eol}{indent}", comment.of(text)),
        };
        let end = if node.is_block() { end } else { past_blanks(text, kept.end) };
        ground.splices.push(Splice::new(Span::new(from, end), format!("{above}{new}")));
        return;
    }
    let mut parts = vec![Part::New(head)];
    match new_comment {
        Some(comment) => parts.push(Part::New(format!(" {comment}"))),
        None => parts.push(Part::Keep(kept)),
    }
    parts.extend(lines.iter().map(|line| Part::New(format!("{eol}{line}"))));
    let end = if lines.is_empty() { kept.end } else { past_blanks(text, kept.end) };
    ground.splices.push(Splice::parts(Span::new(from, end), parts));
}
