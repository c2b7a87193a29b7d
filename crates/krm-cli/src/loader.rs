//! A package on disk: which files of a folder belong to it, read side by side and in a stable order.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};
use std::num::NonZeroUsize;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use krm_core::{Destination, Diagnostic, OriginalFile, Package, PackageFile, PackagePath, Plan};
use krm_yaml::{File, ReadOptions};

use crate::walk::{self, Found, Subpackages, Walked};
use crate::{disk, parallel};

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
    /// Where it was read from, as people know it.
    pub(crate) title: String,
    pub(crate) origin: Origin,
    /// Links that lead nowhere, folders and patterns that cannot be read.
    told: Vec<Diagnostic>,
    hard_links: HardLinks,
    /// Folders in which a run writes, or was interrupted.
    pub(crate) journals: Vec<PathBuf>,
    /// Folders below this one whose files are no part of the package.
    pub(crate) closed: Vec<String>,
    /// The files of the folder that are no YAML, with their places on disk.
    pub(crate) others: BTreeMap<PackagePath, PathBuf>,
}

impl LoadedPackage {
    /// Everything that there is to say about reading.
    pub(crate) fn diagnostics(&self) -> Vec<Diagnostic> {
        let mut told: Vec<Diagnostic> =
            self.told.iter().cloned().chain(self.package.errors()).collect();
        if self.package.files().is_empty() && told.is_empty() {
            let words = Diagnostic::untyped_warning("there is nothing to read in this folder");
            let hint = "*.yaml, *.yml, *.json, Kptfile and Krmfile are read";
            told.push(words.in_file(&*self.title).hint(hint));
        }
        told
    }

    /// What people call a package that is read, or one inside it; a stream has no name.
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
                let original = OriginalFile::new(path, &**display_path, change.old.clone());
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

    /// A folder of the package from where the user stands.
    pub(crate) fn display_path(&self, folder: &str) -> String {
        join_display_path(&self.title, folder)
    }
}

/// Reads a folder, a single file, or standard input.
pub(crate) fn load(name: &str, jobs: Option<NonZeroUsize>) -> Result<LoadedPackage, Diagnostic> {
    load_with(name, jobs, Subpackages::Include)
}

/// Reads another version of packages that are read already. Files of the same path and text are read and held once.
pub(crate) fn load_beside(
    name: &str,
    jobs: Option<NonZeroUsize>,
    beside: &[&Package],
) -> Result<LoadedPackage, Diagnostic> {
    open(name, jobs, Subpackages::Include, beside)
}

/// Reads a folder with the packages inside it, or without.
pub(crate) fn load_with(
    name: &str,
    jobs: Option<NonZeroUsize>,
    sub_packages: Subpackages,
) -> Result<LoadedPackage, Diagnostic> {
    open(name, jobs, sub_packages, &[])
}

fn open(
    name: &str,
    jobs: Option<NonZeroUsize>,
    sub_packages: Subpackages,
    beside: &[&Package],
) -> Result<LoadedPackage, Diagnostic> {
    if name == disk::STDIN {
        return stream();
    }
    let title = title(name);
    let told = |error: &io::Error| {
        let words = match error.kind() {
            io::ErrorKind::NotFound => "there is no such file or folder".to_owned(),
            _ => format!("it cannot be read: {}", disk::io_reason(error)),
        };
        Diagnostic::untyped_error(words).in_file(&*title)
    };
    let root = fs::canonicalize(name).map_err(|error| told(&error))?;
    if root.is_dir() {
        let Walked { found, told, journals, closed, others } =
            walk::files(&root, &title, sub_packages);
        let (package, hard_links) = read_all(found, jobs, beside);
        let (origin, others) = (Origin::Directory, others.into_iter().collect());
        return Ok(LoadedPackage {
            package,
            title,
            origin,
            told,
            hard_links,
            journals,
            closed,
            others,
        });
    }
    let path = root.file_name().and_then(|name| PackagePath::new(name.to_str()?).ok());
    let Some(path) = path else { return Err(walk::not_utf8(title)) };
    let found = vec![Found {
        display_path: title.clone(),
        path,
        disk: root,
        is_link: false,
        is_external_symlink: false,
    }];
    Ok(alone(read_all(found, jobs, beside).0, title, Origin::File))
}

fn stream() -> Result<LoadedPackage, Diagnostic> {
    let file = disk::parse(disk::STDIN, ReadOptions::default())?;
    let path = PackagePath::new(disk::STDIN)
        .map_err(|error| Diagnostic::untyped_error(error.to_string()))?;
    let display_path = disk::display_name(disk::STDIN).to_owned();
    let file =
        PackageFile { path, display_path, is_external_symlink: false, content: Ok(Arc::new(file)) };
    Ok(alone(Package::new(vec![file]), ".".to_owned(), Origin::Stdin))
}

/// A package of one file.
fn alone(package: Package, title: String, origin: Origin) -> LoadedPackage {
    LoadedPackage {
        package,
        title,
        origin,
        told: Vec::new(),
        hard_links: HardLinks::new(),
        journals: Vec::new(),
        closed: Vec::new(),
        others: BTreeMap::new(),
    }
}

/// Reads and parses; of a file with several names the first counts, and a link never comes first.
fn read_all(
    mut found: Vec<Found>,
    jobs: Option<NonZeroUsize>,
    beside: &[&Package],
) -> (Package, HardLinks) {
    found.sort_by(|a, b| (a.is_link, &a.path).cmp(&(b.is_link, &b.path)));
    let read = parallel::map(&found, jobs, |found| read(found, beside));
    let mut seen: BTreeMap<(u64, u64), PackagePath> = BTreeMap::new();
    let mut hard_links = HardLinks::new();
    let mut files = Vec::with_capacity(found.len());
    for (found, (content, number)) in found.into_iter().zip(read) {
        let Found { path, display_path, is_external_symlink, is_link, .. } = found;
        if let Some(first) = number.and_then(|number| seen.get(&number)) {
            // A link shows what its target becomes; any other name has to be led to it.
            if !is_link {
                hard_links.entry(first.clone()).or_default().push((path, display_path));
            }
            continue;
        }
        seen.extend(number.map(|number| (number, path.clone())));
        files.push(PackageFile { path, display_path, is_external_symlink, content });
    }
    (Package::new(files), hard_links)
}

/// A file's content, and what tells it apart from files of other names.
type Content = (Result<Arc<File>, Diagnostic>, Option<(u64, u64)>);

fn read(found: &Found, beside: &[&Package]) -> Content {
    let mut bytes = Vec::new();
    let opened = fs::File::open(&found.disk).and_then(|file| {
        let metadata = file.metadata()?;
        bytes.reserve_exact(usize::try_from(metadata.len()).unwrap_or(0).min(1 << 30));
        // The size is known, and `take` does not ask the disk for it again.
        file.take(u64::MAX).read_to_end(&mut bytes)?;
        Ok(disk::file_id(&metadata))
    });
    match opened {
        Ok(number) => match known(&found.path, &bytes, beside) {
            Some(file) => (Ok(file), number),
            None => (parse(bytes), number),
        },
        Err(error) => {
            let words = format!("it cannot be read: {}", disk::io_reason(&error));
            (Err(Diagnostic::untyped_error(words)), None)
        }
    }
}

/// The file as another package has it.
fn known(path: &PackagePath, bytes: &[u8], beside: &[&Package]) -> Option<Arc<File>> {
    let same = beside.iter().filter_map(|package| package.file(path)?.content.as_ref().ok());
    same.into_iter().find(|file| file.text().as_bytes() == bytes).cloned()
}

fn parse(bytes: Vec<u8>) -> Result<Arc<File>, Diagnostic> {
    File::from_bytes(bytes).map(Arc::new).map_err(|error| Diagnostic::from(&error))
}

/// What the user typed, without `./`, doubled slashes and the folder they stand in.
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

    /// Every folder below `root` that is read as a package holds the bytes of its files, and planned as it is nothing
    /// is to be written. The number of files.
    fn round_trips(root: &Path) -> usize {
        let mut count = 0;
        for folder in folders(root) {
            let loaded = load(folder.to_str().unwrap(), None).unwrap();
            let mut plan = krm_core::Plan::default();
            for file in loaded.package.into_files() {
                let Ok(content) = &file.content else { continue };
                let bytes = fs::read(folder.join(file.path.as_str())).unwrap();
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

    /// A folder and all below it.
    fn folders(root: &Path) -> Vec<PathBuf> {
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
            None => println!("skipped in part: KRM_CORPORA does not name a folder of packages"),
        }
    }

    #[test]
    fn titles_are_what_the_user_sees_from_where_they_stand() {
        assert_eq!(
            ["./a//b/", ".", "./", "../x", "a/."].map(title),
            ["a/b", ".", ".", "../x", "a"]
        );
        assert_eq!(join_display_path(".", "a.yaml"), "a.yaml");
        assert_eq!(join_display_path("p", "a.yaml"), "p/a.yaml");
        assert_eq!(join_display_path("/", "a.yaml"), "/a.yaml");
    }
}
