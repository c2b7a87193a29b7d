//! Combines the results of all files: files are changed, added, moved and removed.

use std::collections::{BTreeMap, BTreeSet};

use krm_yaml::{File, NodeRef};

use super::file_merge::has_null;
use super::insert_position::Neighbours;
use super::unit::{MergeUnit, UnitVersion, count_units};
use super::{FileChange, FileMerge, FileMergeResult, PackageMerge, PackageMergeResult};
use crate::files::Placement;
use crate::files::arrangement::{Addition, Arrangement, InsertPosition, ResourcePosition};
use crate::merge::node::{Merger, NewDocument};
use crate::print::source_text::lines;
use crate::{Diagnostic, FileText, PackageFile, PackagePath};

/// The new state of a file while it is assembled.
#[derive(Default)]
struct NewFile<'a, 's> {
    old: Option<&'a PackageFile>,
    /// The current text; `None` for a new file and for one that is removed.
    text: Option<&'s str>,
    /// The text with the edits of its merge, before resources are added and removed.
    edited: Option<&'s FileText>,
    arrangement: Arrangement<'s>,
    /// The result that edited it, from which the text is moved instead of copied.
    result: Option<usize>,
    /// The file of the other side that was copied as a whole.
    copied: Option<&'a PackageFile>,
}

impl NewFile<'_, '_> {
    /// The text before resources are added and removed.
    fn text(&self) -> Option<String> {
        let edited =
            |old: &str| self.edited.map_or_else(|| old.to_owned(), |it| it.text().into_owned());
        self.text.map(edited)
    }

    fn is_copy_of(&self, file: &PackageFile) -> bool {
        self.copied.is_some_and(|copied| std::ptr::eq(copied, file))
    }
}

type NewFiles<'a, 's> = BTreeMap<PackagePath, NewFile<'a, 's>>;

impl<'a> PackageMerge<'a, '_> {
    /// Combines the results of [`Self::run`], in the order of [`Self::file_merges`].
    pub fn finish(
        &self,
        results: Vec<Result<FileMergeResult, Diagnostic>>,
    ) -> Result<PackageMergeResult<'a>, Vec<Diagnostic>> {
        let (mut merged, mut errors) = (Vec::new(), Vec::new());
        for result in results {
            match result {
                Ok(result) => merged.push(result),
                Err(error) => errors.push(error),
            }
        }
        let empty_file = File::parse(String::new()).map_err(|it| vec![Diagnostic::from(&it)])?;
        let mut rest = FileMergeResult::default();
        let mut inserted = Vec::new();
        for unit in &self.absent {
            match self.is_inserted(unit, &empty_file, &mut rest) {
                Ok(true) => inserted.push(unit),
                Ok(false) => {}
                Err(error) => errors.push(error),
            }
        }
        let pruned = self.prune_all(&inserted, &mut errors);
        if !errors.is_empty() {
            return Err(errors);
        }
        let mut result =
            PackageMergeResult { warnings: self.warnings.clone(), ..PackageMergeResult::default() };
        for (mut change, edited_by) in self.changes(&merged, &inserted, &pruned)? {
            if let Some(at) = edited_by {
                change.new = merged[at].text.take();
            }
            result.changes.push(change);
        }
        for file in merged.into_iter().chain([rest]) {
            result.conflicts.extend(file.conflicts);
            result.warnings.extend(file.warnings);
        }
        Ok(result)
    }

    /// The inserted units without nulls and directives, where they have any.
    fn prune_all(
        &self,
        inserted: &[&MergeUnit<'a>],
        errors: &mut Vec<Diagnostic>,
    ) -> Vec<Option<File>> {
        let mut pruned = Vec::with_capacity(inserted.len());
        for unit in inserted {
            let file = unit.upstream.map_or(Ok(None), |part| self.prune(&part));
            pruned.push(file.unwrap_or_else(|error| {
                errors.push(error);
                None
            }));
        }
        pruned
    }

    /// A unit without nulls and directives, where it has any; an empty file where it deletes itself.
    fn prune(&self, part: &UnitVersion<'a>) -> Result<Option<File>, Diagnostic> {
        let may_hold = part.node.text().contains('$') || has_null(part.node);
        if self.is_three_way || !may_hold {
            return Ok(None);
        }
        let text = match Merger::new(self.options.nodes).new_document(part.version())? {
            NewDocument::Unchanged => return Ok(None),
            NewDocument::Deleted => String::new(),
            NewDocument::Pruned(graft) => lines(graft.node()),
        };
        File::parse(text).map(Some).map_err(|error| Diagnostic::from(&error))
    }

    fn changes(
        &self,
        results: &[FileMergeResult],
        inserted: &[&MergeUnit<'a>],
        pruned: &[Option<File>],
    ) -> Result<Vec<(FileChange<'a>, Option<usize>)>, Vec<Diagnostic>> {
        // Only files out of which something is moved are parsed again.
        let parsed: Vec<Option<File>> = results.iter().map(parse_edited).collect();
        let mut files = NewFiles::new();
        for (at, (result, parsed)) in results.iter().zip(&parsed).enumerate() {
            self.remove_and_move(at, result, parsed.as_ref(), &mut files);
        }
        self.insert(inserted, pruned, &mut files);
        let (mut changes, mut errors) = (Vec::new(), Vec::new());
        for (path, file) in files {
            match finish(path, &file) {
                Ok(change) => changes.extend(change),
                Err(error) => errors.push(error),
            }
        }
        if errors.is_empty() { Ok(changes) } else { Err(errors) }
    }

    /// Removes units from a file, and moves units to other files.
    fn remove_and_move<'s>(
        &self,
        at: usize,
        result: &'s FileMergeResult,
        parsed: Option<&'s File>,
        files: &mut NewFiles<'a, 's>,
    ) where
        'a: 's,
    {
        let merge = &self.file_merges[at];
        let path = &merge.file.path;
        let (edited, edited_by) = (result.text.as_ref(), result.text.as_ref().map(|_| at));
        let text = merge.file.file().map(File::text);
        if result.text.is_none() && result.removed.is_empty() && result.moved.is_empty() {
            return;
        }
        let removed: BTreeSet<ResourcePosition> = result.removed.iter().copied().collect();
        let is_taken = |target: &PackagePath| files.get(target).is_some_and(|it| it.text.is_some());
        if let Some(target) = self.moved_file(merge, result).filter(|target| !is_taken(target)) {
            let old = files.entry(path.clone()).or_default();
            (old.old, old.text, old.result) = (Some(merge.file), None, None);
            let new = files.entry(target.clone()).or_default();
            (new.text, new.edited) = (text, edited);
            new.arrangement.removed = removed;
            return;
        }
        let new = files.entry(path.clone()).or_default();
        (new.old, new.text) = (Some(merge.file), text);
        (new.edited, new.result) = (edited, edited_by);
        new.arrangement.removed = removed;
        new.arrangement.removed.extend(result.moved.iter().map(|(spot, _)| *spot));
        let file = parsed.or(merge.file.file());
        for (spot, target) in &result.moved {
            let Some(node) = file.and_then(|file| node_at(file, *spot)) else { continue };
            let old = self.local.file(target);
            let new_file = files.entry(target.clone()).or_default();
            if new_file.old.is_none() && new_file.text.is_none() {
                (new_file.old, new_file.text) = (old, self.text_of(old));
            }
            new_file.arrangement.added.push(Addition { node, position: InsertPosition::AtEnd });
        }
    }

    fn text_of(&self, file: Option<&'a PackageFile>) -> Option<&'a str> {
        file.and_then(PackageFile::file).map(File::text)
    }

    /// The new path of a file of which all units are moved to the same new file. Then its text is kept as it is.
    fn moved_file<'d>(
        &self,
        merge: &FileMerge<'a>,
        result: &'d FileMergeResult,
    ) -> Option<&'d PackagePath> {
        let (_, target) = result.moved.first()?;
        let is_whole = result.moved.iter().all(|(_, path)| path == target)
            && result.moved.len() + result.removed.len() == count_units(merge.file)
            && self.local.file(target).is_none();
        is_whole.then_some(target)
    }

    /// Inserts units into the files where they belong.
    fn insert<'s>(
        &self,
        inserted: &[&MergeUnit<'a>],
        pruned: &'s [Option<File>],
        files: &mut NewFiles<'a, 's>,
    ) where
        'a: 's,
    {
        let existing = self.file_merges.iter().flat_map(|merge| &merge.units);
        let units = existing.chain(inserted.iter().copied());
        let neighbours = Neighbours::new(units);
        let mut counts: BTreeMap<&PackagePath, usize> = BTreeMap::new();
        for upstream in inserted.iter().filter_map(|unit| unit.upstream) {
            *counts.entry(&upstream.file.path).or_default() += 1;
        }
        let mut placement = Placement::of(self.local);
        for (unit, pruned) in inserted.iter().zip(pruned) {
            let Some(upstream) = unit.upstream else { continue };
            let position = neighbours.position(unit, &upstream, self.local);
            let only = self.local.files().first().filter(|_| !self.options.has_paths);
            let named = upstream.resource.filter(|it| it.identity().is_some());
            let new_path = named.filter(|_| only.is_none() && upstream.file.path.is_stream());
            let new_path = new_path.map(|resource| placement.new_file(resource));
            let path = only.map_or(position.path, |file| &file.path);
            let path = new_path.as_ref().unwrap_or(path);
            let old = self.local.file(path);
            let new_file = files.entry(path.clone()).or_default();
            if new_file.old.is_none() && new_file.text.is_none() {
                (new_file.old, new_file.text) = (old, self.text_of(old));
            }
            let node = match pruned {
                Some(file) => file.document(0).and_then(|document| document.root()),
                None => Some(upstream.node),
            };
            let whole =
                counts.get(&upstream.file.path) == Some(&neighbours.count(&upstream.file.path));
            let is_new = new_file.text.is_none() && new_file.arrangement.added.is_empty();
            if whole && is_new && pruned.is_none() && new_path.is_none() {
                (new_file.text, new_file.copied) =
                    (self.text_of(Some(upstream.file)), Some(upstream.file));
            } else if let Some(node) = node.filter(|_| !new_file.is_copy_of(upstream.file)) {
                // In a file that was moved there are no neighbours any more.
                let after =
                    position.after.map(|part| part.spot).or_else(|| last_item(new_file.old));
                let after = after.filter(|_| new_file.text.is_some());
                let position = after.map_or(InsertPosition::AtEnd, InsertPosition::After);
                new_file.arrangement.added.push(Addition { node, position });
            }
        }
    }
}

/// The edited file, where something is moved out of it.
fn parse_edited(result: &FileMergeResult) -> Option<File> {
    let text = result.text.as_ref().filter(|_| !result.moved.is_empty())?;
    File::parse(text.text().into_owned()).ok()
}

fn node_at(file: &File, spot: ResourcePosition) -> Option<NodeRef<'_>> {
    let all = crate::model::resource::resources(file.document(spot.document)?);
    all.into_iter().find(|resource| resource.item == spot.item).map(|resource| resource.node)
}

/// The last item of a file that is a List, where a resource without neighbours is inserted.
fn last_item(file: Option<&PackageFile>) -> Option<ResourcePosition> {
    let parts = file?
        .package_resources()
        .map(|it| ResourcePosition::of(it.resource.node, it.resource.item));
    let spots: Vec<ResourcePosition> = parts.collect();
    let is_list = spots.iter().all(|spot| spot.document == 0 && spot.item.is_some());
    spots.last().copied().filter(|_| is_list)
}

type Finished<'a> = Option<(FileChange<'a>, Option<usize>)>;

fn finish<'a>(path: PackagePath, new_file: &NewFile<'a, '_>) -> Result<Finished<'a>, Diagnostic> {
    let name = new_file.old.map_or(path.as_str(), |file| &file.display_path);
    let in_file = |error: Diagnostic| error.in_file(name);
    if let Some(Err(error)) = new_file.old.map(|file| &file.content) {
        return Err(in_file(error.clone()));
    }
    let result = new_file.result.filter(|_| new_file.arrangement.is_empty());
    let new = match new_file.arrangement.is_empty() {
        true if result.is_some() => None,
        true => new_file.text(),
        false => {
            let file = File::parse(new_file.text().unwrap_or_default());
            let file = file.map_err(|error| in_file(Diagnostic::from(&error)))?;
            let refused = |error| in_file(Diagnostic::from_edit(&error, &file));
            new_file.arrangement.apply(&file, path.is_json()).map_err(refused)?
        }
    };
    let was = new_file.old.and_then(PackageFile::file).map(File::shared_text);
    if was.map(|it| &**it) == new.as_deref() && result.is_none() {
        return Ok(None);
    }
    let new = new.map(|new| match was {
        Some(was) => FileText::between(was, &new),
        None => new.into(),
    });
    Ok(Some((FileChange { path, old: new_file.old, new }, result)))
}
