//! Edits at a path, for `set` and `rm`: applied to every document of every file, or to none.

use std::collections::BTreeSet;

use krm_core::query;
use krm_core::{Diagnostic, OriginalFile, PackagePath, Plan};
use krm_yaml::{DocumentRef, Edit, EditError, File, Path, ReadOptions};

use super::input::{no_document, select, syntax_errors};
use crate::cli::{Documents, Global};
use crate::commands::check_stdin_once;
use crate::commands::kinds::CommandKind;
use crate::disk::Lock;
use crate::{Exit, Failure, disk, parallel};

/// An edit at a path.
pub(super) trait PathEdit: Sync {
    fn path(&self) -> &Path;

    /// Whether values that are shared through aliases may change.
    fn shared(&self) -> bool;

    /// Whether the edit can be made in a file without documents.
    fn creates_documents(&self) -> bool;

    /// Queues the edit of one document. `is_only` says that the file has no other.
    fn edit<'a>(
        &'a self,
        edit: &mut Edit<'a>,
        document: DocumentRef<'a>,
        is_only: bool,
    ) -> Result<DocumentEdit, EditError>;
}

/// The result of an edit for one document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DocumentEdit {
    Applied,
    /// The document does not have the path and was skipped.
    PathMissing,
}

/// A path that a document does not have.
#[derive(Debug)]
pub(super) struct MissingPath {
    /// How many segments of the path exist.
    pub(super) found: usize,
    pub(super) error: Diagnostic,
}

/// The result of an edit for all files.
#[derive(Debug, Default)]
pub(super) struct EditedFiles {
    pub(super) plan: Plan,
    /// How many documents were edited, or already have the requested value.
    pub(super) applied: usize,
    /// How many documents do not have the path.
    pub(super) skipped: usize,
    /// The document in which most of the path exists, which makes the most helpful error.
    pub(super) missing: Option<MissingPath>,
}

impl EditedFiles {
    fn keep_most_found(&mut self, missing: MissingPath) {
        if self.missing.as_ref().is_none_or(|best| missing.found > best.found) {
            self.missing = Some(missing);
        }
    }
}

/// Parses the path of an edit. Compat: an empty path is the whole document in JSON pointers, but on a command line it is an unset
/// variable of the shell, and the edit would replace the file.
pub(super) fn parse_path(text: &str) -> Result<Path, String> {
    match text.is_empty() {
        true => Err("expected a path; use `.` for the whole document".to_owned()),
        false => text.parse().map_err(|error: krm_yaml::PathError| error.to_string()),
    }
}

/// Edits all files in memory. If one of them cannot be edited, none is.
pub(super) fn edit_files(
    files: &[String],
    documents: &Documents,
    operation: &impl PathEdit,
    lock: &Lock,
    global: &Global,
) -> Result<EditedFiles, Failure> {
    check_stdin_once(files.iter().map(String::as_str))?;
    let mut seen = BTreeSet::new();
    let files: Vec<&String> = files.iter().filter(|name| seen.insert(*name)).collect();
    let results =
        parallel::map(&files, global.jobs, |name| edit_file(name, documents, operation, lock));
    let (mut edited, mut errors) = (EditedFiles::default(), Vec::new());
    for result in results {
        match result {
            Ok((original, new, file)) => {
                edited.applied += file.applied;
                edited.skipped += file.skipped;
                errors.extend(edited.plan.set(original, Some(new)).err());
                file.missing.into_iter().for_each(|missing| edited.keep_most_found(missing));
            }
            Err(Failure::Diagnostics(_, diagnostics)) => errors.extend(diagnostics),
            Err(closed) => return Err(closed),
        }
    }
    if errors.is_empty() { Ok(edited) } else { Err(Failure::Diagnostics(Exit::Input, errors)) }
}

/// Edits one file; the plan of the returned counts is empty.
fn edit_file(
    name: &str,
    documents: &Documents,
    operation: &impl PathEdit,
    lock: &Lock,
) -> Result<(OriginalFile, String, EditedFiles), Failure> {
    let fail =
        |diagnostic: Diagnostic| Failure::input(diagnostic.in_file(disk::display_name(name)));
    let mut file = disk::parse(name, ReadOptions::default()).map_err(Failure::input)?;
    let mut old = None;
    if operation.creates_documents() && file.documents().next().is_none() {
        let text = with_document(file.text());
        old = Some(file.into_text());
        file = File::parse(text).map_err(|error| fail(Diagnostic::from(&error)))?;
    }
    let selected = select(&file, name, documents)?;
    let errors = syntax_errors(name, &selected);
    if !errors.is_empty() {
        return Err(Failure::Diagnostics(Exit::Input, errors));
    }
    let is_json = PackagePath::is_json_name(name);
    let mut edit = Edit::new(&file).allow_shared(operation.shared()).json(is_json);
    let edited = edit_documents(&mut edit, &selected, name, operation)
        .map_err(|error| fail(Diagnostic::from_edit(&error, &file)))?;
    let new = match edit.is_empty() {
        true => file.text().to_owned(),
        false => edit.apply().map_err(|error| fail(Diagnostic::from_edit(&error, &file)))?,
    };
    let old = old.unwrap_or_else(|| file.into_text());
    Ok((lock.original(name, old).map_err(Failure::input)?, new, edited))
}

/// Queues the edit for each document of a file.
fn edit_documents<'a>(
    edit: &mut Edit<'a>,
    documents: &[DocumentRef<'a>],
    name: &str,
    operation: &'a impl PathEdit,
) -> Result<EditedFiles, EditError> {
    let mut edited = EditedFiles::default();
    for document in documents {
        match operation.edit(edit, *document, documents.len() == 1)? {
            DocumentEdit::Applied => edited.applied += 1,
            DocumentEdit::PathMissing => {
                edited.skipped += 1;
                edited.keep_most_found(explain_missing(*document, operation.path()));
            }
        }
    }
    let missing = edited.missing.take();
    let none = || MissingPath { found: 0, error: no_document(operation.path()) };
    let MissingPath { found, error } = missing.unwrap_or_else(none);
    edited.missing = Some(MissingPath { found, error: error.in_file(disk::display_name(name)) });
    Ok(edited)
}

/// An empty file, or one of comments alone, with an empty mapping added that can be edited.
fn with_document(text: &str) -> String {
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let gap = if text.is_empty() || text.ends_with('\n') { "" } else { end };
    format!("{text}{gap}{{}}{end}")
}

/// Explains why a document cannot be edited at the path. Lookup follows merge keys and edits do not, so a path that lookup finds is
/// inherited.
fn explain_missing(document: DocumentRef<'_>, path: &Path) -> MissingPath {
    match query::MissingPath::find(document, path) {
        Some(missing) => MissingPath { found: missing.found, error: missing.to_diagnostic(path) },
        None => MissingPath { found: 0, error: inherited(document, path) },
    }
}

fn inherited(document: DocumentRef<'_>, path: &Path) -> Diagnostic {
    let error = Diagnostic::error(CommandKind::InheritedValue { path: path.to_string() });
    match document.find(path) {
        Some(node) => error.at(document.file(), node.span()),
        None => error,
    }
}
