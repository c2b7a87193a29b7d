//! What a built-in function may use of the program that runs it.

use crate::generate_kpt_pkg_docs::{Documents, NoDocuments};
use crate::interpreter::{InProcess, Interpreter};
use crate::render_helm_chart::{Helm, NoHelm};
use crate::schema_files::{NoSchemaFiles, SchemaFiles};

/// What a built-in function may use beside its list: by default interpreters in this process, and no files.
#[derive(Clone, Copy)]
pub struct Host<'h> {
    /// Evaluates scripts and policies.
    pub interpreter: &'h dyn Interpreter,
    /// The schemas that a validator may read.
    pub schemas: &'h dyn SchemaFiles,
    /// Charts, and the program that renders them.
    pub helm: &'h dyn Helm,
    /// Documents of the package that are not resources.
    pub documents: &'h dyn Documents,
}

impl Default for Host<'_> {
    fn default() -> Self {
        Self {
            interpreter: &InProcess,
            schemas: &NoSchemaFiles,
            helm: &NoHelm,
            documents: &NoDocuments,
        }
    }
}

impl std::fmt::Debug for Host<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Host").finish_non_exhaustive()
    }
}
