//! Adapters for programs that do not speak the ResourceList protocol: the functionConfig as environment and arguments, and the merge of
//! their output into the list.

mod environment;
mod existing;
mod merge_output;
mod results;

pub use environment::{arguments, environment};
pub use merge_output::{merge_output, without_items};
pub use results::with_results;

use krm_yaml::{DocumentRef, File, NodeRef};

use crate::Diagnostic;
use crate::Resource;
use crate::model::resource::{field, is_null, items, list_items, resources};
use crate::print::source_text;

/// The standard input of a function.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    file: &'a File,
}

impl<'a> Input<'a> {
    /// A ResourceList, another list, or plain documents.
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

    /// The text of each resource.
    pub fn texts(self) -> Vec<String> {
        let texts = |document| {
            let nodes: Vec<NodeRef<'a>> = received(document).iter().map(|it| it.node).collect();
            let texts = source_text::texts(&nodes).into_iter().zip(nodes);
            texts.map(|(text, node)| source_text::end_line(text, node)).collect::<Vec<_>>()
        };
        self.file.documents().flat_map(texts).collect()
    }
}

/// The resources of a document in the input. A list is recognized by its kind alone, because its items may be empty.
fn received(document: DocumentRef<'_>) -> Vec<Resource<'_>> {
    match document.root().and_then(list_items) {
        Some(list) => items(list),
        None => resources(document),
    }
}
