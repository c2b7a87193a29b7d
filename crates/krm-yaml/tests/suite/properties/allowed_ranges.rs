//! The range of the old text that a change may touch, computed independently of the library.

use std::ops::Range;

use krm_yaml::{CollectionStyle, DocumentRef, NodeKind, NodeRef, ScalarStyle};

use super::change::{Change, What, node_at};
use super::model::{Shape, Tree};

/// A range of the old text that a change may touch.
#[derive(Clone, Debug)]
pub(crate) struct AllowedRange {
    pub(crate) range: Range<usize>,
    /// Whether bytes may be removed; otherwise they may only be inserted.
    pub(crate) may_go: bool,
    /// Where comments may be removed with their owner.
    pub(crate) lost: Range<usize>,
}

impl AllowedRange {
    fn whole(range: Range<usize>) -> Self {
        Self { lost: range.clone(), range, may_go: true }
    }

    fn grows(range: Range<usize>) -> Self {
        Self { lost: 0..0, range, may_go: false }
    }
}

/// One entry of a collection.
#[derive(Clone, Copy, Debug)]
struct Slot {
    /// Its dash, `?`, anchor, tag or key.
    head: usize,
    /// The end of its value.
    end: usize,
}

pub(crate) fn of(document: DocumentRef<'_>, change: &Change) -> AllowedRange {
    let text = document.file().text();
    let node = node_at(document, &change.path).expect("the path was taken from this document");
    let range = match &change.what {
        What::Set(value) => set(text, node, value),
        What::Rename(_) => renamed(text, node),
        What::Remove { prune } => removed(text, node, *prune),
        What::InsertKey { at, .. } | What::InsertItem { at, .. } => inserted(text, node, *at),
        What::Move { .. } | What::Reorder(_) => {
            let range = reordered(text, node);
            AllowedRange { range, may_go: true, lost: 0..0 }
        }
        What::Comment { .. } => {
            let (slots, at) = around(node);
            let floor = if at > 0 {
                slots[at - 1].end
            } else {
                node.parent().map_or(0, |parent| floor(text, parent))
            };
            let column = column(text, slots[at].head);
            AllowedRange::whole(floor..next_line(text, directly_below(text, slots[at].end, column)))
        }
    };
    without_final_break(document, range)
}

/// Spec: the value of a block scalar at the very end of a file without a line break depends on the break
/// that follows it (8.1.1.2). A change behind it, or one that makes it the last, has to mend its header.
fn without_final_break(document: DocumentRef<'_>, mut range: AllowedRange) -> AllowedRange {
    let text = document.file().text();
    if text.ends_with(['\n', '\r']) {
        return range;
    }
    let mut leaves = Vec::new();
    if let Some(root) = document.root() {
        collect_leaves(root, &mut leaves);
    }
    let is_block =
        |leaf: &NodeRef<'_>| leaf.as_scalar().is_some_and(|scalar| scalar.style().is_block());
    let last =
        leaves.last().filter(|leaf| is_block(leaf) && range.range.end >= leaf.start() as usize);
    let before = leaves.iter().rfind(|leaf| {
        is_block(leaf) && leaf.end() as usize <= range.range.start && range.range.end >= text.len()
    });
    for leaf in last.into_iter().chain(before) {
        let start = leaf.full_span().start as usize;
        if start < range.range.start || range.range.end >= text.len() {
            range.range.start = range.range.start.min(start);
            range.range.end = range.range.end.max(leaf.end() as usize);
            range.may_go = true;
        }
    }
    range
}

fn collect_leaves<'a>(node: NodeRef<'a>, out: &mut Vec<NodeRef<'a>>) {
    if !node.is_collection() {
        out.push(node);
    }
    node.children().for_each(|child| collect_leaves(child, out));
}

fn is_one_line(value: &Tree) -> bool {
    match &value.shape {
        Shape::Scalar { text, .. } => !text.contains('\n'),
        _ => !value.is_filled(),
    }
}

fn in_brackets(node: NodeRef<'_>) -> bool {
    std::iter::successors(node.parent(), |node| node.parent())
        .any(|up| up.collection_style() != CollectionStyle::Block)
}

fn set(text: &str, node: NodeRef<'_>, value: &Tree) -> AllowedRange {
    let full = node.full_span();
    let own = full.start as usize..full.end as usize;
    let is_block_text =
        matches!(node.kind(), NodeKind::Scalar(ScalarStyle::Literal | ScalarStyle::Folded));
    let inline = !node.is_block() && !is_block_text;
    if inline && !own.is_empty() && (is_one_line(value) || in_brackets(node)) && node.text() != "" {
        return AllowedRange::whole(own);
    }
    let floor = floor(text, node);
    if inline && (is_one_line(value) || in_brackets(node)) {
        // An empty value: up to a comment, or to the next indicator of the flow collection.
        let end = skip_blanks(text, own.end.max(floor));
        // After `--- # comment`, a root starts on the next line.
        let end = if node.parent().is_none() { next_line(text, end) } else { end };
        return AllowedRange::whole(floor.min(own.start)..end);
    }
    let column = node.parent().map_or(0, |_| {
        let (slots, at) = around(node);
        column(text, slots[at].head)
    });
    let tail = if node.is_block() { tail } else { directly_below };
    let end = next_line(text, tail(text, own.end, column));
    AllowedRange { range: floor.min(own.start)..end, may_go: true, lost: floor.min(own.start)..end }
}

fn renamed(text: &str, key: NodeRef<'_>) -> AllowedRange {
    let full = key.full_span();
    let is_block = key.as_scalar().is_some_and(|scalar| scalar.style().is_block());
    let end = if is_block { next_line(text, full.end as usize) } else { full.end as usize };
    AllowedRange::whole(full.start as usize..end)
}

fn removed(text: &str, node: NodeRef<'_>, prune: bool) -> AllowedRange {
    let Some(parent) = node.parent() else { return AllowedRange::whole(0..text.len()) };
    let (slots, at) = around(node);
    let slot = slots[at];
    let only = slots.len() == 1;
    if only && prune && parent.parent().is_some() {
        return removed(text, parent, prune);
    }
    if parent.collection_style() != CollectionStyle::Block {
        let full = parent.full_span();
        let start = if at > 0 { slots[at - 1].end } else { parent.start() as usize + 1 };
        let end = slots.get(at + 1).map_or(full.end as usize - 1, |next| next.head);
        if parent.collection_style() == CollectionStyle::Pair {
            return AllowedRange::whole(full.start as usize..full.end as usize);
        }
        let comma = skip_trivia(text, slot.end);
        let behind =
            if text[comma..].starts_with(',') && !text[slot.end..comma].contains(['\n', '\r']) {
                comma + 1
            } else {
                slot.end
            };
        let lost = above(text, slot.head, start)..behind_on_line(text, behind).max(slot.end);
        return AllowedRange { range: start..end, may_go: true, lost };
    }
    let column = column(text, slot.head);
    let own_line = is_first(text, slot.head);
    let top = if at > 0 { slots[at - 1].end } else { floor(text, parent) };
    let start = if own_line {
        line_start(text, above(text, slot.head, top))
    } else {
        back_blanks(text, slot.head)
    };
    let tail = tail(text, slot.end, column);
    let mut end = next_line(text, tail);
    let lost = start..tail;
    if let Some(next) =
        slots.get(at + 1).filter(|next| !own_line && text[tail..next.head].trim().is_empty())
    {
        end = end.max(next.head);
    }
    if only {
        let range = floor(text, parent).min(parent.full_span().start as usize).min(start)..end;
        return AllowedRange { range, may_go: true, lost };
    }
    let start = if end == text.len() && !text.ends_with(['\n', '\r']) {
        before_break(text, start)
    } else {
        start
    };
    AllowedRange { range: start..end, may_go: true, lost }
}

fn inserted(text: &str, node: NodeRef<'_>, at: usize) -> AllowedRange {
    let slots = slots(node);
    let full = node.full_span();
    if slots.is_empty() || node.collection_style() == CollectionStyle::Pair {
        if in_brackets(node) {
            return AllowedRange {
                lost: 0..0,
                ..AllowedRange::whole(full.start as usize..full.end as usize)
            };
        }
        // `{}` becomes lines below; comments beside and inside it are kept.
        let range = floor(text, node).min(full.start as usize)..next_line(text, full.end as usize);
        return AllowedRange { range, may_go: true, lost: 0..0 };
    }
    let is_block = node.collection_style() == CollectionStyle::Block;
    let start = match at {
        0 if is_block => floor(text, node).min(slots[0].head),
        0 => node.start() as usize + 1,
        _ => slots[at - 1].end,
    };
    let end = match slots.get(at) {
        Some(next) => next.head,
        None if is_block => {
            let last = slots[slots.len() - 1];
            next_line(text, tail(text, last.end, column(text, last.head)))
        }
        None => full.end as usize,
    };
    AllowedRange::grows(start..end)
}

fn reordered(text: &str, node: NodeRef<'_>) -> Range<usize> {
    let slots = slots(node);
    let (Some(first), Some(last)) = (slots.first(), slots.last()) else { return 0..0 };
    if node.collection_style() != CollectionStyle::Block {
        return node.start() as usize..node.end() as usize;
    }
    let top = floor(text, node).min(first.head);
    let start = if is_first(text, first.head) {
        line_start(text, above(text, first.head, top))
    } else {
        first.head
    };
    start..next_line(text, tail(text, last.end, column(text, last.head)))
}

/// The entries of the parent, and the index of the one that contains the node.
fn around(node: NodeRef<'_>) -> (Vec<Slot>, usize) {
    let parent = node.parent().expect("only asked for entries");
    let at = parent.children().position(|child| child == node).unwrap_or(0);
    let width = if parent.kind() == NodeKind::Mapping { 2 } else { 1 };
    (slots(parent), at / width)
}

fn slots(collection: NodeRef<'_>) -> Vec<Slot> {
    let text = collection.document().file().text();
    let is_flow = collection.collection_style() == CollectionStyle::Flow;
    let width = if collection.kind() == NodeKind::Mapping { 2 } else { 1 };
    let children: Vec<NodeRef<'_>> = collection.children().collect();
    let mut at = collection.start() as usize + usize::from(is_flow);
    let mut out = Vec::new();
    for entry in children.chunks(width) {
        let mut head = skip_trivia(text, at);
        if is_flow && text[head..].starts_with(',') {
            head = skip_trivia(text, head + 1);
        }
        let first = entry[0].full_span().start as usize;
        let end = entry.iter().map(|node| node.end() as usize).max().unwrap_or(head);
        out.push(Slot { head: head.min(first), end });
        at = end;
    }
    out
}

/// Where a value may start: after its colon, dash or marker.
fn floor(text: &str, node: NodeRef<'_>) -> usize {
    let full = node.full_span().start as usize;
    let Some(parent) = node.parent() else {
        let document = node.document();
        let marker = document.start_marker().map(|marker| marker.end as usize);
        return marker.unwrap_or(document.span().start as usize).min(full);
    };
    let (slots, at) = around(node);
    if parent.kind() == NodeKind::Mapping {
        let Some(key) = parent.children().nth(at * 2).filter(|key| *key != node) else {
            return full;
        };
        let colon = skip_trivia(text, key.end() as usize);
        return if text[colon..].starts_with(':') {
            (colon + 1).min(full)
        } else {
            (key.end() as usize).min(full)
        };
    }
    if parent.collection_style() == CollectionStyle::Block {
        (slots[at].head + 1).min(full)
    } else {
        full
    }
}

fn is_break(c: char) -> bool {
    c == '\n' || c == '\r'
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind(is_break).map_or(0, |found| found + 1)
}

fn line_end(text: &str, at: usize) -> usize {
    text[at..].find(is_break).map_or(text.len(), |found| at + found)
}

fn next_line(text: &str, at: usize) -> usize {
    let end = line_end(text, at);
    end + if text[end..].starts_with("\r\n") { 2 } else { usize::from(end < text.len()) }
}

fn before_break(text: &str, at: usize) -> usize {
    let cut =
        if text[..at].ends_with("\r\n") { 2 } else { usize::from(text[..at].ends_with(is_break)) };
    at - cut
}

fn column(text: &str, at: usize) -> usize {
    text[line_start(text, at)..at].trim_start_matches('\u{feff}').chars().count()
}

fn is_first(text: &str, at: usize) -> bool {
    text[line_start(text, at)..at]
        .trim_start_matches('\u{feff}')
        .chars()
        .all(|c| c == ' ' || c == '\t')
}

fn skip_blanks(text: &str, at: usize) -> usize {
    at + text[at..].len() - text[at..].trim_start_matches([' ', '\t']).len()
}

fn back_blanks(text: &str, at: usize) -> usize {
    text[..at].trim_end_matches([' ', '\t']).len()
}

/// Skips whitespace, line breaks and comments.
fn skip_trivia(text: &str, mut at: usize) -> usize {
    loop {
        let next = at + text[at..].len()
            - text[at..].trim_start_matches([' ', '\t', '\n', '\r', '\u{feff}']).len();
        // Every position is between tokens, where Kubernetes accepts a comment without a space before it.
        if !text[next..].starts_with('#') {
            return next;
        }
        at = line_end(text, next);
    }
}

/// The start of the comment lines directly above `head`, after `floor`; `head` if there are none.
fn above(text: &str, head: usize, floor: usize) -> usize {
    let mut top = head;
    if !is_first(text, head) {
        return head;
    }
    loop {
        let start = line_start(text, top);
        let up = line_start(text, before_break(text, start));
        if start == 0
            || up < floor
            || !text[up..start].trim_start_matches([' ', '\t', '\u{feff}']).starts_with('#')
        {
            return top;
        }
        top = up;
    }
}

/// The end of a comment after `at` on its line.
fn behind_on_line(text: &str, at: usize) -> usize {
    let start = skip_blanks(text, at);
    if text[start..].starts_with('#') { line_end(text, start) } else { at }
}

/// The end of what belongs to an entry at `column`: its line, and deeper comments below, also behind blank lines: an entry that follows is
/// less deep, so they cannot belong to it.
fn tail(text: &str, end: usize, column_of_entry: usize) -> usize {
    let skip_blank_lines = |mut line: usize| {
        while line < text.len() && skip_blanks(text, line) == line_end(text, line) {
            line = next_line(text, line);
        }
        line
    };
    comments_below(text, end, column_of_entry, skip_blank_lines)
}

/// The end of an entry's line and of the deeper comments directly below. Changes of one value reach no farther.
fn directly_below(text: &str, end: usize, column_of_entry: usize) -> usize {
    comments_below(text, end, column_of_entry, |line| line)
}

fn comments_below(
    text: &str,
    end: usize,
    column_of_entry: usize,
    next_comment: impl Fn(usize) -> usize,
) -> usize {
    let rest = skip_blanks(text, end);
    let mut tail = if text[rest..].starts_with('#') {
        line_end(text, rest)
    } else {
        rest.min(line_end(text, end))
    };
    loop {
        let next = next_comment(next_line(text, tail));
        let mark = skip_blanks(text, next);
        let goes_on =
            next > tail && text[mark..].starts_with('#') && column(text, mark) > column_of_entry;
        if !goes_on {
            return tail;
        }
        tail = line_end(text, mark);
    }
}
