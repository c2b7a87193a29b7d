//! Resources on their way from file to file: which ones go, which ones cannot, and what the files are then.

use std::collections::{BTreeMap, BTreeSet};

use krm_yaml::{DocumentRef, File};

use super::{FileNaming, RenamedFiles};
use crate::Diagnostic;
use crate::files::Placement;
use crate::files::remove::{Remainder, own_comments, remove_resources};
use crate::model::package::{Package, PackageFile, PackageResource};
use crate::model::package_path::PackagePath;
use crate::print::source_text;

/// A resource that should be in another file.
struct Move<'a> {
    placed: PackageResource<'a>,
    to: PackagePath,
}

/// On some disks names that differ in case only are one.
fn same_name(path: &PackagePath) -> String {
    path.as_str().to_lowercase()
}

pub(super) fn rename(
    package: &Package,
    closed: &[String],
    naming: &FileNaming,
) -> Result<RenamedFiles, Vec<Diagnostic>> {
    let mut placement = Placement::of(package);
    placement.exclude(closed);
    let Wanted { mut moves, home, mut told } = wanted(package, &placement, naming)?;
    // A resource that cannot go may stand in the way of others.
    loop {
        let (go, stay): (Vec<_>, Vec<_>) = {
            let work = Work::new(package, &moves);
            let fits: Vec<bool> = moves.iter().map(|it| work.fits(&it.to, &home)).collect();
            moves.into_iter().zip(fits).partition(|(_, fits)| *fits)
        };
        moves = go.into_iter().map(|(it, _)| it).collect();
        told.extend(stay.iter().map(|(it, _)| taken(it)));
        if stay.is_empty() {
            break;
        }
    }
    let files = Work::new(package, &moves).files()?;
    refuse_losses(package, &files)?;
    Ok(RenamedFiles { files, told })
}

/// Where resources should be.
#[derive(Default)]
struct Wanted<'a> {
    /// Those that should be somewhere else, in the order of the package.
    moves: Vec<Move<'a>>,
    /// Those that are where they should be: their files, and their indices in them.
    home: BTreeSet<(String, usize)>,
    told: Vec<Diagnostic>,
}

fn wanted<'a>(
    package: &'a Package,
    placement: &Placement,
    naming: &FileNaming,
) -> Result<Wanted<'a>, Vec<Diagnostic>> {
    let (mut wanted, mut errors) = (Wanted::default(), Vec::new());
    let resources = package.resources().filter(|placed| may_leave(placed.file));
    for placed in resources.filter(|placed| naming.is_wanted(placed.resource)) {
        let Some(path) = naming.pattern.path(placed.resource) else {
            wanted.told.push(said(&placed, "the resource has no name, and stays in its file"));
            continue;
        };
        let root = package.root_of(&placed.file.path);
        let path = if root.is_empty() { path } else { format!("{root}/{path}") };
        let from = same_name(&placed.file.path);
        match placement.check(&path) {
            Ok(to) if same_name(&to) == from => _ = wanted.home.insert((from, placed.index)),
            Ok(to) if placement.package_of(&to) != root.to_lowercase() => {
                let words = format!("the resource stays in its file: `{to}` is not in its package");
                wanted.told.push(said(&placed, words));
            }
            Ok(_) if !placed.resource.document().directives().is_empty() => {
                let words = "the resource has directives, and stays in its file";
                wanted.told.push(said(&placed, words));
            }
            Ok(_) if has_comment_behind(placed.resource.document()) => {
                let words = "a comment stands behind `...`, so the resource stays in its file";
                wanted.told.push(said(&placed, words));
            }
            Ok(to) => wanted.moves.push(Move { placed, to }),
            Err(error) => {
                let error = Diagnostic::untyped_error(error.to_string());
                errors.push(error.hint("choose another --pattern"));
            }
        }
    }
    if errors.is_empty() { Ok(wanted) } else { Err(errors) }
}

/// Whether resources may be taken out of a file.
fn may_leave(file: &PackageFile) -> bool {
    let is_fixed = file.path.is_package_file() || file.path.is_json() || file.is_external_symlink;
    !is_fixed && file.errors().is_empty()
}

fn said(placed: &PackageResource<'_>, words: impl Into<String>) -> Diagnostic {
    let warning = Diagnostic::untyped_warning(words.into()).in_file(&*placed.file.display_path);
    match placed.file.file() {
        Some(file) => warning.at(file, placed.resource.node.full_span()),
        None => warning,
    }
}

fn taken(it: &Move<'_>) -> Diagnostic {
    let words = format!("the resource stays in its file: `{}` holds something else", it.to);
    said(&it.placed, words)
}

/// The files as they are, and what leaves them and comes to them.
struct Work<'a, 'm> {
    /// By name, in lower case.
    files: BTreeMap<String, &'a PackageFile>,
    leaving: BTreeMap<String, Vec<&'m Move<'a>>>,
    coming: BTreeMap<String, Vec<&'m Move<'a>>>,
}

impl<'a, 'm> Work<'a, 'm> {
    fn new(package: &'a Package, moves: &'m [Move<'a>]) -> Self {
        let files = package.files().iter().map(|file| (same_name(&file.path), file)).collect();
        let (mut leaving, mut coming) = (BTreeMap::new(), BTreeMap::new());
        for it in moves {
            let from = same_name(&it.placed.file.path);
            leaving.entry(from).or_insert_with(Vec::new).push(it);
            coming.entry(same_name(&it.to)).or_insert_with(Vec::new).push(it);
        }
        Self { files, leaving, coming }
    }

    fn leaving(&self, name: &str) -> &[&'m Move<'a>] {
        self.leaving.get(name).map_or(&[], Vec::as_slice)
    }

    /// Whether a file can take resources that are named so: it is new, or empty by then, or its own are named so, too.
    fn fits(&self, to: &PackagePath, home: &BTreeSet<(String, usize)>) -> bool {
        let name = same_name(to);
        let Some(file) = self.files.get(&name) else { return true };
        if !may_leave(file) {
            return false;
        }
        let leaving = self.leaving(&name);
        let is_known = |index: usize| {
            home.contains(&(name.clone(), index))
                || leaving.iter().any(|it| it.placed.index == index)
        };
        let documents = file.file().map_or(0, |file| file.documents().len());
        let count = file.resources().count();
        count == documents && (0..count).all(is_known)
    }

    /// The file that a whole file becomes: all of it goes there, and nothing else does.
    fn whole(&self, name: &str) -> Option<&PackagePath> {
        let leaving = self.leaving(name);
        let to = &leaving.first()?.to;
        let other = same_name(to);
        let is_all = leaving.len() == self.files.get(name)?.resources().count();
        let is_one = self.coming.get(&other)?.len() == leaving.len()
            && leaving.iter().all(|it| same_name(&it.to) == other);
        let is_free = self.files.get(&other).is_none_or(|_| self.whole_or_gone(&other));
        (is_all && is_one && is_free).then_some(to)
    }

    /// Whether nothing of a file remains.
    fn whole_or_gone(&self, name: &str) -> bool {
        matches!(self.remains(name), Ok(Remainder::Nothing))
    }

    /// Whether every document of a file leaves it: then nobody stays for whom the comments of the file could stay.
    fn is_emptied(&self, name: &str) -> bool {
        let Some(file) = self.files.get(name).and_then(|file| file.file()) else { return true };
        let holds =
            |document: &DocumentRef<'_>| document.root().is_some() || document.text().contains('#');
        file.documents().filter(holds).count() == self.leaving(name).len()
    }

    fn remains(&self, name: &str) -> Result<Remainder, Vec<Diagnostic>> {
        let Some(file) = self.files.get(name) else { return Ok(Remainder::Nothing) };
        if self.is_emptied(name) {
            return Ok(Remainder::Nothing);
        }
        let gone: Vec<usize> = self.leaving(name).iter().map(|it| it.placed.index).collect();
        remove_resources(file, &gone)
    }

    /// The new text of every file that changes.
    fn files(&self) -> Result<Vec<(PackagePath, Option<String>)>, Vec<Diagnostic>> {
        let names: BTreeSet<&String> = self.leaving.keys().chain(self.coming.keys()).collect();
        let mut texts: BTreeMap<PackagePath, Option<String>> = BTreeMap::new();
        for name in names {
            let file = self.files.get(name);
            let own = match self.whole(name) {
                Some(_) => Remainder::Nothing,
                None => self.remains(name)?,
            };
            let mut text = match own {
                Remainder::Text(text) => text,
                Remainder::Nothing => String::new(),
            };
            for it in self.coming.get(name).into_iter().flatten() {
                self.add(&mut text, it);
            }
            let path = file
                .map(|file| file.path.clone())
                .or_else(|| self.coming.get(name).map(|coming| coming[0].to.clone()));
            let new = (!text.is_empty()).then_some(text);
            texts.extend(path.map(|path| (path, new)));
        }
        Ok(texts.into_iter().collect())
    }

    /// Adds a resource to the text of a file, or the whole file that it comes from.
    fn add(&self, text: &mut String, it: &Move<'_>) {
        let from = same_name(&it.placed.file.path);
        let Some(source) = it.placed.file.file() else { return };
        if self.whole(&from).is_some() {
            *text = source.text().to_owned();
            return;
        }
        if !text.is_empty() {
            *text = source_text::ensure_trailing_newline(std::mem::take(text));
            text.push_str(if text.contains("\r\n") { "---\r\n" } else { "---\n" });
        }
        let document = it.placed.resource.document();
        text.push_str(&source_text::ensure_trailing_newline(own_text(
            document,
            self.is_emptied(&from),
        )));
    }
}

/// The text of a document without its markers, with the comments of its file or without.
fn own_text(document: DocumentRef<'_>, with_comments: bool) -> String {
    let text = document.root().map(source_text::text).unwrap_or_default();
    let own =
        own_comments(document).trim_start_matches('\u{feff}').trim_start_matches(['\r', '\n']);
    match (document.start_marker(), with_comments) {
        // A comment may stand beside the marker.
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

/// Whether a comment stands behind the end of a document, where it cannot go along.
fn has_comment_behind(document: DocumentRef<'_>) -> bool {
    let text = document.root().map(source_text::text).unwrap_or_default();
    let behind = document.text().rsplit_once(&*text).map_or("", |(_, behind)| behind);
    behind.contains('#')
}

/// Every resource and every comment that was there is there afterwards.
fn refuse_losses(
    package: &Package,
    files: &[(PackagePath, Option<String>)],
) -> Result<(), Vec<Diagnostic>> {
    let names = |file: &File| -> Vec<String> {
        let all = file.documents().flat_map(crate::model::resource::resources);
        let all =
            all.map(|resource| crate::print::json::flow(&krm_yaml::Value::Node(resource.node)));
        let comments = file.documents().flat_map(DocumentRef::comments);
        all.chain(comments.map(|comment| comment.text.trim_end().to_owned())).collect()
    };
    let changed: BTreeMap<String, ()> =
        files.iter().map(|(path, _)| (same_name(path), ())).collect();
    let touched =
        package.files().iter().filter(|file| changed.contains_key(&same_name(&file.path)));
    let mut before: Vec<String> = touched.filter_map(PackageFile::file).flat_map(names).collect();
    let new = files.iter().filter_map(|(_, text)| File::parse(text.clone()?).ok());
    let mut after: Vec<String> = new.flat_map(|file| names(&file)).collect();
    before.sort_unstable();
    after.sort_unstable();
    if before == after {
        return Ok(());
    }
    let words = "the files cannot be renamed without changing resources or comments";
    Err(vec![Diagnostic::untyped_error(words).hint("rename them by hand")])
}
