//! The comments of a document by the node that they belong to.

use std::ops::Range;

use krm_yaml::{Comment, CommentPosition, DocumentRef, NodeRef};

/// The nodes of one mapping entry or sequence element. A comment above it belongs to the key, or to the element; a comment on its
/// line belongs to the key where the value starts on a later line, and to the value otherwise.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CommentedEntry<'a> {
    pub(crate) key: Option<NodeRef<'a>>,
    pub(crate) value: NodeRef<'a>,
}

impl<'a> CommentedEntry<'a> {
    pub(crate) fn element(value: NodeRef<'a>) -> Self {
        Self { key: None, value }
    }
}

/// The index of the owner of a comment, and its place, in one number that orders like the pair. Comments of the document itself, which
/// have no owner, come first.
type CommentKey = usize;

fn comment_key(owner: Option<usize>, place: CommentPosition) -> CommentKey {
    (owner.map_or(0, |owner| owner + 1) << 2) | place as usize
}

/// An index of comments. Built once for a document, because finding the owner of a comment needs a pass over the whole document.
#[derive(Debug, Default)]
pub(crate) struct CommentIndex<'a> {
    /// The owner and place of each line, sorted. Searched for every node of a merge: hashing the keys instead costs several percent.
    keys: Vec<CommentKey>,
    /// The lines in the order of their keys.
    lines: Vec<&'a str>,
    /// The comment at the head of the document, which can be replaced only as a [`Comment`].
    pub(crate) head: Vec<Comment<'a>>,
    /// Every comment in document order, with the index of its owner.
    all: Vec<(Option<usize>, &'a str)>,
}

impl<'a> CommentIndex<'a> {
    pub(crate) fn of(document: DocumentRef<'a>) -> Self {
        // Most documents have no comments, and attributing them is the expensive part.
        match document.text().contains('#') {
            true => Self::new(document.comments()),
            false => Self::default(),
        }
    }

    pub(crate) fn new(comments: impl IntoIterator<Item = Comment<'a>>) -> Self {
        let (mut index, mut lines) = (Self::default(), Vec::<(CommentKey, &'a str)>::new());
        for comment in comments {
            let owner = comment.owner.map(NodeRef::index);
            lines.push((comment_key(owner, comment.position), comment.text));
            index.all.push((owner, comment.text.trim_end()));
            if owner.is_none() && comment.position == CommentPosition::Head {
                index.head.push(comment);
            }
        }
        // Stable: the lines of one key stay in document order.
        lines.sort_by_key(|(key, _)| *key);
        (index.keys, index.lines) = lines.into_iter().unzip();
        index
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The lines at one place of a node, or of the document, as they are written.
    pub(crate) fn at(&self, owner: Option<NodeRef<'_>>, place: CommentPosition) -> &[&'a str] {
        let key = comment_key(owner.map(NodeRef::index), place);
        let start = self.keys.partition_point(|it| *it < key);
        let count = self.keys[start..].iter().take_while(|it| **it == key).count();
        &self.lines[start..start + count]
    }

    /// The lines above an entry, without trailing blanks.
    pub(crate) fn above(&self, entry: CommentedEntry<'a>) -> impl Iterator<Item = &'a str> {
        let lines = self.at(Some(entry.key.unwrap_or(entry.value)), CommentPosition::Head);
        lines.iter().map(|line| line.trim_end())
    }

    /// The comment on the line of an entry, without trailing blanks.
    pub(crate) fn beside(&self, entry: CommentedEntry<'a>) -> Option<&'a str> {
        let mut nodes = entry.key.into_iter().chain([entry.value]);
        let line = nodes.find_map(|it| self.at(Some(it), CommentPosition::Line).first())?;
        Some(line.trim_end())
    }

    /// The lines at the head of the document, without trailing blanks.
    pub(crate) fn head_lines(&self) -> impl Iterator<Item = &'a str> {
        self.head.iter().map(|comment| comment.text.trim_end())
    }

    /// The comments of the nodes whose indexes are in a range, without trailing blanks.
    pub(crate) fn owned_by(&self, nodes: Range<usize>) -> impl Iterator<Item = &'a str> {
        let first = |owner| comment_key(Some(owner), CommentPosition::Head);
        let start = self.keys.partition_point(|key| *key < first(nodes.start));
        let end = self.keys.partition_point(|key| *key < first(nodes.end));
        self.lines[start..end.max(start)].iter().map(|line| line.trim_end())
    }

    /// The texts of all comments, without trailing blanks.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &'a str> {
        self.all.iter().map(|(_, text)| *text)
    }

    /// The comments that remain once the nodes in `removed` are gone.
    pub(crate) fn remaining(&self, removed: &[Range<usize>]) -> impl Iterator<Item = &'a str> {
        let is_removed = |owner: &usize| removed.iter().any(|range| range.contains(owner));
        let remaining =
            self.all.iter().filter(move |(owner, _)| !owner.as_ref().is_some_and(is_removed));
        remaining.map(|(_, text)| *text)
    }

    /// Whether the document has this comment, wherever it is.
    pub(crate) fn contains(&self, text: &str) -> bool {
        self.all.iter().any(|(_, line)| *line == text)
    }
}
