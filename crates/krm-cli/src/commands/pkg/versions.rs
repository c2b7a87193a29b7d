//! The versions of a package that are compared and merged: what was fetched, and what is on disk.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;

use krm_core::compare::equal_in_yaml_1_2;
use krm_core::functions::kptfile::upstream::{
    Upstream, UpstreamLock, upstream, upstream_lock, with_identity_of,
};
use krm_core::{Diagnostic, Package, PackageFile, PackagePath};
use krm_run::read_regular_file;
use krm_yaml::File;

use super::kinds::PkgKind;
use super::{check_directory, init, line_breaks};
use crate::cli::Global;
use crate::disk::FILE_LIMIT;
use crate::loader::{self, LoadedPackage, join_display_path};
use crate::package_source::{FetchedPackage, Revision};
use crate::{Failure, consistent_read, disk, parallel};

/// The name of the file that makes a directory a package with an upstream.
pub(super) const KPTFILE: &str = "Kptfile";

/// The Kptfile of a package on disk, with its upstream.
#[derive(Debug)]
pub(super) struct LocalPackage {
    /// The directory as the user named it.
    pub(super) dir: String,
    pub(super) kptfile: Arc<File>,
    pub(super) upstream: Upstream,
    pub(super) lock: Option<UpstreamLock>,
}

impl LocalPackage {
    /// Reads the Kptfile of a directory. A package without an upstream is an error.
    pub(super) fn open(dir: &str) -> Result<Self, Failure> {
        match Self::read(dir)? {
            Some(local) => Ok(local),
            None => {
                let error = Diagnostic::error(PkgKind::NoUpstream);
                Err(Failure::input(error.in_file(join_display_path(dir, KPTFILE))))
            }
        }
    }

    /// Reads the Kptfile of a directory; none if it has no upstream.
    pub(super) fn read(dir: &str) -> Result<Option<Self>, Failure> {
        let shown = join_display_path(dir, KPTFILE);
        let in_file = |error: Diagnostic| Failure::input(error.in_file(&*shown));
        check_directory(dir)?;
        let path = Path::new(dir).join(KPTFILE);
        let text = consistent_read::read_file_of_package(&path, || disk::read_existing(&path))
            .map_err(Failure::input)?;
        let Some(text) = text.map_err(in_file)? else {
            return Err(Failure::input(Diagnostic::error(PkgKind::NoKptfile).in_file(dir)));
        };
        let kptfile = File::parse(text).map_err(|error| in_file(Diagnostic::from(&error)))?;
        let lock = upstream_lock(&kptfile).map_err(in_file)?;
        let upstream = upstream(&kptfile).map_err(in_file)?;
        let (dir, kptfile) = (dir.to_owned(), Arc::new(kptfile));
        Ok(upstream.map(|upstream| Self { dir, kptfile, upstream, lock }))
    }

    /// The version that the package was last updated to. Without one there is nothing to compare with.
    pub(super) fn base(&self) -> Result<Revision, Failure> {
        match &self.lock {
            Some(lock) => {
                let (reference, id) = (lock.reference.clone(), lock.revision.clone());
                Ok(Revision { reference, id })
            }
            None => {
                let error = Diagnostic::error(PkgKind::NoUpstreamLock);
                Err(Failure::input(error.in_file(join_display_path(&self.dir, KPTFILE))))
            }
        }
    }
}

/// A version that was fetched.
#[derive(Debug, Default)]
pub(super) struct Version {
    /// The files that are merged by resources.
    pub(super) package: Package,
    /// The files that are merged as a whole.
    pub(super) others: BTreeMap<PackagePath, Arc<[u8]>>,
    pub(super) executables: BTreeSet<PackagePath>,
}

impl Version {
    /// Parses the manifests of a fetched package. Files that another version has, too, are parsed once.
    ///
    /// The Kptfile gets the name, upstream and lock of the local one: what `get` writes there is not a change of either side.
    pub(super) fn new(
        fetched: FetchedPackage,
        title: &str,
        local: &LocalPackage,
        beside: &[&Package],
        global: &Global,
    ) -> Result<Self, Failure> {
        let mut version = Self::default();
        let mut manifests = Vec::new();
        for (path, file) in fetched.files {
            if file.is_executable {
                version.executables.insert(path.clone());
            }
            match PackagePath::is_manifest_name(path.name()) {
                true => manifests.push((path, file.content)),
                false => _ = version.others.insert(path, file.content),
            }
        }
        let parsed = parallel::map(&manifests, global.jobs, |(path, content)| {
            let known = beside.iter().filter_map(|it| it.file(path)?.content.as_ref().ok());
            let mut known = known.filter(|file| file.text().as_bytes() == &**content);
            match known.next() {
                Some(file) => Ok(Arc::clone(file)),
                None => parse(path, content, local),
            }
        });
        let mut files = Vec::new();
        for ((path, content), parsed) in manifests.into_iter().zip(parsed) {
            match parsed {
                Ok(file) if file.errors().next().is_none() => {
                    let display_path = format!("{title}/{path}");
                    let content = Ok(file);
                    files.push(PackageFile {
                        path,
                        display_path,
                        is_external_symlink: false,
                        content,
                    });
                }
                // Templates look like YAML and are not; they are compared byte by byte.
                _ => _ = version.others.insert(path, content),
            }
        }
        version.package = Package::new(files);
        Ok(version)
    }

    /// Adds the Kptfile that `get` writes to a package without one, so that it does not count as a local change.
    pub(super) fn add_missing_kptfile(&mut self, local: &LocalPackage) -> Result<(), Diagnostic> {
        let path = PackagePath::new(KPTFILE).map_err(Diagnostic::error)?;
        if self.has(&path) {
            return Ok(());
        }
        let file = parse(&path, init::KPTFILE.as_bytes(), local)?;
        let mut files = std::mem::take(&mut self.package).into_files();
        let display_path = path.to_string();
        let content = Ok(file);
        files.push(PackageFile { path, display_path, is_external_symlink: false, content });
        self.package = Package::new(files);
        Ok(())
    }

    pub(super) fn has(&self, path: &PackagePath) -> bool {
        self.package.file(path).is_some() || self.others.contains_key(path)
    }

    /// The content of a file, as it is compared.
    pub(super) fn content(&self, path: &PackagePath) -> Option<&[u8]> {
        let manifest = || self.package.file(path).and_then(PackageFile::file);
        match self.others.get(path) {
            Some(content) => Some(content),
            None => manifest().map(|file| file.text().as_bytes()),
        }
    }

    /// All paths.
    pub(super) fn paths(&self) -> impl Iterator<Item = &PackagePath> {
        self.package.files().iter().map(|file| &file.path).chain(self.others.keys())
    }

    /// Moves files to those that are compared as a whole.
    pub(super) fn compare_as_a_whole(&mut self, paths: &BTreeSet<PackagePath>) {
        if paths.is_empty() {
            return;
        }
        let files = std::mem::take(&mut self.package).into_files();
        let (moved, kept): (Vec<_>, Vec<_>) =
            files.into_iter().partition(|file| paths.contains(&file.path));
        self.package = Package::new(kept);
        for file in moved {
            let path = file.path.clone();
            let text = file.into_text().unwrap_or_default();
            self.others.insert(path, text.into_bytes().into());
        }
    }

    /// Removes a file.
    pub(super) fn remove(&mut self, path: &PackagePath) {
        let files = std::mem::take(&mut self.package).into_files();
        self.package = Package::new(files.into_iter().filter(|it| it.path != *path).collect());
        self.others.remove(path);
    }
}

fn parse(
    path: &PackagePath,
    content: &[u8],
    local: &LocalPackage,
) -> Result<Arc<File>, Diagnostic> {
    let parse = |bytes: Vec<u8>| File::from_bytes(bytes).map_err(|error| Diagnostic::from(&error));
    let file = parse(content.to_vec())?;
    if path.as_str() != KPTFILE || file.errors().next().is_some() {
        return Ok(Arc::new(file));
    }
    let text = with_identity_of(&file, &local.kptfile)?;
    Ok(Arc::new(parse(text.into_bytes())?))
}

/// The package on disk, beside the versions that it is compared with.
pub(super) struct LocalVersion {
    pub(super) loaded: LoadedPackage,
    /// The contents of files that are compared as a whole, as far as another version has them, and of all others that are not manifests.
    pub(super) others: BTreeMap<PackagePath, Vec<u8>>,
}

impl LocalVersion {
    /// Reads the package on disk and makes all versions comparable: a file is merged by resources only if every version of it can be.
    pub(super) fn load(
        dir: &str,
        versions: [&mut Version; 2],
        global: &Global,
    ) -> Result<Self, Failure> {
        let [base, upstream] = versions;
        let known = [&base.package, &upstream.package];
        let mut loaded =
            loader::load_beside(dir, global.load_options(), &known).map_err(Failure::input)?;
        let own_upstreams = own_upstreams(&loaded.package, base, upstream);
        let is_own =
            |path: &PackagePath| own_upstreams.iter().any(|directory| path.is_in(directory));
        let mut whole: BTreeSet<PackagePath> = BTreeSet::new();
        let files = std::mem::take(&mut loaded.package).into_files();
        let files: Vec<PackageFile> = files.into_iter().filter(|it| !is_own(&it.path)).collect();
        let is_broken = |file: &&PackageFile| !file.errors().is_empty();
        whole.extend(files.iter().filter(is_broken).map(|file| file.path.clone()));
        loaded.package = Package::new(files);
        let root = Path::new(dir);
        for version in [&*base, &*upstream] {
            // Ignored files and symlinks are not part of the package, but exist.
            let exists = |path: &&PackagePath| {
                loaded.package.file(path).is_none()
                    && fs::symlink_metadata(root.join(path.as_str())).is_ok()
            };
            whole.extend(version.paths().filter(exists).cloned());
            whole.extend(version.others.keys().cloned());
        }
        base.compare_as_a_whole(&whole);
        upstream.compare_as_a_whole(&whole);
        let mut others = BTreeMap::new();
        let other_paths = loaded.others.keys().filter(|path| !is_own(path)).cloned();
        let paths: BTreeSet<PackagePath> = whole.iter().cloned().chain(other_paths).collect();
        for path in paths {
            let file = root.join(path.as_str());
            let is_file = fs::symlink_metadata(&file).is_ok_and(|it| it.is_file());
            if is_file {
                let shown = || join_display_path(dir, path.as_str());
                let cannot_read = |error| Failure::input(disk::unreadable(error).in_file(shown()));
                let content = read_regular_file(&file, FILE_LIMIT).map_err(cannot_read)?;
                others.insert(path, content);
            }
        }
        let files = std::mem::take(&mut loaded.package).into_files();
        let kept = files.into_iter().filter(|file| !whole.contains(&file.path)).collect();
        loaded.package = Package::new(kept);
        let local = Self { loaded, others };
        line_breaks::follow_local([base, upstream], &local);
        Ok(local)
    }

    /// The content of a file.
    pub(super) fn content(&self, path: &PackagePath) -> Option<&[u8]> {
        let manifest = || self.loaded.package.file(path).and_then(PackageFile::file);
        match self.others.get(path) {
            Some(content) => Some(content),
            None => manifest().map(|file| file.text().as_bytes()),
        }
    }

    /// All paths.
    pub(super) fn paths(&self) -> impl Iterator<Item = &PackagePath> {
        self.loaded.package.files().iter().map(|file| &file.path).chain(self.others.keys())
    }

    /// Files that differ from a version, are missing, or are new.
    pub(super) fn changes_since(&self, base: &Version) -> Vec<PackagePath> {
        let paths: BTreeSet<&PackagePath> = self.paths().chain(base.paths()).collect();
        let differs = |path: &&PackagePath| match path.as_str() {
            KPTFILE => !self.has_same_kptfile(base, path),
            _ => self.content(path) != base.content(path),
        };
        paths.into_iter().filter(differs).cloned().collect()
    }

    /// The Kptfile of a package is written by `get`, so that only its meaning counts; and upstream need not have one.
    fn has_same_kptfile(&self, base: &Version, path: &PackagePath) -> bool {
        let own = self.loaded.package.file(path).and_then(PackageFile::file);
        let Some(theirs) = base.package.file(path).and_then(PackageFile::file) else { return true };
        let roots = own
            .and_then(|it| it.document(0)?.root())
            .zip(theirs.document(0).and_then(|it| it.root()));
        roots.is_some_and(|(own, theirs)| equal_in_yaml_1_2(own, theirs))
    }
}

/// Subpackages that came from elsewhere: they have an upstream, and are not part of this package's upstream.
fn own_upstreams(package: &Package, base: &Version, updated: &Version) -> Vec<String> {
    let has_upstream = |file: &PackageFile| {
        file.file().is_some_and(|file| upstream(file).is_ok_and(|it| it.is_some()))
    };
    let is_own = |file: &&PackageFile| {
        file.path.name() == KPTFILE
            && !file.path.directory().is_empty()
            && !base.has(&file.path)
            && !updated.has(&file.path)
            && has_upstream(file)
    };
    package.files().iter().filter(is_own).map(|file| file.path.directory().to_owned()).collect()
}

/// A package argument `DIR[@REF]`.
pub(super) fn split_reference(text: &str) -> (&str, Option<&str>) {
    // A directory whose name has an `@` is meant literally.
    if Path::new(text).is_dir() {
        return (text, None);
    }
    match text.split_once('@') {
        Some(("", reference)) => (".", Some(reference)),
        Some((dir, reference)) => (dir, Some(reference)),
        None => (text, None),
    }
}
