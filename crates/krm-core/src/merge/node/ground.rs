//! What a merge needs to know of a document besides its nodes: whose comments stand where, and what aliases share.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::marks::Marks;
use krm_yaml::{Comment, CommentPosition, DocumentRef, NodeRef, ScalarStyle};

/// Of so many documents it is remembered what was learnt; a file can have any number.
const MOST_KNOWN: usize = 64;

/// One document.
#[derive(Debug, Default)]
pub(super) struct Ground<'a> {
    /// Comments by the index of their owner.
    above: BTreeMap<usize, Vec<&'a str>>,
    /// Marks of earlier conflicts, which are no comments of anybody's.
    marks: BTreeMap<usize, Vec<&'a str>>,
    beside: BTreeMap<usize, &'a str>,
    /// The comments at the head of the document.
    pub(super) head: Vec<Comment<'a>>,
    /// Nodes that aliases name.
    shared: BTreeSet<usize>,
    /// How often each anchor is there.
    pub(super) anchors: BTreeMap<&'a str, usize>,
    /// Whether comments can be written at all.
    pub(super) takes_comments: bool,
    /// Whether it is written as JSON, which has neither anchors nor `<<`.
    pub(super) is_json: bool,
}

impl<'a> Ground<'a> {
    fn of(document: DocumentRef<'a>) -> Self {
        let mut ground = Self::default();
        let Some(root) = document.root() else { return ground };
        let mut marks = Marks::default();
        for comment in document.comments() {
            let is_mark = marks.holds(comment.text);
            match (comment.owner, comment.position) {
                (Some(owner), CommentPosition::Head) if is_mark => {
                    ground.marks.entry(owner.index()).or_default().push(comment.text);
                }
                _ if is_mark => {}
                (None, CommentPosition::Head) => ground.head.push(comment),
                (Some(owner), CommentPosition::Head) => {
                    ground.above.entry(owner.index()).or_default().push(comment.text);
                }
                (Some(owner), CommentPosition::Line) => {
                    ground.beside.entry(owner.index()).or_insert(comment.text);
                }
                _ => {}
            }
        }
        let targets = document.aliases().filter_map(NodeRef::target).map(NodeRef::index);
        ground.shared = targets.collect();
        for node in document.anchored() {
            *ground.anchors.entry(node.anchor().unwrap_or_default()).or_insert(0) += 1;
        }
        ground.takes_comments = root.is_block();
        ground.is_json = root.is_collection() && !root.is_block() && is_json(root);
        ground
    }

    /// The comment above an entry, its lines with `#`.
    pub(super) fn above(&self, key: Option<NodeRef<'a>>, value: NodeRef<'a>) -> Option<String> {
        let lines = self.above.get(&key.unwrap_or(value).index())?;
        Some(lines.iter().map(|line| line.trim_end()).collect::<Vec<_>>().join("\n"))
    }

    /// The marks of earlier conflicts above an entry.
    pub(super) fn marks(&self, key: Option<NodeRef<'a>>, value: NodeRef<'a>) -> Option<String> {
        self.marks.get(&key.unwrap_or(value).index()).map(|lines| lines.join("\n"))
    }

    /// The comment beside an entry, with its `#`.
    pub(super) fn beside(&self, key: Option<NodeRef<'a>>, value: NodeRef<'a>) -> Option<&'a str> {
        let nodes = key.into_iter().chain([value]);
        nodes.filter_map(|node| self.beside.get(&node.index())).next().map(|text| text.trim_end())
    }

    /// The comment at the head of the document.
    pub(super) fn head_text(&self) -> Option<String> {
        let lines: Vec<&str> = self.head.iter().map(|comment| comment.text.trim_end()).collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }

    /// Whether aliases name a node.
    pub(super) fn is_shared(&self, node: NodeRef<'a>) -> bool {
        self.shared.contains(&node.index())
    }
}

/// Whether all texts have double quotes, and there is one to tell.
fn is_json(root: NodeRef<'_>) -> bool {
    let texts = || root.descendants().filter(|node| node.as_str().is_some());
    let is_quoted = |node: NodeRef<'_>| {
        node.as_scalar().is_some_and(|scalar| scalar.style() == ScalarStyle::DoubleQuoted)
    };
    texts().next().is_some() && texts().all(is_quoted)
}

/// The documents that were looked at; each is looked at once.
#[derive(Debug, Default)]
pub(super) struct Grounds<'a> {
    known: RefCell<Vec<(DocumentKey, Rc<Ground<'a>>)>>,
}

/// Which file, and which document of it.
type DocumentKey = (usize, usize);

impl<'a> Grounds<'a> {
    /// The ground of the document that a node stands in: most likely one of the last that were asked for.
    pub(super) fn of(&self, node: NodeRef<'a>) -> Rc<Ground<'a>> {
        let document = node.document();
        let file: *const krm_yaml::File = document.file();
        let key = (file as usize, document.index());
        let mut known = self.known.borrow_mut();
        if let Some((_, ground)) = known.iter().rev().find(|(other, _)| *other == key) {
            return Rc::clone(ground);
        }
        if known.len() >= MOST_KNOWN {
            known.clear();
        }
        let ground = Rc::new(Ground::of(document));
        known.push((key, Rc::clone(&ground)));
        ground
    }
}
