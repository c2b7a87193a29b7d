//! Items: single resources as documents, with the file and index that they belong to.

use std::sync::Arc;

use krm_yaml::{DocumentRef, File, NodeRef};

use super::ResourceListKind;
use crate::print::source_text;
use crate::{Diagnostic, PackageFile, PackagePath, Resource};

/// A resource as a document of its own. Clones share the text.
#[derive(Clone, Debug)]
pub struct Item {
    file: Arc<File>,
    /// The file that it belongs to.
    pub path: Option<PackagePath>,
    /// Its index in that file.
    pub index: Option<usize>,
    /// The index of the resource in the package that was read; none for a new one.
    pub origin: Option<usize>,
}

impl Item {
    /// Parses a new resource.
    pub fn parse(text: String) -> Result<Self, Diagnostic> {
        let file = File::parse(text).map_err(|error| Diagnostic::from(&error))?;
        Self::from_file(Arc::new(file))
    }

    /// A document as a new resource that shares the text and copies the node table. None if the text of the document must be changed
    /// before it can be a file of its own.
    pub(super) fn from_document(document: DocumentRef<'_>, lines_above: u32) -> Option<Self> {
        let file = document.to_shared_file(source_text::document_span(document)?)?;
        Self::from_file(Arc::new(file.with_offset(lines_above, 0))).ok()
    }

    /// The same resource without the node table, which takes as much memory as the text and is computed again on request.
    #[must_use]
    pub fn unparsed(&self) -> Self {
        Self { file: Arc::new(self.file.unparsed()), ..self.clone() }
    }

    /// A new resource that is the only document of a file.
    pub fn from_file(file: Arc<File>) -> Result<Self, Diagnostic> {
        if let Some(error) = file.errors().next() {
            return Err(Diagnostic::from_syntax(error, &file));
        }
        let roots = {
            let mut roots = file.documents().filter_map(|it| it.root());
            (roots.next(), roots.next())
        };
        match roots {
            (Some(_), None) => {}
            (None, _) => return Err(Diagnostic::error(ResourceListKind::NoResource)),
            (Some(_), Some(more)) => {
                let error =
                    Diagnostic::error(ResourceListKind::SeveralDocuments { expected: "resource" });
                return Err(error.at(&file, more.span()));
            }
        }
        Ok(Self { file, path: None, index: None, origin: None })
    }

    /// The same resource with another text.
    pub fn with_text(&self, text: String) -> Result<Self, Diagnostic> {
        let file = File::parse(text).map_err(|error| Diagnostic::from(&error))?;
        let (lines, columns) = self.file.offset();
        self.with_file(file.with_offset(lines, columns))
    }

    /// The same resource with another text, which is parsed already.
    pub fn with_file(&self, file: File) -> Result<Self, Diagnostic> {
        let Self { file, .. } = Self::from_file(Arc::new(file))?;
        Ok(Self { file, ..self.clone() })
    }

    /// A resource of a file as a document of its own. Diagnostics about it have the line numbers of that file.
    pub fn from_node(node: NodeRef<'_>) -> Result<Self, Diagnostic> {
        let text = source_text::document_texts(&[node]).concat();
        Ok(Self::parse(text)?.with_position_of(node))
    }

    /// Sets the node of a file that the item was taken from, so that diagnostics have the line numbers of that file.
    pub(super) fn with_position_of(self, node: NodeRef<'_>) -> Self {
        let (there, here) = (node.position(), self.root().position());
        let lines = there.line.saturating_sub(here.line);
        let columns = there.column.saturating_sub(here.column);
        match Arc::try_unwrap(self.file) {
            Ok(file) => Self { file: Arc::new(file.with_offset(lines, columns)), ..self },
            // It shares the text of its file, so the positions are right already.
            Err(file) => Self { file, ..self },
        }
    }

    /// The file that has this document only.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// The text.
    pub fn text(&self) -> &str {
        self.file.text()
    }

    /// The text, without copying it if nobody else shares it.
    pub fn into_text(self) -> String {
        match Arc::try_unwrap(self.file) {
            Ok(file) => file.into_text(),
            Err(file) => file.text().to_owned(),
        }
    }

    /// The root node of the resource.
    pub fn root(&self) -> NodeRef<'_> {
        let root = self.file.documents().find_map(|document| document.root());
        root.expect("an item is only made from a document with a root")
    }

    /// The resource.
    pub fn resource(&self) -> Resource<'_> {
        Resource { node: self.root(), item: None }
    }

    /// The resource as a file of its own, for operations on files. It shares the text.
    pub fn package_file(&self) -> PackageFile {
        let default = || PackagePath::new("resource").expect("the path is valid");
        let path = self.path.clone().unwrap_or_else(default);
        let display_path = path.as_str().to_owned();
        PackageFile {
            path,
            display_path,
            is_external_symlink: false,
            content: Ok(Arc::clone(&self.file)),
        }
    }

    /// Whether both share one text, which is cheaper than comparing and true only if nobody changed it.
    pub fn shares_text(&self, before: &Self) -> bool {
        self.file.shared_text().is_same(before.file.shared_text())
    }

    /// Whether text, path and index are the same.
    pub fn is_unchanged(&self, before: &Self) -> bool {
        self.shares_text(before) && (&self.path, self.index) == (&before.path, before.index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn item_is_exactly_one_document() {
        let item = Item::parse("# head\napiVersion: v1\nkind: Pod\n".to_owned()).unwrap();
        assert_eq!(item.resource().kind(), "Pod");
        let again = item.with_text("kind: Job\n".to_owned()).unwrap();
        assert_eq!(again.text(), "kind: Job\n");
        assert!(item.shares_text(&item.clone()) && !item.shares_text(&again));
        for (text, message) in [
            ("# nothing\n", "expected a resource, found an empty document"),
            ("a: b\n---\nc: d\n", "expected one resource, found several documents"),
        ] {
            assert_eq!(Item::parse(text.to_owned()).unwrap_err().message(), message);
        }
    }
}
