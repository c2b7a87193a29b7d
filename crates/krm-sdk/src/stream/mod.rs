//! The input and output of a function as text. Resources that the function did not change keep their bytes.
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
mod layout;
mod list;
mod read;
mod write;

use krm_core::Diagnostic;
use krm_core::functions::resource_list::{Item, ResourceListKind, Version, returned_path};
use krm_yaml::{File, NodeRef, Span};

pub(crate) use layout::ItemSlot;

use crate::Error;
use crate::wire_annotations::{self, Annotation};

/// An input: its text, and the positions of the resources in it.
#[derive(Debug)]
pub struct Stream {
    file: File,
    format: InputFormat,
    slots: Vec<ItemSlot>,
    received: Vec<ReceivedItem>,
}

/// A resource as it was received, and the transport annotations that were removed from it.
#[derive(Debug)]
struct ReceivedItem {
    item: Item,
    removed: Vec<Annotation>,
}

/// The format of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputFormat {
    /// A `ResourceList`, which can carry results.
    ResourceList(Version),
    /// Any other list of resources.
    List,
    /// A stream of documents.
    Documents,
}

impl Stream {
    /// The format of the input, and of the output.
    pub fn format(&self) -> InputFormat {
        self.format
    }

    /// Whether the output has a field for results.
    pub fn can_carry_results(&self) -> bool {
        matches!(self.format, InputFormat::ResourceList(_))
    }

    /// Checks the paths of the resources, for a program that writes them to files. Returns warnings about absolute paths, which are
    /// relative to the package.
    ///
    /// # Errors
    /// All paths that leave the package.
    pub fn check_paths(&self) -> Result<Vec<Diagnostic>, Error> {
        let (mut warnings, mut errors) = (Vec::new(), Vec::new());
        for received in &self.received {
            let Some(path) = wire_annotations::path(&received.removed) else { continue };
            match returned_path(path) {
                Err(error) => {
                    let resource = received.item.resource().label();
                    errors
                        .push(Diagnostic::error(error).context(format!("cannot place {resource}")));
                }
                Ok(used) if path.starts_with('/') => {
                    let (path, used) = (path.to_owned(), used.to_string());
                    let kind = ResourceListKind::AbsolutePath { path, used };
                    warnings.push(Diagnostic::warning(kind));
                }
                Ok(_) => {}
            }
        }
        if errors.is_empty() { Ok(warnings) } else { Err(Error::of_diagnostics(errors)) }
    }

    /// Checks that documents are resources. A function has nothing to do with any other text, which it would return unchanged.
    ///
    /// # Errors
    /// The first document that is neither empty nor a resource.
    pub fn check_documents(&self) -> Result<(), Error> {
        if self.format != InputFormat::Documents {
            return Ok(());
        }
        let roots = self.file.documents().filter_map(|document| document.root());
        let mut others = roots.filter(|root| !is_null(*root) && !read::is_resource(*root));
        match others.next() {
            Some(other) => Err(read::wrong_type("a list of resources", other, &self.file)),
            None => Ok(()),
        }
    }

    /// The text of the input.
    pub fn text(&self) -> &str {
        self.file.text()
    }

    fn root(&self) -> Option<NodeRef<'_>> {
        self.file.documents().filter_map(|document| document.root()).find(|root| !is_null(*root))
    }

    /// The sequence of resources; none for documents, and for a list without `items`.
    fn items(&self) -> Option<NodeRef<'_>> {
        let root = self.root().filter(|_| self.format != InputFormat::Documents)?;
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
