//! What a run changes, resource by resource.

use krm_core::diff::{DiffItem, Differ, ResourceDiff, diff_packages, field_lines, heading};
use krm_core::{Action, Package, PackageFile, PlannedChange};

use super::authors::{AuthorIndex, Authors, LineAuthors};
use super::package_directories::PackageDirectories;
use crate::console::masked_texts;
use crate::parallel;

/// The changes of a run.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    files: Vec<PlannedChange>,
    pub(super) authors: Authors,
}

/// A resource, or a file that cannot be divided into resources, that changes.
#[derive(Clone, Debug)]
pub(super) struct ChangedResource {
    /// The directory of its package.
    pub(super) package: String,
    pub(super) file: String,
    /// `Deployment shop/web`, or the name of the file.
    pub(super) title: String,
    pub(super) action: Action,
    /// What changes, a line for each field. None if only comments and formatting change.
    pub(super) fields: Vec<String>,
    pub(super) old: Part,
    pub(super) new: Part,
    /// The authors of the lines of the new text, as far as they are known.
    pub(super) authors: LineAuthors,
}

/// A part of a file. Values of Secrets are masked, unless they are asked for.
#[derive(Clone, Debug, Default)]
pub(super) struct Part {
    pub(super) text: String,
    /// The number of its first line, from one.
    pub(super) line: usize,
}

impl ChangedResource {
    pub(super) fn verb(&self) -> &'static str {
        match self.action {
            Action::Create => "created",
            Action::Delete => "deleted",
            Action::Update | Action::Unchanged => "changed",
        }
    }

    /// The functions that wrote lines of the new text, by their position.
    pub(super) fn functions(&self) -> Vec<usize> {
        let mut functions: Vec<usize> = self.authors.iter().flatten().copied().collect();
        functions.sort_unstable();
        functions.dedup();
        functions
    }
}

impl Changes {
    pub(super) fn add_file(&mut self, change: &PlannedChange) {
        if change.action() != Action::Unchanged {
            self.files.push(change.clone());
        }
    }

    /// All changed resources, in the order of packages and files.
    pub(super) fn resources(&self, show_secrets: bool) -> Vec<ChangedResource> {
        let authors = self.authors.index();
        let of_file = |at: usize| resources(&self.files[at], &authors, show_secrets);
        let found = parallel::for_each_index(self.files.len(), &of_file);
        let mut packages = PackageDirectories::default();
        let mut found: Vec<ChangedResource> = found
            .into_iter()
            .flatten()
            .map(|it| ChangedResource { package: packages.of(&it.file), ..it })
            .collect();
        found.sort_by(|a, b| (&a.package, &a.file).cmp(&(&b.package, &b.file)));
        found
    }
}

/// The resources of a file that change.
fn resources(
    change: &PlannedChange,
    authors: &AuthorIndex<'_>,
    show_secrets: bool,
) -> Vec<ChangedResource> {
    let file = Changed { change, authors, show_secrets };
    let old = change.old.as_deref().unwrap_or_default();
    let new = change.new_text().unwrap_or_default();
    let (Some(old), Some(new)) = (file.parse(old), file.parse(&new)) else {
        return vec![file.whole(&[])];
    };
    let changes = by_position(&old, &new).or_else(|| {
        diff_packages(&old, &new, false, krm_core::compare::ListOptions::default()).ok()
    });
    let changes = changes.unwrap_or_default();
    if !is_divided(&old, &new, &changes) {
        return vec![file.whole(&changes)];
    }
    changes.iter().filter_map(|change| file.resource(change)).collect()
}

/// A file that changes.
struct Changed<'a> {
    change: &'a PlannedChange,
    authors: &'a AuthorIndex<'a>,
    show_secrets: bool,
}

impl Changed<'_> {
    fn name(&self) -> &str {
        self.change.display_path.as_str()
    }

    fn parse(&self, text: &str) -> Option<Package> {
        let name = self.name().rsplit('/').next().unwrap_or_default();
        let file = PackageFile::from_text(name, text.to_owned()).ok()?;
        file.errors().is_empty().then(|| Package::new(vec![file]))
    }

    /// The change of one resource; none if its document is the same.
    fn resource(&self, change: &ResourceDiff<'_>) -> Option<ChangedResource> {
        let part = |item: &Option<DiffItem<'_>>| {
            item.map(|item| {
                let document = item.node.document();
                let line = document.file().position(document.span().start).line as usize;
                Part { text: document.text().to_owned(), line }
            })
        };
        let (old, new) = (part(&change.old), part(&change.new));
        let (action, label) = match (&change.old, &change.new) {
            (Some(old), Some(new)) => (Action::Update, arrow(&old.label(), &new.label())),
            (Some(old), None) => (Action::Delete, old.label()),
            (None, new) => (Action::Create, new.map(|it| it.label()).unwrap_or_default()),
        };
        let (old, new) = (old.unwrap_or_default(), new.unwrap_or_default());
        if old.text == new.text {
            return None;
        }
        let authors = change.new.map(|it| self.authors.of(self.name(), &it.label(), &new.text));
        let fields =
            if change.is_semantic() { field_lines(change, self.show_secrets) } else { Vec::new() };
        Some(self.changed(action, label, fields, (old, new), authors.unwrap_or_default()))
    }

    /// The change of the file as a whole, with the fields of all its resources.
    fn whole(&self, changes: &[ResourceDiff<'_>]) -> ChangedResource {
        let semantic = changes.iter().filter(|change| change.is_semantic());
        let fields = semantic.flat_map(|change| {
            let fields = field_lines(change, self.show_secrets);
            let fields = fields.into_iter().map(|field| format!("  {field}"));
            std::iter::once(heading(change)).chain(fields)
        });
        let part = |text: Option<&str>| Part { text: text.unwrap_or_default().to_owned(), line: 1 };
        let (old, new) = (self.change.old.as_deref(), self.change.new_text());
        let (old, new) = (part(old), part(new.as_deref()));
        let title = self.name().rsplit('/').next().unwrap_or_default().to_owned();
        let authors = self.authors.of(self.name(), "", &new.text);
        self.changed(self.change.action(), title, fields.collect(), (old, new), authors)
    }

    fn changed(
        &self,
        action: Action,
        title: String,
        fields: Vec<String>,
        (old, new): (Part, Part),
        authors: LineAuthors,
    ) -> ChangedResource {
        let (old_text, new_text) = masked_texts(&old.text, &new.text, self.show_secrets);
        let (old_text, new_text) = (old_text.into_owned(), new_text.into_owned());
        // Masking a value of several lines leaves fewer lines.
        let is_same = new_text.lines().count() == new.text.lines().count();
        let authors = if is_same { authors } else { Vec::new() };
        ChangedResource {
            package: String::new(),
            file: self.name().to_owned(),
            title,
            action,
            fields,
            old: Part { text: old_text, ..old },
            new: Part { text: new_text, ..new },
            authors,
        }
    }
}

fn arrow(old: &str, new: &str) -> String {
    if old == new { new.to_owned() } else { format!("{old} → {new}") }
}

/// Pairs the resources of a file by their position if it has the same kinds before and after: a function that sets a namespace changes
/// a resource, and does not replace it.
fn by_position<'a>(old: &'a Package, new: &'a Package) -> Option<Vec<ResourceDiff<'a>>> {
    let items = |package: &'a Package| -> Vec<DiffItem<'a>> {
        let resources = package.resources().map(|it| DiffItem {
            file: it.file,
            node: it.resource.node,
            resource: Some(it.resource),
        });
        resources.collect()
    };
    let (old, new) = (items(old), items(new));
    let kind = |item: &DiffItem<'_>| item.resource.map(|it| it.kind().into_owned());
    let is_same = old.len() == new.len() && old.iter().zip(&new).all(|(a, b)| kind(a) == kind(b));
    is_same.then(|| {
        let mut differ = Differ::default();
        let pairs = old.into_iter().zip(new);
        let changes = pairs.map(|(old, new)| ResourceDiff {
            nodes: differ.compare(old.node, new.node),
            old: Some(old),
            new: Some(new),
            is_moved: false,
            is_renamed: false,
        });
        changes.collect()
    })
}

/// Whether each change is the one of a document, and no other document changes: then the file can be shown document by document.
fn is_divided(old: &Package, new: &Package, changes: &[ResourceDiff<'_>]) -> bool {
    let others = |package: &Package, side: fn(&ResourceDiff<'_>) -> Option<usize>| {
        let mut changed: Vec<usize> = changes.iter().filter_map(side).collect();
        changed.sort_unstable();
        let file = package.files().first().and_then(PackageFile::file);
        let documents = file.into_iter().flat_map(krm_yaml::File::documents);
        let others = documents.filter(|it| changed.binary_search(&it.index()).is_err());
        others.map(|it| it.text().to_owned()).collect::<Vec<String>>()
    };
    let is_document =
        |item: &Option<DiffItem<'_>>| item.is_none_or(|it| it.node.parent().is_none());
    changes.iter().all(|it| is_document(&it.old) && is_document(&it.new))
        && others(old, |it| it.old.map(|it| it.node.document().index()))
            == others(new, |it| it.new.map(|it| it.node.document().index()))
}
