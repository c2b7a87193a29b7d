//! The walk over a folder: which files belong to the package, and which its ignore files leave out.

use std::ffi::{OsStr, OsString};
use std::fs::{self, FileType};
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use krm_core::model::IgnorePatterns;
use krm_core::{Diagnostic, PackagePath};

use crate::disk;
use crate::loader::join_display_path;

/// Says which files are left out, in the syntax of gitignore.
const IGNORE_FILE: &str = ".krmignore";

/// What becomes of packages inside the package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subpackages {
    Include,
    Exclude,
    /// Their files are left out, but not what a dead run left among them.
    JournalsOnly,
}

impl Subpackages {
    pub(crate) fn included_if(included: bool) -> Self {
        if included { Self::Include } else { Self::Exclude }
    }
}

/// A file that belongs to the package.
pub(crate) struct Found {
    pub(crate) path: PackagePath,
    pub(crate) display_path: String,
    pub(crate) disk: PathBuf,
    pub(crate) is_link: bool,
    pub(crate) is_external_symlink: bool,
}

/// What a walk came upon.
#[derive(Default)]
pub(crate) struct Walked {
    /// Files, in any order.
    pub(crate) found: Vec<Found>,
    /// What there is to say about the way.
    pub(crate) told: Vec<Diagnostic>,
    /// Folders in which a run left its journal.
    pub(crate) journals: Vec<PathBuf>,
    /// Files that are no YAML, with their places on disk.
    pub(crate) others: Vec<(PackagePath, PathBuf)>,
    /// Folders whose files are not looked at: ignored ones, and packages that are left out.
    pub(crate) closed: Vec<String>,
}

/// Walks over a folder.
pub(crate) fn files(root: &Path, title: &str, sub_packages: Subpackages) -> Walked {
    let mut walk = Walk { root, title, sub_packages, came_upon: Walked::default() };
    let above = walk.ignored_from_above();
    let mut waiting = vec![(PathBuf::new(), above, false)];
    while let Some((folder, ignored, is_left_out)) = waiting.pop() {
        let below = walk.folder(&folder, ignored, is_left_out);
        waiting.extend(below.into_iter().rev());
    }
    walk.came_upon
}

/// One ignore file and those above it. The nearest that speaks about a path counts.
struct Ignored {
    patterns: IgnorePatterns,
    /// How many names of a path lead from the folder that is walked to the one that holds the file.
    depth: usize,
    /// For a file above the folder that is walked: the way down to that folder.
    way_down: String,
    above: Layers,
}

type Layers = Option<Rc<Ignored>>;

/// A folder that comes next, what is ignored in it, and whether its files are left out.
type Waiting = (PathBuf, Layers, bool);

/// Whether a path is left out. What is above it was asked before, and is not.
fn is_ignored(layers: &Layers, path: &Path, is_folder: bool) -> bool {
    let names: Vec<_> = path.iter().map(OsStr::to_string_lossy).collect();
    let mut next = layers.as_ref();
    while let Some(layer) = next {
        let path = format!("{}{}", layer.way_down, names[layer.depth..].join("/"));
        if let Some(verdict) = layer.patterns.is_ignored(&path, is_folder) {
            return verdict;
        }
        next = layer.above.as_ref();
    }
    false
}

struct Walk<'a> {
    root: &'a Path,
    title: &'a str,
    sub_packages: Subpackages,
    came_upon: Walked,
}

impl Walk<'_> {
    /// The ignore files between the outermost package that holds the folder, and the folder: it makes no difference to
    /// a file from where one looks at it.
    fn ignored_from_above(&mut self) -> Layers {
        let root = self.root;
        let above: Vec<&Path> = root.ancestors().skip(1).collect();
        let is_package =
            |folder: &&Path| ["Kptfile", "Krmfile"].iter().any(|name| folder.join(name).is_file());
        let outermost = above.iter().rposition(is_package);
        let within = outermost.map_or(&above[..0], |at| &above[..=at]);
        within.iter().rev().fold(None, |layers, folder| {
            let way_down = root.strip_prefix(folder).unwrap_or(root).to_string_lossy();
            let file = folder.join(IGNORE_FILE);
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
                self.came_upon.told.push(self.unreadable(file, &error));
                return above;
            }
        };
        for (line, text) in patterns.unmatchable() {
            let words = format!("line {line} matches nothing: `{text}`");
            let hint = "close its bracket, or put a backslash before what is meant as it stands";
            self.came_upon.told.push(
                Diagnostic::untyped_warning(words).in_file(self.display_path(file)).hint(hint),
            );
        }
        Some(Rc::new(Ignored { patterns, depth, way_down, above }))
    }

    /// Takes the files of one folder, and gives the folders in it that come next.
    fn folder(&mut self, folder: &Path, ignored: Layers, is_left_out: bool) -> Vec<Waiting> {
        let entries = match entries(&self.root.join(folder)) {
            Ok(entries) => entries,
            Err(_) if is_left_out => return Vec::new(),
            Err(error) => {
                self.came_upon.told.push(self.unreadable(&self.root.join(folder), &error));
                return Vec::new();
            }
        };
        // Asked for by name: a pattern may leave hidden files out.
        if disk::has_journal(&self.root.join(folder)) {
            self.came_upon.journals.push(self.root.join(folder));
        }
        let has_ignore_file = entries.iter().any(|(name, _)| name == IGNORE_FILE);
        let ignored = match has_ignore_file {
            true => {
                let file = self.root.join(folder).join(IGNORE_FILE);
                self.layer(&file, folder.iter().count(), String::new(), ignored)
            }
            false => ignored,
        };
        let (hidden, entries): (Vec<_>, Vec<_>) = entries
            .into_iter()
            .filter(|(name, _)| name != ".git")
            .map(|(name, kind)| (folder.join(name), kind))
            .partition(|(path, kind)| is_ignored(&ignored, path, kind.is_dir()));
        let hidden = hidden.iter().filter(|(_, kind)| kind.is_dir());
        self.came_upon.closed.extend(hidden.map(|(path, _)| lossy(path)));
        let is_sub_package = !folder.as_os_str().is_empty()
            && entries.iter().any(|(path, kind)| self.makes_package(path, *kind));
        if is_sub_package && self.sub_packages != Subpackages::Include {
            self.came_upon.closed.push(lossy(folder));
        }
        let is_left_out =
            is_left_out || is_sub_package && self.sub_packages != Subpackages::Include;
        if is_left_out && self.sub_packages == Subpackages::Exclude {
            return Vec::new();
        }
        let (folders, files): (Vec<_>, Vec<_>) =
            entries.into_iter().partition(|(_, kind)| kind.is_dir());
        if !is_left_out {
            files.iter().for_each(|(path, kind)| self.file(path, *kind));
        }
        folders.into_iter().map(|(path, _)| (path, ignored.clone(), is_left_out)).collect()
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
            return self.came_upon.others.extend(path.map(|path| (path, disk)));
        }
        let path = match slashed(inside).map(|inside| PackagePath::new(&inside)) {
            Some(Ok(path)) => path,
            Some(Err(error)) => {
                let words = format!("it is not read: {error}");
                return self
                    .came_upon
                    .told
                    .push(Diagnostic::untyped_error(words).in_file(self.display_path(&disk)));
            }
            None => return self.came_upon.told.push(not_utf8(self.display_path(&disk))),
        };
        let display_path = join_display_path(self.title, path.as_str());
        let is_link = kind.is_symlink();
        let mut is_external_symlink = false;
        if is_link {
            match fs::canonicalize(&disk) {
                Ok(target) if !target.is_file() => return,
                Ok(target) => is_external_symlink = !target.starts_with(self.root),
                Err(error) => {
                    let words = format!("the link leads nowhere: {}", disk::io_reason(&error));
                    let hint = "remove it, or name it in .krmignore";
                    let told = Diagnostic::untyped_warning(words).in_file(display_path).hint(hint);
                    return self.came_upon.told.push(told);
                }
            }
        } else if !kind.is_file() {
            return;
        }
        self.came_upon.found.push(Found { path, display_path, disk, is_link, is_external_symlink });
    }

    fn unreadable(&self, path: &Path, error: &io::Error) -> Diagnostic {
        let words = format!("it cannot be read: {}", disk::io_reason(error));
        Diagnostic::untyped_error(words).in_file(self.display_path(path))
    }

    fn display_path(&self, path: &Path) -> String {
        match path.strip_prefix(self.root) {
            Ok(inside) => join_display_path(self.title, &inside.to_string_lossy()),
            Err(_) => path.to_string_lossy().into_owned(),
        }
    }
}

/// The names in a folder in their order, and what they are.
fn entries(folder: &Path) -> io::Result<Vec<(OsString, FileType)>> {
    let read = fs::read_dir(folder)?;
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
    Diagnostic::untyped_error("the name is not UTF-8, and files of such names are not read")
        .in_file(display_path)
}
