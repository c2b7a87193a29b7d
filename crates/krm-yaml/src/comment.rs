//! Comments, with their position and their owner. They are not stored: they are found in the gaps between nodes on request.
//!
//! The rules of ownership (implemented together with [`crate::layout`], which edits use to decide which comments move with an entry):
//!
//! 1. A comment line directly above an entry belongs to the entry. It must not be indented deeper than the entry; a deeper one
//!    belongs to the nested collection above. Above the first entry of a nested collection, any depth counts.
//! 2. A comment that a blank line separates from the entry below has no owner, and stays where it is.
//! 3. A comment beside a value belongs to the value; beside a key whose value starts on the next line, to the key. In a flow collection
//!    it may follow the comma if that is on the same line.
//! 4. The first block of comments belongs to the document, even directly above the first key: usually it is a license header or
//!    a description of the file, which must survive the removal of that key.
//! 5. Comments below the last entry of a nested collection that are deeper than the entry which holds the collection belong to
//!    that entry, and move and vanish with it, also behind blank lines.
//! 6. In a flow collection, comments between the line of a value and a comma on a later line, and beside that comma, have no owner.

use crate::document::DocumentRef;
use crate::layout::comment_beside;
use crate::node::{CollectionStyle, NodeKind};
use crate::node_ref::NodeRef;
use crate::span::{Span, before_break, column, is_first_on_line, line_start};
use crate::trivia::{Gap, Trivia};

/// The position of a comment relative to its owner. The names are those of kyaml and go-yaml.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommentPosition {
    /// On lines of its own directly above.
    Head,
    /// On the same line, after the value.
    Line,
    /// On lines of its own after the last entry, as deep as the entries or deeper.
    Foot,
    /// Separated by blank lines from what is below.
    Free,
}

/// One comment, from its `#` to the end of its line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comment<'a> {
    /// The bytes, `#` included, line break not.
    pub span: Span,
    /// Its position relative to the owner.
    pub position: CommentPosition,
    /// The node that it belongs to; `None` for comments of the document. The owner of a comment above an entry of a mapping is the key.
    pub owner: Option<NodeRef<'a>>,
    /// The text, with its `#`.
    pub text: &'a str,
}

/// A comment text that a caller passes in may contain line breaks, which would end the comment.
pub(crate) fn strip_breaks(text: &str) -> String {
    text.replace(['\r', '\n'], " ")
}

/// The texts of all comments that belong to a node: above its entry, beside it, and inside.
pub(crate) fn texts_with(node: NodeRef<'_>) -> Vec<&str> {
    let span = crate::layout::entry(node).map_or(node.span(), |entry| entry.extent());
    if !span.of(node.source()).contains('#') {
        return Vec::new();
    }
    let comments = node.document.comments().into_iter();
    comments.filter(|comment| span.contains(comment.span)).map(|comment| comment.text).collect()
}

/// The comment lines directly above the entry that contains a node.
pub(crate) fn above(node: NodeRef<'_>) -> Vec<&str> {
    let holder = crate::layout::entry(node);
    let lines = holder.map_or("", |entry| Span::new(entry.start, entry.head).of(node.source()));
    crate::scalar::lines(lines).map(str::trim).filter(|line| line.starts_with('#')).collect()
}

impl<'a> DocumentRef<'a> {
    /// All comments of the document, in order.
    pub fn comments(self) -> Vec<Comment<'a>> {
        self.comments_near(|_| true)
    }

    /// The comments of the document, in order, without those between two nodes where `is_wanted` is false for all of the text between them.
    /// Faster than [`Self::comments`] if few are wanted, because most of the time goes into finding their owners.
    pub fn comments_near(self, is_wanted: impl Fn(&str) -> bool) -> Vec<Comment<'a>> {
        let text = self.file.text();
        let mut finder = Finder { document: self, text, is_wanted: &is_wanted, out: Vec::new() };
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
            // An empty flow collection may contain comments.
            at = if node.is_collection() { node.start() + 1 } else { node.end().max(at) };
            before = Some(node);
        }
        if self.root().is_some() {
            finder.gap(Span::new(at, self.span().end), before, None);
        }
        finder.out
    }
}

struct Finder<'a, 'w> {
    document: DocumentRef<'a>,
    text: &'a str,
    is_wanted: &'w dyn Fn(&str) -> bool,
    out: Vec<Comment<'a>>,
}

impl<'a> Finder<'a, '_> {
    fn push(&mut self, span: Span, position: CommentPosition, owner: Option<NodeRef<'a>>) {
        self.out.push(Comment { span, position, owner, text: span.of(self.text) });
    }

    /// Adds the comment in the header line of a block scalar.
    fn header(&mut self, node: NodeRef<'a>) {
        if !node.node().is_block_text() {
            return;
        }
        let header = node.as_scalar().and_then(|scalar| scalar.header());
        // An empty block scalar has its comment in the gap after it.
        let Some(header) = header.filter(|header| header.end < node.end()) else { return };
        let comment = comment_beside(self.text, header.end);
        if !comment.is_empty() && (self.is_wanted)(comment.of(self.text)) {
            self.push(comment, CommentPosition::Line, Some(node));
        }
    }

    /// Adds the comments between two leaves.
    fn gap(&mut self, gap: Span, before: Option<NodeRef<'a>>, after: Option<NodeRef<'a>>) {
        // Most gaps are the colon and the blanks between a key and its value.
        let bytes = self.text.as_bytes().get(gap.start as usize..gap.end as usize);
        let has_comment = bytes.is_some_and(|bytes| bytes.contains(&b'#'));
        if !has_comment || !(self.is_wanted)(gap.of(self.text)) {
            return;
        }
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
                if self.is_behind_comma_below(span, before) {
                    self.apart(span, true, before, after);
                } else {
                    let owner = self.beside(span, before, after);
                    self.push(span, CommentPosition::Line, owner);
                }
                last = Some(span);
                continue;
            }
            touches &= match last {
                Some(last) => self.is_one_block(last, span),
                None => self.is_below_content(span),
            };
            last = Some(span);
            if span.start >= run && head.is_some() {
                // Behind the dash of the first entry it belongs to the entry, whatever is above the dash.
                let is_behind = head.is_some_and(|head| span.start > head);
                let owner = entry.map(|it| it.owner).filter(|_| is_behind || !heads_document);
                self.push(span, CommentPosition::Head, owner);
            } else {
                self.apart(span, touches, before, after);
            }
        }
    }

    /// The start of the comment lines directly above the next entry.
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
        // In a flow collection indentation has no meaning: the comment above belongs to the entry.
        let in_block = |owner: NodeRef<'a>| owner.parent().is_some_and(NodeRef::is_block);
        let deepest = entry
            .filter(|entry| before.is_some() && !entry.is_first && in_block(entry.owner))
            .map(|_| column(self.text, head));
        crate::layout::comments_above(self.text, head, gap.start, deepest)
    }

    fn is_document_head(&self, gap: Span, run: u32, before: Option<NodeRef<'a>>) -> bool {
        let from = self.document.start_marker().map_or(gap.start, |marker| marker.end);
        // After a bracket or a dash it belongs to that collection, not to the document.
        before.is_none()
            && !Gap::new(self.text, Span::new(from, run)).any(|(trivia, span)| match trivia {
                Trivia::Comment => is_first_on_line(self.text, span.start),
                Trivia::Indicator(_) => true,
                _ => false,
            })
    }

    /// The owner of a comment that follows something on its line.
    fn beside(
        &self,
        span: Span,
        before: Option<NodeRef<'a>>,
        after: Option<NodeRef<'a>>,
    ) -> Option<NodeRef<'a>> {
        let line = line_start(self.text, span.start);
        match before.map(|leaf| closed_before(leaf, span.start)) {
            Some(owner) if owner.end() > line => Some(owner),
            _ => {
                // Only an indicator precedes it: a dash, an opening bracket or `---`.
                let marker = self
                    .document
                    .start_marker()
                    .is_some_and(|m| m.start >= line && m.start < span.start);
                if marker {
                    return None;
                }
                let mut owner = after.or(before)?;
                // After an opening bracket it belongs to the collection, after a dash to the element.
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

    /// Whether a comment follows a comma that is on a later line than the entry before it (see [`crate::layout::flow_comment_beside`]).
    fn is_behind_comma_below(&self, span: Span, before: Option<NodeRef<'a>>) -> bool {
        let Some(end) = before.map(|leaf| closed_before(leaf, span.start).end()) else {
            return false;
        };
        let line = line_start(self.text, span.start);
        let last = Gap::new(self.text, Span::new(end.max(line).min(span.start), span.start)).last();
        end <= line && last.is_some_and(|(trivia, _)| trivia == Trivia::Indicator(b','))
    }

    /// Adds a comment line that is not directly above an entry.
    ///
    /// `touches`: no blank line separates it from the content above.
    fn apart(
        &mut self,
        span: Span,
        touches: bool,
        before: Option<NodeRef<'a>>,
        after: Option<NodeRef<'a>>,
    ) {
        let depth = column(self.text, span.start);
        let Some(before) = before else {
            // The first block belongs to the document.
            let is_head = self.out.last().is_none_or(|last| {
                last.owner.is_none()
                    && last.position != CommentPosition::Free
                    && self.is_one_block(last.span, span)
            });
            let position = if is_head { CommentPosition::Head } else { CommentPosition::Free };
            return self.push(span, position, None);
        };
        let mut child = before;
        let mut collection = before.parent();
        while let Some(parent) = collection {
            let own = column(self.text, parent.start());
            // A sequence that is not indented has the column of the mapping around it. Then the comment belongs to
            // the mapping, because that is where its next key would be.
            let is_compact = parent
                .parent()
                .is_some_and(|outer| outer.is_block() && column(self.text, outer.start()) == own);
            if parent.collection_style() == CollectionStyle::Block
                && own <= depth
                && !(is_compact && own == depth)
            {
                break;
            }
            child = parent;
            collection = parent.parent();
        }
        let Some(collection) = collection else {
            return self.push(span, CommentPosition::Free, None);
        };
        let goes_on = after
            .is_some_and(|after| after.index < collection.node().subtree_end(collection.index));
        let deeper = column(self.text, collection.start()) < depth;
        let detached = !touches && collection.parent().is_none();
        match (deeper, goes_on) {
            (true, _) => self.push(span, CommentPosition::Foot, Some(child)),
            (false, true) => self.push(span, CommentPosition::Free, Some(collection)),
            (false, false) if detached => self.push(span, CommentPosition::Free, None),
            (false, false) => self.push(span, CommentPosition::Foot, Some(collection)),
        }
    }

    /// Whether no blank line separates two comments.
    fn is_one_block(&self, first: Span, second: Span) -> bool {
        let between = &self.text[first.end as usize..line_start(self.text, second.start) as usize];
        let lines: Vec<&str> = crate::scalar::lines(between).collect();
        lines.len() == 2
    }

    /// Whether the line above a comment is not blank.
    fn is_below_content(&self, span: Span) -> bool {
        let line = line_start(self.text, span.start);
        let above = before_break(self.text, line);
        above > self.document.span().start
            && !self.text[line_start(self.text, above) as usize..above as usize].trim().is_empty()
    }
}

/// A node, or the outermost flow collection that closes between it and `at`.
fn closed_before(node: NodeRef<'_>, at: u32) -> NodeRef<'_> {
    let mut owner = node;
    while let Some(parent) = owner.parent().filter(|parent| {
        let end =
            if parent.collection_style() == CollectionStyle::Block { at + 1 } else { parent.end() };
        end <= at && end >= owner.end()
    }) {
        owner = parent;
    }
    owner
}

/// The entry that starts with a leaf.
#[derive(Clone, Copy)]
struct StartingEntry<'a> {
    owner: NodeRef<'a>,
    head: u32,
    /// Whether it is the first entry of its collection.
    is_first: bool,
}

/// The outermost entry that starts with `leaf`, after `from`.
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
        let in_block =
            owner.parent().is_some_and(|p| p.collection_style() == CollectionStyle::Block);
        in_block || span.of(text) == "?"
    });
    let is_value = owner.parent().is_some_and(|p| p.kind() == NodeKind::Mapping);
    let head = indicator.map_or(full, |indicator| {
        if is_value && indicator.of(text) == "-" { full } else { indicator.start }
    });
    StartingEntry { owner, head, is_first }
}
