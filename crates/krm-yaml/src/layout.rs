//! The layout of the entries of a collection: their start, their end, and the comments that belong to them.
//!
//! This decides which comments move with an entry, are removed with it, or stay (the rules are listed in [`crate::comment`]). Edits and
//! [`DocumentRef::comments`](crate::DocumentRef::comments) both follow it. The layout is computed from the text on request: storing comment owners in the tree would
//! make every edit of the text invalidate them.

use crate::node::{CollectionStyle, NodeKind};
use crate::node_ref::NodeRef;
use crate::span::{
    Span, column, is_break, is_first_on_line, line_end, line_start, next_line, skip_blanks,
};
use crate::trivia::{Gap, Trivia};

/// One entry of a collection: a key with its value, or an element.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EntryLayout<'a> {
    /// The key; `None` for an element.
    pub(crate) key: Option<NodeRef<'a>>,
    /// The value or the element.
    pub(crate) value: NodeRef<'a>,
    /// The first byte of the entry itself: its dash, `?`, anchor, tag or key.
    pub(crate) head: u32,
    /// The first byte that belongs to the entry: its head comment, or `head`.
    pub(crate) start: u32,
    /// The end of the value.
    pub(crate) end: u32,
    /// The last byte that belongs to the entry: its value, its line comment, and deeper comments below.
    pub(crate) tail: u32,
    /// The comma after the entry, in a flow collection.
    pub(crate) comma: Option<u32>,
    /// Whether the entry is the first thing on its line.
    pub(crate) own_line: bool,
}

impl EntryLayout<'_> {
    /// All bytes that belong to the entry.
    pub(crate) fn extent(&self) -> Span {
        Span::new(self.start, self.tail)
    }
}

/// The end of an entry, as the next entry needs it.
#[derive(Clone, Copy)]
struct Edge {
    end: u32,
    comma: Option<u32>,
    tail: u32,
}

impl Edge {
    /// The end of the entry with this value.
    fn of(collection: NodeRef<'_>, value: NodeRef<'_>) -> Self {
        let end = value.end().max(value.key().map_or(0, NodeRef::end));
        if collection.collection_style() == CollectionStyle::Block {
            return Self { end, comma: None, tail: end };
        }
        let (comma, tail) = flow_tail(collection, end);
        Self { end, comma, tail }
    }
}

/// The layout of all entries of a collection, in order.
pub(crate) fn entries<'a>(collection: NodeRef<'a>) -> Vec<EntryLayout<'a>> {
    let is_mapping = collection.kind() == NodeKind::Mapping;
    let mut out: Vec<EntryLayout<'a>> = Vec::new();
    let mut children = collection.children();
    while let Some(first) = children.next() {
        let value = if is_mapping { children.next().unwrap_or(first) } else { first };
        let before = out.last().map(|it| Edge { end: it.end, comma: it.comma, tail: it.tail });
        let key = is_mapping.then_some(first);
        out.push(lay_out(collection, key, value, before));
    }
    out
}

/// The first byte of the first entry of a collection, without the comments above it.
pub(crate) fn first_head(collection: NodeRef<'_>) -> Option<u32> {
    let first = collection.children().next()?;
    Some(head_of(collection, first, collection.start()))
}

/// The layout of only the entry with this value. Computing all entries for each of them would take quadratic time.
pub(crate) fn entry(value: NodeRef<'_>) -> Option<EntryLayout<'_>> {
    let collection = value.parent()?;
    let key = value.key();
    let before = key.unwrap_or(value).previous().map(|last| Edge::of(collection, last));
    Some(lay_out(collection, key, value, before))
}

fn lay_out<'a>(
    collection: NodeRef<'a>,
    key: Option<NodeRef<'a>>,
    value: NodeRef<'a>,
    before: Option<Edge>,
) -> EntryLayout<'a> {
    let first = key.unwrap_or(value);
    let gap = before.map_or(collection.start(), |it| it.comma.map_or(it.end, |at| at + 1));
    let head = head_of(collection, first, gap);
    let mut entry = EntryLayout {
        key,
        value,
        head,
        start: head,
        end: value.end().max(first.end()),
        tail: 0,
        comma: None,
        own_line: is_first_on_line(collection.source(), head),
    };
    if collection.collection_style() == CollectionStyle::Block {
        place_block_entry(collection, before.map(|it| it.end), &mut entry);
    } else {
        place_flow_entry(collection, before.map(|it| it.tail), &mut entry);
    }
    entry
}

/// The first byte of an entry whose first node is `first`.
fn head_of(collection: NodeRef<'_>, first: NodeRef<'_>, gap: u32) -> u32 {
    let text = collection.source();
    let node = first.full_span().start;
    if collection.collection_style() == CollectionStyle::Block
        && collection.kind() == NodeKind::Sequence
    {
        let dash = Gap::new(text, Span::new(gap, text.len() as u32)).find(b"-", b"");
        return dash.map_or(node, |dash| dash.start);
    }
    let question = Gap::new(text, Span::new(gap, node)).find(b"?", b"{[,");
    question.map_or(node, |question| question.start)
}

fn place_block_entry(collection: NodeRef<'_>, before: Option<u32>, entry: &mut EntryLayout<'_>) {
    let text = collection.source();
    let depth = column(text, entry.head);
    if entry.own_line {
        let start = comments_above(text, entry.head, before.unwrap_or(0), before.map(|_| depth));
        if start < entry.head && !(before.is_none() && is_document_head(collection, start)) {
            entry.start = start;
        }
    }
    entry.tail = comments_below(text, comment_beside(text, entry.end).end, depth);
    // Trailing spaces move with the entry.
    let end = line_end(text, entry.tail);
    if skip_blanks(text, entry.tail, end) == end {
        entry.tail = end;
    }
}

fn place_flow_entry(collection: NodeRef<'_>, before: Option<u32>, entry: &mut EntryLayout<'_>) {
    if entry.own_line {
        let floor = before.unwrap_or(collection.start() + 1);
        entry.start = comments_above(collection.source(), entry.head, floor, None);
    }
    (entry.comma, entry.tail) = flow_tail(collection, entry.end);
}

/// The comma after an entry of a flow collection, and the end of what belongs to the entry.
fn flow_tail(collection: NodeRef<'_>, end: u32) -> (Option<u32>, u32) {
    let text = collection.source();
    let is_pair = collection.collection_style() == CollectionStyle::Pair;
    let comma = Gap::from(text, end).find(b",", b"").map(|comma| comma.start);
    let comma = comma.filter(|_| !is_pair);
    let beside = flow_comment_beside(text, end, comma);
    (comma, beside.end.max(comma.map_or(end, |comma| comma + 1)))
}

/// The line comment of an entry of a flow collection that ends at `end`: before its comma, or behind a comma on the same line. If there is
/// none, an empty span where it would be.
///
/// Between the end of an entry and a comma on a later line, and behind such a comma, comments belong to no entry: nothing says whether they
/// describe the entry before or the one after.
pub(crate) fn flow_comment_beside(text: &str, end: u32, comma: Option<u32>) -> Span {
    match comma {
        Some(comma) if skip_blanks(text, end, comma) == comma => comment_beside(text, comma + 1),
        _ => comment_beside(text, end),
    }
}

/// The comment after `at` on its line; an empty span at `at` if there is none.
pub(crate) fn comment_beside(text: &str, at: u32) -> Span {
    let bytes = text.as_bytes();
    let start = skip_blanks(text, at, text.len() as u32);
    // Compat: Kubernetes accepts a comment directly after a token, as in `"x"#c`.
    let is_on_line =
        start > at || at.checked_sub(1).is_some_and(|at| !is_break(bytes[at as usize]));
    if is_on_line && bytes.get(start as usize) == Some(&b'#') {
        Span::new(start, line_end(text, start))
    } else {
        Span::empty(at)
    }
}

/// The offset of the `#` of a line that is only a comment.
pub(crate) fn comment_line(text: &str, line: u32) -> Option<u32> {
    let end = line_end(text, line);
    let at = skip_blanks(text, line, end);
    (at < end && text.as_bytes()[at as usize] == b'#').then_some(at)
}

/// The start of the comment lines directly above `head`; `head` if there are none.
///
/// Lines before `floor` are ignored, because they may be content that looks like a comment. With `deepest`, a comment that is indented
/// deeper ends the block, because it belongs to the nested collection above.
pub(crate) fn comments_above(text: &str, head: u32, floor: u32, deepest: Option<u32>) -> u32 {
    let mut start = head;
    let mut line = line_start(text, head);
    while line > 0 {
        let above = line_start(text, crate::span::before_break(text, line));
        if above == line || above < floor {
            break;
        }
        let Some(at) = comment_line(text, above) else { break };
        if deepest.is_some_and(|deepest| column(text, at) > deepest) {
            break;
        }
        start = at;
        line = above;
    }
    start
}

/// Whether the line above the one that starts at `line` is a comment. Lines before `floor` are ignored.
pub(crate) fn is_below_comment(text: &str, line: u32, floor: u32) -> bool {
    comments_above(text, line, floor, None) < line
}

/// The end of the comments below `at` that are indented deeper than `depth`; `at` if there are none.
pub(crate) fn comments_below(text: &str, at: u32, depth: u32) -> u32 {
    let mut end = at;
    let mut line = next_line(text, at);
    while (line as usize) < text.len() {
        let stop = line_end(text, line);
        match comment_line(text, line) {
            Some(at) if column(text, at) > depth => end = stop,
            Some(_) => break,
            None if skip_blanks(text, line, stop) == stop => {}
            None => break,
        }
        let next = next_line(text, line);
        if next == line {
            break;
        }
        line = next;
    }
    end
}

/// Whether the comments from `start` on, above the root's first entry, belong to the document.
fn is_document_head(collection: NodeRef<'_>, start: u32) -> bool {
    if collection.parent().is_some() {
        return false;
    }
    let document = collection.document();
    let from = document.content_span().start;
    let text = collection.source();
    let earlier = Gap::new(text, Span::new(from, start))
        .any(|(trivia, span)| trivia == Trivia::Comment && is_first_on_line(text, span.start));
    !earlier
}

/// The offset after the indicator, anchor and tag of a value, where new text for it may start.
pub(crate) fn value_floor(value: NodeRef<'_>) -> u32 {
    let properties = value.properties();
    let property_end =
        properties.and_then(|p| [p.anchor, p.tag].into_iter().flatten().map(|span| span.end).max());
    if let Some(end) = property_end {
        return end;
    }
    let text = value.source();
    let Some(parent) = value.parent() else {
        let document = value.document();
        return document.content_span().start;
    };
    match parent.kind() {
        NodeKind::Mapping => {
            let key = value.previous();
            let key_end = key.map_or(parent.start(), NodeRef::end);
            Gap::from(text, key_end).find(b":", b"").map_or(key_end, |colon| colon.end)
        }
        _ if parent.collection_style() == CollectionStyle::Block => {
            let from = value.previous().map_or(parent.start(), NodeRef::end);
            Gap::from(text, from).find(b"-", b"").map_or(value.start(), |dash| dash.end)
        }
        _ => value.start(),
    }
}
