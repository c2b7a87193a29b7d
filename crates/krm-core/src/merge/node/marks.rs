//! Marks: comments that keep what a conflict did not take, found and settled later.

use krm_yaml::{
    Comment, CommentPosition, DocumentRef, Edit, EmptyParents, File, NodeRef, OwnedNode, Value,
};

use super::ops::Op;
use super::rules::Side;
use crate::Diagnostic;
use crate::print::source_text;

/// What every line of a mark's frame begins with.
const WORD: &str = "# krm-conflict ";

/// Upstream deleted what local changed, and local's stands here.
pub(super) fn of_deleted_upstream(id: &str) -> String {
    format!("{WORD}{id} upstream: deleted")
}

/// Local deleted what upstream changed, and upstream's stands here.
pub(super) fn of_deleted_locally(id: &str) -> String {
    format!("{WORD}{id} local: deleted")
}

/// Local's value, where upstream's stands now.
pub(super) fn of_value(id: &str, local: NodeRef<'_>) -> String {
    framed(id, "local:", &source_text::texts(&[local]).concat())
}

/// Local's comment, where upstream's stands now.
pub(super) fn of_comment(id: &str, place: CommentPosition, local: &str) -> String {
    let place = if place == CommentPosition::Head { "above" } else { "beside" };
    framed(id, &format!("local comment {place}:"), local)
}

/// Local's comment at the head of the document, where upstream's stands now.
pub(super) fn of_head(id: &str, local: &str) -> String {
    framed(id, "local comment at the head:", local)
}

/// Local's order, where upstream's stands now: for each element its place in the list as it is, and its name.
pub(super) fn of_order(id: &str, local: impl Iterator<Item = (usize, String)>) -> String {
    let line = |(place, name): (usize, String)| {
        format!("{place} {}\n", name.replace(char::is_control, " "))
    };
    framed(id, "local order:", &local.map(line).collect::<String>())
}

fn framed(id: &str, what: &str, text: &str) -> String {
    let lines: String = text.lines().map(|line| format!("#   {line}\n")).collect();
    format!("{WORD}{id} {what}\n{lines}{WORD}{id} end")
}

/// Adds a mark to the comment that an entry has or gets.
pub(super) fn add<'a>(
    ops: &mut Vec<Op<'a>>,
    entry: NodeRef<'a>,
    above: Option<&String>,
    mark: &str,
) {
    let joined = |old: Option<&String>| match old {
        Some(old) => format!("{mark}\n{old}"),
        None => mark.to_owned(),
    };
    for op in ops.iter_mut() {
        if let Op::Note(node, CommentPosition::Head, text) = op
            && *node == entry
        {
            *text = Some(joined(text.as_ref()));
            return;
        }
    }
    ops.push(Op::Note(entry, CommentPosition::Head, Some(joined(above))));
}

/// Tells marks from other comments, line by line.
#[derive(Debug, Default)]
pub(super) struct Marks {
    /// Whether the frame of a mark is open.
    is_open: bool,
}

impl Marks {
    /// Whether the next line is of a mark.
    pub(super) fn holds(&mut self, line: &str) -> bool {
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

/// What a mark keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MarkKind {
    /// Local's value as it was written.
    Value(String),
    /// Local's comment.
    Comment(CommentPosition, String),
    /// Local's comment at the head of the document.
    Head(String),
    /// Local's order: where each element stands in the list as it is.
    Order(Vec<usize>),
    /// Local had deleted it.
    DeletedLocally,
    /// Upstream had deleted it.
    DeletedUpstream,
}

/// A mark in a document.
#[derive(Clone, Debug)]
pub struct Mark<'a> {
    /// The conflict's name.
    pub id: String,
    /// What it keeps.
    pub kind: MarkKind,
    /// The entry that it stands above: its key, or the item; none where it stands alone.
    pub entry: Option<NodeRef<'a>>,
    /// Its lines.
    pub lines: Vec<Comment<'a>>,
}

/// The marks of a document, in order.
pub fn find(document: DocumentRef<'_>) -> Vec<Mark<'_>> {
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
        let kind = match what {
            "local:" => MarkKind::Value(text),
            "local comment above:" => MarkKind::Comment(CommentPosition::Head, text),
            "local comment beside:" => MarkKind::Comment(CommentPosition::Line, text),
            "local comment at the head:" => MarkKind::Head(text),
            "local order:" => MarkKind::Order(texts.iter().filter_map(|it| place_in(it)).collect()),
            "local: deleted" => MarkKind::DeletedLocally,
            "upstream: deleted" => MarkKind::DeletedUpstream,
            _ => continue,
        };
        let entry = lines.last().and_then(|last| last.owner).or_else(|| first_entry(document));
        found.push(Mark { id: id.to_owned(), kind, entry, lines });
    }
    found
}

/// The place that a line of an order begins with.
fn place_in(line: &str) -> Option<usize> {
    line.split(' ').next()?.parse().ok()
}

/// A mark above the first key is the document's own comment.
fn first_entry(document: DocumentRef<'_>) -> Option<NodeRef<'_>> {
    let root = document.root()?;
    root.children().next()
}

fn head(text: &str) -> Option<(&str, &str)> {
    text.trim_end().strip_prefix(WORD)?.split_once(' ')
}

/// Settles the marks of a file for one side: its new text.
pub fn settle(file: &File, side: Side) -> Result<String, Diagnostic> {
    let mut edit = Edit::new(file).allow_shared(true);
    for document in file.documents() {
        for mark in find(document) {
            settle_one(&mut edit, document, &mark, side)?;
        }
    }
    edit.apply().map_err(|error| Diagnostic::from_edit(&error, file))
}

fn settle_one<'a>(
    edit: &mut Edit<'a>,
    document: DocumentRef<'a>,
    mark: &Mark<'a>,
    side: Side,
) -> Result<(), Diagnostic> {
    let file = document.file();
    let refused = |error: krm_yaml::EditError| Diagnostic::from_edit(&error, file);
    let entry = mark.entry.map(value_of_entry);
    let goes = matches!(
        (&mark.kind, side),
        (MarkKind::DeletedLocally, Side::Local) | (MarkKind::DeletedUpstream, Side::Upstream)
    );
    if let (true, Some(entry)) = (goes, entry) {
        // Its comments, the mark among them, go with it.
        return edit.remove(entry, EmptyParents::Keep).map_err(refused);
    }
    if let (MarkKind::Comment(CommentPosition::Head, text) | MarkKind::Head(text), Side::Local) =
        (&mark.kind, side)
    {
        restore_above(edit, document, mark, text);
        return Ok(());
    }
    for line in &mark.lines {
        edit.replace_comment(document.index(), line, None);
    }
    match (&mark.kind, side, entry) {
        (MarkKind::Value(text), Side::Local, Some(entry)) => {
            let value =
                File::parse(format!("{text}\n")).map_err(|error| Diagnostic::from(&error))?;
            let value = OwnedNode::root(value).map_or(Value::Null, Value::OwnedNode);
            edit.set(entry, value).map_err(refused)
        }
        (MarkKind::Comment(_, text), Side::Local, Some(entry)) => {
            let text = Some(text.as_str()).filter(|text| !text.is_empty());
            edit.set_comment(entry, CommentPosition::Line, text).map_err(refused)
        }
        (MarkKind::Order(order), Side::Local, Some(entry)) => {
            let mut places = order.clone();
            places.sort_unstable();
            if entry.as_sequence().is_none() || !places.into_iter().eq(0..entry.children().count())
            {
                return Err(other_list(entry));
            }
            edit.reorder(entry, order.clone()).map_err(refused)
        }
        _ => Ok(()),
    }
}

fn other_list(entry: NodeRef<'_>) -> Diagnostic {
    let message = "this list has other elements than when its order was marked";
    Diagnostic::untyped_error(message)
        .at(entry.document().file(), entry.full_span())
        .hint("put it in order by hand and remove the mark above it")
}

/// Local's comment in the place of the mark and of upstream's, whose lines stand between the mark and the entry.
fn restore_above<'a>(edit: &mut Edit<'a>, document: DocumentRef<'a>, mark: &Mark<'a>, text: &str) {
    let (Some(first), Some(last)) = (mark.lines.first(), mark.lines.last()) else { return };
    let mut marks = Marks::default();
    let upstream = document.comments().into_iter().filter(|comment| {
        !marks.holds(comment.text)
            && comment.owner == last.owner
            && comment.position == CommentPosition::Head
            && comment.span.start > last.span.start
    });
    let upstream: Vec<Comment<'a>> = upstream.collect();
    edit.replace_comment(document.index(), first, Some(text).filter(|text| !text.is_empty()));
    for line in mark.lines[1..].iter().chain(&upstream) {
        edit.replace_comment(document.index(), line, None);
    }
}

/// The value of the entry that a comment's owner stands for.
fn value_of_entry(owner: NodeRef<'_>) -> NodeRef<'_> {
    let mapping = owner.parent().and_then(NodeRef::as_mapping);
    let entry = mapping.and_then(|mapping| mapping.entries().find(|entry| entry.key == owner));
    entry.map_or(owner, |entry| entry.value)
}
