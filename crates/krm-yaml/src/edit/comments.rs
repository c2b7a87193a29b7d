//! Lowers comments that are set, replaced or removed.

use super::lower::EditContext;
use super::splice::Splice;
use super::{CommentEdit, CommentTarget, EditError, EditErrorKind};
use crate::comment::CommentPosition;
use crate::layout::{comment_beside, is_below_comment};
use crate::node::CollectionStyle;
use crate::node_ref::NodeRef;
use crate::span::{
    Span, column, is_first_on_line, line_end, line_start, next_line, skip_blanks, skip_blanks_back,
};

pub(crate) fn lower<'a>(
    context: &mut EditContext<'a>,
    comment: &CommentEdit<'a>,
) -> Result<(), EditError> {
    match comment.target {
        CommentTarget::Existing(span) => {
            this(context, span, comment.text.as_deref());
            Ok(())
        }
        CommentTarget::Of(node, _) if context.style.json => {
            Err(refuse(node, "JSON has no comments"))
        }
        CommentTarget::Of(node, CommentPosition::Head) => {
            above(context, node, comment.text.as_deref())
        }
        CommentTarget::Of(node, _) => {
            beside(context, node, comment.text.as_deref(), comment.breaks_line)
        }
    }
}

pub(super) fn with_hash(line: &str) -> String {
    match line.trim_end() {
        "" => "#".to_owned(),
        line if line.starts_with('#') => line.to_owned(),
        line => format!("# {line}"),
    }
}

fn this(context: &mut EditContext<'_>, span: Span, text: Option<&str>) {
    let own_line = is_first_on_line(context.text, span.start);
    let splice = match text {
        Some(text) if own_line => {
            let indent = " ".repeat(column(context.text, span.start) as usize);
            let lines: Vec<String> = text.lines().map(with_hash).collect();
            Splice::new(span, lines.join(&format!("{}{indent}", context.style.line_break)))
        }
        Some(text) => Splice::new(span, with_hash(&crate::comment::strip_breaks(text))),
        None if own_line => Splice::remove(Span::new(
            line_start(context.text, span.start),
            next_line(context.text, span.end),
        )),
        None if let Some(entry) = entry_to_join(context.text, span) => {
            Splice::remove(Span::new(span.start, entry))
        }
        None => Splice::remove(Span::new(skip_blanks_back(context.text, span.start, 0), span.end)),
    };
    context.splices.push(splice);
}

/// The start of the entry below a comment behind a dash, if it can stand behind the dash instead: it is in the same column. That is how a
/// comment above the first entry of an element is written.
fn entry_to_join(text: &str, comment: Span) -> Option<u32> {
    let line = Span::new(line_start(text, comment.start), comment.start).of(text);
    let is_behind_dash = line.ends_with("- ") && line.bytes().all(|it| matches!(it, b' ' | b'-'));
    let below = next_line(text, comment.end);
    let entry = skip_blanks(text, below, line_end(text, below));
    let is_entry =
        !matches!(text.as_bytes().get(entry as usize), None | Some(b'\n' | b'\r' | b'#'));
    let is_aligned = column(text, entry) == column(text, comment.start)
        && Span::new(below, entry).of(text).bytes().all(|it| it == b' ');
    (is_behind_dash && is_entry && is_aligned).then_some(entry)
}

fn refuse(node: NodeRef<'_>, reason: &'static str) -> EditError {
    EditError::at(node, EditErrorKind::CommentNotAllowed { reason })
}

fn above<'a>(
    context: &mut EditContext<'a>,
    node: NodeRef<'a>,
    text: Option<&str>,
) -> Result<(), EditError> {
    let source = context.text;
    let Some(entry) = context.entry_of(node) else {
        return above_root(context, node, text);
    };
    let in_flow =
        node.parent().is_some_and(|parent| parent.collection_style() != CollectionStyle::Block);
    if in_flow && !entry.own_line {
        return Err(refuse(node, "the entry shares its line with others"));
    }
    let eol = context.style.line_break;
    let indent = " ".repeat(column(source, entry.head) as usize);
    let old = Span::new(entry.start, entry.head);
    let Some(text) = text else {
        if !old.is_empty() {
            context.splices.push(Splice::remove(old));
        }
        return Ok(());
    };
    let mut new = String::new();
    if old.is_empty()
        && entry.own_line
        && is_below_comment(source, line_start(source, entry.head), 0)
    {
        // Without a blank line the new comment would become part of the comment above, which has another owner.
        new.push_str(eol);
        new.push_str(&indent);
    }
    for line in text.lines() {
        new.push_str(&with_hash(line));
        new.push_str(eol);
        new.push_str(&indent);
    }
    let lead = if new.starts_with(eol) { line_start(source, entry.head) } else { old.start };
    let splice = match lead < old.start {
        // A blank line has no indentation.
        true => Splice::new(
            Span::new(lead, old.end),
            format!("{eol}{indent}{}", &new[eol.len() + indent.len()..]),
        ),
        false => Splice::new(old, new),
    };
    context.splices.push(splice);
    Ok(())
}

/// Inserts a comment above the root of a document.
fn above_root<'a>(
    context: &mut EditContext<'a>,
    node: NodeRef<'a>,
    text: Option<&str>,
) -> Result<(), EditError> {
    let start = node.full_span().start;
    let is_root = node.parent().is_none() && !node.full_span().is_empty();
    let Some(text) = text.filter(|_| is_root) else {
        return Err(refuse(node, "only an entry or an element can have a comment above it"));
    };
    if !is_first_on_line(context.text, start) {
        return Err(refuse(node, "the value shares its line with `---`"));
    }
    let indent = " ".repeat(column(context.text, start) as usize);
    let eol = context.style.line_break;
    let line = |line: &str| format!("{}{eol}{indent}", with_hash(line));
    let mut new: String = text.lines().map(line).collect();
    if context.splices.iter().any(|it| it.span.start == start && it.starts_with_comment()) {
        // Without a blank line the comment above the first entry of the new root would become a part of this one.
        new.push_str(eol);
        new.push_str(&indent);
    }
    context.splices.push(Splice::insert(start, new));
    Ok(())
}

fn beside<'a>(
    context: &mut EditContext<'a>,
    node: NodeRef<'a>,
    text: Option<&str>,
    breaks_line: bool,
) -> Result<(), EditError> {
    let source = context.text;
    let at = behind(context, node);
    let old = comment_beside(source, at);
    let Some(text) = text else {
        if !old.is_empty() {
            context.splices.push(Splice::remove(Span::new(at, old.end)));
        }
        return Ok(());
    };
    if text.contains(['\n', '\r']) {
        return Err(refuse(node, "a comment beside a value has one line"));
    }
    let end = line_end(source, at);
    let rest = skip_blanks(source, at, end);
    let splice = match (old.is_empty(), rest == end) {
        (true, true) => Splice::new(Span::new(at, end), format!(" {}", with_hash(text))),
        (true, false) => {
            let Some(indent) = continuation_indent(source, node).filter(|_| breaks_line) else {
                return Err(refuse(node, "more text follows on its line"));
            };
            let (eol, indent) = (context.style.line_break, " ".repeat(indent));
            Splice::new(Span::new(at, rest), format!(" {}{eol}{indent}", with_hash(text)))
        }
        (false, _) => Splice::new(old, with_hash(text)),
    };
    context.splices.push(splice);
    Ok(())
}

/// The indentation of a line that continues the flow collection around a node; none if it must stay on one line.
fn continuation_indent(source: &str, node: NodeRef<'_>) -> Option<usize> {
    let mut outermost = None;
    let mut at = Some(node);
    while let Some(node) = at {
        // Spec: an implicit key is on one line.
        if node.node().is_key() && outermost.is_some() {
            return None;
        }
        let parent = node.parent();
        match parent.filter(|it| it.collection_style() != CollectionStyle::Block) {
            Some(flow) => outermost = Some(flow),
            None => {
                outermost?;
                return Some(parent.map_or(0, |block| column(source, block.start()) as usize) + 2);
            }
        }
        at = parent;
    }
    None
}

/// The offset after which the line comment of a node is written.
fn behind<'a>(context: &mut EditContext<'a>, node: NodeRef<'a>) -> u32 {
    let source = context.text;
    let entry = context.entry_of(node);
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
    // A value on its own line has the comment beside its key.
    let floor = crate::layout::value_floor(value);
    if value.start() > line_end(source, floor) && !comment_beside(source, floor).is_empty() {
        return floor;
    }
    if let Some(header) = value.as_scalar().and_then(|scalar| scalar.header()) {
        return header.end;
    }
    value.end()
}
