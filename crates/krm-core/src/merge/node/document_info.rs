//! What a merge needs to know about a document besides its nodes: its comments, its conflict markers and its anchors.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::rc::Rc;

use krm_yaml::{Comment, CommentPosition, DocumentRef, NodeRef};

use super::markers::MarkerLines;
use crate::compare::{CommentIndex, CommentedEntry, is_json_document};

/// How many documents are remembered. A file can have any number of them, and most are needed only once.
const MAX_CACHED: usize = 64;

/// What is known about one document.
#[derive(Debug, Default)]
pub(super) struct DocumentInfo<'a> {
    /// The comments, without conflict markers.
    pub(super) comments: CommentIndex<'a>,
    /// The lines of conflict markers of earlier merges. They are comments to YAML, but must not be merged as such.
    markers: CommentIndex<'a>,
    /// Indexes of nodes that aliases refer to.
    shared: BTreeSet<usize>,
    /// How often each anchor is defined.
    pub(super) anchors: BTreeMap<&'a str, usize>,
    /// Whether comments can be written.
    pub(super) allows_comments: bool,
    /// Whether it is written as JSON, which has neither anchors nor `<<`.
    pub(super) is_json: bool,
    /// The texts of all comments, collected when they are asked for.
    texts: OnceCell<HashSet<&'a str>>,
}

impl<'a> DocumentInfo<'a> {
    fn of(document: DocumentRef<'a>) -> Self {
        let Some(root) = document.root() else { return Self::default() };
        let mut lines = MarkerLines::default();
        // Most documents have no comments, and attributing them is the expensive part.
        let all = if document.text().contains('#') { document.comments() } else { Vec::new() };
        let (markers, comments): (Vec<Comment<'a>>, Vec<Comment<'a>>) =
            all.into_iter().partition(|comment| lines.is_marker(comment.text));
        let mut anchors = BTreeMap::new();
        for node in document.anchored() {
            *anchors.entry(node.anchor().unwrap_or_default()).or_insert(0) += 1;
        }
        Self {
            comments: CommentIndex::new(comments),
            markers: CommentIndex::new(markers),
            shared: document.aliases().filter_map(NodeRef::target).map(NodeRef::index).collect(),
            anchors,
            allows_comments: root.is_block(),
            is_json: is_json_document(root),
            texts: OnceCell::new(),
        }
    }

    /// The comment above an entry.
    pub(super) fn above(&self, entry: CommentedEntry<'a>) -> Option<String> {
        join_lines(self.comments.above(entry))
    }

    /// The comment on the line of an entry.
    pub(super) fn beside(&self, entry: CommentedEntry<'a>) -> Option<&'a str> {
        self.comments.beside(entry)
    }

    /// Whether the document has a comment, wherever it is.
    pub(super) fn has_comment(&self, text: &str) -> bool {
        self.texts.get_or_init(|| self.comments.texts().collect()).contains(text)
    }

    /// The comment at the head of the document.
    pub(super) fn head(&self) -> Option<String> {
        join_lines(self.comments.head_lines())
    }

    /// The conflict markers above an entry.
    pub(super) fn markers(&self, entry: CommentedEntry<'a>) -> Option<String> {
        let owner = entry.key.unwrap_or(entry.value);
        join_lines(self.markers.at(Some(owner), CommentPosition::Head).iter().copied())
    }

    /// Whether a conflict marker begins on the line of an element, behind its dash.
    pub(super) fn has_marker_beside(&self, element: CommentedEntry<'a>) -> bool {
        self.markers.beside(element).is_some()
    }

    /// Whether aliases refer to a node.
    pub(super) fn is_shared(&self, node: NodeRef<'a>) -> bool {
        self.shared.contains(&node.index())
    }
}

fn join_lines<'a>(lines: impl Iterator<Item = &'a str>) -> Option<String> {
    let lines: Vec<&str> = lines.collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// A cache of documents, because indexing the comments needs a pass over the whole document.
#[derive(Debug, Default)]
pub(super) struct DocumentInfos<'a> {
    cached: RefCell<Vec<(DocumentId, Rc<DocumentInfo<'a>>)>>,
}

/// The address of the file, and the position of the document in it. Files are not moved during a merge.
type DocumentId = (usize, usize);

impl<'a> DocumentInfos<'a> {
    /// The document of a node.
    pub(super) fn of(&self, node: NodeRef<'a>) -> Rc<DocumentInfo<'a>> {
        let document = node.document();
        let file: *const krm_yaml::File = document.file();
        let id = (file as usize, document.index());
        let mut cached = self.cached.borrow_mut();
        // From the end, because the documents of one merge are asked for again and again.
        if let Some((_, info)) = cached.iter().rev().find(|(other, _)| *other == id) {
            return Rc::clone(info);
        }
        if cached.len() >= MAX_CACHED {
            cached.clear();
        }
        let info = Rc::new(DocumentInfo::of(document));
        cached.push((id, Rc::clone(&info)));
        info
    }
}
