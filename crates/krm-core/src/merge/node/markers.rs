//! Conflict markers: comments that hold the version that a conflict did not take, until a user resolves it.
//!
//! They are comments, and not the lines that git writes, so that a file with conflicts is still valid YAML and other tools can read it.

use krm_yaml::{
    Comment, CommentPosition, DocumentRef, Edit, EmptyParents, File, NodeRef, OwnedNode, Span,
    Value,
};

use super::ops::Op;
use super::options::Side;
use crate::Diagnostic;
use crate::merge::kinds::MergeKind;
use crate::print::source_text;

/// The beginning of the first and the last line of a marker.
const PREFIX: &str = "# krm-conflict ";

/// For an entry that upstream deleted and local changed, which is kept.
pub(super) fn for_deleted_upstream(id: &str) -> String {
    format!("{PREFIX}{id} upstream: deleted")
}

/// For an entry that local deleted and upstream changed, which is inserted.
pub(super) fn for_deleted_locally(id: &str) -> String {
    format!("{PREFIX}{id} local: deleted")
}

/// Holds local's value above upstream's.
pub(super) fn for_value(id: &str, local: NodeRef<'_>) -> String {
    framed(id, "local:", &source_text::texts(&[local]).concat())
}

/// Holds local's comment above upstream's.
pub(super) fn for_comment(id: &str, place: CommentPosition, local: &str) -> String {
    let place = if place == CommentPosition::Head { "above" } else { "beside" };
    framed(id, &format!("local comment {place}:"), local)
}

/// Holds local's order: for each element its position in the merged list, and its name for the reader.
pub(super) fn for_order(id: &str, local: impl Iterator<Item = (usize, String)>) -> String {
    let line = |(position, name): (usize, String)| {
        format!("{position} {}\n", name.replace(char::is_control, " "))
    };
    framed(id, "local order:", &local.map(line).collect::<String>())
}

fn framed(id: &str, what: &str, text: &str) -> String {
    let lines: String = text.lines().map(|line| format!("#   {line}\n")).collect();
    format!("{PREFIX}{id} {what}\n{lines}{PREFIX}{id} end")
}

/// Adds a marker to the comment above an entry, which may be queued already.
pub(super) fn add_to_comment<'a>(
    ops: &mut Vec<Op<'a>>,
    entry: NodeRef<'a>,
    above: Option<&String>,
    marker: &str,
) {
    let joined = |old: Option<&String>| match old {
        Some(old) => format!("{marker}\n{old}"),
        None => marker.to_owned(),
    };
    for op in ops.iter_mut() {
        if let Op::Comment(node, CommentPosition::Head, text) = op
            && *node == entry
        {
            *text = Some(joined(text.as_ref()));
            return;
        }
    }
    ops.push(Op::Comment(entry, CommentPosition::Head, Some(joined(above))));
}

/// Tells the lines of markers from other comments.
#[derive(Debug, Default)]
pub(super) struct MarkerLines {
    /// Whether the last line was inside a marker.
    is_open: bool,
}

impl MarkerLines {
    /// Whether the next comment of a document is part of a marker.
    pub(super) fn is_marker(&mut self, line: &str) -> bool {
        let what = head(line).map(|(_, what)| what);
        let was_open = self.is_open;
        self.is_open = match what {
            Some("end") => false,
            Some(what) => what.ends_with(':'),
            None => was_open,
        };
        was_open || what.is_some()
    }
}

/// What a conflict marker holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MarkerContent {
    /// Local's value, as it is written.
    Value(String),
    /// Local's comment.
    Comment(CommentPosition, String),
    /// Local's comment at the head of the document.
    Head(String),
    /// Local's order: the position of each element in the merged list.
    Order(Vec<usize>),
    /// Local deleted the entry.
    DeletedLocally,
    /// Upstream deleted the entry.
    DeletedUpstream,
}

/// A conflict marker in a document.
#[derive(Clone, Debug)]
pub struct ConflictMarker<'a> {
    /// The id of the conflict.
    pub id: String,
    /// What it holds.
    pub content: MarkerContent,
    /// The key or element below it; `None` where there is none.
    pub entry: Option<NodeRef<'a>>,
    /// The comments that it consists of.
    pub lines: Vec<Comment<'a>>,
}

/// Finds the conflict markers of a document, in order.
pub fn find_conflict_markers(document: DocumentRef<'_>) -> Vec<ConflictMarker<'_>> {
    let mut found = Vec::new();
    let mut comments = document.comments().into_iter();
    while let Some(first) = comments.next() {
        let Some((id, what)) = head(first.text) else { continue };
        let mut lines = vec![first];
        let mut texts = Vec::new();
        if what.ends_with(':') {
            for line in comments.by_ref() {
                lines.push(line);
                if head(line.text) == Some((id, "end")) {
                    break;
                }
                let text = line.text.strip_prefix("#   ");
                texts.push(text.unwrap_or_else(|| line.text.trim_start_matches(['#', ' '])));
            }
        }
        let text = texts.join("\n");
        let content = match what {
            "local:" => MarkerContent::Value(text),
            "local comment above:" => MarkerContent::Comment(CommentPosition::Head, text),
            "local comment beside:" => MarkerContent::Comment(CommentPosition::Line, text),
            "local comment at the head:" => MarkerContent::Head(text),
            "local order:" => {
                MarkerContent::Order(texts.iter().filter_map(|it| parse_position(it)).collect())
            }
            "local: deleted" => MarkerContent::DeletedLocally,
            "upstream: deleted" => MarkerContent::DeletedUpstream,
            _ => continue,
        };
        let entry = match first.position {
            // Above the first entry of an element, it begins behind the dash, where comments belong to the element.
            CommentPosition::Line => first.owner.and_then(|element| element.children().next()),
            _ => lines.last().and_then(|last| last.owner),
        };
        let entry = entry.or_else(|| first_entry(document));
        found.push(ConflictMarker { id: id.to_owned(), content, entry, lines });
    }
    found
}

/// The position at the beginning of a line of an order.
fn parse_position(line: &str) -> Option<usize> {
    line.split(' ').next()?.parse().ok()
}

/// The first entry of a document: a marker above it is a comment of the document.
fn first_entry(document: DocumentRef<'_>) -> Option<NodeRef<'_>> {
    let root = document.root()?;
    root.children().next()
}

fn head(text: &str) -> Option<(&str, &str)> {
    text.trim_end().strip_prefix(PREFIX)?.split_once(' ')
}

/// An error for each conflict marker of a file.
pub fn unresolved_conflicts(file: &File) -> Vec<Diagnostic> {
    if !file.text().contains(PREFIX) {
        return Vec::new();
    }
    let markers = file.documents().flat_map(find_conflict_markers);
    let error = |marker: ConflictMarker<'_>| {
        let subject = format!("`{}`", marker.id);
        let error = Diagnostic::error(MergeKind::UnresolvedConflict { subject });
        let line = marker.lines.first().map(|line| line.span);
        line.map_or(error.clone(), |span| error.at(file, span))
    };
    markers.map(error).collect()
}

/// Resolves the conflicts of a file for one side and returns the new text.
pub fn resolve_conflicts(file: &File, side: Side) -> Result<String, Diagnostic> {
    let mut edit = Edit::new(file).allow_shared(true);
    for document in file.documents() {
        for marker in find_conflict_markers(document) {
            resolve(&mut edit, document, &marker, side)?;
        }
    }
    edit.apply().map_err(|error| Diagnostic::from_edit(&error, file))
}

fn resolve<'a>(
    edit: &mut Edit<'a>,
    document: DocumentRef<'a>,
    marker: &ConflictMarker<'a>,
    side: Side,
) -> Result<(), Diagnostic> {
    let file = document.file();
    let refused = |error: krm_yaml::EditError| Diagnostic::from_edit(&error, file);
    let entry = marker.entry.map(value_of_entry);
    let is_deleted = matches!(
        (&marker.content, side),
        (MarkerContent::DeletedLocally, Side::Local)
            | (MarkerContent::DeletedUpstream, Side::Upstream)
    );
    if let (true, Some(entry)) = (is_deleted, entry) {
        // The marker is a comment of the entry and is removed with it.
        return edit.remove(entry, EmptyParents::Keep).map_err(refused);
    }
    if let (
        MarkerContent::Comment(CommentPosition::Head, text) | MarkerContent::Head(text),
        Side::Local,
    ) = (&marker.content, side)
    {
        restore_above(edit, document, marker, text);
        return Ok(());
    }
    remove_lines(edit, document, &marker.lines);
    match (&marker.content, side, entry) {
        (MarkerContent::Value(text), Side::Local, Some(entry)) => {
            let value =
                File::parse(format!("{text}\n")).map_err(|error| Diagnostic::from(&error))?;
            let value = OwnedNode::root(value).map_or(Value::Null, Value::OwnedNode);
            edit.set(entry, value).map_err(refused)
        }
        (MarkerContent::Comment(_, text), Side::Local, Some(entry)) => {
            let text = Some(text.as_str()).filter(|text| !text.is_empty());
            edit.set_comment(entry, CommentPosition::Line, text).map_err(refused)
        }
        (MarkerContent::Order(order), Side::Local, Some(entry)) => {
            let mut positions = order.clone();
            positions.sort_unstable();
            if entry.as_sequence().is_none()
                || !positions.into_iter().eq(0..entry.children().count())
            {
                let kind = MergeKind::StaleMarker;
                return Err(Diagnostic::error(kind).at(file, entry.full_span()));
            }
            edit.reorder(entry, order.clone()).map_err(refused)
        }
        _ => Ok(()),
    }
}

/// Removes the lines of a marker. Those behind a dash are removed as one, so that the entry below them moves back to the dash.
fn remove_lines<'a>(edit: &mut Edit<'a>, document: DocumentRef<'a>, lines: &[Comment<'a>]) {
    let (Some(first), Some(last)) = (lines.first(), lines.last()) else { return };
    if first.position == CommentPosition::Line {
        let span = Span::new(first.span.start, last.span.end);
        return edit.replace_comment(document.index(), &Comment { span, ..*first }, None);
    }
    for line in lines {
        edit.replace_comment(document.index(), line, None);
    }
}

/// Replaces a marker and upstream's comment, which is between the marker and the entry, by local's comment.
fn restore_above<'a>(
    edit: &mut Edit<'a>,
    document: DocumentRef<'a>,
    marker: &ConflictMarker<'a>,
    text: &str,
) {
    let (Some(first), Some(last)) = (marker.lines.first(), marker.lines.last()) else { return };
    let mut lines = MarkerLines::default();
    let upstream = document.comments().into_iter().filter(|comment| {
        !lines.is_marker(comment.text)
            && comment.owner == last.owner
            && comment.position == CommentPosition::Head
            && comment.span.start > last.span.start
    });
    let upstream: Vec<Comment<'a>> = upstream.collect();
    edit.replace_comment(document.index(), first, Some(text).filter(|text| !text.is_empty()));
    for line in marker.lines[1..].iter().chain(&upstream) {
        edit.replace_comment(document.index(), line, None);
    }
}

/// The value of the entry whose key owns a comment.
fn value_of_entry(owner: NodeRef<'_>) -> NodeRef<'_> {
    let mapping = owner.parent().and_then(NodeRef::as_mapping);
    let entry = mapping.and_then(|mapping| mapping.entries().find(|entry| entry.key == owner));
    entry.map_or(owner, |entry| entry.value)
}
