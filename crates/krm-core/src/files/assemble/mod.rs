//! Puts items back into the files that they came from: files are edited, made, moved and removed.
//!
//! ```
//! use krm_core::files::{Deletions, assemble};
//! use krm_core::functions::resource_list::Items;
//! use krm_core::{Package, PackageFile, PackagePath};
//!
//! let text = "# one\napiVersion: v1\nkind: A\n---\napiVersion: v1\nkind: B\n";
//! let package = Package::new(vec![PackageFile::from_text("a.yaml", text)?]);
//! let before = Items::from_package(&package, |_| true).expect("all can be read").items;
//! let mut after = before.clone();
//! after[0] = after[0].with_text("# one\napiVersion: v1\nkind: A\nx: 1\n".to_owned()).expect("it can be read");
//! after[1].path = Some(PackagePath::new("b.yaml")?);
//! after[1].index = None;
//! let done = assemble(&package, &before, &after, Deletions::Some).expect("it can be put together");
//! let texts: Vec<String> = done.changes.into_iter().filter_map(|it| it.into_text()).collect();
//! assert_eq!(texts, ["# one\napiVersion: v1\nkind: A\nx: 1\n", "apiVersion: v1\nkind: B\n"]);
//! # Ok::<(), krm_core::PackagePathError>(())
//! ```

mod contents;
mod order;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::files::Placement;
use crate::files::arrangement::ResourcePosition;
use crate::functions::resource_list::Item;
use crate::merge::FileChange;
use crate::model::resource::Identity;
use crate::{Diagnostic, Package, PackageFile, PackagePath, PackageResource};

/// What may be deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Deletions {
    /// Some of the resources, and no package's own file.
    #[default]
    Some,
    /// Anything.
    Any,
}

/// A resource that goes away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeletedResource {
    /// What people call it: `Deployment shop/web`.
    pub resource: String,
    /// The file that it was in.
    pub path: PackagePath,
    /// Which resource of the file it was.
    pub index: usize,
}

/// What is to become of a package.
#[derive(Debug, Default)]
pub struct AssembledFiles<'a> {
    /// The files that change, in the order of their paths.
    pub changes: Vec<FileChange<'a>>,
    /// Resources that go away, in the order of the package.
    pub deleted: Vec<DeletedResource>,
}

/// Makes of a package what became of some of its resources.
///
/// `before` are items of the package, `after` what they are now: those with the same [`Item::origin`] are one, and what
/// nobody took out of the package stays as it is. A new item goes to the end of its file, to the place in it that its
/// index says, or into a new file where it names none.
pub fn assemble<'a>(
    package: &'a Package,
    before: &[Item],
    after: &[Item],
    deletions: Deletions,
) -> Result<AssembledFiles<'a>, Vec<Diagnostic>> {
    if is_idle(before, after) {
        return Ok(AssembledFiles::default());
    }
    let placed: Vec<PackageResource<'a>> = package.resources().collect();
    let mut work = Work { package, placed, files: BTreeMap::new() };
    let deleted = work.sort(before, after)?;
    if deletions == Deletions::Some {
        refuse_too_much(&deleted, before)?;
    }
    let (mut changes, mut errors) = (Vec::new(), Vec::new());
    for (path, file) in work.files.iter_mut().filter(|(_, file)| file.is_touched) {
        let placed = file.old.into_iter().flat_map(PackageFile::package_resources);
        file.spots =
            placed.map(|it| ResourcePosition::of(it.resource.node, it.resource.item)).collect();
        match file.finish(path) {
            Ok(change) => changes.extend(change),
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() { Ok(AssembledFiles { changes, deleted }) } else { Err(errors) }
}

/// Whether all is as it was: most functions only look.
fn is_idle(before: &[Item], after: &[Item]) -> bool {
    let is_same = |(new, old): (&Item, &Item)| new.origin == old.origin && new.is_unchanged(old);
    before.len() == after.len()
        && before.iter().all(|item| item.origin.is_some())
        && after.iter().zip(before).all(is_same)
}

/// A file of the package with what belongs into it.
#[derive(Default)]
struct FileWork<'a, 'i> {
    old: Option<&'a PackageFile>,
    /// The resources that are there: their spots, by index; known only of a file that is touched.
    spots: Vec<ResourcePosition>,
    /// What becomes of them, by index: an item stays or goes; what is not named is left alone.
    fates: BTreeMap<usize, Fate<'i>>,
    /// Those that come from elsewhere, in order.
    coming: Vec<&'i Item>,
    is_touched: bool,
}

/// What becomes of a resource of a file.
#[derive(Clone, Copy)]
enum Fate<'i> {
    /// It stays in the file.
    Stays { before: &'i Item, after: &'i Item },
    /// It goes away, or to another file.
    Goes,
}

struct Work<'a, 'i> {
    package: &'a Package,
    placed: Vec<PackageResource<'a>>,
    files: BTreeMap<PackagePath, FileWork<'a, 'i>>,
}

impl<'a, 'i> Work<'a, 'i> {
    fn file(&mut self, path: &PackagePath) -> &mut FileWork<'a, 'i> {
        if !self.files.contains_key(path) {
            let all = self.package.files();
            let at = all.binary_search_by(|file| file.path.cmp(path));
            let old = at.ok().map(|at| &all[at]);
            self.files.insert(path.clone(), FileWork { old, ..FileWork::default() });
        }
        self.files.get_mut(path).expect("it was put there")
    }

    /// Sorts the items by the files that they belong to, and says which ones are gone.
    fn sort(
        &mut self,
        before: &'i [Item],
        after: &'i [Item],
    ) -> Result<Vec<DeletedResource>, Vec<Diagnostic>> {
        let known: HashMap<usize, &Item> =
            before.iter().filter_map(|item| Some((item.origin?, item))).collect();
        let mut seen = BTreeSet::new();
        let mut placement = Placement::of(self.package);
        let mut errors = Vec::new();
        let mut homeless = Vec::new();
        for item in after {
            let origin = item.origin.filter(|it| known.contains_key(it) && seen.insert(*it));
            let old = origin.and_then(|it| Some((known[&it], *self.placed.get(it)?)));
            let path = item.path.as_ref().or(old.map(|(_, placed)| &placed.file.path));
            let Some(path) = path else {
                homeless.push(item);
                continue;
            };
            match old {
                Some((before, placed)) if placed.file.path == *path => {
                    let is_idle = item.shares_text(before)
                        && item.index.is_none_or(|index| index == placed.index);
                    let file = self.file(path);
                    file.is_touched |= !is_idle;
                    file.fates.insert(placed.index, Fate::Stays { before, after: item });
                }
                _ => match placement.check(path.as_str()) {
                    Ok(path) if !self.reads(&path) => errors.push(unread(item, &path)),
                    Ok(path) => self.comes(&path, item),
                    Err(error) => errors.push(told_of(item, &error.to_string())),
                },
            }
        }
        for item in homeless {
            let path = placement.new_file(&identity(item));
            self.comes(&path, item);
        }
        let left = before.iter().filter(|item| item.origin.is_some());
        let mut deleted = Vec::new();
        for item in left {
            let origin = item.origin.unwrap_or_default();
            let Some(placed) = self.placed.get(origin).copied() else { continue };
            let file = self.file(&placed.file.path);
            if !file.fates.contains_key(&placed.index) {
                file.is_touched = true;
                file.fates.insert(placed.index, Fate::Goes);
            }
            if !seen.contains(&origin) {
                let (path, index) = (placed.file.path.clone(), placed.index);
                deleted.push(DeletedResource { resource: placed.resource.label(), path, index });
            }
        }
        if errors.is_empty() { Ok(deleted) } else { Err(errors) }
    }

    /// Whether who reads the package finds what is in a file: a resource elsewhere would be lost to everybody.
    fn reads(&self, path: &PackagePath) -> bool {
        let files = self.package.files();
        PackagePath::is_manifest_name(path.name())
            || files.binary_search_by(|file| file.path.cmp(path)).is_ok()
    }

    fn comes(&mut self, path: &PackagePath, item: &'i Item) {
        let file = self.file(path);
        file.is_touched = true;
        file.coming.push(item);
    }
}

/// What a resource is called in the name of a file, also without a name.
fn identity(item: &Item) -> Identity {
    let resource = item.resource();
    resource.identity().unwrap_or_else(|| Identity {
        group: resource.group(),
        kind: resource.kind().into_owned(),
        namespace: resource.namespace().into_owned(),
        name: String::new(),
    })
}

fn told_of(item: &Item, words: &str) -> Diagnostic {
    Diagnostic::untyped_error(format!("{} cannot be put there: {words}", item.resource().label()))
}

fn unread(item: &Item, path: &PackagePath) -> Diagnostic {
    let words = format!("`{path}` would not be read with its package");
    told_of(item, &words).hint("a name ends with .yaml, .yml or .json, or is Kptfile or Krmfile")
}

fn refuse_too_much(deleted: &[DeletedResource], before: &[Item]) -> Result<(), Vec<Diagnostic>> {
    let hint = "allow it with `--allow-delete`, if that is what you want";
    let refused = |message: String| Err(vec![Diagnostic::untyped_error(message).hint(hint)]);
    if let Some(own) = deleted.iter().find(|it| it.path.is_package_file()) {
        return refused(format!("{} would be deleted: the package's own file", own.path));
    }
    if !deleted.is_empty() && deleted.len() == before.len() {
        let count = deleted.len();
        let all =
            if count == 1 { "the only resource".into() } else { format!("all {count} resources") };
        return refused(format!("{all} would be deleted"));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
