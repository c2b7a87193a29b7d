//! The files with schemas that a validator may read, and what the user chose for all validators.

use krm_core::Diagnostic;

use crate::kinds::CatalogKind;

/// Who names a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamedBy {
    /// The user, on the command line.
    User,
    /// The functionConfig, which may be part of a package from elsewhere.
    Config,
}

/// Gives a validator the schemas that are not built in. Built-in functions do not access the disk themselves.
pub trait SchemaFiles {
    /// The Kubernetes version to validate against, unless the functionConfig names one.
    fn kubernetes_version(&self) -> Option<&str> {
        None
    }

    /// Locations of JSON Schemas that are searched before those of the functionConfig.
    fn locations(&self) -> &[String] {
        &[]
    }

    /// The names and texts of files with CustomResourceDefinitions.
    fn definitions(&self) -> &[(String, String)] {
        &[]
    }

    /// The text of a file; none if it does not exist.
    ///
    /// # Errors
    /// If the file may not be read, or cannot be read.
    fn read(&self, path: &str, named_by: NamedBy) -> Result<Option<String>, Diagnostic>;
}

/// No files: for a list from standard input.
#[derive(Clone, Copy, Debug)]
pub struct NoSchemaFiles;

impl SchemaFiles for NoSchemaFiles {
    fn read(&self, path: &str, _: NamedBy) -> Result<Option<String>, Diagnostic> {
        let (location, reason) = (path.to_owned(), "there is no package with files here");
        Err(Diagnostic::error(CatalogKind::SchemaLocation { location, reason })
            .hint("use `krm fn eval` or `krm fn render` on a package"))
    }
}
