//! Packages: the files of a directory, their resources, and the subpackages.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use krm_yaml::File;

use crate::Diagnostic;
use crate::model::PackageKind;
use crate::model::package_path::{PackagePath, PackagePathError};
use crate::model::resource::{Identity, Resource, resources};

/// One file of a package.
#[derive(Debug)]
pub struct PackageFile {
    /// Its path in the package.
    pub path: PackagePath,
    /// The path that messages show, relative to the working directory.
    pub display_path: String,
    /// Whether it is a symlink to a file outside the package, which is read but never written.
    pub is_external_symlink: bool,
    /// Its text and documents, or the error of reading it. Shared between versions of a package that have the same file.
    pub content: Result<Arc<File>, Diagnostic>,
}

impl PackageFile {
    /// Releases the node tables; see [`Package::release_tables`].
    pub(crate) fn release_tables(&mut self) {
        if let Ok(content) = &mut self.content {
            *content = Arc::new(content.unparsed());
        }
    }

    /// A file with this path and text.
    pub fn from_text(path: &str, text: impl Into<String>) -> Result<Self, PackagePathError> {
        let content =
            File::parse(text.into()).map(Arc::new).map_err(|error| Diagnostic::from(&error));
        let path = PackagePath::new(path)?;
        Ok(Self {
            display_path: path.as_str().to_owned(),
            path,
            is_external_symlink: false,
            content,
        })
    }

    /// The text and documents; none if the file could not be read.
    pub fn file(&self) -> Option<&File> {
        self.content.as_deref().ok()
    }

    /// The resources of the file, in order.
    pub fn resources(&self) -> impl Iterator<Item = Resource<'_>> {
        self.file().into_iter().flat_map(|file| file.documents().flat_map(resources))
    }

    /// The resources of the file with their index.
    pub(crate) fn package_resources(&self) -> impl Iterator<Item = PackageResource<'_>> {
        let resources = self.resources().enumerate();
        resources.map(move |(index, resource)| PackageResource { file: self, index, resource })
    }

    /// The same file with another text.
    pub fn with_text(&self, text: String) -> Result<Self, Vec<Diagnostic>> {
        let read_error = |error| vec![Diagnostic::from(&error).in_file(&*self.display_path)];
        let content = Ok(Arc::new(File::parse(text).map_err(read_error)?));
        let (path, display_path) = (self.path.clone(), self.display_path.clone());
        Ok(Self { path, display_path, is_external_symlink: self.is_external_symlink, content })
    }

    /// The text; none if the file could not be read.
    pub fn into_text(self) -> Option<String> {
        let content = self.content.ok()?;
        Some(Arc::try_unwrap(content).map_or_else(|it| it.text().to_owned(), File::into_text))
    }

    /// The errors of reading the file and of parsing its documents.
    pub fn errors(&self) -> Vec<Diagnostic> {
        let errors = match &self.content {
            Err(error) => vec![error.clone()],
            Ok(file) => file.errors().map(|error| Diagnostic::from_syntax(error, file)).collect(),
        };
        errors.into_iter().map(|error| error.in_file(&*self.display_path)).collect()
    }
}

/// A resource of a package, with its file and index.
#[derive(Clone, Copy, Debug)]
pub struct PackageResource<'a> {
    /// The file.
    pub file: &'a PackageFile,
    /// The index of the resource in the file, from zero.
    pub index: usize,
    /// The resource.
    pub resource: Resource<'a>,
}

/// The files of a directory, in the order of their paths.
#[derive(Debug, Default)]
pub struct Package {
    files: Vec<PackageFile>,
    /// The directories of this package (empty) and its subpackages.
    roots: Vec<String>,
}

impl Package {
    /// A package of these files.
    pub fn new(mut files: Vec<PackageFile>) -> Self {
        files.sort_by(|a, b| a.path.cmp(&b.path));
        let mut roots = vec![String::new()];
        roots.extend(
            files
                .iter()
                .filter(|f| f.path.is_package_file())
                .map(|f| f.path.directory().to_owned()),
        );
        roots.sort_by(|a, b| by_segment(a, b));
        roots.dedup();
        Self { files, roots }
    }

    /// All files, in the order of their paths.
    pub fn files(&self) -> &[PackageFile] {
        &self.files
    }

    /// Releases the node tables of all files, which take as much memory as the texts. Items of the package share its texts and have tables
    /// of their own. A file is parsed again if its documents are needed after all.
    pub fn release_tables(&mut self) {
        self.files.iter_mut().for_each(PackageFile::release_tables);
    }

    /// All files, to release their tables. Their paths must not change, because the files are sorted by them.
    pub(crate) fn files_mut(&mut self) -> &mut [PackageFile] {
        &mut self.files
    }

    /// The file of this path.
    pub fn file(&self, path: &PackagePath) -> Option<&PackageFile> {
        self.files.binary_search_by(|file| file.path.cmp(path)).ok().map(|at| &self.files[at])
    }

    /// The files.
    pub fn into_files(self) -> Vec<PackageFile> {
        self.files
    }

    /// The directories of this package (empty, and first) and its subpackages.
    pub fn roots(&self) -> &[String] {
        &self.roots
    }

    /// The directory of the innermost package that contains a file.
    pub fn root_of(&self, path: &PackagePath) -> &str {
        let mut directory = path.directory();
        loop {
            match self.roots.binary_search_by(|root| by_segment(root, directory)) {
                Ok(at) => return &self.roots[at],
                Err(_) => directory = directory.rsplit_once('/').map_or("", |(parent, _)| parent),
            }
        }
    }

    /// Each package with its own files, without those of its subpackages.
    pub fn by_root(&self) -> Vec<(&str, Vec<&PackageFile>)> {
        let mut all: Vec<(&str, Vec<&PackageFile>)> =
            self.roots.iter().map(|root| (root.as_str(), Vec::new())).collect();
        for file in &self.files {
            let root = self.root_of(&file.path);
            if let Ok(at) = all.binary_search_by(|(other, _)| by_segment(other, root)) {
                all[at].1.push(file);
            }
        }
        all
    }

    /// All resources, file by file.
    pub fn resources(&self) -> impl Iterator<Item = PackageResource<'_>> {
        self.files.iter().flat_map(PackageFile::package_resources)
    }

    /// The errors of all files.
    pub fn errors(&self) -> Vec<Diagnostic> {
        self.files.iter().flat_map(PackageFile::errors).collect()
    }

    /// Warnings for resources that have the identity of an earlier one in the same package.
    pub fn duplicates(&self) -> Vec<Diagnostic> {
        let mut seen: BTreeMap<(&str, Identity), PackageResource<'_>> = BTreeMap::new();
        let mut found = Vec::new();
        for resource in self.resources() {
            let Some(identity) = resource.resource.identity() else { continue };
            let root = self.root_of(&resource.file.path);
            match seen.get(&(root, identity.clone())) {
                Some(first) => found.push(duplicate(&identity.to_string(), first, &resource)),
                None => {
                    seen.insert((root, identity), resource);
                }
            }
        }
        found
    }
}

/// Directory by directory, as a walk visits them.
fn by_segment(a: &str, b: &str) -> Ordering {
    a.split('/').cmp(b.split('/'))
}

/// The warning that a resource is defined twice.
pub(crate) fn duplicate(
    name: &str,
    first: &PackageResource<'_>,
    again: &PackageResource<'_>,
) -> Diagnostic {
    let line = first.resource.position().line;
    let first = format!("{}:{line}", first.file.display_path);
    let kind = PackageKind::DuplicateResource { resource: name.to_owned(), first };
    let warning = Diagnostic::warning(kind).in_file(&*again.file.display_path);
    match again.file.file() {
        Some(file) => warning.at(file, again.resource.node.full_span()),
        None => warning,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn package(files: &[(&str, &str)]) -> Package {
        let file = |(path, text): &(&str, &str)| PackageFile {
            path: PackagePath::new(path).unwrap(),
            display_path: (*path).to_owned(),
            is_external_symlink: false,
            content: Ok(Arc::new(File::parse((*text).to_owned()).unwrap())),
        };
        Package::new(files.iter().map(file).collect())
    }

    #[test]
    fn files_belong_to_the_innermost_package() {
        let package =
            package(&[("a/b/x.yaml", ""), ("a/Kptfile", ""), ("ab/y.yaml", ""), ("z.yaml", "")]);
        assert_eq!(package.roots(), ["", "a"]);
        let files = |(root, files): (&str, Vec<&PackageFile>)| {
            format!(
                "{root}: {}",
                files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>().join(" ")
            )
        };
        let all: Vec<String> = package.by_root().into_iter().map(files).collect();
        assert_eq!(all, [": ab/y.yaml z.yaml", "a: a/Kptfile a/b/x.yaml"]);
    }

    #[test]
    fn duplicate_resource_is_a_warning_with_both_places() {
        let pod = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n";
        let package =
            package(&[("a.yaml", pod), ("b.yaml", pod), ("sub/Krmfile", ""), ("sub/c.yaml", pod)]);
        let found = package.duplicates();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].message(), "Pod a is defined twice, first in a.yaml:1");
        assert_eq!(found[0].file.as_deref(), Some("b.yaml"));
    }
}
