//! Walks a directory: which files belong to the package, and which are excluded by ignore files.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use krm_core::model::IgnorePatterns;
use krm_core::{Diagnostic, PackagePath};
use krm_run::{RegularFileError, read_regular_file};

use crate::consistent_read::DirectoryState;
use crate::disk::{self, EntryKind, FileKind, PackageRoot};
use crate::loader::join_display_path;
use crate::result_cache::Input;

/// The file that lists excluded files, in the syntax of gitignore.
pub(crate) const IGNORE_FILE: &str = ".krmignore";

/// The largest ignore file that is read.
const IGNORE_LIMIT: u64 = 16 << 20;

/// Whether packages inside the package are part of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Subpackages {
    #[default]
    Include,
    Exclude,
    /// Their files are excluded, but journals of killed runs in them are found.
    JournalsOnly,
}

/// A file that belongs to the package.
pub(crate) struct FoundFile {
    pub(crate) path: PackagePath,
    pub(crate) display_path: String,
    pub(crate) location: Location,
    pub(crate) is_link: bool,
}

/// Where a file is on disk, with symlinks resolved.
pub(crate) enum Location {
    /// In the package, relative to it.
    Inside(PathBuf),
    /// Elsewhere: named by the user, or the target of a symlink that the user allows to follow.
    Outside(PathBuf),
}

/// The result of a walk.
#[derive(Default)]
pub(crate) struct WalkResult {
    /// Files, in any order.
    pub(crate) found: Vec<FoundFile>,
    /// Problems found on the way, such as dangling symlinks.
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// Directories in which a run left its journal.
    pub(crate) journals: Vec<PathBuf>,
    /// Files that are not manifests, with their paths on disk.
    pub(crate) others: Vec<(PackagePath, PathBuf)>,
    /// Directories that were not entered: ignored ones and excluded subpackages.
    pub(crate) closed: Vec<String>,
    /// How many of them are subpackages.
    pub(crate) excluded_packages: usize,
    /// The directories as they were before they were listed.
    pub(crate) directories: Vec<DirectoryState>,
    /// Directories below this one that are git repositories of their own, such as submodules.
    pub(crate) nested_repositories: Vec<PathBuf>,
    /// Ignore files of the package, as they were before they were read.
    pub(crate) ignore_files: Vec<Input>,
    /// Whether what is found depends on symlinks.
    pub(crate) has_symlinks: bool,
    /// Symlinks to files that do not exist.
    pub(crate) dangling: Vec<PathBuf>,
    /// Symlinks that leave the package and are not read.
    external: Vec<String>,
}

/// The files that were read, as they were before that.
#[derive(Debug, Default)]
pub(crate) struct ReadFiles {
    pub(crate) files: Vec<Input>,
    pub(crate) ignore_files: Vec<Input>,
    /// Whether what is read depends on symlinks.
    pub(crate) has_symlinks: bool,
}

/// What to walk, and how.
pub(crate) struct WalkOptions<'a> {
    /// The directory. An absolute path without symlinks.
    pub(crate) root: &'a Path,
    /// The same directory, opened.
    pub(crate) opened: &'a PackageRoot,
    /// The directory as messages show it.
    pub(crate) title: &'a str,
    pub(crate) subpackages: Subpackages,
    pub(crate) follow_external_links: bool,
    /// The packages to visit, if not all.
    pub(crate) only: Option<&'a PackageSelection>,
}

/// Some packages of a directory, with their subpackages.
#[derive(Debug, Default)]
pub(crate) struct PackageSelection {
    roots: HashSet<PathBuf>,
    /// The directories above them.
    above: HashSet<PathBuf>,
    /// Symlinks that are left out: their targets are files of the directory, which are read under their own names only.
    aliases: HashSet<PathBuf>,
}

impl PackageSelection {
    /// The packages in these directories, which are relative to the one that is walked.
    pub(crate) fn new<'a>(
        roots: impl IntoIterator<Item = &'a Path>,
        aliases: HashSet<PathBuf>,
    ) -> Self {
        let roots: HashSet<PathBuf> = roots.into_iter().map(Path::to_owned).collect();
        let above = roots.iter().flat_map(|root| root.ancestors().skip(1).map(Path::to_owned));
        Self { above: above.collect(), roots, aliases }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.roots.is_empty()
    }

    /// Whether a directory is in one of the packages.
    fn contains(&self, directory: &Path) -> bool {
        directory.ancestors().any(|it| self.roots.contains(it))
    }

    /// Whether a directory is in one of the packages or above one.
    fn reaches(&self, directory: &Path) -> bool {
        self.above.contains(directory) || self.contains(directory)
    }
}

/// Walks a directory.
pub(crate) fn files(options: WalkOptions<'_>) -> WalkResult {
    let title = options.title;
    let mut walk = Walk { options, result: WalkResult::default() };
    let above = walk.ignored_from_above();
    let mut waiting = vec![(PathBuf::new(), above, false)];
    while let Some((directory, ignored, is_excluded)) = waiting.pop() {
        let below = walk.directory(&directory, ignored, is_excluded);
        waiting.extend(below.into_iter().rev());
    }
    let mut result = walk.result;
    if !result.external.is_empty() {
        let names = std::mem::take(&mut result.external);
        let warning = Diagnostic::warning(FileKind::ExternalSymlinks { names });
        result.diagnostics.push(warning.in_file(title));
    }
    result
}

/// Whether an existing path is in a directory after its symlinks are followed. The directory has no symlinks.
pub(crate) fn stays_inside(directory: &Path, path: &Path) -> bool {
    fs::canonicalize(path).is_ok_and(|path| path.starts_with(directory))
}

/// An ignore file and those of the parent directories. The nearest one that matches a path decides.
struct Ignored {
    patterns: IgnorePatterns,
    /// The depth of the ignore file's directory below the directory that is walked.
    depth: usize,
    /// For an ignore file above the directory that is walked: the path from there to that directory.
    way_down: String,
    above: Layers,
}

type Layers = Option<Rc<Ignored>>;

/// A directory to visit, the ignore files that apply to it, and whether its files are excluded.
type Waiting = (PathBuf, Layers, bool);

/// Whether a path is ignored. Its parents were checked before, and are not.
fn is_ignored(layers: &Layers, path: &Path, is_directory: bool) -> bool {
    let names: Vec<_> = path.iter().map(OsStr::to_string_lossy).collect();
    let mut next = layers.as_ref();
    while let Some(layer) = next {
        let path = format!("{}{}", layer.way_down, names[layer.depth..].join("/"));
        if let Some(verdict) = layer.patterns.is_ignored(&path, is_directory) {
            return verdict;
        }
        next = layer.above.as_ref();
    }
    false
}

struct Walk<'a> {
    options: WalkOptions<'a>,
    result: WalkResult,
}

impl Walk<'_> {
    /// The ignore files between the outermost package around the directory and the directory itself, so that the same files
    /// are ignored whichever directory of the package is named.
    fn ignored_from_above(&mut self) -> Layers {
        let root = self.options.root;
        let above: Vec<&Path> = root.ancestors().skip(1).collect();
        let is_package = |directory: &&Path| {
            ["Kptfile", "Krmfile"].iter().any(|name| directory.join(name).is_file())
        };
        let outermost = above.iter().rposition(is_package);
        let within = outermost.map_or(&above[..0], |at| &above[..=at]);
        within.iter().rev().fold(None, |layers, directory| {
            let way_down = root.strip_prefix(directory).unwrap_or(root).to_string_lossy();
            let file = directory.join(IGNORE_FILE);
            match fs::symlink_metadata(&file) {
                Ok(it) if it.is_symlink() && self.leaves(within[within.len() - 1], &file) => {
                    self.result.external.push(self.display_path(&file));
                    layers
                }
                Ok(_) => {
                    let read = read_regular_file(&file, IGNORE_LIMIT);
                    let read = read.map_err(unreadable_ignore_file);
                    self.layer(&file, read, (0, format!("{way_down}/")), layers)
                }
                Err(_) => layers,
            }
        })
    }

    /// The ignore file of a directory of the package.
    fn own_ignore_file(&mut self, directory: &Path, kind: EntryKind, above: Layers) -> Layers {
        let inside = directory.join(IGNORE_FILE);
        let file = self.options.root.join(&inside);
        self.result.has_symlinks |= kind == EntryKind::Symlink;
        self.result.ignore_files.push(Input::of(file.clone()));
        if kind == EntryKind::Symlink && self.leaves(self.options.root, &file) {
            self.result.external.push(self.display_path(&file));
            return above;
        }
        let read = match kind {
            EntryKind::Symlink => read_regular_file(&file, IGNORE_LIMIT),
            _ => self.options.opened.read(&inside, IGNORE_LIMIT).map(|(bytes, _)| bytes),
        };
        let depth = directory.iter().count();
        self.layer(&file, read.map_err(unreadable_ignore_file), (depth, String::new()), above)
    }

    /// Whether a symlink leaves a directory, and may not.
    fn leaves(&self, directory: &Path, link: &Path) -> bool {
        !self.options.follow_external_links && !stays_inside(directory, link)
    }

    fn layer(
        &mut self,
        file: &Path,
        content: Result<Vec<u8>, Diagnostic>,
        (depth, way_down): (usize, String),
        above: Layers,
    ) -> Layers {
        let patterns = match content {
            Ok(bytes) => IgnorePatterns::parse(&String::from_utf8_lossy(&bytes)),
            Err(error) => {
                let error = error.in_file(self.display_path(file));
                self.result.diagnostics.push(error);
                return above;
            }
        };
        for (line, text) in patterns.unmatchable() {
            let kind = FileKind::InvalidIgnorePattern { line: *line, pattern: text.to_owned() };
            let warning = Diagnostic::warning(kind).in_file(self.display_path(file));
            self.result.diagnostics.push(warning);
        }
        Some(Rc::new(Ignored { patterns, depth, way_down, above }))
    }

    /// Collects the files of one directory, and returns the directories in it to visit next.
    fn directory(&mut self, directory: &Path, ignored: Layers, is_excluded: bool) -> Vec<Waiting> {
        let on_disk = self.options.root.join(directory);
        self.result.directories.push(DirectoryState::of(on_disk.clone()));
        let entries = match sorted_entries(self.options.opened, directory) {
            Ok(entries) => entries,
            Err(_) if is_excluded => return Vec::new(),
            Err(error) => {
                let error = disk::unreadable(error.into()).in_file(self.display_path(&on_disk));
                self.result.diagnostics.push(error);
                return Vec::new();
            }
        };
        // Before ignored files are removed, because a pattern may ignore hidden files.
        if entries.iter().any(|(name, _)| disk::is_journal(name)) {
            self.result.journals.push(on_disk);
        }
        if !directory.as_os_str().is_empty() && entries.iter().any(|(name, _)| name == ".git") {
            self.result.nested_repositories.push(directory.to_owned());
        }
        let ignore_file = entries.iter().find(|(name, _)| name == IGNORE_FILE);
        let ignored = match ignore_file {
            Some((_, kind)) => self.own_ignore_file(directory, *kind, ignored),
            None => ignored,
        };
        let (hidden, entries): (Vec<_>, Vec<_>) = entries
            .into_iter()
            .filter(|(name, _)| name != ".git")
            .map(|(name, kind)| (directory.join(name), kind))
            .partition(|(path, kind)| is_ignored(&ignored, path, *kind == EntryKind::Directory));
        let hidden = hidden.iter().filter(|(_, kind)| *kind == EntryKind::Directory);
        self.result.closed.extend(hidden.map(|(path, _)| lossy(path)));
        let is_subpackage = !directory.as_os_str().is_empty()
            && entries.iter().any(|(path, kind)| self.makes_package(path, *kind));
        let subpackages = self.options.subpackages;
        if is_subpackage && subpackages != Subpackages::Include {
            self.result.closed.push(lossy(directory));
            self.result.excluded_packages += 1;
        }
        let is_excluded = is_excluded || is_subpackage && subpackages != Subpackages::Include;
        if is_excluded && subpackages == Subpackages::Exclude {
            return Vec::new();
        }
        let (directories, files): (Vec<_>, Vec<_>) =
            entries.into_iter().partition(|(_, kind)| *kind == EntryKind::Directory);
        let only = self.options.only;
        if !is_excluded && only.is_none_or(|only| only.contains(directory)) {
            files.iter().for_each(|(path, kind)| self.file(path, *kind));
        }
        let (directories, others): (Vec<_>, Vec<_>) = directories
            .into_iter()
            .map(|(path, _)| path)
            .partition(|path| only.is_none_or(|only| only.reaches(path)));
        self.result.closed.extend(others.iter().map(|path| lossy(path)));
        directories.into_iter().map(|path| (path, ignored.clone(), is_excluded)).collect()
    }

    fn makes_package(&self, path: &Path, kind: EntryKind) -> bool {
        let is_named = path.file_name().is_some_and(|name| name == "Kptfile" || name == "Krmfile");
        let is_file = || match kind {
            EntryKind::Symlink => self.options.root.join(path).is_file(),
            kind => kind == EntryKind::File,
        };
        is_named && is_file()
    }

    fn file(&mut self, inside: &Path, kind: EntryKind) {
        let name = inside.file_name().unwrap_or_default().to_string_lossy();
        let disk = self.options.root.join(inside);
        if !is_wanted(&name) {
            let path = slashed(inside).and_then(|inside| PackagePath::new(&inside).ok());
            let path = path.filter(|_| kind == EntryKind::File && !disk::is_internal_file(&name));
            return self.result.others.extend(path.map(|path| (path, disk)));
        }
        self.result.has_symlinks |= kind == EntryKind::Symlink;
        let path = match slashed(inside).map(|inside| PackagePath::new(&inside)) {
            Some(Ok(path)) => path,
            Some(Err(error)) => {
                let error = Diagnostic::error(error).in_file(self.display_path(&disk));
                return self.result.diagnostics.push(error);
            }
            None => return self.result.diagnostics.push(not_utf8(self.display_path(&disk))),
        };
        let display_path = join_display_path(self.options.title, path.as_str());
        let is_alias = self.options.only.is_some_and(|only| only.aliases.contains(inside));
        let location = match kind {
            _ if is_alias => None,
            EntryKind::File => Some(Location::Inside(inside.to_owned())),
            EntryKind::Symlink => self.symlink(&disk, &display_path),
            EntryKind::Directory | EntryKind::Special => None,
        };
        let is_link = kind == EntryKind::Symlink;
        let found = location.map(|location| FoundFile { path, display_path, location, is_link });
        self.result.found.extend(found);
    }

    /// The file that a symlink points to; none if it is not read.
    fn symlink(&mut self, link: &Path, display_path: &str) -> Option<Location> {
        let target = match fs::canonicalize(link) {
            Ok(target) => target,
            Err(error) => {
                let kind = FileKind::DanglingSymlink { reason: disk::io_reason(&error) };
                let warning = Diagnostic::warning(kind).in_file(display_path);
                self.result.diagnostics.push(warning);
                let link = link.strip_prefix(self.options.root).unwrap_or(link);
                self.result.dangling.push(link.to_owned());
                return None;
            }
        };
        let inside = target.strip_prefix(self.options.root).ok().map(Path::to_owned);
        match inside {
            _ if target.is_dir() => None,
            None if !self.options.follow_external_links => {
                self.result.external.push(display_path.to_owned());
                None
            }
            _ if !target.is_file() => None,
            None => Some(Location::Outside(target)),
            Some(inside) => Some(Location::Inside(inside)),
        }
    }

    fn display_path(&self, path: &Path) -> String {
        match path.strip_prefix(self.options.root) {
            Ok(inside) => join_display_path(self.options.title, &inside.to_string_lossy()),
            Err(_) => path.to_string_lossy().into_owned(),
        }
    }
}

fn unreadable_ignore_file(error: RegularFileError) -> Diagnostic {
    match error {
        RegularFileError::TooLarge { .. } => {
            let reason = format!("the file is larger than {} MiB", IGNORE_LIMIT >> 20);
            Diagnostic::error(FileKind::CannotRead { reason })
        }
        error => disk::unreadable(error),
    }
}

/// The names in a directory of a package in order, with what they are.
fn sorted_entries(
    package: &PackageRoot,
    directory: &Path,
) -> io::Result<Vec<(OsString, EntryKind)>> {
    let mut entries = package.entries(directory)?;
    entries.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(entries)
}

fn is_wanted(name: &str) -> bool {
    PackagePath::is_manifest_name(name)
}

/// A relative path with slashes, for comparing only.
fn lossy(path: &Path) -> String {
    path.iter().map(OsStr::to_string_lossy).collect::<Vec<_>>().join("/")
}

/// A relative path with slashes; none where it is not UTF-8.
fn slashed(path: &Path) -> Option<String> {
    let parts: Option<Vec<&str>> = path.iter().map(OsStr::to_str).collect();
    parts.map(|parts| parts.join("/"))
}

pub(crate) fn not_utf8(display_path: String) -> Diagnostic {
    Diagnostic::error(FileKind::NameNotUtf8).in_file(display_path)
}
