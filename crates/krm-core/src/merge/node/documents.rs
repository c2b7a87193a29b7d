//! Whole files: their documents pair by identity where they are resources and by position where they are not.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use krm_yaml::{DocumentRef, Edit, File};

use super::rules::Rules;
use super::{Conflict, Merger, Outcome, Version};
use crate::model::resource::{Identity, Resource, is_resource};
use crate::{Diagnostic, PackagePath};

/// A file with the name that people know it by.
#[derive(Clone, Copy, Debug)]
pub struct NamedFile<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its text with the index of its documents.
    pub file: &'a File,
}

/// What became of a file.
#[derive(Debug)]
pub struct MergedFile {
    /// The destination's text as it should be.
    pub text: String,
    /// Where both sides changed the same thing.
    pub conflicts: Vec<Conflict>,
    /// What is good to know.
    pub warnings: Vec<Diagnostic>,
}

/// Which document of its file it is, across versions.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Name {
    Resource(Identity),
    /// A resource without a name: by its kind, and which of these it is.
    Nameless(String, usize),
    /// Not a resource: which of these it is.
    Position(usize),
}

/// Merges the documents of one file into those of another.
///
/// ```
/// use krm_core::merge::node::{NamedFile, Rules, two_way_files};
/// use krm_yaml::File;
///
/// let [source, destination] =
///     ["a: 5\n---\nc: 1\n", "a: 3 # for now\n"].map(|text| File::parse(text.to_owned()).unwrap());
/// let merged = two_way_files(
///     NamedFile { name: "source.yaml", file: &source },
///     NamedFile { name: "destination.yaml", file: &destination },
///     &Rules::default(),
/// );
/// assert_eq!(merged.unwrap().text, "a: 5 # for now\n---\nc: 1\n");
/// ```
pub fn two_way_files(
    source: NamedFile<'_>,
    destination: NamedFile<'_>,
    rules: &Rules<'_>,
) -> Result<MergedFile, Diagnostic> {
    let (theirs, ours) = (documents(source)?, documents(destination)?);
    let mut merge = Merge::new(destination, rules);
    for (name, document) in theirs.iter() {
        let Some(source_root) = version(source, *document) else { continue };
        match ours.get(name).and_then(|document| version(destination, *document)) {
            None => {
                let text = merge.merger.coming(source_root)?;
                merge.new.extend(text.map(|text| (*document, text)));
            }
            Some(here) => {
                let report = merge.merger.two_way(source_root, here, &mut merge.edit)?;
                if report.outcome == Outcome::Goes && !matches!(name, Name::Resource(_)) {
                    return Err(nameless(source_root));
                }
                merge.note(here, report);
            }
        }
    }
    merge.finish()
}

/// Merges what changed between the documents of base and upstream into those of local.
pub fn three_way_files(
    base: NamedFile<'_>,
    local: NamedFile<'_>,
    upstream: NamedFile<'_>,
    rules: &Rules<'_>,
) -> Result<MergedFile, Diagnostic> {
    let [old, ours, theirs] = [documents(base)?, documents(local)?, documents(upstream)?];
    let names = theirs.order.iter().chain(ours.order.iter().filter(|it| theirs.get(it).is_none()));
    let mut merge = Merge::new(local, rules);
    for name in names {
        let here = ours.get(name).and_then(|document| version(local, *document));
        let there = theirs.get(name).and_then(|document| version(upstream, *document));
        let before = old.get(name).and_then(|document| version(base, *document));
        let report = merge.merger.three_way(before, here, there, &mut merge.edit)?;
        match (here, there) {
            (Some(here), _) => merge.note(here, report),
            (None, Some(there)) => {
                if report.outcome == Outcome::Comes {
                    let document = there.node.document();
                    merge.new.push((document, Cow::Borrowed(document.text())));
                }
                merge.tell(report.conflicts, report.warnings);
            }
            (None, None) => {}
        }
    }
    merge.finish()
}

fn version<'a>(file: NamedFile<'a>, document: DocumentRef<'a>) -> Option<Version<'a>> {
    document.root().map(|root| Version::new(root, file.name))
}

/// The documents of a file by name.
struct Documents<'a> {
    order: Vec<Name>,
    named: BTreeMap<Name, DocumentRef<'a>>,
}

impl<'a> Documents<'a> {
    fn get(&self, name: &Name) -> Option<&DocumentRef<'a>> {
        self.named.get(name)
    }

    fn iter(&self) -> impl Iterator<Item = (&Name, &DocumentRef<'a>)> {
        self.order.iter().filter_map(|name| Some((name, self.named.get(name)?)))
    }
}

fn documents<'a>(file: NamedFile<'a>) -> Result<Documents<'a>, Diagnostic> {
    let mut found = Documents { order: Vec::new(), named: BTreeMap::new() };
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for document in file.file.documents() {
        let root = document.root().filter(|root| is_resource(*root));
        let identity = root.and_then(|node| Resource { node, item: None }.identity());
        let name = match identity {
            Some(identity) => Name::Resource(identity),
            None => {
                let kind = root.map(|node| Resource { node, item: None });
                let kind = kind.map(|it| format!("{} {}", it.group(), it.kind()));
                let count = counts.entry(kind.clone().unwrap_or_default()).or_insert(0);
                *count += 1;
                kind.map_or(Name::Position(*count), |kind| Name::Nameless(kind, *count))
            }
        };
        if let (Name::Resource(identity), Some(first)) = (&name, found.named.get(&name)) {
            return Err(double(file, identity, *first, document));
        }
        found.order.push(name.clone());
        found.named.insert(name, document);
    }
    Ok(found)
}

/// A deletion by position would take the next document when it is made again.
pub(crate) fn nameless(source: Version<'_>) -> Diagnostic {
    let words = "`$patch: delete` says to delete a document that has no name to know it by";
    let told = Diagnostic::untyped_error(words).in_file(source.file);
    told.at(source.node.document().file(), source.node.span())
        .hint("give `apiVersion`, `kind` and `metadata.name`, or remove the document by hand")
}

fn double(
    file: NamedFile<'_>,
    identity: &Identity,
    first: DocumentRef<'_>,
    again: DocumentRef<'_>,
) -> Diagnostic {
    let span = |document: DocumentRef<'_>| {
        document.root().map_or(document.span(), |root| root.full_span())
    };
    Diagnostic::untyped_error(format!(
        "{identity} is there twice, and it is not clear which one is meant"
    ))
    .in_file(file.name)
    .at(file.file, span(again))
    .related(file.file, span(first), "first here")
}

/// The merge of a file.
struct Merge<'a, 'r> {
    destination: NamedFile<'a>,
    merger: Merger<'a, 'r>,
    edit: Edit<'a>,
    /// Documents of the destination that go, by their place in it.
    gone: BTreeSet<usize>,
    /// Documents that come, with their texts as they come.
    new: Vec<(DocumentRef<'a>, Cow<'a, str>)>,
    conflicts: Vec<Conflict>,
    warnings: Vec<Diagnostic>,
}

impl<'a, 'r> Merge<'a, 'r> {
    fn new(destination: NamedFile<'a>, rules: &'r Rules<'r>) -> Self {
        let is_json = PackagePath::is_json_name(destination.name);
        Self {
            destination,
            merger: Merger::new(rules),
            edit: Edit::new(destination.file).allow_shared(true).json(is_json),
            gone: BTreeSet::new(),
            new: Vec::new(),
            conflicts: Vec::new(),
            warnings: Vec::new(),
        }
    }

    fn note(&mut self, here: Version<'a>, report: super::Report) {
        if report.outcome == Outcome::Goes {
            self.gone.insert(here.node.document().index());
        }
        self.tell(report.conflicts, report.warnings);
    }

    fn tell(&mut self, conflicts: Vec<Conflict>, warnings: Vec<Diagnostic>) {
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
        let count = file.documents().count() - self.gone.len() + self.new.len();
        if !self.gone.is_empty() {
            text = without(text, &self.gone)?;
        }
        for (document, new) in &self.new {
            append(&mut text, *document, new);
        }
        if !(self.gone.is_empty() && self.new.is_empty()) {
            read_back(self.destination, &text, count)?;
        }
        Ok(MergedFile { text, conflicts: self.conflicts, warnings: self.warnings })
    }
}

/// Documents that come and go must leave the others documents.
fn read_back(destination: NamedFile<'_>, text: &str, count: usize) -> Result<(), Diagnostic> {
    let file = File::parse(text.to_owned()).map_err(|error| Diagnostic::from(&error))?;
    if file.errors().next().is_none() && file.documents().count() == count {
        return Ok(());
    }
    let message = "documents cannot come to this file or go from it without harm to the others";
    Err(Diagnostic::untyped_error(message).in_file(destination.name))
}

/// A text without some of its documents.
fn without(text: String, gone: &BTreeSet<usize>) -> Result<String, Diagnostic> {
    let file = File::parse(text).map_err(|error| Diagnostic::from(&error))?;
    let kept = file.documents().filter(|document| !gone.contains(&document.index()));
    Ok(kept.map(DocumentRef::text).collect())
}

/// Adds a document behind the others.
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
