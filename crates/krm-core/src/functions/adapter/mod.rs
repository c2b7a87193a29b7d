//! Programs as functions that know nothing of lists: what they are told as variables and flags, and their output merged.

mod environment;
mod merge_output;

pub use environment::{arguments, environment};
pub use merge_output::{merge_output, without_items};

use krm_yaml::{DocumentRef, File, NodeRef};

use crate::Diagnostic;
use crate::Resource;
use crate::model::resource::{field, is_null, items, list_items, resources};
use crate::print::source_text;

/// What a function reads on its standard input.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    file: &'a File,
}

impl<'a> Input<'a> {
    /// A list of resources, or documents.
    pub fn new(file: &'a File) -> Result<Self, Diagnostic> {
        match file.errors().next() {
            Some(error) => Err(Diagnostic::from_syntax(error, file)),
            None => Ok(Self { file }),
        }
    }

    /// The functionConfig of the list.
    pub fn config(self) -> Option<NodeRef<'a>> {
        let mut roots = self.file.documents().filter_map(|document| document.root());
        roots.find_map(|root| field(root, "functionConfig")).filter(|config| !is_null(*config))
    }

    /// The resources, in order.
    pub fn resources(self) -> impl Iterator<Item = Resource<'a>> {
        self.file.documents().flat_map(received)
    }

    /// The text of each resource by itself.
    pub fn texts(self) -> Vec<String> {
        let texts = |document| {
            let nodes: Vec<NodeRef<'a>> = received(document).iter().map(|it| it.node).collect();
            source_text::texts(&nodes)
        };
        self.file.documents().flat_map(texts).map(source_text::ensure_trailing_newline).collect()
    }
}

/// The resources of a document that was sent: a list is known by its kind alone, as everywhere on the wire.
fn received(document: DocumentRef<'_>) -> Vec<Resource<'_>> {
    match document.root().and_then(list_items) {
        Some(list) => items(list),
        None => resources(document),
    }
}
