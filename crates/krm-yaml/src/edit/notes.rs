//! Comments that are set, replaced or removed.

use super::lower::Ground;
use super::splice::Splice;
use super::{EditError, EditErrorKind, Note, NoteTarget};
use crate::comment::CommentPosition;
use crate::layout::{EntryLayout, comment_beside, comment_line};
use crate::node::CollectionStyle;
use crate::span::{
    Span, before_break, column, is_first_on_line, line_end, line_start, next_line, skip_blanks,
    skip_blanks_back,
};
use crate::view::NodeRef;

pub(crate) fn lower<'a>(ground: &mut Ground<'a>, note: &Note<'a>) -> Result<(), EditError> {
    match note.target {
        NoteTarget::This(span) => {
            this(ground, span, note.text.as_deref());
            Ok(())
        }
        NoteTarget::Of(node, _) if ground.manners.json => Err(refuse(node, "JSON has no comments")),
        NoteTarget::Of(node, CommentPosition::Head) => above(ground, node, note.text.as_deref()),
        NoteTarget::Of(node, _) => beside(ground, node, note.text.as_deref()),
    }
}

pub(super) fn hashed(line: &str) -> String {
    match line.trim_end() {
        "" => "#".to_owned(),
        line if line.starts_with('#') => line.to_owned(),
        line => format!("# {line}"),
    }
}

fn this(ground: &mut Ground<'_>, span: Span, text: Option<&str>) {
    let own_line = is_first_on_line(ground.text, span.start);
    let splice = match text {
        Some(text) if own_line => {
            let indent = " ".repeat(column(ground.text, span.start) as usize);
            let lines: Vec<String> = text.lines().map(hashed).collect();
            Splice::new(span, lines.join(&format!("{}{indent}", ground.manners.line_break)))
        }
        Some(text) => Splice::new(span, hashed(&crate::comment::strip_breaks(text))),
        None if own_line => Splice::remove(Span::new(
            line_start(ground.text, span.start),
            next_line(ground.text, span.end),
        )),
        None => Splice::remove(Span::new(skip_blanks_back(ground.text, span.start, 0), span.end)),
    };
    ground.splices.push(splice);
}

fn refuse(node: NodeRef<'_>, reason: &'static str) -> EditError {
    EditError::at(node, EditErrorKind::CommentNotAllowed { reason })
}

fn above<'a>(
    ground: &mut Ground<'a>,
    node: NodeRef<'a>,
    text: Option<&str>,
) -> Result<(), EditError> {
    let source = ground.text;
    let Some(entry) = ground.entry_of(node) else {
        return above_root(ground, node, text);
    };
    let in_flow =
        node.parent().is_some_and(|parent| parent.collection_style() != CollectionStyle::Block);
    if in_flow && !entry.own_line {
        return Err(refuse(node, "the entry shares its line with others"));
    }
    let eol = ground.manners.line_break;
    let indent = " ".repeat(column(source, entry.head) as usize);
    let old = Span::new(entry.start, entry.head);
    let Some(text) = text else {
        if !old.is_empty() {
            ground.splices.push(Splice::remove(old));
        }
        return Ok(());
    };
    let mut new = String::new();
    if old.is_empty() && is_below_comment(source, &entry) {
        // Without a blank line the comment above would swallow it.
        new.push_str(eol);
        new.push_str(&indent);
    }
    for line in text.lines() {
        new.push_str(&hashed(line));
        new.push_str(eol);
        new.push_str(&indent);
    }
    let lead = if new.starts_with(eol) { line_start(source, entry.head) } else { old.start };
    let splice = match lead < old.start {
        // The blank line itself is not indented.
        true => Splice::new(
            Span::new(lead, old.end),
            format!("{eol}{indent}{}", &new[eol.len() + indent.len()..]),
        ),
        false => Splice::new(old, new),
    };
    ground.splices.push(splice);
    Ok(())
}

/// A comment above the root: the first one of a document that has none.
fn above_root<'a>(
    ground: &mut Ground<'a>,
    node: NodeRef<'a>,
    text: Option<&str>,
) -> Result<(), EditError> {
    let start = node.full_span().start;
    let is_root = node.parent().is_none() && !node.full_span().is_empty();
    let Some(text) = text.filter(|_| is_root) else {
        return Err(refuse(node, "only an entry or an element can have a comment above it"));
    };
    if !is_first_on_line(ground.text, start) {
        return Err(refuse(node, "the value shares its line with `---`"));
    }
    let indent = " ".repeat(column(ground.text, start) as usize);
    let eol = ground.manners.line_break;
    let line = |line: &str| format!("{}{eol}{indent}", hashed(line));
    let new: String = text.lines().map(line).collect();
    ground.splices.push(Splice::insert(start, new));
    Ok(())
}

/// Whether the line above is a comment that is not the entry's.
fn is_below_comment(text: &str, entry: &EntryLayout<'_>) -> bool {
    let line = line_start(text, entry.head);
    entry.own_line
        && line > 0
        && comment_line(text, line_start(text, before_break(text, line))).is_some()
}

fn beside<'a>(
    ground: &mut Ground<'a>,
    node: NodeRef<'a>,
    text: Option<&str>,
) -> Result<(), EditError> {
    let source = ground.text;
    let at = behind(ground, node);
    let old = comment_beside(source, at);
    let Some(text) = text else {
        if !old.is_empty() {
            ground.splices.push(Splice::remove(Span::new(at, old.end)));
        }
        return Ok(());
    };
    if text.contains(['\n', '\r']) {
        return Err(refuse(node, "a comment beside a value has one line"));
    }
    let end = line_end(source, at);
    if old.is_empty() && skip_blanks(source, at, end) != end {
        return Err(refuse(node, "more text follows on its line"));
    }
    let splice = match old.is_empty() {
        true => Splice::new(Span::new(at, end), format!(" {}", hashed(text))),
        false => Splice::new(old, hashed(text)),
    };
    ground.splices.push(splice);
    Ok(())
}

/// Behind what a comment beside a node stands.
fn behind<'a>(ground: &mut Ground<'a>, node: NodeRef<'a>) -> u32 {
    let source = ground.text;
    let entry = ground.entry_of(node);
    let value = entry.map_or(node, |entry| entry.value);
    let in_flow =
        value.parent().is_some_and(|parent| parent.collection_style() != CollectionStyle::Block);
    if in_flow {
        let end = entry.map_or(node.end(), |entry| entry.end);
        let comma = entry.and_then(|entry| entry.comma);
        let on_line = comma.filter(|&comma| skip_blanks(source, end, comma) == comma);
        return on_line.map_or(end, |comma| comma + 1);
    }
    if value.is_block() {
        return crate::layout::value_floor(value);
    }
    // Beside the key of a value that stands on a line below.
    let floor = crate::layout::value_floor(value);
    if value.start() > line_end(source, floor) && !comment_beside(source, floor).is_empty() {
        return floor;
    }
    if let Some(header) = value.as_scalar().and_then(|scalar| scalar.header()) {
        return header.end;
    }
    value.end()
}
