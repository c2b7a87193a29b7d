//! One resource on its way through functions: a document of its own, and where it belongs.

use std::sync::Arc;

use krm_yaml::{DocumentRef, File, NodeRef};

use crate::print::source_text;
use crate::{Diagnostic, PackageFile, PackagePath, Resource};

/// A resource as a document of its own. A copy shares the text; a change makes a new one.
#[derive(Clone, Debug)]
pub struct Item {
    file: Arc<File>,
    /// The file that it belongs to, relative to the package that declares the function.
    pub path: Option<PackagePath>,
    /// Which resource of that file it is.
    pub index: Option<usize>,
    /// Which of the resources that were read it is; none for a new one.
    pub origin: Option<usize>,
}

impl Item {
    /// A new resource of this text.
    pub fn parse(text: String) -> Result<Self, Diagnostic> {
        let file = File::parse(text).map_err(|error| Diagnostic::from(&error))?;
        Self::from_file(Arc::new(file))
    }

    /// The same of a document's own text, which need not be read again.
    pub(super) fn from_document(
        document: DocumentRef<'_>,
        text: String,
    ) -> Result<Self, Diagnostic> {
        let start = source_text::content_span(document).start;
        let file = document.to_file(start, text).map_err(|error| Diagnostic::from(&error))?;
        Self::from_file(Arc::new(file))
    }

    /// A new resource that is the one document of a file.
    pub fn from_file(file: Arc<File>) -> Result<Self, Diagnostic> {
        if let Some(error) = file.errors().next() {
            return Err(Diagnostic::from_syntax(error, &file));
        }
        let roots: Vec<NodeRef<'_>> = file.documents().filter_map(|it| it.root()).collect();
        match roots[..] {
            [_] => {}
            [] => return Err(Diagnostic::untyped_error("there is no resource in this text")),
            [_, more, ..] => {
                let message = "there is more than one document, and one resource is wanted";
                return Err(Diagnostic::untyped_error(message).at(&file, more.span()));
            }
        }
        Ok(Self { file, path: None, index: None, origin: None })
    }

    /// The same resource, in the same place, with another text.
    pub fn with_text(&self, text: String) -> Result<Self, Diagnostic> {
        let file = File::parse(text).map_err(|error| Diagnostic::from(&error))?;
        let (lines, columns) = self.file.offset();
        let Self { file, .. } = Self::from_file(Arc::new(file.with_offset(lines, columns)))?;
        Ok(Self { file, ..self.clone() })
    }

    /// A resource that is a part of a file, as a document of its own. What is told about it names the lines of that file.
    pub fn from_node(node: NodeRef<'_>) -> Result<Self, Diagnostic> {
        let text = source_text::document_texts(&[node]).concat();
        Ok(Self::parse(text)?.with_position_of(node))
    }

    /// Says which node of a file it is: what is told about it names the lines of that file.
    pub(super) fn with_position_of(self, node: NodeRef<'_>) -> Self {
        let (there, here) = (node.position(), self.root().position());
        let lines = there.line.saturating_sub(here.line);
        let columns = there.column.saturating_sub(here.column);
        match Arc::try_unwrap(self.file) {
            Ok(file) => Self { file: Arc::new(file.with_offset(lines, columns)), ..self },
            // It shares the text of its file, and stands where it stands.
            Err(file) => Self { file, ..self },
        }
    }

    /// The file of this one document.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// The text.
    pub fn text(&self) -> &str {
        self.file.text()
    }

    /// The node that is the resource.
    pub fn root(&self) -> NodeRef<'_> {
        let root = self.file.documents().find_map(|document| document.root());
        root.expect("an item is only made of a document with a root")
    }

    /// The resource.
    pub fn resource(&self) -> Resource<'_> {
        Resource { node: self.root(), item: None }
    }

    /// The resource as a file of its own, for operations on files: it shares the text, and is known by its path.
    pub fn package_file(&self) -> PackageFile {
        let nameless = || PackagePath::new("resource").expect("this is a path inside a package");
        let path = self.path.clone().unwrap_or_else(nameless);
        let display_path = path.as_str().to_owned();
        PackageFile {
            path,
            display_path,
            is_external_symlink: false,
            content: Ok(Arc::clone(&self.file)),
        }
    }

    /// Whether the text is the very same one, not only an equal one.
    pub fn shares_text(&self, before: &Self) -> bool {
        Arc::ptr_eq(&self.file, &before.file)
    }

    /// Whether it is the very same text in the same place.
    pub fn is_unchanged(&self, before: &Self) -> bool {
        self.shares_text(before) && (&self.path, self.index) == (&before.path, before.index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_is_one_document() {
        let item = Item::parse("# head\napiVersion: v1\nkind: Pod\n".to_owned()).unwrap();
        assert_eq!(item.resource().kind(), "Pod");
        let again = item.with_text("kind: Job\n".to_owned()).unwrap();
        assert_eq!(again.text(), "kind: Job\n");
        assert!(item.shares_text(&item.clone()) && !item.shares_text(&again));
        for (text, message) in [
            ("# nothing\n", "there is no resource in this text"),
            ("a: b\n---\nc: d\n", "there is more than one document, and one resource is wanted"),
        ] {
            assert_eq!(Item::parse(text.to_owned()).unwrap_err().message(), message);
        }
    }
}
