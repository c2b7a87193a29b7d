//! Merges files: their documents are paired as those of packages are, and new ones follow their neighbours of upstream.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use krm_yaml::{DocumentRef, Edit, File};

use super::options::MergeOptions;
use super::{
    Conflict, FooterChange, MergeAction, MergeReport, Merger, Version, equal, write_footers,
};
use crate::files::arrangement::is_blank;
use crate::files::remove;
use crate::merge::kinds::MergeKind;
use crate::merge::package::{MergeUnit, UnitPairing, UnitVersion};
use crate::model::resource::is_written;
use crate::print::source_text;
use crate::{Diagnostic, Package, PackageFile, PackagePath};

/// A file with its display name.
#[derive(Clone, Copy, Debug)]
pub struct NamedFile<'a> {
    /// The name in diagnostics.
    pub name: &'a str,
    /// The file.
    pub file: &'a Arc<File>,
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

/// Merges the documents of one file into those of another.
///
/// ```
/// use krm_core::merge::{MergeOptions, NamedFile, merge_files};
/// use krm_yaml::File;
///
/// let [source, destination] = ["a: 5\n---\nc: 1\n", "a: 3 # for now\n"]
///     .map(|text| std::sync::Arc::new(File::parse(text.to_owned()).unwrap()));
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
    let packages = as_packages([source, destination]);
    let [theirs, ours] = &packages;
    let units = PAIRING.two_way([theirs, ours]).map_err(first_error)?;
    let mut merge = FileMerge::new(destination, options);
    let is_only = destination.file.documents().count() == 1;
    for unit in &units {
        let Some(patch) = unit.upstream else { continue };
        match unit.local {
            None => {
                let text = merge.merger.new_document_text(patch.version())?;
                let document = patch.node.document();
                merge.new.extend(text.map(|text| NewText { document, text, after: None }));
            }
            Some(here) => {
                let report =
                    merge.merger.two_way(patch.version(), here.version(), &mut merge.edit)?;
                let has_name = patch.resource.is_some_and(|it| it.identity().is_some());
                if report.action == MergeAction::Remove && !has_name && !is_only {
                    return Err(delete_unnamed(patch.version()));
                }
                merge.add_report(unit, report);
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
    let packages = as_packages([base, upstream, local]);
    let [old, theirs, ours] = &packages;
    let units = PAIRING.three_way([old, theirs, ours]).map_err(first_error)?;
    let mut merge = FileMerge::new(local, options);
    for unit in &units {
        let [before, here, there] = [unit.base, unit.local, unit.upstream].map(version_of);
        let report = merge.merger.three_way(before, here, there, &mut merge.edit)?;
        if let (None, Some(new), MergeAction::Insert) = (here, unit.upstream, report.action) {
            let document = new.node.document();
            let after = FileMerge::preceding(&units, new);
            merge.new.push(NewText { document, text: Cow::Borrowed(document.text()), after });
        }
        let is_kept = report.action == MergeAction::Keep && !PackagePath::is_json_name(local.name);
        merge.footers.extend(unit.footer_change().filter(|_| is_kept));
        merge.add_report(unit, report);
    }
    let mut merged = merge.finish()?;
    if !PackagePath::is_json_name(local.name) {
        let warnings = units.iter().flat_map(|unit| unit.left_out_comments(&merged.text));
        merged.warnings.extend(warnings);
    }
    Ok(merged)
}

fn version_of(side: Option<UnitVersion<'_>>) -> Option<Version<'_>> {
    side.map(|side| side.version())
}

/// Lists are merged as documents, because they have fields besides their items.
const PAIRING: UnitPairing =
    UnitPairing { by_path: false, finds_renames: false, whole_documents: true, are_files: true };

/// Each file as a package of its own. All have the same path, because the files are versions of one.
fn as_packages<const N: usize>(files: [NamedFile<'_>; N]) -> [Package; N] {
    let name = files[N - 1].name.rsplit('/').next().unwrap_or_default();
    let path = PackagePath::new(name).or_else(|_| PackagePath::new("-"));
    let path = path.expect("`-` is a path");
    files.map(|named| {
        Package::new(vec![PackageFile {
            path: path.clone(),
            display_path: named.name.to_owned(),
            is_external_symlink: false,
            content: Ok(Arc::clone(named.file)),
        }])
    })
}

fn first_error(errors: Vec<Diagnostic>) -> Diagnostic {
    errors.into_iter().next().expect("pairing fails with at least one error")
}

/// A document without a name is identified by its position. If it were deleted, the same merge again would delete the next one.
pub(crate) fn delete_unnamed(source: Version<'_>) -> Diagnostic {
    let error = Diagnostic::error(MergeKind::DeleteUnnamed).in_file(source.file);
    error.at(source.node.document().file(), source.node.span())
}

/// A document that is added.
struct NewText<'a> {
    document: DocumentRef<'a>,
    text: Cow<'a, str>,
    /// The position of the document that it follows; `None` at the end.
    after: Option<usize>,
}

/// The merge of a file.
struct FileMerge<'a, 'r> {
    destination: NamedFile<'a>,
    merger: Merger<'a, 'r>,
    edit: Edit<'a>,
    /// Positions of documents of the destination that are removed.
    removed: BTreeSet<usize>,
    /// Comments at the end of documents that change.
    footers: Vec<FooterChange>,
    /// Documents that are added.
    new: Vec<NewText<'a>>,
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
            footers: Vec::new(),
            new: Vec::new(),
            conflicts: Vec::new(),
            warnings: Vec::new(),
        }
    }

    fn add_report(&mut self, unit: &MergeUnit<'a>, mut report: MergeReport) {
        unit.complete(&mut report.conflicts);
        if let (MergeAction::Remove, Some(here)) = (report.action, unit.local) {
            self.removed.insert(here.node.document().index());
        }
        self.warnings.extend(unit.note());
        self.conflicts.extend(report.conflicts);
        self.warnings.extend(report.warnings);
    }

    /// The position of the document of local that a new document follows upstream.
    fn preceding(units: &[MergeUnit<'a>], new: UnitVersion<'a>) -> Option<usize> {
        let index = |version: UnitVersion<'a>| version.node.document().index();
        let before = units.iter().filter_map(|unit| Some((index(unit.upstream?), unit.local?)));
        let before = before.filter(|(theirs, _)| *theirs < index(new));
        before.max_by_key(|(theirs, _)| *theirs).map(|(_, local)| index(local))
    }

    fn finish(mut self) -> Result<MergedFile, Diagnostic> {
        self.new.sort_by_key(|new| new.document.index());
        let file = self.destination.file;
        let mut text = match self.edit.is_empty() {
            true => file.text().to_owned(),
            false => self.edit.apply().map_err(|error| {
                Diagnostic::from_edit(&error, file).in_file(self.destination.name)
            })?,
        };
        text = write_footers(text, &self.footers);
        if !(self.removed.is_empty() && self.new.is_empty()) {
            let in_file = |error: Diagnostic| error.in_file(self.destination.name);
            text = assemble(text, &self.removed, self.new).map_err(in_file)?;
        }
        Ok(MergedFile { text, conflicts: self.conflicts, warnings: self.warnings })
    }
}

/// Removes and adds documents. Where a new document cannot follow its neighbour, because of directives, it is appended.
fn assemble(
    text: String,
    removed: &BTreeSet<usize>,
    mut new: Vec<NewText<'_>>,
) -> Result<String, Diagnostic> {
    let file = File::parse(text).map_err(|error| Diagnostic::from(&error))?;
    let count = count_documents(&file) - removed.len() + new.len();
    let kept = || file.documents().filter(|document| !removed.contains(&document.index()));
    let is_intact = |text: &str| {
        let file = File::parse(text.to_owned());
        file.is_ok_and(|it| {
            it.errors().next().is_none()
                && count_documents(&it) == count
                && has_documents(&it, kept())
        })
    };
    let text = arrange(&file, removed, &new);
    if is_intact(&text) {
        return Ok(text);
    }
    new.iter_mut().for_each(|new| new.after = None);
    let text = arrange(&file, removed, &new);
    let error = Diagnostic::error(MergeKind::InseparableDocuments);
    if is_intact(&text) { Ok(text) } else { Err(error) }
}

/// Whether a file has the given documents in this order, among others.
fn has_documents<'a>(file: &File, documents: impl Iterator<Item = DocumentRef<'a>>) -> bool {
    let mut found = file.documents().filter_map(|document| document.root());
    let mut roots = documents.filter_map(|document| document.root()).filter(|it| is_written(*it));
    roots.all(|root| found.any(|other| equal(root, other)))
}

/// How many documents are not empty.
fn count_documents(file: &File) -> usize {
    let roots = file.documents().filter_map(|document| document.root());
    roots.filter(|root| is_written(*root)).count()
}

/// The text of a file without the removed documents and with the new ones.
fn arrange(file: &File, removed: &BTreeSet<usize>, new: &[NewText<'_>]) -> String {
    let is_marked = file.document(0).is_none_or(|first| first.start_marker().is_some());
    let mut text = match file.document(0) {
        Some(_) => String::with_capacity(file.text().len()),
        None => file.text().to_owned(),
    };
    for document in file.documents() {
        text.push_str(match removed.contains(&document.index()) {
            true => remove::own_comments(document),
            false if text.is_empty() && !is_marked => remove::without_separator(document),
            false => document.text(),
        });
        for new in new.iter().filter(|new| new.after == Some(document.index())) {
            append(&mut text, new.document, &new.text);
        }
    }
    for new in new.iter().filter(|new| new.after.is_none()) {
        append(&mut text, new.document, &new.text);
    }
    text
}

/// Appends a document.
fn append(text: &mut String, document: DocumentRef<'_>, new: &str) {
    let is_crlf = text.contains("\r\n");
    let new = new.trim_start_matches('\u{feff}').replace("\r\n", "\n");
    // The comments of a file without documents are those above the first one that is added.
    if is_blank(text) && new.starts_with(text.trim_end()) {
        text.clear();
    }
    *text = source_text::closed(std::mem::take(text));
    let mut lines = String::new();
    let is_empty = text.trim().is_empty();
    if !document.directives().is_empty() && !is_empty && !text.trim_end().ends_with("\n...") {
        lines.push_str("...\n");
    } else if document.start_marker().is_none() && !is_empty {
        lines.push_str("---\n");
    }
    lines.push_str(&source_text::closed(new));
    if !lines.ends_with('\n') {
        lines.push('\n');
    }
    text.push_str(&if is_crlf { lines.replace('\n', "\r\n") } else { lines });
}
