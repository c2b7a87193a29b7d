//! The text that a function reads and the text that it writes: what it did not touch is the same bytes.
//!
//! ```
//! use krm_sdk::stream::Stream;
//!
//! let text = "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1 # one\n  kind: Pod\n- apiVersion: v1\n  kind:   Job\n";
//! let (stream, mut list) = Stream::read(text.to_owned())?;
//! list.items[0].set("metadata.name", "a")?;
//! assert_eq!(stream.write(&list)?, text.replace("kind: Pod\n", "kind: Pod\n  metadata:\n    name: a\n"));
//! # Ok::<(), krm_sdk::Error>(())
//! ```

mod documents;
mod list;
mod read;
mod slot;
mod write;

use krm_core::functions::resource_list::{Item, Version};
use krm_yaml::{File, NodeRef, Span};

pub(crate) use slot::Slot;

use crate::place::Annotation;

/// What was read: the text, and where in it the resources stand.
#[derive(Debug)]
pub struct Stream {
    file: File,
    form: Form,
    slots: Vec<Slot>,
    before: Vec<Sent>,
}

/// A resource as it came: without annotations of the wire, and those.
#[derive(Debug)]
struct Sent {
    item: Item,
    taken: Vec<Annotation>,
}

/// What the text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A `ResourceList` of a version, with room for results.
    ResourceList(Version),
    /// Any other list of resources.
    List,
    /// Resources as documents, one after the other.
    Documents,
}

impl Stream {
    /// What the text is.
    pub fn form(&self) -> Form {
        self.form
    }

    /// Whether results can be told in the output.
    pub fn has_room_for_results(&self) -> bool {
        matches!(self.form, Form::ResourceList(_))
    }

    /// The text as it was read.
    pub fn text(&self) -> &str {
        self.file.text()
    }

    fn root(&self) -> Option<NodeRef<'_>> {
        self.file.documents().filter_map(|document| document.root()).find(|root| !is_null(*root))
    }

    /// The list of resources; none where resources are documents, or where nothing holds them yet.
    fn items(&self) -> Option<NodeRef<'_>> {
        let root = self.root().filter(|_| self.form != Form::Documents)?;
        let items = if root.as_sequence().is_some() { Some(root) } else { field(root, "items") };
        items.filter(|items| items.as_sequence().is_some())
    }

    fn bytes(&self, span: Span) -> &str {
        span.of(self.file.text())
    }
}

fn field<'a>(node: NodeRef<'a>, name: &str) -> Option<NodeRef<'a>> {
    node.as_mapping()?.get(name).map(NodeRef::resolve)
}

fn is_null(node: NodeRef<'_>) -> bool {
    node.as_scalar().is_some_and(|scalar| scalar.resolve() == krm_yaml::ScalarType::Null)
}

#[cfg(test)]
mod tests;
