//! Puts together what came of the work on each file: files are changed, made, moved and removed.

use std::collections::{BTreeMap, BTreeSet};

use krm_yaml::{File, NodeRef};

use super::new_text::NewText;
use super::paths::Neighbours;
use super::unit::{Part, Unit, plain_parts};
use super::work::{Done, has_null};
use super::{FileChange, Merged, PackageMerge, Work};
use crate::files::Placement;
use crate::files::arrangement::{Addition, Arrangement, InsertPosition, ResourcePosition};
use crate::merge::node::{Coming, Merger};
use crate::print::source_text::{ensure_trailing_newline, texts};
use crate::{Diagnostic, PackageFile, PackagePath};

/// A file while it is put together.
#[derive(Default)]
struct Slot<'a, 's> {
    old: Option<&'a PackageFile>,
    /// The text that there is; none for a file that is not there yet, or goes.
    text: Option<&'s str>,
    /// What it becomes before resources come and go.
    edited: Option<&'s NewText>,
    arrangement: Arrangement<'s>,
    /// Which work edited it; the result is moved from there and not copied.
    work: Option<usize>,
    /// The file of the other side that was taken over as a whole.
    taken: Option<&'a PackageFile>,
}

impl Slot<'_, '_> {
    /// The text before resources come and go.
    fn text(&self) -> Option<String> {
        let edited = |old: &str| self.edited.map_or_else(|| old.to_owned(), |new| new.on(old));
        self.text.map(edited)
    }

    fn is_copy_of(&self, file: &PackageFile) -> bool {
        self.taken.is_some_and(|taken| std::ptr::eq(taken, file))
    }
}

type Slots<'a, 's> = BTreeMap<PackagePath, Slot<'a, 's>>;

impl<'a> PackageMerge<'a, '_> {
    /// Puts the results of [`Self::run`] together, in the order of [`Self::works`].
    pub fn finish(
        &self,
        done: Vec<Result<Done, Diagnostic>>,
    ) -> Result<Merged<'a>, Vec<Diagnostic>> {
        let (mut results, mut errors) = (Vec::new(), Vec::new());
        for result in done {
            match result {
                Ok(done) => results.push(done),
                Err(error) => errors.push(error),
            }
        }
        let nothing = File::parse(String::new()).map_err(|it| vec![Diagnostic::from(&it)])?;
        let mut rest = Done::default();
        let mut coming = Vec::new();
        for unit in &self.absent {
            match self.comes(unit, &nothing, &mut rest) {
                Ok(true) => coming.push(unit),
                Ok(false) => {}
                Err(error) => errors.push(error),
            }
        }
        let fresh = self.fresh(&coming, &mut errors);
        if !errors.is_empty() {
            return Err(errors);
        }
        let mut merged = Merged::default();
        for (mut change, work) in self.changes(&results, &coming, &fresh)? {
            if let Some(at) = work {
                change.new = results[at].text.take();
            }
            merged.changes.push(change);
        }
        for done in results.into_iter().chain([rest]) {
            merged.conflicts.extend(done.conflicts);
            merged.warnings.extend(done.warnings);
        }
        Ok(merged)
    }

    /// Sources that come whole leave nulls and directives behind: their texts without them, by place in the list.
    fn fresh(&self, coming: &[&Unit<'a>], errors: &mut Vec<Diagnostic>) -> Vec<Option<File>> {
        let mut fresh = Vec::with_capacity(coming.len());
        for unit in coming {
            let file = unit.upstream.map_or(Ok(None), |part| self.pruned(&part));
            fresh.push(file.unwrap_or_else(|error| {
                errors.push(error);
                None
            }));
        }
        fresh
    }

    /// The text without what is no value, where it has such; an empty file where it says that it should not be.
    fn pruned(&self, part: &Part<'a>) -> Result<Option<File>, Diagnostic> {
        let may_hold = part.node.text().contains('$') || has_null(part.node);
        if self.is_three_way || !may_hold {
            return Ok(None);
        }
        let text = match Merger::new(self.how.rules).come(part.version())? {
            Coming::AsItIs => return Ok(None),
            Coming::Nothing => String::new(),
            Coming::Pruned(graft) => ensure_trailing_newline(texts(&[graft.node()]).concat()),
        };
        File::parse(text).map(Some).map_err(|error| Diagnostic::from(&error))
    }

    fn changes(
        &self,
        results: &[Done],
        coming: &[&Unit<'a>],
        fresh: &[Option<File>],
    ) -> Result<Vec<(FileChange<'a>, Option<usize>)>, Vec<Diagnostic>> {
        // Parsed again only where something is taken out of the text or put into it.
        let parsed: Vec<Option<File>> = self.works.iter().zip(results).map(again).collect();
        let mut slots = Slots::new();
        for (at, (done, parsed)) in results.iter().zip(&parsed).enumerate() {
            self.take_apart(at, done, parsed.as_ref(), &mut slots);
        }
        self.bring(coming, fresh, &mut slots);
        let (mut changes, mut errors) = (Vec::new(), Vec::new());
        for (path, slot) in slots {
            match finish(path, &slot) {
                Ok(change) => changes.extend(change),
                Err(error) => errors.push(error),
            }
        }
        if errors.is_empty() { Ok(changes) } else { Err(errors) }
    }

    /// Takes what goes out of its file, and puts what is moved into another.
    fn take_apart<'s>(
        &self,
        at: usize,
        done: &'s Done,
        parsed: Option<&'s File>,
        slots: &mut Slots<'a, 's>,
    ) where
        'a: 's,
    {
        let work = &self.works[at];
        let path = &work.file.path;
        let (edited, by) = (done.text.as_ref(), done.text.as_ref().map(|_| at));
        let text = work.file.file().map(File::text);
        if done.text.is_none() && done.gone.is_empty() && done.moved.is_empty() {
            return;
        }
        let gone: BTreeSet<ResourcePosition> = done.gone.iter().copied().collect();
        let is_taken = |target: &PackagePath| slots.get(target).is_some_and(|it| it.text.is_some());
        if let Some(target) = self.whole_move(work, done).filter(|target| !is_taken(target)) {
            let left = slots.entry(path.clone()).or_default();
            (left.old, left.text, left.work) = (Some(work.file), None, None);
            let slot = slots.entry(target.clone()).or_default();
            (slot.text, slot.edited) = (text, edited);
            slot.arrangement.removed = gone;
            return;
        }
        let slot = slots.entry(path.clone()).or_default();
        (slot.old, slot.text) = (Some(work.file), text);
        (slot.edited, slot.work) = (edited, by);
        slot.arrangement.removed = gone;
        slot.arrangement.removed.extend(done.moved.iter().map(|(spot, _)| *spot));
        let file = parsed.or(work.file.file());
        for (spot, target) in &done.moved {
            let Some(node) = file.and_then(|file| node_at(file, *spot)) else { continue };
            let old = self.local.file(target);
            let slot = slots.entry(target.clone()).or_default();
            if slot.old.is_none() && slot.text.is_none() {
                (slot.old, slot.text) = (old, self.text_of(old));
            }
            slot.arrangement.added.push(Addition { node, place: InsertPosition::AtEnd });
        }
    }

    fn text_of(&self, file: Option<&'a PackageFile>) -> Option<&'a str> {
        file.and_then(PackageFile::file).map(File::text)
    }

    /// The new path of a file that moves as it is: everything in it goes to one place, where nothing stands yet.
    fn whole_move<'d>(&self, work: &Work<'a>, done: &'d Done) -> Option<&'d PackagePath> {
        let (_, target) = done.moved.first()?;
        let all = work.file.package_resources().count() + plain_parts(work.file).count();
        let is_whole = done.moved.iter().all(|(_, path)| path == target)
            && done.moved.len() + done.gone.len() == all
            && self.local.file(target).is_none();
        is_whole.then_some(target)
    }

    /// Puts what comes into the files where it belongs.
    fn bring<'s>(&self, coming: &[&Unit<'a>], fresh: &'s [Option<File>], slots: &mut Slots<'a, 's>)
    where
        'a: 's,
    {
        let units = self.works.iter().flat_map(|work| &work.units).chain(coming.iter().copied());
        let neighbours = Neighbours::new(units);
        let mut counts: BTreeMap<&PackagePath, usize> = BTreeMap::new();
        for upstream in coming.iter().filter_map(|unit| unit.upstream) {
            *counts.entry(&upstream.file.path).or_default() += 1;
        }
        let mut placement = Placement::of(self.local);
        for (unit, fresh) in coming.iter().zip(fresh) {
            let Some(upstream) = unit.upstream else { continue };
            let target = neighbours.target(unit, &upstream, self.local);
            let only = self.local.files().first().filter(|_| !self.how.has_paths);
            let identity = upstream.resource.and_then(|it| it.identity());
            let made = identity.filter(|_| only.is_none() && upstream.file.path.is_stream());
            let made = made.map(|identity| placement.new_file(&identity));
            let path = only.map_or(target.path, |file| &file.path);
            let path = made.as_ref().unwrap_or(path);
            let old = self.local.file(path);
            let slot = slots.entry(path.clone()).or_default();
            if slot.old.is_none() && slot.text.is_none() {
                (slot.old, slot.text) = (old, self.text_of(old));
            }
            let node = match fresh {
                Some(file) => file.document(0).and_then(|document| document.root()),
                None => Some(upstream.node),
            };
            let whole =
                counts.get(&upstream.file.path) == Some(&neighbours.count(&upstream.file.path));
            let is_new = slot.text.is_none() && slot.arrangement.added.is_empty();
            if whole && is_new && fresh.is_none() && made.is_none() {
                (slot.text, slot.taken) = (self.text_of(Some(upstream.file)), Some(upstream.file));
            } else if let Some(node) = node.filter(|_| !slot.is_copy_of(upstream.file)) {
                // A file that moved away has no neighbours any more.
                let after = target.after.map(|part| part.spot).or_else(|| last_item(slot.old));
                let after = after.filter(|_| slot.text.is_some());
                let place = after.map_or(InsertPosition::AtEnd, InsertPosition::After);
                slot.arrangement.added.push(Addition { node, place });
            }
        }
    }
}

/// The edited text as nodes, where something is moved out of it.
fn again((work, done): (&Work<'_>, &Done)) -> Option<File> {
    let text = done.text.as_ref().filter(|_| !done.moved.is_empty())?;
    File::parse(text.on(work.file.file()?.text())).ok()
}

fn node_at(file: &File, spot: ResourcePosition) -> Option<NodeRef<'_>> {
    let all = crate::model::resource::resources(file.document(spot.document)?);
    all.into_iter().find(|resource| resource.item == spot.item).map(|resource| resource.node)
}

/// Where a file is one list, what comes without a neighbour goes to its end.
fn last_item(file: Option<&PackageFile>) -> Option<ResourcePosition> {
    let parts = file?
        .package_resources()
        .map(|it| ResourcePosition::of(it.resource.node, it.resource.item));
    let spots: Vec<ResourcePosition> = parts.collect();
    let is_list = spots.iter().all(|spot| spot.document == 0 && spot.item.is_some());
    spots.last().copied().filter(|_| is_list)
}

type Finished<'a> = Option<(FileChange<'a>, Option<usize>)>;

fn finish<'a>(path: PackagePath, slot: &Slot<'a, '_>) -> Result<Finished<'a>, Diagnostic> {
    let shown = slot.old.map_or(path.as_str(), |file| &file.display_path);
    let told = |error: Diagnostic| error.in_file(shown);
    if let Some(Err(error)) = slot.old.map(|file| &file.content) {
        return Err(told(error.clone()));
    }
    let work = slot.work.filter(|_| slot.arrangement.is_empty());
    let new = match slot.arrangement.is_empty() {
        true if work.is_some() => None,
        true => slot.text(),
        false => {
            let file = File::parse(slot.text().unwrap_or_default());
            let file = file.map_err(|error| told(Diagnostic::from(&error)))?;
            let refused = |error| told(Diagnostic::from_edit(&error, &file));
            slot.arrangement.apply(&file, path.is_json()).map_err(refused)?
        }
    };
    let was = slot.old.and_then(PackageFile::file).map(File::text);
    if was == new.as_deref() && work.is_none() {
        return Ok(None);
    }
    if slot.old.is_some_and(|file| file.is_external_symlink) {
        let words = "the link leads out of the package, and what is outside is not written";
        let hint = "name it in .krmignore, or edit the file that it leads to";
        return Err(told(Diagnostic::untyped_error(words).hint(hint)));
    }
    let new = new.map(|new| NewText::of(was.unwrap_or_default(), &new));
    Ok(Some((FileChange { path, old: slot.old, new }, work)))
}
