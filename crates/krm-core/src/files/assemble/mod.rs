//! Assembly: writes changed items back to the files that they came from. Files are edited, created, moved and removed.
//!
//! ```
//! use krm_core::files::{Deletions, assemble};
//! use krm_core::functions::resource_list::Items;
//! use krm_core::{Package, PackageFile, PackagePath};
//!
//! let text = "# one\napiVersion: v1\nkind: A\n---\napiVersion: v1\nkind: B\n";
//! let package = Package::new(vec![PackageFile::from_text("a.yaml", text)?]);
//! let before = Items::from_package(&package, |_| true).expect("the package is valid").items;
//! let mut after = before.clone();
//! after[0] = after[0].with_text("# one\napiVersion: v1\nkind: A\nx: 1\n".to_owned()).expect("the text is valid");
//! after[1].path = Some(PackagePath::new("b.yaml")?);
//! after[1].index = None;
//! let done = assemble(&package, &before, &after, Deletions::Some).expect("the items fit into files");
//! let texts: Vec<String> = done.changes.into_iter().filter_map(|it| it.into_text()).collect();
//! assert_eq!(texts, ["# one\napiVersion: v1\nkind: A\nx: 1\n", "apiVersion: v1\nkind: B\n"]);
//! # Ok::<(), krm_core::PackagePathError>(())
//! ```

mod actions;
mod contents;
mod in_place;
mod known_items;
mod order;

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use self::actions::Actions;
use self::known_items::KnownItems;
use crate::files::arrangement::ResourcePosition;
use crate::files::{FilesKind, Placement};
use crate::functions::resource_list::{Item, to_json};
use crate::merge::FileChange;
use crate::{Diagnostic, Package, PackageFile, PackagePath};

/// What assembly may delete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Deletions {
    /// Some of the resources, but not all of them and no package file: a function that prints too little is a common bug.
    #[default]
    Some,
    /// Anything.
    Any,
}

/// A resource that is deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeletedResource {
    /// Its label: `Deployment shop/web`.
    pub resource: String,
    /// The file that it was in.
    pub path: PackagePath,
    /// Its index in the file.
    pub index: usize,
}

/// The changes that turn the package into what its items became.
#[derive(Debug, Default)]
pub struct AssembledFiles<'a> {
    /// The files that change, in the order of their paths.
    pub changes: Vec<FileChange<'a>>,
    /// The resources that are deleted, in the order of the package.
    pub deleted: Vec<DeletedResource>,
    /// What is lost although the functions returned it.
    pub warnings: Vec<Diagnostic>,
}

/// Computes the changes to the files of a package after some of its resources changed.
///
/// `before` are items of the package, `after` what they became: items with the same [`Item::origin`] are the same resource, and
/// resources that are in neither list stay as they are. An item with an index gets that position in its file; one without is appended
/// to the file that it names, or gets a new file if it names none.
pub fn assemble<'a>(
    package: &'a Package,
    before: &[Item],
    after: &[Item],
    deletions: Deletions,
) -> Result<AssembledFiles<'a>, Vec<Diagnostic>> {
    let one_by_one = |count: usize, work: &(dyn Fn(usize) -> FileResult<'a> + Sync)| {
        (0..count).map(work).collect()
    };
    assemble_with(package, before, after.to_vec(), deletions, one_by_one)
}

/// The change of one file, none if its text stays the same.
pub type FileResult<'a> = Result<Option<FileChange<'a>>, Diagnostic>;

/// Like [`assemble`]. `for_each` computes the result of each of this many files, in order, and may do so in parallel. The items of a file
/// are dropped as soon as its text is there, so that a large package needs no memory for both.
pub fn assemble_with<'a>(
    package: &'a Package,
    before: &[Item],
    after: Vec<Item>,
    deletions: Deletions,
    for_each: impl FnOnce(usize, &(dyn Fn(usize) -> FileResult<'a> + Sync)) -> Vec<FileResult<'a>>,
) -> Result<AssembledFiles<'a>, Vec<Diagnostic>> {
    if is_unchanged(before, &after) {
        return Ok(AssembledFiles::default());
    }
    let known = KnownItems::of(before);
    let (after, warnings) = as_written(&known, after)?;
    let files = package.files().iter().map(|_| Mutex::new(None)).collect();
    let mut assembly = Assembly { package, known, files, new_files: BTreeMap::new(), last: 0 };
    let deleted = assembly.assign(before, after)?;
    if deletions == Deletions::Some {
        check_deletions(&deleted, before)?;
    }
    let (known, files) = (package.files(), assembly.files);
    let (new_paths, new_files): (Vec<PackagePath>, Vec<_>) =
        assembly.new_files.into_iter().map(|(path, file)| (path, Mutex::new(Some(file)))).unzip();
    let results = for_each(known.len() + new_files.len(), &|at| {
        let (file, path) = match at.checked_sub(known.len()) {
            None => (&files[at], &known[at].path),
            Some(at) => (&new_files[at], &new_paths[at]),
        };
        // Taken, so that its items are dropped when it is finished.
        let file = file.lock().unwrap_or_else(PoisonError::into_inner).take();
        let touched = file.filter(|file| file.is_touched);
        touched.map_or(Ok(None), |file| file.finish(path.clone()))
    });
    let (mut changes, mut errors) = (Vec::new(), Vec::new());
    for result in results {
        match result {
            Ok(change) => changes.extend(change),
            Err(error) => errors.push(error),
        }
    }
    if !new_paths.is_empty() {
        changes.sort_by(|one, other| one.path.cmp(&other.path));
    }
    if errors.is_empty() { Ok(AssembledFiles { changes, deleted, warnings }) } else { Err(errors) }
}

/// Items as they are written, and warnings about what they lose.
type WrittenItems = (Vec<Item>, Vec<Diagnostic>);

/// The items as they are written: those that come to a JSON file as JSON.
fn as_written(
    known: &KnownItems<'_>,
    mut items: Vec<Item>,
) -> Result<WrittenItems, Vec<Diagnostic>> {
    let mut warnings = Vec::new();
    for item in &mut items {
        let Some(path) = item.path.as_ref().filter(|path| path.is_json()) else { continue };
        let old = item.origin.and_then(|origin| known.get(origin)?.path.as_ref());
        if old == Some(path) {
            continue;
        }
        let json = to_json(item).map_err(|error| vec![cannot_place(item, error)])?;
        if let Some((json, count)) = json {
            let kind = FilesKind::CommentsLost { path: path.to_string(), count };
            warnings.extend((count > 0).then(|| Diagnostic::warning(kind)));
            *item = json;
        }
    }
    Ok((items, warnings))
}

/// Whether nothing changed. Worth a shortcut: most functions only validate.
fn is_unchanged(before: &[Item], after: &[Item]) -> bool {
    let is_same = |(new, old): (&Item, &Item)| new.origin == old.origin && new.is_unchanged(old);
    before.len() == after.len()
        && before.iter().all(|item| item.origin.is_some())
        && after.iter().zip(before).all(is_same)
}

/// A file of the package, and the changes to its resources.
#[derive(Default)]
struct FileAssembly<'a, 'b> {
    old: Option<&'a PackageFile>,
    /// The positions of the resources in the file, by index; filled in only if they are needed.
    positions: Vec<ResourcePosition>,
    /// What happens to its resources, by index; resources without an entry were not selected and stay.
    actions: Actions<'b>,
    /// Items that are new or come from other files, in order.
    incoming: Vec<Incoming>,
    is_touched: bool,
}

/// What happens to a resource of a file.
enum ResourceAction<'b> {
    /// It stays in the file, changed or not. `order` is its position among all items.
    Keep { before: &'b Item, after: Item, order: usize },
    /// It is deleted, or moves to another file.
    Remove,
}

/// An item that comes to a file.
struct Incoming {
    item: Item,
    /// Its position among all items.
    order: usize,
}

struct Assembly<'a, 'b> {
    package: &'a Package,
    /// The items of the package. They have the path and index that they have in the package.
    known: KnownItems<'b>,
    /// The files of the package, as far as they have items. They are finished in parallel.
    files: Vec<Mutex<Option<FileAssembly<'a, 'b>>>>,
    /// Files that the package does not have.
    new_files: BTreeMap<PackagePath, FileAssembly<'a, 'b>>,
    /// The index of the last file of the package that was looked up: the next item is mostly in the same or the next one.
    last: usize,
}

impl<'a, 'b> Assembly<'a, 'b> {
    fn file(&mut self, path: &PackagePath) -> &mut FileAssembly<'a, 'b> {
        let files = self.package.files();
        let is_it = |at: &usize| files.get(*at).is_some_and(|file| file.path == *path);
        let near = [self.last, self.last + 1].into_iter().find(is_it);
        let found = near.or_else(|| files.binary_search_by(|file| file.path.cmp(path)).ok());
        let Some(at) = found else { return self.new_files.entry(path.clone()).or_default() };
        self.last = at;
        let new = || FileAssembly { old: Some(&files[at]), ..FileAssembly::default() };
        self.files[at].get_mut().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(new)
    }

    fn all_files(&mut self) -> impl Iterator<Item = &mut FileAssembly<'a, 'b>> {
        let files = self.files.iter_mut();
        let files = files.map(|file| file.get_mut().unwrap_or_else(PoisonError::into_inner));
        files.flatten().chain(self.new_files.values_mut())
    }

    /// Assigns every item to its file, and returns the resources that are deleted.
    fn assign(
        &mut self,
        before: &'b [Item],
        after: Vec<Item>,
    ) -> Result<Vec<DeletedResource>, Vec<Diagnostic>> {
        let mut seen = vec![false; self.known.items.len()];
        let mut placement = None;
        let mut errors = Vec::new();
        let mut without_path = Vec::new();
        for (order, item) in after.into_iter().enumerate() {
            let position = item.origin.and_then(|origin| self.known.position(origin));
            let position = position.filter(|at| !std::mem::replace(&mut seen[*at], true));
            let old = position.and_then(|at| located(self.known.items[at].1));
            let path = item.path.clone().or(old.map(|(_, path, _)| path.clone()));
            let Some(path) = path else {
                without_path.push(Incoming { item, order });
                continue;
            };
            match old {
                Some((before, old_path, old_index)) if *old_path == path => {
                    let is_unchanged = item.shares_text(before)
                        && item.index.is_none_or(|index| index == old_index);
                    let file = self.file(&path);
                    file.is_touched |= !is_unchanged;
                    let action = ResourceAction::Keep { before, after: item, order };
                    file.actions.insert(old_index, action);
                }
                _ => {
                    let placement = placement.get_or_insert_with(|| Placement::of(self.package));
                    match placement.check(path.as_str()).and_then(|path| self.check_read(path)) {
                        Ok(path) => self.insert(&path, Incoming { item, order }),
                        Err(error) => errors.push(cannot_place(&item, error)),
                    }
                }
            }
        }
        for incoming in without_path {
            let placement = placement.get_or_insert_with(|| Placement::of(self.package));
            let path = placement.new_file(incoming.item.resource());
            self.insert(&path, incoming);
        }
        self.all_files().for_each(|file| file.actions.sort());
        let mut deleted = Vec::new();
        for (item, path, index) in before.iter().filter_map(located) {
            let file = self.file(path);
            if file.actions.get(index).is_none() {
                file.is_touched = true;
                file.actions.insert(index, ResourceAction::Remove);
            }
            let position = item.origin.and_then(|origin| self.known.position(origin));
            if position.is_some_and(|at| !seen[at]) {
                let (path, resource) = (path.clone(), item.resource().label());
                deleted.push(DeletedResource { resource, path, index });
            }
        }
        self.all_files().for_each(|file| file.actions.sort());
        if errors.is_empty() { Ok(deleted) } else { Err(errors) }
    }

    /// Checks that a file is loaded with the package: a resource in any other file would be lost to every tool.
    fn check_read(&self, path: PackagePath) -> Result<PackagePath, Diagnostic> {
        let is_read = PackagePath::is_manifest_name(path.name());
        match is_read || self.package.file(&path).is_some() {
            true => Ok(path),
            false => Err(Diagnostic::error(FilesKind::UnreadPath { path: path.to_string() })),
        }
    }

    fn insert(&mut self, path: &PackagePath, incoming: Incoming) {
        let file = self.file(path);
        file.is_touched = true;
        file.incoming.push(incoming);
    }
}

/// An item of the package with its path and index there.
fn located(before: &Item) -> Option<(&Item, &PackagePath, usize)> {
    before.origin?;
    Some((before, before.path.as_ref()?, before.index?))
}

fn cannot_place(item: &Item, error: Diagnostic) -> Diagnostic {
    error.context(format!("cannot place {}", item.resource().label()))
}

fn check_deletions(deleted: &[DeletedResource], before: &[Item]) -> Result<(), Vec<Diagnostic>> {
    let refused = |kind: FilesKind| Err(vec![Diagnostic::error(kind)]);
    if let Some(own) = deleted.iter().find(|it| it.path.is_package_file()) {
        return refused(FilesKind::DeletesPackageFile { path: own.path.to_string() });
    }
    if !deleted.is_empty() && deleted.len() == before.len() {
        return refused(FilesKind::DeletesEverything { count: deleted.len() });
    }
    Ok(())
}

#[cfg(test)]
mod tests;
