//! Semantic diff of nodes, resources and packages: changed values, and apart from them changed comments and formatting.
//!
//! What counts as equal and which elements pair is decided in [`crate::compare`].

mod outline;
mod packages;
mod report;
mod walk;

use krm_yaml::{CommentPosition, DocumentRef, NodeRef, Path};

pub use outline::outline;
pub use packages::{DiffItem, ResourceDiff, diff_packages, diff_resource};
pub use report::{field_lines, formatting_lines, heading, record};

use crate::compare::{CommentIndex, ListOptions};

/// How a field or an element changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// Only the new node has it.
    Added,
    /// Only the old node has it.
    Removed,
    /// Its value is different.
    Changed,
    /// The elements that both versions of a list have are in another order.
    Reordered,
}

/// A changed value.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldChange<'a> {
    /// The path from the node that was compared. Elements are given by their merge key where they have one.
    pub path: Path,
    /// How it changed.
    pub kind: ChangeKind,
    /// The old value.
    pub old: Option<NodeRef<'a>>,
    /// The new value.
    pub new: Option<NodeRef<'a>>,
    /// The collections that contain it; `None` for the node that was compared.
    pub parents: Option<(NodeRef<'a>, NodeRef<'a>)>,
}

/// A comment that was added, removed or changed on something that both versions have.
#[derive(Clone, Debug, PartialEq)]
pub struct CommentChange<'a> {
    /// The field that the comment belongs to; empty for a comment of the document.
    pub path: Path,
    /// Where the comment is.
    pub place: CommentPosition,
    /// The old lines.
    pub old: Vec<&'a str>,
    /// The new lines.
    pub new: Vec<&'a str>,
}

/// How the formatting of an equal value changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormatKind {
    /// The quotes or the block style of a scalar, or the spelling of a number.
    ScalarStyle,
    /// Block style or flow style of a collection.
    CollectionStyle,
    /// The order of the keys of a mapping.
    KeyOrder,
    /// An alias or `<<` in one version, the expanded value in the other.
    Alias,
    /// White space, line breaks and indentation.
    Layout,
}

/// A change of formatting.
#[derive(Clone, Debug, PartialEq)]
pub struct FormatChange<'a> {
    /// The field.
    pub path: Path,
    /// What changed.
    pub kind: FormatKind,
    /// The old node.
    pub old: NodeRef<'a>,
    /// The new node.
    pub new: NodeRef<'a>,
}

/// Everything that differs between two nodes, in the order of the old one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeDiff<'a> {
    /// Changed values.
    pub fields: Vec<FieldChange<'a>>,
    /// Changed comments.
    pub comments: Vec<CommentChange<'a>>,
    /// Changed formatting. Layout is reported only where nothing else changed.
    pub formatting: Vec<FormatChange<'a>>,
}

impl NodeDiff<'_> {
    /// Whether nothing changed, not even the layout.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty() && self.comments.is_empty() && self.formatting.is_empty()
    }
}

/// Compares pairs of nodes. Consecutive nodes of the same documents share the index of comments.
///
/// ```
/// use krm_core::diff::{ChangeKind, Differ};
/// use krm_yaml::File;
///
/// let old = File::parse("spec:\n  replicas: 3\n  image: 'a'\n".to_owned())?;
/// let new = File::parse("spec:\n  replicas: 5 # more\n  image: a\n".to_owned())?;
/// fn root(file: &File) -> krm_yaml::NodeRef<'_> {
///     file.document(0).and_then(|document| document.root()).expect("the document is not empty")
/// }
/// let diff = Differ::default().compare(root(&old), root(&new));
/// assert_eq!(diff.fields[0].path.to_string(), "spec.replicas");
/// assert_eq!(diff.fields[0].kind, ChangeKind::Changed);
/// assert_eq!((diff.comments.len(), diff.formatting.len()), (1, 1));
/// # Ok::<(), krm_yaml::ReadError>(())
/// ```
#[derive(Debug, Default)]
pub struct Differ<'a, 'r> {
    options: ListOptions<'r>,
    old: DocumentComments<'a>,
    new: DocumentComments<'a>,
}

impl<'a, 'r> Differ<'a, 'r> {
    /// Pairs the elements of lists as merges with these options do.
    pub fn new(options: ListOptions<'r>) -> Self {
        Self { options, ..Self::default() }
    }

    /// Compares two nodes. The time is bounded, whatever aliases expand to.
    pub fn compare(&mut self, old: NodeRef<'a>, new: NodeRef<'a>) -> NodeDiff<'a> {
        let is_whole = old.parent().is_none() && new.parent().is_none();
        let (was, is) = (old.document(), new.document());
        if is_whole && was.text() == is.text() {
            return NodeDiff::default();
        }
        let comments = [self.old.of(was), self.new.of(is)];
        let mut found = walk::diff_nodes(&self.options, comments, old, new);
        if is_whole {
            found.comments.extend(walk::diff_document_comments(comments[0], comments[1]));
        }
        if found.is_empty() && old.text() != new.text() {
            let path = Path::default();
            found.formatting.push(FormatChange { path, kind: FormatKind::Layout, old, new });
        }
        found
    }
}

/// The comments of the document that was asked for last.
#[derive(Debug, Default)]
struct DocumentComments<'a> {
    /// The address of the file and the position of the document. Files are not moved while they are compared.
    document: Option<(*const krm_yaml::File, usize)>,
    comments: CommentIndex<'a>,
}

impl<'a> DocumentComments<'a> {
    fn of(&mut self, document: DocumentRef<'a>) -> &CommentIndex<'a> {
        let id = (std::ptr::from_ref(document.file()), document.index());
        if self.document != Some(id) {
            self.document = Some(id);
            self.comments = CommentIndex::of(document);
        }
        &self.comments
    }
}

#[cfg(test)]
mod tests;
