//! Reading input files: selected documents, and files whose documents must all be valid.

use std::sync::Arc;

use krm_core::Diagnostic;
use krm_yaml::{DocumentRef, File, Path, ReadOptions};

use crate::cli::Documents;
use crate::commands::kinds::CommandKind;
use crate::{Exit, Failure, disk};

/// Reads a file all of whose documents must be valid.
pub(crate) fn read_valid(name: &str) -> Result<File, Failure> {
    let file = disk::parse(name, ReadOptions::default()).map_err(Failure::input)?;
    let errors = syntax_errors(name, &file.documents().collect::<Vec<_>>());
    if errors.is_empty() { Ok(file) } else { Err(Failure::Diagnostics(Exit::Input, errors)) }
}

/// The text of a file that a merge has read.
pub(super) fn into_text(file: Arc<File>) -> String {
    Arc::try_unwrap(file).map_or_else(|file| file.text().to_owned(), File::into_text)
}

/// The documents of a file that `--doc` selects.
pub(super) fn select<'a>(
    file: &'a File,
    name: &str,
    documents: &Documents,
) -> Result<Vec<DocumentRef<'a>>, Failure> {
    let Some(index) = documents.doc else { return Ok(file.documents().collect()) };
    file.document(index).map(|document| vec![document]).ok_or_else(|| {
        let kind = CommandKind::DocumentNotFound { index, count: file.documents().count() };
        Failure::input(Diagnostic::error(kind).in_file(disk::display_name(name)))
    })
}

/// The syntax errors of these documents.
pub(super) fn syntax_errors(name: &str, documents: &[DocumentRef<'_>]) -> Vec<Diagnostic> {
    let errors = documents.iter().filter_map(|document| Some((document.file(), document.error()?)));
    errors
        .map(|(file, error)| Diagnostic::from_syntax(error, file).in_file(disk::display_name(name)))
        .collect()
}

/// The error for a path in a file without documents.
pub(super) fn no_document(path: &Path) -> Diagnostic {
    Diagnostic::error(CommandKind::EmptyFile { path: path.to_string() })
}
