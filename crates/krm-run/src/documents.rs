//! Documents of a package that are not resources, for `generate-kpt-pkg-docs`: what it replaces is written with everything else.

use std::io::ErrorKind;
use std::sync::{Arc, Mutex};

use krm_catalog::generate_kpt_pkg_docs::Documents;
use krm_core::{Diagnostic, PackagePath};

use crate::execution::diagnostic;
use crate::package_files::PackageFiles;
use crate::{RegularFileError, RunKind, read_regular_file};

/// The largest document that is read.
const DOCUMENT_LIMIT: u64 = 16 << 20;

/// A document with a new text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentChange {
    /// The file, relative to the root package.
    pub path: PackagePath,
    /// The text that was read.
    pub old: String,
    /// The text that replaces it.
    pub new: String,
}

/// The documents that one function may read and replace.
#[derive(Clone, Debug)]
pub struct GrantedDocuments {
    pub(crate) files: PackageFiles,
    changes: Arc<Mutex<Vec<DocumentChange>>>,
}

impl GrantedDocuments {
    pub(crate) fn new(files: PackageFiles) -> Self {
        Self { files, changes: Arc::default() }
    }

    /// Takes what the function replaced, relative to its package.
    pub(crate) fn take_changes(&self) -> Vec<DocumentChange> {
        self.changes.lock().map(|mut changes| std::mem::take(&mut *changes)).unwrap_or_default()
    }

    fn text(&self, path: &str) -> Result<(PackagePath, Option<String>), Diagnostic> {
        let failed =
            |reason: String| diagnostic(RunKind::CannotReadFile { path: path.to_owned(), reason });
        let inside = self.files.package_path(path).map_err(diagnostic)?;
        let located = self.files.locate(path).map_err(diagnostic)?;
        let bytes = match read_regular_file(&located.path, DOCUMENT_LIMIT) {
            Ok(bytes) => bytes,
            Err(RegularFileError::Io(error)) if error.kind() == ErrorKind::NotFound => {
                return Ok((inside, None));
            }
            Err(RegularFileError::Io(error)) => return Err(failed(error.to_string())),
            Err(RegularFileError::NotRegular) => {
                return Err(failed("not a regular file".to_owned()));
            }
            Err(RegularFileError::TooLarge { .. }) => {
                let limit = DOCUMENT_LIMIT >> 20;
                return Err(failed(format!("the file is larger than {limit} MiB")));
            }
        };
        let text = String::from_utf8(bytes).map_err(|_| failed("not valid UTF-8".to_owned()))?;
        Ok((inside, Some(text)))
    }
}

impl Documents for GrantedDocuments {
    fn read(&self, path: &str) -> Result<Option<String>, Diagnostic> {
        Ok(self.text(path)?.1)
    }

    fn replace(&self, path: &str, new: String) -> Result<(), Diagnostic> {
        let (path, old) = self.text(path)?;
        let old = old.unwrap_or_default();
        if let Ok(mut changes) = self.changes.lock() {
            changes.retain(|it| it.path != path);
            changes.push(DocumentChange { path, old, new });
        }
        Ok(())
    }
}
