//! Grafts: nodes that own their text, so that a part of one document can be written into another one.

use std::sync::Arc;

use crate::comment::CommentPosition;
use crate::document::DocumentRef;
use crate::edit::{Edit, EditError, EditErrorKind, EmptyParents};
use crate::file::File;
use crate::node_ref::NodeRef;

/// A node of a text of its own.
#[derive(Clone)]
pub struct OwnedNode {
    file: Arc<File>,
    index: u32,
}

impl OwnedNode {
    /// The root of the first document of a file; none where there is no such thing.
    pub fn root(file: File) -> Option<Self> {
        file.document(0)?.root()?;
        Some(Self { file: Arc::new(file), index: 0 })
    }

    /// The node.
    pub fn node(&self) -> NodeRef<'_> {
        NodeRef { document: DocumentRef { file: &self.file, index: 0 }, index: self.index }
    }
}

impl std::fmt::Debug for OwnedNode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.node().fmt(f)
    }
}

/// A copy of a document that lacks some entries, from which grafts are taken.
///
/// ```
/// use krm_yaml::{Edit, File, KeyPosition, DocumentCopy, Value};
///
/// let source = File::parse("web:\n  # the shop\n  image: shop\n  debug: true\n".to_owned())?;
/// let web = source.document(0).unwrap().root().unwrap().as_mapping().unwrap().get("web").unwrap();
/// let pruned = DocumentCopy::new(web.document(), &[web.as_mapping().unwrap().get("debug").unwrap()], &[])?;
/// let target = File::parse("a: 1\n".to_owned())?;
/// let mut edit = Edit::new(&target);
/// let root = target.document(0).unwrap().root().unwrap();
/// edit.insert_key(root, "web", Value::OwnedNode(pruned.owned_node(web)), KeyPosition::Last)?;
/// assert_eq!(edit.apply()?, "a: 1\nweb:\n  # the shop\n  image: shop\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct DocumentCopy {
    file: Arc<File>,
    /// The runs of nodes that are gone: the index of the first, and how many nodes are gone up to its end.
    gone: Vec<(u32, u32)>,
}

impl DocumentCopy {
    /// Copies a document without some of its entries (items, or values with their keys), and with some comments above
    /// the comments of others.
    pub fn new(
        document: DocumentRef<'_>,
        without: &[NodeRef<'_>],
        comments: &[(NodeRef<'_>, String)],
    ) -> Result<Self, EditError> {
        let refuse = |kind: EditErrorKind| EditError::new(document.span(), kind);
        let copy = File::parse(document.text().to_owned());
        let copy = copy.map_err(|error| refuse(error.into()))?;
        let same = copy.document(0).filter(|it| it.node_count() == document.node_count());
        let same = same.ok_or_else(|| refuse(EditErrorKind::NotStandalone))?;
        let mut runs: Vec<(u32, u32)> = without.iter().map(|node| run(*node)).collect();
        runs.sort_unstable();
        runs.dedup();
        let mut gone: Vec<(u32, u32)> = Vec::new();
        let (mut count, mut end) = (0, 0);
        let mut edit = Edit::new(&copy).allow_shared(true);
        for (start, stop) in runs {
            if start < end {
                continue;
            }
            edit.remove(same.node(start), EmptyParents::Keep)?;
            count += stop - start;
            end = stop;
            gone.push((start, count));
        }
        for (node, comment) in comments {
            let copy = same.node(node.index);
            let old = crate::comment::above(copy);
            let text = old.iter().fold(comment.clone(), |text, line| format!("{text}\n{line}"));
            edit.set_comment(copy, CommentPosition::Head, Some(&text))?;
        }
        let text = edit.apply()?;
        let file = File::parse(text).map_err(|error| refuse(error.into()))?;
        Ok(Self { file: Arc::new(file), gone })
    }

    /// The copy of a node that is not gone itself.
    pub fn owned_node(&self, node: NodeRef<'_>) -> OwnedNode {
        let before = self.gone.partition_point(|(start, _)| *start < node.index);
        let missing = before.checked_sub(1).map_or(0, |at| self.gone[at].1);
        OwnedNode { file: Arc::clone(&self.file), index: node.index - missing }
    }
}

/// The nodes of an entry: those of an item, or of a key and its value.
fn run(node: NodeRef<'_>) -> (u32, u32) {
    let end = node.node().subtree_end(node.index);
    let key = node.key().map_or(node.index, |key| key.index);
    (key, end)
}
