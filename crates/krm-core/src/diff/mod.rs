//! What changed between two nodes by meaning, and apart from it what changed in comments and in how it is written.

mod comments;
mod entries;
mod lists;
pub mod packages;
pub mod text;
mod walk;

use krm_yaml::{CommentPosition, NodeRef, Path};

use comments::Comments;

use crate::merge::node::Rules;

/// What became of a field or of an element of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// It is new.
    Added,
    /// It is gone.
    Removed,
    /// It has another value.
    Changed,
    /// A list has the elements that both sides have in another order.
    Reordered,
}

/// One change of meaning.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldChange<'a> {
    /// The field, from the node that was compared; elements of lists by their key where they have one.
    pub path: Path,
    /// What became of it.
    pub what: What,
    /// The value as it was.
    pub old: Option<NodeRef<'a>>,
    /// The value as it is.
    pub new: Option<NodeRef<'a>>,
    /// The two collections that hold it; none for the node itself.
    pub within: Option<(NodeRef<'a>, NodeRef<'a>)>,
}

/// A comment that came, went or changed beside something that both sides have.
#[derive(Clone, Debug, PartialEq)]
pub struct CommentChange<'a> {
    /// The field whose comment it is; empty for the document's.
    pub path: Path,
    /// Where it stands.
    pub place: CommentPosition,
    /// The lines as they were.
    pub old: Vec<&'a str>,
    /// The lines as they are.
    pub new: Vec<&'a str>,
}

/// How something of the same meaning is written otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Quotes, block style, or the spelling of a number.
    Style,
    /// By lines or in brackets.
    CollectionStyle,
    /// The keys of a mapping in another order.
    KeyOrder,
    /// An alias or `<<` on one side, its meaning on the other.
    Alias,
    /// Blanks, line breaks, indentation.
    Layout,
}

/// One change that means nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct FormatChange<'a> {
    /// The field.
    pub path: Path,
    /// What is written otherwise.
    pub format: Format,
    /// As it was.
    pub old: NodeRef<'a>,
    /// As it is.
    pub new: NodeRef<'a>,
}

/// All that is different between two nodes, in the order of the old one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Difference<'a> {
    /// Changes of meaning.
    pub fields: Vec<FieldChange<'a>>,
    /// Changes of comments.
    pub comments: Vec<CommentChange<'a>>,
    /// Changes of how it is written. Layout is looked at only where nothing else changed.
    pub formatting: Vec<FormatChange<'a>>,
}

impl Difference<'_> {
    /// Whether nothing at all changed.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty() && self.comments.is_empty() && self.formatting.is_empty()
    }
}

/// Compares nodes one after the other; what it knows of a document's comments serves all nodes of that document.
///
/// ```
/// use krm_core::diff::{Differ, What};
/// use krm_yaml::File;
///
/// let old = File::parse("spec:\n  replicas: 3\n  image: 'a'\n".to_owned())?;
/// let new = File::parse("spec:\n  replicas: 5 # more\n  image: a\n".to_owned())?;
/// fn root(file: &File) -> krm_yaml::NodeRef<'_> {
///     file.document(0).and_then(|document| document.root()).expect("it is there")
/// }
/// let found = Differ::default().compare(root(&old), root(&new));
/// assert_eq!(found.fields[0].path.to_string(), "spec.replicas");
/// assert_eq!(found.fields[0].what, What::Changed);
/// assert_eq!((found.comments.len(), found.formatting.len()), (1, 1));
/// # Ok::<(), krm_yaml::ReadError>(())
/// ```
#[derive(Debug, Default)]
pub struct Differ<'a, 'r> {
    rules: Rules<'r>,
    old: Comments<'a>,
    new: Comments<'a>,
}

impl<'a, 'r> Differ<'a, 'r> {
    /// One that pairs the elements of lists as merges by these rules do.
    pub fn new(rules: Rules<'r>) -> Self {
        Self { rules, ..Self::default() }
    }

    /// What is different. The work is bounded whatever aliases stand for.
    pub fn compare(&mut self, old: NodeRef<'a>, new: NodeRef<'a>) -> Difference<'a> {
        let is_whole = old.parent().is_none() && new.parent().is_none();
        let (was, is) = (old.document(), new.document());
        if is_whole && was.text() == is.text() {
            return Difference::default();
        }
        self.old.look_at(was);
        self.new.look_at(is);
        let mut found = walk::walk(&self.rules, [&self.old, &self.new], old, new);
        if is_whole {
            found.comments.extend(comments::of_document(&self.old, &self.new));
        }
        if found.is_empty() && old.text() != new.text() {
            let path = Path::default();
            found.formatting.push(FormatChange { path, format: Format::Layout, old, new });
        }
        found
    }
}

#[cfg(test)]
mod tests;
