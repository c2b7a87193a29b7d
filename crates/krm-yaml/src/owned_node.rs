//! Nodes that own their text, so that parts of one document can be inserted into another one.

use std::sync::Arc;

use crate::comment::CommentPosition;
use crate::document::DocumentRef;
use crate::edit::{Edit, EditError, EditErrorKind, EmptyParents};
use crate::file::File;
use crate::node_ref::NodeRef;

/// A node together with its file.
#[derive(Clone)]
pub struct OwnedNode {
    file: Arc<File>,
    index: u32,
}

impl OwnedNode {
    /// The root of the first document of a file; `None` if that cannot be read.
    pub fn root(file: File) -> Option<Self> {
        file.document(0)?.root()?;
        Some(Self { file: Arc::new(file), index: 0 })
    }

    /// The node.
    pub fn node(&self) -> NodeRef<'_> {
        NodeRef {
            document: DocumentRef::new(&self.file, &self.file.tables()[0]),
            index: self.index,
        }
    }
}

impl std::fmt::Debug for OwnedNode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.node().fmt(f)
    }
}

/// A copy of a document without some of its entries, from which nodes can be taken.
///
/// ```
/// use krm_yaml::{Edit, File, KeyPosition, DocumentCopy, Value};
///
/// let source = File::parse("web:\n  # the shop\n  image: shop\n  debug: true\n".to_owned())?;
/// let target = File::parse("a: 1\n".to_owned())?;
/// let mut edit = Edit::new(&target);
/// if let (Some(web), Some(debug), Some(root)) = (source.get("web"), source.get("web.debug"), target.get(".")) {
///     let copy = DocumentCopy::new(web.document(), &[debug], &[])?;
///     edit.insert_key(root, "web", Value::OwnedNode(copy.owned_node(web)), KeyPosition::Last)?;
/// }
/// assert_eq!(edit.apply()?, "a: 1\nweb:\n  # the shop\n  image: shop\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct DocumentCopy {
    file: Arc<File>,
    /// The removed ranges of nodes: the index of the first node, and the number of all nodes removed up to the end of the range.
    gone: Vec<(u32, u32)>,
}

impl DocumentCopy {
    /// Copies a document without some of its entries (elements, or values with their keys), and with additional comment lines above some
    /// others.
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

    /// The copy of a node of the original document, which must not be removed.
    pub fn owned_node(&self, node: NodeRef<'_>) -> OwnedNode {
        let before = self.gone.partition_point(|(start, _)| *start < node.index);
        let missing = before.checked_sub(1).map_or(0, |at| self.gone[at].1);
        OwnedNode { file: Arc::clone(&self.file), index: node.index - missing }
    }
}

/// The nodes of an entry: an element, or a key and its value.
fn run(node: NodeRef<'_>) -> (u32, u32) {
    let end = node.node().subtree_end(node.index);
    let key = node.key().map_or(node.index, |key| key.index);
    (key, end)
}
