//! Comments: found in the gaps when asked for, each with its place and its owner.

use crate::document::DocumentRef;
use crate::gap::{Gap, Trivia};
use crate::layout::comment_beside;
use crate::node::{NodeKind, Notation};
use crate::span::{Span, before_break, column, is_first_on_line, line_start};
use crate::view::NodeRef;

/// Where a comment stands, seen from its owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommentPlace {
    /// On lines of its own directly above.
    Above,
    /// On the same line, behind.
    Beside,
    /// On lines of its own after the last entry, as deep as the entries or deeper.
    Below,
    /// By itself, between blank lines.
    Free,
}

/// One comment, from its `#` to the end of its line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comment<'a> {
    /// The bytes, `#` included, line break not.
    pub span: Span,
    /// Where it stands.
    pub place: CommentPlace,
    /// Whose it is; none: the document's. The owner above an entry of a mapping is the key.
    pub owner: Option<NodeRef<'a>>,
    /// The text, with its `#`.
    pub text: &'a str,
}

/// Comments never hold a line break; one handed in from outside might.
pub(crate) fn strip_breaks(text: &str) -> String {
    text.replace(['\r', '\n'], " ")
}

/// The texts of all comments that go with a node: above its entry, beside it, and inside.
pub(crate) fn texts_with(node: NodeRef<'_>) -> Vec<&str> {
    let span = crate::layout::entry(node).map_or(node.span(), |entry| entry.extent());
    if !span.of(node.source()).contains('#') {
        return Vec::new();
    }
    let comments = node.document.comments().into_iter();
    comments.filter(|comment| span.contains(comment.span)).map(|comment| comment.text).collect()
}

/// The comment lines directly above the entry that holds a node.
pub(crate) fn above(node: NodeRef<'_>) -> Vec<&str> {
    let holder = crate::layout::entry(node);
    let lines = holder.map_or("", |entry| Span::new(entry.start, entry.head).of(node.source()));
    crate::scalar::lines(lines).map(str::trim).filter(|line| line.starts_with('#')).collect()
}

impl<'a> DocumentRef<'a> {
    /// All comments of the document, in order.
    pub fn comments(self) -> Vec<Comment<'a>> {
        let mut finder = Finder { document: self, text: self.file.text(), out: Vec::new() };
        let mut before: Option<NodeRef<'a>> = None;
        let mut at = self.span().start;
        for index in 0..self.table().nodes.len() as u32 {
            let node = self.node(index);
            let is_empty = node.node().subtree_end(index) == index + 1;
            if node.is_collection() && !is_empty {
                continue;
            }
            finder.gap(Span::new(at, node.start()), before, Some(node));
            finder.header(node);
            // Comments may stand inside brackets that hold nothing else.
            at = if node.is_collection() { node.start() + 1 } else { node.end().max(at) };
            before = Some(node);
        }
        if self.root().is_some() {
            finder.gap(Span::new(at, self.span().end), before, None);
        }
        finder.out
    }
}

struct Finder<'a> {
    document: DocumentRef<'a>,
    text: &'a str,
    out: Vec<Comment<'a>>,
}

impl<'a> Finder<'a> {
    fn push(&mut self, span: Span, place: CommentPlace, owner: Option<NodeRef<'a>>) {
        self.out.push(Comment { span, place, owner, text: span.of(self.text) });
    }

    /// The comment on the head line of a block scalar.
    fn header(&mut self, node: NodeRef<'a>) {
        let header = node.as_scalar().and_then(|scalar| scalar.header());
        // Without lines the comment stands in the gap behind.
        let Some(header) = header.filter(|header| header.end < node.end()) else { return };
        let comment = comment_beside(self.text, header.end);
        if !comment.is_empty() {
            self.push(comment, CommentPlace::Beside, Some(node));
        }
    }

    fn gap(&mut self, gap: Span, before: Option<NodeRef<'a>>, after: Option<NodeRef<'a>>) {
        let comments: Vec<Span> = Gap::new(self.text, gap)
            .filter(|(trivia, _)| *trivia == Trivia::Comment)
            .map(|(_, span)| span)
            .collect();
        if comments.is_empty() {
            return;
        }
        let entry = after.map(|after| starting_entry(after, gap.start));
        let head = entry.map(|entry| entry.head);
        let run = head.map_or(gap.end, |head| self.run_above(gap, before, entry, head));
        let heads_document = self.is_document_head(gap, run, before);
        let mut last: Option<Span> = None;
        let mut touches = true;
        for span in comments {
            if !is_first_on_line(self.text, span.start) {
                let owner = self.beside(span, before, after);
                self.push(span, CommentPlace::Beside, owner);
                last = Some(span);
                continue;
            }
            touches &= match last {
                Some(last) => self.is_one_block(last, span),
                None => self.is_below_content(span),
            };
            last = Some(span);
            if span.start >= run && head.is_some() {
                let owner = entry.map(|entry| entry.owner).filter(|_| !heads_document);
                self.push(span, CommentPlace::Above, owner);
            } else {
                self.apart(span, touches, before, after);
            }
        }
    }

    /// Where the run of comments directly above the next entry begins.
    fn run_above(
        &self,
        gap: Span,
        before: Option<NodeRef<'a>>,
        entry: Option<StartingEntry<'a>>,
        head: u32,
    ) -> u32 {
        if !is_first_on_line(self.text, head) {
            return head;
        }
        // In brackets depth says nothing: the comment above is the entry's.
        let in_block = |owner: NodeRef<'a>| owner.parent().is_some_and(NodeRef::is_block);
        let deepest = entry
            .filter(|entry| before.is_some() && !entry.is_first && in_block(entry.owner))
            .map(|_| column(self.text, head));
        crate::layout::comments_above(self.text, head, gap.start, deepest)
    }

    fn is_document_head(&self, gap: Span, run: u32, before: Option<NodeRef<'a>>) -> bool {
        let from = self.document.start_marker().map_or(gap.start, |marker| marker.end);
        // Behind a bracket or a dash it is no longer the document's.
        before.is_none()
            && !Gap::new(self.text, Span::new(from, run)).any(|(trivia, span)| match trivia {
                Trivia::Comment => is_first_on_line(self.text, span.start),
                Trivia::Indicator(_) => true,
                _ => false,
            })
    }

    /// Whose comment stands behind something on its line.
    fn beside(
        &self,
        span: Span,
        before: Option<NodeRef<'a>>,
        after: Option<NodeRef<'a>>,
    ) -> Option<NodeRef<'a>> {
        let line = line_start(self.text, span.start);
        match before.map(|leaf| closed_before(leaf, span.start)) {
            Some(owner) if owner.end() > line => Some(owner),
            Some(owner) if self.is_behind_comma(Span::new(owner.end(), span.start)) => Some(owner),
            _ => {
                // Only an indicator stands before it: a dash, a bracket or the document's marker.
                let marker = self
                    .document
                    .start_marker()
                    .is_some_and(|m| m.start >= line && m.start < span.start);
                if marker {
                    return None;
                }
                let mut owner = after.or(before)?;
                // A bracket is the collection's, a dash the item's.
                let is_dash = |p: &NodeRef<'a>| p.is_block() && p.start() < span.start;
                let opens = |p: &NodeRef<'a>| p.start() >= line && !is_dash(p);
                while let Some(parent) =
                    owner.parent().filter(|p| opens(p) && p.index + 1 == owner.index)
                {
                    owner = parent;
                }
                Some(owner)
            }
        }
    }

    /// Whether nothing but a comma stands in a gap.
    fn is_behind_comma(&self, gap: Span) -> bool {
        let mut indicators =
            Gap::new(self.text, gap).filter(|(trivia, _)| *trivia != Trivia::Break);
        indicators.next().is_some_and(|(trivia, _)| trivia == Trivia::Indicator(b','))
            && indicators.next().is_none()
    }

    /// A comment line that is not directly above an entry.
    ///
    /// It `touches` where no blank line stands between it and the text above.
    fn apart(
        &mut self,
        span: Span,
        touches: bool,
        before: Option<NodeRef<'a>>,
        after: Option<NodeRef<'a>>,
    ) {
        let depth = column(self.text, span.start);
        let Some(before) = before else {
            // The first block is the document's own.
            let is_head = self.out.last().is_none_or(|last| {
                last.owner.is_none()
                    && last.place != CommentPlace::Free
                    && self.is_one_block(last.span, span)
            });
            let place = if is_head { CommentPlace::Above } else { CommentPlace::Free };
            return self.push(span, place, None);
        };
        let mut child = before;
        let mut collection = before.parent();
        while let Some(parent) = collection {
            let own = column(self.text, parent.start());
            // A list that is not indented shares its column with the mapping around it: the mapping's it is.
            let is_compact = parent
                .parent()
                .is_some_and(|outer| outer.is_block() && column(self.text, outer.start()) == own);
            if parent.notation() == Notation::Block && own <= depth && !(is_compact && own == depth)
            {
                break;
            }
            child = parent;
            collection = parent.parent();
        }
        let Some(collection) = collection else {
            return self.push(span, CommentPlace::Free, None);
        };
        let goes_on = after
            .is_some_and(|after| after.index < collection.node().subtree_end(collection.index));
        let deeper = column(self.text, collection.start()) < depth;
        let detached = !touches && collection.parent().is_none();
        match (deeper, goes_on) {
            (true, _) => self.push(span, CommentPlace::Below, Some(child)),
            (false, true) => self.push(span, CommentPlace::Free, Some(collection)),
            (false, false) if detached => self.push(span, CommentPlace::Free, None),
            (false, false) => self.push(span, CommentPlace::Below, Some(collection)),
        }
    }

    /// Whether two comments stand in one block, without a blank line between them.
    fn is_one_block(&self, first: Span, second: Span) -> bool {
        let between = &self.text[first.end as usize..line_start(self.text, second.start) as usize];
        let lines: Vec<&str> = crate::scalar::lines(between).collect();
        lines.len() == 2
    }

    /// Whether the line above a comment is text.
    fn is_below_content(&self, span: Span) -> bool {
        let line = line_start(self.text, span.start);
        let above = before_break(self.text, line);
        above > self.document.span().start
            && !self.text[line_start(self.text, above) as usize..above as usize].trim().is_empty()
    }
}

/// A node, or what is closed by the brackets between it and `at`.
fn closed_before(node: NodeRef<'_>, at: u32) -> NodeRef<'_> {
    let mut owner = node;
    while let Some(parent) = owner.parent().filter(|parent| {
        let end = if parent.notation() == Notation::Block { at + 1 } else { parent.end() };
        end <= at && end >= owner.end()
    }) {
        owner = parent;
    }
    owner
}

/// The entry that begins with a leaf.
#[derive(Clone, Copy)]
struct StartingEntry<'a> {
    owner: NodeRef<'a>,
    head: u32,
    /// Whether it is the first of its collection.
    is_first: bool,
}

/// The outermost entry that begins with `leaf`, after `from`.
fn starting_entry(leaf: NodeRef<'_>, from: u32) -> StartingEntry<'_> {
    let mut owner = leaf;
    let mut is_first = true;
    let mut node = leaf;
    while let Some(parent) = node.parent() {
        let first = parent.index + 1 == node.index;
        let is_item = parent.kind() == NodeKind::Sequence;
        let is_key = node.node().is_key();
        if is_item || is_key {
            owner = node;
            is_first = first;
        }
        if !first {
            break;
        }
        node = parent;
    }
    let text = leaf.source();
    let full = owner.full_span().start;
    let indicator = Gap::new(text, Span::new(from, full)).find(b"-?", b":,{[]}").filter(|span| {
        let in_block = owner.parent().is_some_and(|p| p.notation() == Notation::Block);
        in_block || span.of(text) == "?"
    });
    let is_value = owner.parent().is_some_and(|p| p.kind() == NodeKind::Mapping);
    let head = indicator.map_or(full, |indicator| {
        if is_value && indicator.of(text) == "-" { full } else { indicator.start }
    });
    StartingEntry { owner, head, is_first }
}
