//! Reading input files: selected documents, and files whose documents must all be valid.

use std::num::NonZeroUsize;
use std::sync::Arc;

use krm_core::Diagnostic;
use krm_yaml::{DocumentRef, File, ReadOptions};

use crate::cli::Documents;
use crate::commands::kinds::CommandKind;
use crate::{Exit, Failure, consistent_read, disk};

/// Reads files all of whose documents must be valid, as one version: no run of krm wrote to them meanwhile.
pub(crate) fn read_valid(names: &[&str]) -> Result<Vec<File>, Failure> {
    // Threads do not pay for a few files.
    let read = consistent_read::read_files(names, Some(NonZeroUsize::MIN), |name| {
        disk::parse(name, ReadOptions::default())
    });
    let mut files = Vec::with_capacity(names.len());
    for (file, name) in read.map_err(Failure::input)?.into_iter().zip(names) {
        let file = file.map_err(Failure::input)?;
        let errors = syntax_errors(name, &file.documents().collect::<Vec<_>>());
        if !errors.is_empty() {
            return Err(Failure::Diagnostics(Exit::Input, errors));
        }
        files.push(file);
    }
    Ok(files)
}

/// The same for a fixed number of files.
pub(super) fn read_valid_versions<const N: usize>(
    names: [&str; N],
) -> Result<[Arc<File>; N], Failure> {
    let files: Vec<Arc<File>> = read_valid(&names)?.into_iter().map(Arc::new).collect();
    Ok(files.try_into().expect("there is a file for each name"))
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
pub(super) fn no_document(path: &str) -> Diagnostic {
    Diagnostic::error(CommandKind::EmptyFile { path: path.to_owned() })
}
