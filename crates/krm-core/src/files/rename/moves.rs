//! Moves of resources between files: which resources move, which cannot, and the new contents of the files.

use std::collections::{BTreeMap, BTreeSet};

use krm_yaml::{DocumentRef, File, Value};

use super::{FileNaming, RenamedFiles};
use crate::Diagnostic;
use crate::files::remove::{Remainder, own_comments, remove_resources};
use crate::files::{FilesKind, Placement};
use crate::model::package::{Package, PackageFile, PackageResource};
use crate::model::package_path::PackagePath;
use crate::model::resource::resources;
use crate::print::{json, source_text};

/// A resource that belongs in another file.
struct Move<'a> {
    resource: PackageResource<'a>,
    to: PackagePath,
}

/// The key of a file: file systems that ignore case have one file for names that differ in case only.
fn file_key(path: &PackagePath) -> String {
    path.as_str().to_lowercase()
}

pub(super) fn rename(
    package: &Package,
    excluded: &[String],
    naming: &FileNaming,
) -> Result<RenamedFiles, Vec<Diagnostic>> {
    let mut placement = Placement::of(package);
    placement.exclude(excluded);
    let Targets { mut moves, in_place, mut warnings } = targets(package, &placement, naming)?;
    // A resource that cannot move may keep others from moving to its file, so this repeats until all moves are possible.
    loop {
        let (possible, impossible): (Vec<_>, Vec<_>) = {
            let plan = MovePlan::new(package, &moves);
            let fits: Vec<bool> = moves.iter().map(|it| plan.fits(&it.to, &in_place)).collect();
            moves.into_iter().zip(fits).partition(|(_, fits)| *fits)
        };
        moves = possible.into_iter().map(|(it, _)| it).collect();
        warnings.extend(impossible.iter().map(|(it, _)| file_in_use(it)));
        if impossible.is_empty() {
            break;
        }
    }
    let files = MovePlan::new(package, &moves).files()?;
    check_nothing_is_lost(package, &files)?;
    Ok(RenamedFiles { files, warnings })
}

/// Where resources belong.
#[derive(Default)]
struct Targets<'a> {
    /// Resources that belong in another file, in the order of the package.
    moves: Vec<Move<'a>>,
    /// Resources that are in the right file: the key of the file, and their index in it.
    in_place: BTreeSet<(String, usize)>,
    warnings: Vec<Diagnostic>,
}

fn targets<'a>(
    package: &'a Package,
    placement: &Placement,
    naming: &FileNaming,
) -> Result<Targets<'a>, Vec<Diagnostic>> {
    let (mut targets, mut errors) = (Targets::default(), Vec::new());
    let movable = package.resources().filter(|resource| is_movable(resource.file));
    for resource in movable.filter(|it| naming.applies_to(it.resource)) {
        let Some(path) = naming.pattern.path(resource.resource) else {
            targets.warnings.push(not_moved(&resource, "it has no name"));
            continue;
        };
        let root = package.root_of(&resource.file.path);
        let from = file_key(&resource.file.path);
        let document = resource.resource.document();
        let path = PackagePath::new(&path).map_err(Diagnostic::error);
        match path.and_then(|path| placement.check(path.in_directory(root).as_str())) {
            Ok(to) if file_key(&to) == from => {
                targets.in_place.insert((from, resource.index));
            }
            Ok(to) if placement.package_of(&to) != root.to_lowercase() => {
                let reason = format!("`{to}` is in another package");
                targets.warnings.push(not_moved(&resource, reason));
            }
            Ok(_) if !document.directives().is_empty() => {
                targets.warnings.push(not_moved(&resource, "it has YAML directives"));
            }
            Ok(_) if has_trailing_comment(document) => {
                targets.warnings.push(not_moved(&resource, "a comment follows its `...` marker"));
            }
            Ok(to) => targets.moves.push(Move { resource, to }),
            Err(error) => errors.push(error.hint("choose another --pattern")),
        }
    }
    if errors.is_empty() { Ok(targets) } else { Err(errors) }
}

/// Whether resources can be moved out of a file.
fn is_movable(file: &PackageFile) -> bool {
    let is_fixed = file.path.is_package_file() || file.path.is_json() || file.is_external_symlink;
    !is_fixed && file.errors().is_empty()
}

fn not_moved(resource: &PackageResource<'_>, reason: impl Into<String>) -> Diagnostic {
    let warning = Diagnostic::warning(FilesKind::NotMoved { reason: reason.into() });
    let warning = warning.in_file(&*resource.file.display_path);
    match resource.file.file() {
        Some(file) => warning.at(file, resource.resource.node.full_span()),
        None => warning,
    }
}

fn file_in_use(it: &Move<'_>) -> Diagnostic {
    not_moved(&it.resource, format!("`{}` holds other documents", it.to))
}

/// The files of the package, with the resources that leave them and that move into them.
struct MovePlan<'a, 'm> {
    files: BTreeMap<String, &'a PackageFile>,
    outgoing: BTreeMap<String, Vec<&'m Move<'a>>>,
    incoming: BTreeMap<String, Vec<&'m Move<'a>>>,
}

impl<'a, 'm> MovePlan<'a, 'm> {
    fn new(package: &'a Package, moves: &'m [Move<'a>]) -> Self {
        let files = package.files().iter().map(|file| (file_key(&file.path), file)).collect();
        let (mut outgoing, mut incoming) = (BTreeMap::new(), BTreeMap::new());
        for it in moves {
            let from = file_key(&it.resource.file.path);
            outgoing.entry(from).or_insert_with(Vec::new).push(it);
            incoming.entry(file_key(&it.to)).or_insert_with(Vec::new).push(it);
        }
        Self { files, outgoing, incoming }
    }

    fn outgoing(&self, key: &str) -> &[&'m Move<'a>] {
        self.outgoing.get(key).map_or(&[], Vec::as_slice)
    }

    /// Whether resources can move to a file: it is new, becomes empty, or holds only resources that belong there.
    fn fits(&self, to: &PackagePath, in_place: &BTreeSet<(String, usize)>) -> bool {
        let key = file_key(to);
        let Some(file) = self.files.get(&key) else { return true };
        if !is_movable(file) {
            return false;
        }
        let outgoing = self.outgoing(&key);
        let is_known = |index: usize| {
            in_place.contains(&(key.clone(), index))
                || outgoing.iter().any(|it| it.resource.index == index)
        };
        let documents = file.file().map_or(0, |file| file.documents().len());
        let count = file.resources().count();
        count == documents && (0..count).all(is_known)
    }

    /// The new path of a file that moves as a whole: all its resources go there, and no others.
    fn whole_move(&self, key: &str) -> Option<&PackagePath> {
        let outgoing = self.outgoing(key);
        let to = &outgoing.first()?.to;
        let other = file_key(to);
        let is_all = outgoing.len() == self.files.get(key)?.resources().count();
        let is_one = self.incoming.get(&other)?.len() == outgoing.len()
            && outgoing.iter().all(|it| file_key(&it.to) == other);
        let is_free = self.files.get(&other).is_none_or(|_| self.is_removed(&other));
        (is_all && is_one && is_free).then_some(to)
    }

    /// Whether nothing of a file remains.
    fn is_removed(&self, key: &str) -> bool {
        matches!(self.remainder(key), Ok(Remainder::Nothing))
    }

    /// Whether every document of a file moves: then the comments of the file move, too.
    fn is_emptied(&self, key: &str) -> bool {
        let Some(file) = self.files.get(key).and_then(|file| file.file()) else { return true };
        let has_content =
            |document: &DocumentRef<'_>| document.root().is_some() || document.text().contains('#');
        file.documents().filter(has_content).count() == self.outgoing(key).len()
    }

    fn remainder(&self, key: &str) -> Result<Remainder, Vec<Diagnostic>> {
        let Some(file) = self.files.get(key) else { return Ok(Remainder::Nothing) };
        if self.is_emptied(key) {
            return Ok(Remainder::Nothing);
        }
        let moved: Vec<usize> = self.outgoing(key).iter().map(|it| it.resource.index).collect();
        remove_resources(file, &moved)
    }

    /// The new text of every file that changes.
    fn files(&self) -> Result<Vec<(PackagePath, Option<String>)>, Vec<Diagnostic>> {
        let keys: BTreeSet<&String> = self.outgoing.keys().chain(self.incoming.keys()).collect();
        let mut texts: BTreeMap<PackagePath, Option<String>> = BTreeMap::new();
        for key in keys {
            let file = self.files.get(key);
            let own = match self.whole_move(key) {
                Some(_) => Remainder::Nothing,
                None => self.remainder(key)?,
            };
            let mut text = match own {
                Remainder::Text(text) => text,
                Remainder::Nothing => String::new(),
            };
            for it in self.incoming.get(key).into_iter().flatten() {
                self.add(&mut text, it);
            }
            let path = file
                .map(|file| file.path.clone())
                .or_else(|| self.incoming.get(key).map(|incoming| incoming[0].to.clone()));
            let new = (!text.is_empty()).then_some(text);
            texts.extend(path.map(|path| (path, new)));
        }
        Ok(texts.into_iter().collect())
    }

    /// Appends a moved resource to the text of a file, or the whole file that it comes from.
    fn add(&self, text: &mut String, it: &Move<'_>) {
        let from = file_key(&it.resource.file.path);
        let Some(source) = it.resource.file.file() else { return };
        if self.whole_move(&from).is_some() {
            *text = source.text().to_owned();
            return;
        }
        if !text.is_empty() {
            *text = source_text::closed(std::mem::take(text));
            text.push_str(if text.contains("\r\n") { "---\r\n" } else { "---\n" });
        }
        let node = it.resource.resource.node;
        let own = own_text(node.document(), self.is_emptied(&from));
        text.push_str(&source_text::end_line(own, node));
    }
}

/// The text of a document without its markers, with or without the comments of its file.
fn own_text(document: DocumentRef<'_>, with_comments: bool) -> String {
    let text = document.root().map(source_text::text).unwrap_or_default();
    let own =
        own_comments(document).trim_start_matches('\u{feff}').trim_start_matches(['\r', '\n']);
    match (document.start_marker(), with_comments) {
        // A comment may follow the marker on its line.
        (Some(_), true) => format!("{own}{}", without_blanks_before_comment(&text)),
        (Some(_), false) => without_blanks_before_comment(&text).to_owned(),
        (None, true) => text,
        (None, false) => text.strip_prefix(own).map(str::to_owned).unwrap_or(text),
    }
}

fn without_blanks_before_comment(text: &str) -> &str {
    let rest = text.trim_start_matches([' ', '\t']);
    if rest.starts_with('#') { rest } else { text }
}

/// Whether a comment follows the end marker of a document. It belongs to no document, so it cannot move with one.
fn has_trailing_comment(document: DocumentRef<'_>) -> bool {
    let text = document.root().map(source_text::text).unwrap_or_default();
    let trailing = document.text().rsplit_once(&*text).map_or("", |(_, trailing)| trailing);
    trailing.contains('#')
}

/// Checks that every resource and every comment is still there.
fn check_nothing_is_lost(
    package: &Package,
    files: &[(PackagePath, Option<String>)],
) -> Result<(), Vec<Diagnostic>> {
    let contents = |file: &File| -> Vec<String> {
        let all = file.documents().flat_map(resources);
        let all = all.map(|resource| json::display(&Value::Node(resource.node)));
        let comments = file.documents().flat_map(DocumentRef::comments);
        all.chain(comments.map(|comment| comment.text.trim_end().to_owned())).collect()
    };
    let changed: BTreeMap<String, ()> =
        files.iter().map(|(path, _)| (file_key(path), ())).collect();
    let touched = package.files().iter().filter(|file| changed.contains_key(&file_key(&file.path)));
    let mut before: Vec<String> =
        touched.filter_map(PackageFile::file).flat_map(contents).collect();
    let new = files.iter().filter_map(|(_, text)| File::parse(text.clone()?).ok());
    let mut after: Vec<String> = new.flat_map(|file| contents(&file)).collect();
    before.sort_unstable();
    after.sort_unstable();
    if before == after {
        return Ok(());
    }
    Err(vec![Diagnostic::error(FilesKind::LossyMove)])
}
