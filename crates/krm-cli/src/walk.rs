//! Walks a directory: which files belong to the package, and which are excluded by ignore files.

use std::ffi::{OsStr, OsString};
use std::fs::{self, FileType};
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use krm_core::model::IgnorePatterns;
use krm_core::{Diagnostic, PackagePath};

use crate::consistent_read::DirectoryState;
use crate::disk::{self, FileKind};
use crate::loader::join_display_path;

/// The file that lists excluded files, in the syntax of gitignore.
const IGNORE_FILE: &str = ".krmignore";

/// Whether packages inside the package are part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subpackages {
    Include,
    Exclude,
    /// Their files are excluded, but journals of killed runs in them are found.
    JournalsOnly,
}

impl Subpackages {
    pub(crate) fn included_if(included: bool) -> Self {
        if included { Self::Include } else { Self::Exclude }
    }
}

/// A file that belongs to the package.
pub(crate) struct FoundFile {
    pub(crate) path: PackagePath,
    pub(crate) display_path: String,
    pub(crate) disk: PathBuf,
    pub(crate) is_link: bool,
    pub(crate) is_external_symlink: bool,
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
    /// The directories as they were before they were listed.
    pub(crate) directories: Vec<DirectoryState>,
}

/// Walks a directory.
pub(crate) fn files(root: &Path, title: &str, subpackages: Subpackages) -> WalkResult {
    let mut walk = Walk { root, title, subpackages, result: WalkResult::default() };
    let above = walk.ignored_from_above();
    let mut waiting = vec![(PathBuf::new(), above, false)];
    while let Some((directory, ignored, is_excluded)) = waiting.pop() {
        let below = walk.directory(&directory, ignored, is_excluded);
        waiting.extend(below.into_iter().rev());
    }
    walk.result
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
    root: &'a Path,
    title: &'a str,
    subpackages: Subpackages,
    result: WalkResult,
}

impl Walk<'_> {
    /// The ignore files between the outermost package around the directory and the directory itself, so that the same files
    /// are ignored whichever directory of the package is named.
    fn ignored_from_above(&mut self) -> Layers {
        let root = self.root;
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
                Ok(_) => self.layer(&file, 0, format!("{way_down}/"), layers),
                Err(_) => layers,
            }
        })
    }

    fn layer(&mut self, file: &Path, depth: usize, way_down: String, above: Layers) -> Layers {
        let patterns = match fs::read(file) {
            Ok(bytes) => IgnorePatterns::parse(&String::from_utf8_lossy(&bytes)),
            Err(error) => {
                self.result.diagnostics.push(self.unreadable(file, &error));
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
        self.result.directories.push(DirectoryState::of(self.root.join(directory)));
        let entries = match entries(&self.root.join(directory)) {
            Ok(entries) => entries,
            Err(_) if is_excluded => return Vec::new(),
            Err(error) => {
                self.result.diagnostics.push(self.unreadable(&self.root.join(directory), &error));
                return Vec::new();
            }
        };
        // Before ignored files are removed, because a pattern may ignore hidden files.
        if entries.iter().any(|(name, _)| disk::is_journal(name)) {
            self.result.journals.push(self.root.join(directory));
        }
        let has_ignore_file = entries.iter().any(|(name, _)| name == IGNORE_FILE);
        let ignored = match has_ignore_file {
            true => {
                let file = self.root.join(directory).join(IGNORE_FILE);
                self.layer(&file, directory.iter().count(), String::new(), ignored)
            }
            false => ignored,
        };
        let (hidden, entries): (Vec<_>, Vec<_>) = entries
            .into_iter()
            .filter(|(name, _)| name != ".git")
            .map(|(name, kind)| (directory.join(name), kind))
            .partition(|(path, kind)| is_ignored(&ignored, path, kind.is_dir()));
        let hidden = hidden.iter().filter(|(_, kind)| kind.is_dir());
        self.result.closed.extend(hidden.map(|(path, _)| lossy(path)));
        let is_subpackage = !directory.as_os_str().is_empty()
            && entries.iter().any(|(path, kind)| self.makes_package(path, *kind));
        if is_subpackage && self.subpackages != Subpackages::Include {
            self.result.closed.push(lossy(directory));
        }
        let is_excluded = is_excluded || is_subpackage && self.subpackages != Subpackages::Include;
        if is_excluded && self.subpackages == Subpackages::Exclude {
            return Vec::new();
        }
        let (directories, files): (Vec<_>, Vec<_>) =
            entries.into_iter().partition(|(_, kind)| kind.is_dir());
        if !is_excluded {
            files.iter().for_each(|(path, kind)| self.file(path, *kind));
        }
        directories.into_iter().map(|(path, _)| (path, ignored.clone(), is_excluded)).collect()
    }

    fn makes_package(&self, path: &Path, kind: FileType) -> bool {
        let is_named = path.file_name().is_some_and(|name| name == "Kptfile" || name == "Krmfile");
        is_named && (kind.is_file() || kind.is_symlink() && self.root.join(path).is_file())
    }

    fn file(&mut self, inside: &Path, kind: FileType) {
        let name = inside.file_name().unwrap_or_default().to_string_lossy();
        let disk = self.root.join(inside);
        if !is_wanted(&name) {
            let path = slashed(inside).and_then(|inside| PackagePath::new(&inside).ok());
            let path = path.filter(|_| kind.is_file() && !disk::is_internal_file(&name));
            return self.result.others.extend(path.map(|path| (path, disk)));
        }
        let path = match slashed(inside).map(|inside| PackagePath::new(&inside)) {
            Some(Ok(path)) => path,
            Some(Err(error)) => {
                let error = Diagnostic::error(error).in_file(self.display_path(&disk));
                return self.result.diagnostics.push(error);
            }
            None => return self.result.diagnostics.push(not_utf8(self.display_path(&disk))),
        };
        let display_path = join_display_path(self.title, path.as_str());
        let is_link = kind.is_symlink();
        let mut is_external_symlink = false;
        if is_link {
            match fs::canonicalize(&disk) {
                Ok(target) if !target.is_file() => return,
                Ok(target) => is_external_symlink = !target.starts_with(self.root),
                Err(error) => {
                    let kind = FileKind::DanglingSymlink { reason: disk::io_reason(&error) };
                    let warning = Diagnostic::warning(kind).in_file(display_path);
                    return self.result.diagnostics.push(warning);
                }
            }
        } else if !kind.is_file() {
            return;
        }
        self.result.found.push(FoundFile {
            path,
            display_path,
            disk,
            is_link,
            is_external_symlink,
        });
    }

    fn unreadable(&self, path: &Path, error: &io::Error) -> Diagnostic {
        disk::cannot_read(error).in_file(self.display_path(path))
    }

    fn display_path(&self, path: &Path) -> String {
        match path.strip_prefix(self.root) {
            Ok(inside) => join_display_path(self.title, &inside.to_string_lossy()),
            Err(_) => path.to_string_lossy().into_owned(),
        }
    }
}

/// The names in a directory in order, with their file types.
fn entries(directory: &Path) -> io::Result<Vec<(OsString, FileType)>> {
    let read = fs::read_dir(directory)?;
    let mut entries: Vec<(OsString, FileType)> = read
        .map(|entry| entry.and_then(|entry| Ok((entry.file_name(), entry.file_type()?))))
        .collect::<io::Result<_>>()?;
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
