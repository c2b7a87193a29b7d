//! Documents of a package that are not resources. Built-in functions do not access the disk themselves.

use krm_core::Diagnostic;

use crate::kinds::CatalogKind;

/// Reads and replaces documents of the package. What is replaced is part of the plan of the run, like the files of resources.
pub trait Documents {
    /// The text of a document of the package; none if it does not exist.
    ///
    /// # Errors
    /// If the file is not one of the package, or cannot be read.
    fn read(&self, path: &str) -> Result<Option<String>, Diagnostic>;

    /// Replaces the text of a document that was read.
    ///
    /// # Errors
    /// If the file is not one of the package.
    fn replace(&self, path: &str, text: String) -> Result<(), Diagnostic>;
}

/// No documents: for a list from standard input.
#[derive(Clone, Copy, Debug)]
pub struct NoDocuments;

impl Documents for NoDocuments {
    fn read(&self, path: &str) -> Result<Option<String>, Diagnostic> {
        let path = path.to_owned();
        Err(Diagnostic::error(CatalogKind::NoPackageFiles { path })
            .hint("use `krm fn eval` or `krm fn render` on a package"))
    }

    fn replace(&self, path: &str, _: String) -> Result<(), Diagnostic> {
        self.read(path).map(drop)
    }
}
