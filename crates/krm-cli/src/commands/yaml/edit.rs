//! What `set` and `rm` have in common: one operation on every document of every file, all or nothing.

use krm_core::query::MissingPath;
use krm_core::{Change, Diagnostic, PackagePath, Plan};
use krm_yaml::{DocumentRef, Edit, EditError, File, Path, ReadOptions};

use super::{broken, no_document, select};
use crate::cli::{Documents, Global};
use crate::{Exit, Failure, disk, parallel};

/// One change, made wherever its path leads somewhere.
pub(super) trait Operation: Sync {
    /// Where it takes place.
    fn path(&self) -> &Path;

    /// Whether values that aliases share may change.
    fn shared(&self) -> bool;

    /// Whether it can be made in a file that has no document.
    fn makes_documents(&self) -> bool;

    /// Collects the change to one document; `alone` where the file has no other.
    fn on<'a>(
        &'a self,
        edit: &mut Edit<'a>,
        document: DocumentRef<'a>,
        alone: bool,
    ) -> Result<Step, EditError>;
}

/// What became of one document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// It means what was asked for.
    Done,
    /// The path leads nowhere in it.
    Absent,
}

/// What became of all files.
#[derive(Debug, Default)]
pub(super) struct Edited {
    pub(super) plan: Plan,
    /// Documents that mean what was asked for.
    pub(super) done: usize,
    /// Documents that were left alone.
    pub(super) absent: usize,
    /// The document in which the path comes furthest: how many steps, and what there is to say.
    pub(super) nothing: Option<(usize, Diagnostic)>,
}

struct EditedFile {
    change: Change,
    tally: Tally,
}

/// What became of the documents of one file.
#[derive(Default)]
struct Tally {
    done: usize,
    absent: usize,
    nothing: Option<(usize, Diagnostic)>,
}

/// Edits all files in memory. One that cannot be edited stops all of them.
pub(super) fn all(
    files: &[String],
    documents: &Documents,
    operation: &impl Operation,
    global: &Global,
) -> Result<Edited, Failure> {
    let results = parallel::map(&once(files)?, global.jobs, |name| one(name, documents, operation));
    let (mut edited, mut errors) = (Edited::default(), Vec::new());
    for result in results {
        match result {
            Ok(EditedFile { change, tally }) => {
                edited.done += tally.done;
                edited.absent += tally.absent;
                edited.plan.add(change);
                let steps = |nothing: &Option<(usize, Diagnostic)>| nothing.as_ref().map(|it| it.0);
                if steps(&tally.nothing) > steps(&edited.nothing) {
                    edited.nothing = tally.nothing;
                }
            }
            Err(Failure::Diagnostics(_, diagnostics)) => errors.extend(diagnostics),
            Err(closed) => return Err(closed),
        }
    }
    if errors.is_empty() { Ok(edited) } else { Err(Failure::Diagnostics(Exit::Input, errors)) }
}

/// The same file named twice is one file; standard input can be read only once.
fn once(files: &[String]) -> Result<Vec<String>, Failure> {
    let mut seen: Vec<String> = Vec::with_capacity(files.len());
    let mut known = std::collections::BTreeSet::new();
    for name in files {
        if known.insert(name) {
            seen.push(name.clone());
        } else if name == disk::STDIN {
            let twice = Diagnostic::untyped_error("standard input can be named only once");
            return Err(Failure::Diagnostics(Exit::Usage, vec![twice]));
        }
    }
    Ok(seen)
}

fn one(
    name: &str,
    documents: &Documents,
    operation: &impl Operation,
) -> Result<EditedFile, Failure> {
    let told =
        |diagnostic: Diagnostic| Failure::input(diagnostic.in_file(disk::display_name(name)));
    let mut file = disk::parse(name, ReadOptions::default()).map_err(Failure::input)?;
    let mut old = None;
    if operation.makes_documents() && file.documents().next().is_none() {
        let text = with_document(file.text());
        old = Some(file.into_text());
        file = File::parse(text).map_err(|error| told(Diagnostic::from(&error)))?;
    }
    let selected = select(&file, name, documents)?;
    let errors = broken(name, &selected);
    if !errors.is_empty() {
        return Err(Failure::Diagnostics(Exit::Input, errors));
    }
    let is_json = PackagePath::is_json_name(name);
    let mut edit = Edit::new(&file).allow_shared(operation.shared()).json(is_json);
    let tally = collect(&mut edit, &selected, name, operation)
        .map_err(|error| told(Diagnostic::from_edit(&error, &file)))?;
    let new = match edit.is_empty() {
        true => file.text().to_owned(),
        false => edit.apply().map_err(|error| told(Diagnostic::from_edit(&error, &file)))?,
    };
    let old = old.unwrap_or_else(|| file.into_text());
    let change = Change { path: name.to_owned(), old: Some(old), new: Some(new) };
    Ok(EditedFile { change, tally })
}

/// Collects the change to every document.
fn collect<'a>(
    edit: &mut Edit<'a>,
    documents: &[DocumentRef<'a>],
    name: &str,
    operation: &'a impl Operation,
) -> Result<Tally, EditError> {
    let mut tally = Tally::default();
    for document in documents {
        match operation.on(edit, *document, documents.len() == 1)? {
            Step::Done => tally.done += 1,
            Step::Absent => {
                tally.absent += 1;
                keep_furthest(&mut tally.nothing, *document, operation.path());
            }
        }
    }
    let nothing = tally.nothing.unwrap_or_else(|| (0, no_document(operation.path())));
    tally.nothing = Some((nothing.0, nothing.1.in_file(disk::display_name(name))));
    Ok(tally)
}

/// An empty file, or one of comments alone, with an empty mapping in it that can be edited.
fn with_document(text: &str) -> String {
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let gap = if text.is_empty() || text.ends_with('\n') { "" } else { end };
    format!("{text}{gap}{{}}{end}")
}

/// Only the document in which the path comes furthest is worth words.
fn keep_furthest(best: &mut Option<(usize, Diagnostic)>, document: DocumentRef<'_>, path: &Path) {
    let steps = MissingPath::find(document, path)
        .map(|missing| (missing.found, missing.to_diagnostic(path)));
    // A reader finds what comes through `<<`; an edit does not.
    let (steps, diagnostic) =
        steps.unwrap_or_else(|| (0, inherited(document.file(), document, path)));
    if best.as_ref().is_none_or(|(most, _)| steps > *most) {
        *best = Some((steps, diagnostic));
    }
}

fn inherited(file: &File, document: DocumentRef<'_>, path: &Path) -> Diagnostic {
    let diagnostic =
        Diagnostic::untyped_error(format!("`{path}` comes from somewhere else through `<<`"));
    match document.find(path) {
        Some(node) => diagnostic.at(file, node.span()).hint("edit the original"),
        None => diagnostic,
    }
}
