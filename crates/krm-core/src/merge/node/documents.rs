//! Merges files: documents that are resources pair by identity, others by position.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use krm_yaml::{DocumentRef, Edit, File};

use super::options::MergeOptions;
use super::{Conflict, MergeAction, MergeReport, Merger, Version};
use crate::merge::kinds::MergeKind;
use crate::model::resource::{Identity, Resource, is_resource};
use crate::{Diagnostic, PackagePath};

/// A file with its display name.
#[derive(Clone, Copy, Debug)]
pub struct NamedFile<'a> {
    /// The name in diagnostics.
    pub name: &'a str,
    /// The file.
    pub file: &'a File,
}

/// The result of merging a file.
#[derive(Debug)]
pub struct MergedFile {
    /// The new text of the destination.
    pub text: String,
    /// The conflicts.
    pub conflicts: Vec<Conflict>,
    /// Warnings.
    pub warnings: Vec<Diagnostic>,
}

/// What identifies a document across versions of a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum DocumentKey {
    Resource(Identity),
    /// A resource without a name: its kind, and its position among these.
    Unnamed(String, usize),
    /// Not a resource: its position among these.
    Position(usize),
}

/// Merges the documents of one file into those of another.
///
/// ```
/// use krm_core::merge::{MergeOptions, NamedFile, merge_files};
/// use krm_yaml::File;
///
/// let [source, destination] =
///     ["a: 5\n---\nc: 1\n", "a: 3 # for now\n"].map(|text| File::parse(text.to_owned()).unwrap());
/// let merged = merge_files(
///     NamedFile { name: "source.yaml", file: &source },
///     NamedFile { name: "destination.yaml", file: &destination },
///     &MergeOptions::default(),
/// );
/// assert_eq!(merged.unwrap().text, "a: 5 # for now\n---\nc: 1\n");
/// ```
pub fn merge_files(
    source: NamedFile<'_>,
    destination: NamedFile<'_>,
    options: &MergeOptions<'_>,
) -> Result<MergedFile, Diagnostic> {
    let (theirs, ours) = (documents(source)?, documents(destination)?);
    let mut merge = FileMerge::new(destination, options);
    for (name, document) in theirs.iter() {
        let Some(source_root) = version(source, *document) else { continue };
        match ours.get(name).and_then(|document| version(destination, *document)) {
            None => {
                let text = merge.merger.new_document_text(source_root)?;
                merge.new.extend(text.map(|text| (*document, text)));
            }
            Some(here) => {
                let report = merge.merger.two_way(source_root, here, &mut merge.edit)?;
                if report.action == MergeAction::Remove && !matches!(name, DocumentKey::Resource(_))
                {
                    return Err(delete_unnamed(source_root));
                }
                merge.add_report(here, report);
            }
        }
    }
    merge.finish()
}

/// Merges the changes between base and upstream into local.
pub fn merge_files_three_way(
    base: NamedFile<'_>,
    local: NamedFile<'_>,
    upstream: NamedFile<'_>,
    options: &MergeOptions<'_>,
) -> Result<MergedFile, Diagnostic> {
    let [old, ours, theirs] = [documents(base)?, documents(local)?, documents(upstream)?];
    let names = theirs.order.iter().chain(ours.order.iter().filter(|it| theirs.get(it).is_none()));
    let mut merge = FileMerge::new(local, options);
    for name in names {
        let here = ours.get(name).and_then(|document| version(local, *document));
        let there = theirs.get(name).and_then(|document| version(upstream, *document));
        let before = old.get(name).and_then(|document| version(base, *document));
        let report = merge.merger.three_way(before, here, there, &mut merge.edit)?;
        match (here, there) {
            (Some(here), _) => merge.add_report(here, report),
            (None, Some(there)) => {
                if report.action == MergeAction::Insert {
                    let document = there.node.document();
                    merge.new.push((document, Cow::Borrowed(document.text())));
                }
                merge.add_diagnostics(report.conflicts, report.warnings);
            }
            (None, None) => {}
        }
    }
    merge.finish()
}

fn version<'a>(file: NamedFile<'a>, document: DocumentRef<'a>) -> Option<Version<'a>> {
    document.root().map(|root| Version::new(root, file.name))
}

/// The documents of a file by key.
struct Documents<'a> {
    order: Vec<DocumentKey>,
    by_key: BTreeMap<DocumentKey, DocumentRef<'a>>,
}

impl<'a> Documents<'a> {
    fn get(&self, name: &DocumentKey) -> Option<&DocumentRef<'a>> {
        self.by_key.get(name)
    }

    fn iter(&self) -> impl Iterator<Item = (&DocumentKey, &DocumentRef<'a>)> {
        self.order.iter().filter_map(|name| Some((name, self.by_key.get(name)?)))
    }
}

fn documents<'a>(file: NamedFile<'a>) -> Result<Documents<'a>, Diagnostic> {
    let mut found = Documents { order: Vec::new(), by_key: BTreeMap::new() };
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for document in file.file.documents() {
        let root = document.root().filter(|root| is_resource(*root));
        let identity = root.and_then(|node| Resource { node, item: None }.identity());
        let name = match identity {
            Some(identity) => DocumentKey::Resource(identity),
            None => {
                let kind = root.map(|node| Resource { node, item: None });
                let kind = kind.map(|it| format!("{} {}", it.group(), it.kind()));
                let count = counts.entry(kind.clone().unwrap_or_default()).or_insert(0);
                *count += 1;
                kind.map_or(DocumentKey::Position(*count), |kind| {
                    DocumentKey::Unnamed(kind, *count)
                })
            }
        };
        if let (DocumentKey::Resource(identity), Some(first)) = (&name, found.by_key.get(&name)) {
            return Err(duplicate_resource(file, identity, *first, document));
        }
        found.order.push(name.clone());
        found.by_key.insert(name, document);
    }
    Ok(found)
}

/// A document without a name is identified by its position. If it were deleted, the same merge again would delete the next one.
pub(crate) fn delete_unnamed(source: Version<'_>) -> Diagnostic {
    let error = Diagnostic::error(MergeKind::DeleteUnnamed).in_file(source.file);
    error.at(source.node.document().file(), source.node.span())
}

fn duplicate_resource(
    file: NamedFile<'_>,
    identity: &Identity,
    first: DocumentRef<'_>,
    again: DocumentRef<'_>,
) -> Diagnostic {
    let span = |document: DocumentRef<'_>| {
        document.root().map_or(document.span(), |root| root.full_span())
    };
    Diagnostic::error(MergeKind::DuplicateResource { resource: identity.to_string() })
        .in_file(file.name)
        .at(file.file, span(again))
        .related(file.file, span(first), "first here")
}

/// The merge of a file.
struct FileMerge<'a, 'r> {
    destination: NamedFile<'a>,
    merger: Merger<'a, 'r>,
    edit: Edit<'a>,
    /// Positions of documents of the destination that are removed.
    removed: BTreeSet<usize>,
    /// Documents that are added, with their texts.
    new: Vec<(DocumentRef<'a>, Cow<'a, str>)>,
    conflicts: Vec<Conflict>,
    warnings: Vec<Diagnostic>,
}

impl<'a, 'r> FileMerge<'a, 'r> {
    fn new(destination: NamedFile<'a>, options: &'r MergeOptions<'r>) -> Self {
        let is_json = PackagePath::is_json_name(destination.name);
        Self {
            destination,
            merger: Merger::new(options),
            edit: Edit::new(destination.file).allow_shared(true).json(is_json),
            removed: BTreeSet::new(),
            new: Vec::new(),
            conflicts: Vec::new(),
            warnings: Vec::new(),
        }
    }

    fn add_report(&mut self, here: Version<'a>, report: MergeReport) {
        if report.action == MergeAction::Remove {
            self.removed.insert(here.node.document().index());
        }
        self.add_diagnostics(report.conflicts, report.warnings);
    }

    fn add_diagnostics(&mut self, conflicts: Vec<Conflict>, warnings: Vec<Diagnostic>) {
        self.conflicts.extend(conflicts);
        self.warnings.extend(warnings);
    }

    fn finish(self) -> Result<MergedFile, Diagnostic> {
        let file = self.destination.file;
        let mut text = match self.edit.is_empty() {
            true => file.text().to_owned(),
            false => self.edit.apply().map_err(|error| {
                Diagnostic::from_edit(&error, file).in_file(self.destination.name)
            })?,
        };
        let count = file.documents().count() - self.removed.len() + self.new.len();
        if !self.removed.is_empty() {
            text = remove_documents(text, &self.removed)?;
        }
        for (document, new) in &self.new {
            append(&mut text, *document, new);
        }
        if !(self.removed.is_empty() && self.new.is_empty()) {
            check_documents(self.destination, &text, count)?;
        }
        Ok(MergedFile { text, conflicts: self.conflicts, warnings: self.warnings })
    }
}

/// Checks that adding and removing documents left the others intact: without a `---` two of them would become one.
fn check_documents(destination: NamedFile<'_>, text: &str, count: usize) -> Result<(), Diagnostic> {
    let file = File::parse(text.to_owned()).map_err(|error| Diagnostic::from(&error))?;
    if file.errors().next().is_none() && file.documents().count() == count {
        return Ok(());
    }
    Err(Diagnostic::error(MergeKind::InseparableDocuments).in_file(destination.name))
}

/// Removes documents from a text.
fn remove_documents(text: String, removed: &BTreeSet<usize>) -> Result<String, Diagnostic> {
    let file = File::parse(text).map_err(|error| Diagnostic::from(&error))?;
    let kept = file.documents().filter(|document| !removed.contains(&document.index()));
    Ok(kept.map(DocumentRef::text).collect())
}

/// Appends a document.
fn append(text: &mut String, document: DocumentRef<'_>, new: &str) {
    let is_crlf = text.contains("\r\n");
    let new = new.trim_start_matches('\u{feff}').replace("\r\n", "\n");
    let mut lines = String::new();
    if !text.is_empty() && !text.ends_with('\n') {
        lines.push('\n');
    }
    let is_empty = text.trim().is_empty();
    if !document.directives().is_empty() && !is_empty && !text.trim_end().ends_with("\n...") {
        lines.push_str("...\n");
    } else if document.start_marker().is_none() && !is_empty {
        lines.push_str("---\n");
    }
    lines.push_str(&new);
    if !lines.ends_with('\n') {
        lines.push('\n');
    }
    text.push_str(&if is_crlf { lines.replace('\n', "\r\n") } else { lines });
}
