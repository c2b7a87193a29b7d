//! Loads a package from disk: reads the files of a directory in parallel, in a stable order.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::num::NonZeroUsize;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use krm_core::{Destination, Diagnostic, OriginalFile, Package, PackageFile, PackagePath, Plan};
use krm_yaml::{File, ReadOptions};
use siphasher::sip128::SipHasher13;

use crate::consistent_read::{self, DirectoryState};
use crate::console::Activity;
use crate::disk::{FILE_LIMIT, FileKind, FileState, PackageRoot};
use crate::result_cache::Input;
use crate::walk::{
    self, FoundFile, Location, PackageSelection, ReadFiles, Subpackages, WalkOptions, WalkResult,
};
use crate::{disk, duplicate_keys, parallel};

/// How packages are read.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LoadOptions {
    /// The number of files to process in parallel.
    pub(crate) jobs: Option<NonZeroUsize>,
    /// Whether symlinks to files outside of the package are read.
    pub(crate) follow_external_links: bool,
    /// Whether subpackages are read.
    pub(crate) subpackages: Subpackages,
    /// Whether files that are not manifests are read, too, to detect that one of them changes later.
    pub(crate) with_other_files: bool,
}

/// The files of a package that are not manifests.
#[derive(Debug, Default)]
pub(crate) struct OtherFiles {
    locations: BTreeMap<PackagePath, PathBuf>,
    digests: Digests,
}

/// The digests of files when the package was read.
type Digests = BTreeMap<PackagePath, [u64; 2]>;

impl OtherFiles {
    pub(crate) fn paths(&self) -> impl Iterator<Item = &PackagePath> {
        self.locations.keys()
    }

    /// The content of a file, which must be the one that the package was read with; none if there is no such file.
    pub(crate) fn read(&self, path: &PackagePath) -> Result<Option<Vec<u8>>, Diagnostic> {
        let Some(location) = self.locations.get(path) else { return Ok(None) };
        let content = krm_run::read_regular_file(location, FILE_LIMIT).map_err(disk::unreadable)?;
        match self.digests.get(path).is_none_or(|it| *it == digest(&content)) {
            true => Ok(Some(content)),
            false => Err(Diagnostic::error(FileKind::ChangedWhileRead)),
        }
    }
}

fn digest(content: &[u8]) -> [u64; 2] {
    let hash = SipHasher13::new().hash(content);
    [hash.h1, hash.h2]
}

/// What was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Directory,
    File,
    Stdin,
}

/// Further names of files (hard links): path and display path, by the path that the file was read under.
type HardLinks = BTreeMap<PackagePath, Vec<(PackagePath, String)>>;

/// A package as it was read.
pub(crate) struct LoadedPackage {
    pub(crate) package: Package,
    /// The path that it was read from, as messages show it.
    pub(crate) title: String,
    pub(crate) origin: Origin,
    /// Dangling symlinks, unreadable directories and invalid ignore patterns.
    diagnostics: Vec<Diagnostic>,
    hard_links: HardLinks,
    /// Directories in which a run is writing, or was interrupted.
    pub(crate) journals: Vec<PathBuf>,
    /// The directories of the package as they were before they were read.
    pub(crate) directories: Vec<DirectoryState>,
    /// The files that were read.
    pub(crate) inputs: ReadFiles,
    /// Directories below this one whose files are not part of the package.
    pub(crate) closed: Vec<String>,
    /// How many of them are subpackages.
    excluded_packages: usize,
    /// The files that are not manifests, with their paths on disk.
    pub(crate) others: BTreeMap<PackagePath, PathBuf>,
    /// The digests of these files, with [`LoadOptions::with_other_files`].
    pub(crate) digests: Digests,
}

impl LoadedPackage {
    /// Takes the files that are not manifests out of the package.
    pub(crate) fn take_other_files(&mut self) -> OtherFiles {
        let (locations, digests) = (&mut self.others, &mut self.digests);
        OtherFiles { locations: std::mem::take(locations), digests: std::mem::take(digests) }
    }

    /// The diagnostics of loading.
    pub(crate) fn diagnostics(&self) -> Vec<Diagnostic> {
        let mut all: Vec<Diagnostic> =
            self.diagnostics.iter().cloned().chain(self.package.errors()).collect();
        if self.package.files().is_empty() && all.is_empty() {
            let kind = match self.excluded_packages {
                0 => FileKind::NoManifests,
                count => FileKind::OnlySubpackages { count },
            };
            all.push(Diagnostic::warning(kind).in_file(&*self.title));
        }
        all
    }

    /// The display path of the package or of a subpackage; a stream has none.
    pub(crate) fn package_name(&self, root: &str) -> Option<String> {
        (self.origin != Origin::Stdin).then(|| self.display_path(root))
    }

    /// Adds the further names of changed files, so that all hard links to a file get its new content.
    /// `directory` is the package's own in the plan.
    pub(crate) fn with_hard_links(
        &self,
        mut plan: Plan,
        directory: &str,
    ) -> Result<Plan, Diagnostic> {
        let mut links = Vec::new();
        for change in plan.changes() {
            let Destination::File(path) = &change.destination else { continue };
            let own = path.relative_to(directory).and_then(|path| self.hard_links.get(&path));
            for (path, display_path) in own.into_iter().flatten() {
                let path = path.in_directory(directory);
                let old = change.old.clone();
                let original = OriginalFile::with_shared_text(path, &**display_path, old);
                links.push((original, change.new.clone()));
            }
        }
        for (original, new) in links {
            plan.set(original, new)?;
        }
        Ok(plan)
    }

    /// A file of the package as a plan needs it. What came from standard input goes to standard output.
    pub(crate) fn original(&self, file: impl Into<OriginalFile>) -> OriginalFile {
        match self.origin {
            Origin::Stdin => file.into().at(Destination::Stdout),
            Origin::Directory | Origin::File => file.into(),
        }
    }

    /// The file of this path as it was read, or a new one.
    pub(crate) fn original_at(&self, path: &PackagePath) -> OriginalFile {
        match self.package.file(path) {
            Some(file) => self.original(file),
            None => self.new_file(path),
        }
    }

    /// A file that is to be created.
    pub(crate) fn new_file(&self, path: &PackagePath) -> OriginalFile {
        let display_path = self.display_path(path.as_str());
        self.original(OriginalFile::new(path.clone(), display_path, None))
    }

    /// The display path of a directory or file of the package.
    pub(crate) fn display_path(&self, directory: &str) -> String {
        join_display_path(&self.title, directory)
    }
}

/// Whether a diagnostic says that there is nothing to read.
pub(crate) fn is_about_nothing(diagnostic: &Diagnostic) -> bool {
    use FileKind::{EmptyStdin, NoManifests, OnlySubpackages};
    matches!(diagnostic.kind(), Some(NoManifests | OnlySubpackages { .. } | EmptyStdin))
}

/// Reads a directory, a single file, or standard input.
pub(crate) fn load(name: &str, options: LoadOptions) -> Result<LoadedPackage, Diagnostic> {
    open(name, options, None, &[], false)
}

/// Reads another version of packages that are read already. Files of the same path and text are read and held once.
pub(crate) fn load_beside(
    name: &str,
    options: LoadOptions,
    beside: &[&Package],
) -> Result<LoadedPackage, Diagnostic> {
    open(name, options, None, beside, false)
}

/// Reads a directory that is locked, so that nobody else writes to it, or that is only previewed.
pub(crate) fn load_to_edit(
    name: &str,
    options: LoadOptions,
    is_locked: bool,
) -> Result<LoadedPackage, Diagnostic> {
    open(name, options, None, &[], is_locked)
}

/// Reads a directory with the subpackages that the options name, and with all of them if its Kptfile says that the package reaches into
/// them.
///
/// The Kptfile is read on its own first, so that no other file is read twice.
pub(crate) fn load_if(
    name: &str,
    options: LoadOptions,
    reaches: fn(&Package) -> bool,
    is_locked: bool,
) -> Result<LoadedPackage, Diagnostic> {
    let kptfile = Path::new(name).join("Kptfile");
    let is_own = || {
        options.follow_external_links
            || fs::canonicalize(name).is_ok_and(|root| walk::stays_inside(&root, &kptfile))
    };
    let is_read = kptfile.is_file() && is_own();
    let kptfile = kptfile.to_str().filter(|_| is_read).map(|path| load(path, options));
    let is_included = kptfile.is_some_and(|it| it.is_ok_and(|loaded| reaches(&loaded.package)));
    let subpackages = if is_included { Subpackages::Include } else { options.subpackages };
    load_to_edit(name, LoadOptions { subpackages, ..options }, is_locked)
}

/// Reads some packages of a directory.
pub(crate) fn load_selected(
    name: &str,
    options: LoadOptions,
    only: &PackageSelection,
    is_locked: bool,
) -> Result<LoadedPackage, Diagnostic> {
    open(name, options, Some(only), &[], is_locked)
}

/// A directory whose files are found, but not read.
pub(crate) struct FoundDirectory {
    /// Its path, without symlinks.
    pub(crate) root: PathBuf,
    /// Its path as messages show it.
    pub(crate) title: String,
    pub(crate) walk: WalkResult,
}

/// Finds the files of a directory with its subpackages.
pub(crate) fn find(name: &str, options: LoadOptions) -> Result<FoundDirectory, Diagnostic> {
    let (title, root) = resolve(name)?;
    if !root.is_dir() {
        return Err(Diagnostic::error(FileKind::NotADirectory).in_file(&*title));
    }
    let opened =
        PackageRoot::open(&root).map_err(|error| disk::cannot_read(&error).in_file(&*title))?;
    let walk = walk::files(WalkOptions {
        root: &root,
        opened: &opened,
        title: &title,
        subpackages: Subpackages::Include,
        follow_external_links: options.follow_external_links,
        only: None,
    });
    Ok(FoundDirectory { root, title, walk })
}

/// The path that a user named, for messages and without symlinks.
fn resolve(name: &str) -> Result<(String, PathBuf), Diagnostic> {
    let title = title(name);
    let root = fs::canonicalize(name).map_err(|error| {
        let error = match error.kind() {
            io::ErrorKind::NotFound => Diagnostic::error(FileKind::FileNotFound),
            _ => disk::cannot_read(&error),
        };
        error.in_file(&*title)
    })?;
    Ok((title, root))
}

/// Reads a directory, of which `only` selects packages, a file, or standard input.
fn open(
    name: &str,
    options: LoadOptions,
    only: Option<&PackageSelection>,
    beside: &[&Package],
    is_locked: bool,
) -> Result<LoadedPackage, Diagnostic> {
    if name == disk::STDIN {
        let _activity = Activity::begin("reading standard input");
        return stream();
    }
    if disk::is_stream(name) {
        return pipe(name);
    }
    let (title, root) = resolve(name)?;
    let _activity = Activity::begin(&format!("reading {title}"));
    if root.is_dir() {
        let opened =
            PackageRoot::open(&root).map_err(|error| disk::cannot_read(&error).in_file(&*title))?;
        let read = |previous: &[&Package]| {
            let beside: Vec<&Package> = beside.iter().chain(previous).copied().collect();
            let walk = WalkOptions {
                root: &root,
                opened: &opened,
                title: &title,
                subpackages: options.subpackages,
                follow_external_links: options.follow_external_links,
                only,
            };
            directory(walk, options, &beside)
        };
        return match is_locked {
            true => Ok(read(&[])),
            false => consistent_read::read(&root, &title, read),
        };
    }
    let Some(path) = root.file_name().and_then(|name| name.to_str()) else {
        return Err(walk::not_utf8(title));
    };
    let path = PackagePath::new(path).map_err(|error| Diagnostic::error(error).in_file(&*title))?;
    let found = vec![FoundFile {
        display_path: title.clone(),
        path,
        location: Location::Outside(root),
        is_link: false,
    }];
    Ok(alone(read_all(found, None, options.jobs, beside).package, title, Origin::File))
}

/// Reads a directory once.
fn directory(walk: WalkOptions<'_>, options: LoadOptions, beside: &[&Package]) -> LoadedPackage {
    let (root, opened, title) = (walk.root, walk.opened, walk.title);
    let WalkResult {
        found,
        diagnostics,
        journals,
        closed,
        others,
        directories,
        excluded_packages,
        ignore_files,
        has_symlinks,
        ..
    } = walk::files(walk);
    let AllFiles { package, hard_links, states } =
        read_all(found, Some(opened), options.jobs, beside);
    let input =
        |(path, state): (PathBuf, FileState)| Input { path: root.join(path), state: Some(state) };
    let files = states.into_iter().map(input).collect();
    let inputs = ReadFiles { files, ignore_files, has_symlinks };
    let origin = Origin::Directory;
    let digest_of = |(path, location): &(PackagePath, PathBuf)| {
        let inside = location.strip_prefix(root).ok()?;
        // One that cannot be read is reported when it is needed.
        let (content, _) = opened.read(inside, FILE_LIMIT).ok()?;
        Some((path.clone(), digest(&content)))
    };
    let digests = match options.with_other_files {
        true => parallel::map(&others, options.jobs, digest_of).into_iter().flatten().collect(),
        false => Digests::new(),
    };
    let others = others.into_iter().collect();
    LoadedPackage {
        package,
        title: title.to_owned(),
        origin,
        diagnostics,
        hard_links,
        journals,
        directories,
        inputs,
        closed,
        excluded_packages,
        others,
        digests,
    }
}

fn stream() -> Result<LoadedPackage, Diagnostic> {
    let file = disk::parse(disk::STDIN, ReadOptions::default())?;
    let path = PackagePath::new(disk::STDIN).map_err(Diagnostic::error)?;
    let display_path = disk::display_name(disk::STDIN).to_owned();
    let is_empty = file.text().trim().is_empty();
    let file =
        PackageFile { path, display_path, is_external_symlink: false, content: Ok(Arc::new(file)) };
    let mut loaded = alone(Package::new(vec![file]), ".".to_owned(), Origin::Stdin);
    loaded.diagnostics.extend(is_empty.then(|| Diagnostic::warning(FileKind::EmptyStdin)));
    Ok(loaded)
}

/// Reads a pipe that the user names. It is a file that cannot be written.
fn pipe(name: &str) -> Result<LoadedPackage, Diagnostic> {
    let file = Arc::new(disk::parse(name, ReadOptions::default())?);
    let path = Path::new(name).file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let path = PackagePath::new(path).map_err(|error| Diagnostic::error(error).in_file(name))?;
    let (display_path, content) = (name.to_owned(), Ok(file));
    let file = PackageFile { path, display_path, is_external_symlink: false, content };
    Ok(alone(Package::new(vec![file]), name.to_owned(), Origin::File))
}

/// A package of one file.
fn alone(package: Package, title: String, origin: Origin) -> LoadedPackage {
    LoadedPackage {
        package,
        title,
        origin,
        diagnostics: Vec::new(),
        hard_links: HardLinks::new(),
        journals: Vec::new(),
        directories: Vec::new(),
        inputs: ReadFiles::default(),
        closed: Vec::new(),
        excluded_packages: 0,
        others: BTreeMap::new(),
        digests: Digests::new(),
    }
}

/// Files that were read together.
struct AllFiles {
    package: Package,
    hard_links: HardLinks,
    /// The state of each file of the directory, relative to it.
    states: Vec<(PathBuf, FileState)>,
}

/// Reads and parses. Of a file with several names only the first is read; symlinks sort last.
fn read_all(
    mut found: Vec<FoundFile>,
    opened: Option<&PackageRoot>,
    jobs: Option<NonZeroUsize>,
    beside: &[&Package],
) -> AllFiles {
    found.sort_by(|a, b| (a.is_link, &a.path).cmp(&(b.is_link, &b.path)));
    let read = parallel::map(&found, jobs, |found| read(found, opened, beside));
    let mut seen: BTreeMap<(u64, u64), PackagePath> = BTreeMap::new();
    let mut hard_links = HardLinks::new();
    let mut files = Vec::with_capacity(found.len());
    let mut states = Vec::with_capacity(found.len());
    for (found, (content, state)) in found.into_iter().zip(read) {
        let FoundFile { path, display_path, location, is_link } = found;
        let number = state.and_then(|it| it.file_id());
        if let (Location::Inside(inside), Some(state)) = (&location, state) {
            states.push((inside.clone(), state));
        }
        let is_external_symlink = is_link && matches!(location, Location::Outside(_));
        if let Some(first) = number.and_then(|number| seen.get(&number)) {
            // A symlink follows its target; another hard link has to be replaced as well.
            if !is_link {
                hard_links.entry(first.clone()).or_default().push((path, display_path));
            }
            continue;
        }
        seen.extend(number.map(|number| (number, path.clone())));
        files.push(PackageFile { path, display_path, is_external_symlink, content });
    }
    AllFiles { package: Package::new(files), hard_links, states }
}

/// A file's content, and its state before it was read.
type Content = (Result<Arc<File>, Diagnostic>, Option<FileState>);

fn read(found: &FoundFile, opened: Option<&PackageRoot>, beside: &[&Package]) -> Content {
    let read = match (&found.location, opened) {
        (Location::Inside(path), Some(opened)) => opened
            .read(path, FILE_LIMIT)
            .map(|(bytes, metadata)| (bytes, Some(FileState::of(&metadata)))),
        (Location::Inside(path) | Location::Outside(path), _) => {
            krm_run::read_regular_file(path, FILE_LIMIT)
                .map(|bytes| (bytes, fs::metadata(path).ok().as_ref().map(FileState::of)))
        }
    };
    match read {
        Ok((bytes, number)) => {
            let known = known(&found.path, &bytes, beside);
            let content = known.map_or_else(|| parse(bytes), Ok);
            if let Ok(file) = &content {
                duplicate_keys::add(&found.display_path, file);
            }
            (content, number)
        }
        Err(error) => (Err(disk::unreadable(error)), None),
    }
}

/// The same file in a package that is loaded already.
fn known(path: &PackagePath, bytes: &[u8], beside: &[&Package]) -> Option<Arc<File>> {
    let same = beside.iter().filter_map(|package| package.file(path)?.content.as_ref().ok());
    same.into_iter().find(|file| file.text().as_bytes() == bytes).cloned()
}

fn parse(bytes: Vec<u8>) -> Result<Arc<File>, Diagnostic> {
    File::from_bytes(bytes).map(Arc::new).map_err(|error| Diagnostic::from(&error))
}

/// The path that the user typed, without `./`, doubled slashes and the current directory.
fn title(name: &str) -> String {
    let path = Path::new(name);
    let here = std::env::current_dir().ok();
    let inside = here.and_then(|here| path.strip_prefix(here).ok()).unwrap_or(path);
    let parts = inside.components().filter(|part| *part != Component::CurDir);
    let clean = parts.collect::<PathBuf>().to_string_lossy().into_owned();
    match &*clean {
        "" => ".".to_owned(),
        disk::STDIN => format!("./{clean}"),
        _ => clean,
    }
}

pub(crate) fn join_display_path(title: &str, path: &str) -> String {
    match (title, path) {
        (title, "") => title.to_owned(),
        (".", path) => path.to_owned(),
        (title, path) => format!("{}/{path}", title.trim_end_matches('/')),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Loads every directory below `root` as a package and checks that its texts are the files' bytes, and that planning them
    /// unchanged plans no write. Returns the number of files.
    fn round_trips(root: &Path) -> usize {
        let mut count = 0;
        for directory in directories(root) {
            let loaded = load(directory.to_str().unwrap(), LoadOptions::default()).unwrap();
            let mut plan = krm_core::Plan::default();
            for file in loaded.package.into_files() {
                let Ok(content) = &file.content else { continue };
                let bytes = fs::read(directory.join(file.path.as_str())).unwrap();
                assert_eq!(content.text().as_bytes(), bytes, "{}", file.display_path);
                let edited = krm_yaml::Edit::new(content).apply().unwrap();
                plan.set(&file, Some(edited)).unwrap();
            }
            count += plan.files().count();
            assert!(plan.files().all(|change| change.action() == krm_core::Action::Unchanged));
            assert!(plan.is_empty());
        }
        count
    }

    /// A directory and all directories below it.
    fn directories(root: &Path) -> Vec<PathBuf> {
        let mut all = vec![root.to_owned()];
        let mut at = 0;
        while at < all.len() {
            let entries = fs::read_dir(&all[at]).unwrap().map(|entry| entry.unwrap());
            let below = entries.filter(|entry| entry.file_type().unwrap().is_dir());
            let below: Vec<PathBuf> = below.map(|entry| entry.path()).collect();
            all.extend(below);
            at += 1;
        }
        all
    }

    #[test]
    fn round_trip() {
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        assert!(round_trips(&repository.join("examples")) > 1);
        match std::env::var_os("KRM_CORPORA") {
            Some(corpora) => assert!(round_trips(Path::new(&corpora)) > 100),
            None => println!("skipped in part: KRM_CORPORA does not name a directory of packages"),
        }
    }

    #[test]
    fn other_file_that_changes_after_the_read_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("notes.txt");
        fs::write(&path, "old").unwrap();
        let load = |with_other_files| {
            let options = LoadOptions { with_other_files, ..LoadOptions::default() };
            load(directory.path().to_str().unwrap(), options).unwrap().take_other_files()
        };
        let (with, without) = (load(true), load(false));
        let name = PackagePath::new("notes.txt").unwrap();
        assert_eq!(with.paths().collect::<Vec<_>>(), [&name]);
        assert_eq!(with.read(&name).unwrap().as_deref(), Some(&b"old"[..]));
        fs::write(&path, "new").unwrap();
        let error = with.read(&name).unwrap_err();
        assert_eq!(error.kind(), Some(&FileKind::ChangedWhileRead));
        assert_eq!(without.read(&name).unwrap().as_deref(), Some(&b"new"[..]));
        assert_eq!(with.read(&PackagePath::new("other.txt").unwrap()).unwrap(), None);
    }

    #[test]
    fn titles_are_relative_to_the_current_directory() {
        assert_eq!(
            ["./a//b/", ".", "./", "../x", "a/."].map(title),
            ["a/b", ".", ".", "../x", "a"]
        );
        assert_eq!(join_display_path(".", "a.yaml"), "a.yaml");
        assert_eq!(join_display_path("p", "a.yaml"), "p/a.yaml");
        assert_eq!(join_display_path("/", "a.yaml"), "/a.yaml");
    }
}
