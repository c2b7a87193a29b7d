//! Files named after their resources, as in `%n_%k.yaml`.

mod moves;

use krm_yaml::{Edit, EditError};

use crate::annotate;
use crate::files::placement::file_name_segment;
use crate::functions::resource_list::annotations::{LEGACY_INDEX, LEGACY_PATH, PATH};
use crate::model::package::{Package, PackageFile};
use crate::model::package_path::PackagePath;
use crate::{Diagnostic, Resource};

/// The pattern of file names: `%n` is the name of the resource, `%k` its kind and `%s` its namespace, all in lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileNamePattern(String);

impl std::str::FromStr for FileNamePattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if !(text.ends_with(".yaml") || text.ends_with(".yml")) {
            return Err("expected a pattern that ends with .yaml or .yml".to_owned());
        }
        PackagePath::new(text).map_err(|error| error.to_string())?;
        let mut rest = text;
        while let Some((_, after)) = rest.split_once('%') {
            if !after.starts_with(['n', 'k', 's']) {
                return Err("expected %n (name), %k (kind) or %s (namespace) after `%`".to_owned());
            }
            rest = after;
        }
        Ok(Self(text.to_owned()))
    }
}

impl FileNamePattern {
    /// The path for a resource; none for one without the name that the pattern needs.
    fn path(&self, resource: Resource<'_>) -> Option<String> {
        let name = file_name_segment(&resource.name());
        if name.is_empty() && self.0.contains("%n") {
            return None;
        }
        let text = self.0.replace("%k", &file_name_segment(&resource.kind()));
        let namespace = file_name_segment(&resource.namespace());
        let text = text.replace("%s", &namespace).replace("%n", &name);
        Some(text.trim_start_matches('/').to_owned())
    }
}

/// How files get their names.
#[derive(Clone, Debug)]
pub struct FileNaming {
    /// The names.
    pub pattern: FileNamePattern,
    /// Whether resources whose annotations name a file are moved, too.
    pub overrides: bool,
}

impl FileNaming {
    /// Whether a resource gets a file by its name.
    fn applies_to(&self, resource: Resource<'_>) -> bool {
        let has_path = [PATH, LEGACY_PATH].iter().any(|name| resource.annotation(name).is_some());
        resource.item.is_none() && (self.overrides || !has_path)
    }
}

/// The result of renaming the files of a package.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RenamedFiles {
    /// The files that change with their new text; none for a file that is deleted.
    pub files: Vec<(PackagePath, Option<String>)>,
    /// Warnings for the resources that stay in their files.
    pub warnings: Vec<Diagnostic>,
}

/// Moves every resource that is a document to the file that is named after it. Resources with the same file name share a file, in
/// the order of the package.
///
/// Items of lists, JSON files and package files stay where they are, and so does a resource whose file would hold other resources or
/// be in another package. `excluded` are directories below the package that do not belong to it.
///
/// No comment is lost: comments of the file itself stay while a document stays, and otherwise move with its document.
pub fn rename_files(
    package: &Package,
    excluded: &[String],
    naming: &FileNaming,
) -> Result<RenamedFiles, Vec<Diagnostic>> {
    moves::rename(package, excluded, naming)
}

/// Records the file names in the annotations of a stream's resources, for the tool that writes the files.
pub fn annotate_paths(
    file: &PackageFile,
    naming: &FileNaming,
) -> Result<Option<String>, Vec<Diagnostic>> {
    let Some(source) = file.file() else { return Ok(None) };
    let edit_error =
        |error: &EditError| vec![Diagnostic::from_edit(error, source).in_file(&*file.display_path)];
    let mut counts = std::collections::BTreeMap::<String, usize>::new();
    let mut annotations = Vec::new();
    for resource in file.resources() {
        let applies = naming.applies_to(Resource { item: None, ..resource });
        let Some(path) = naming.pattern.path(resource).filter(|_| applies) else { continue };
        let count = counts.entry(path.clone()).or_default();
        // Compat: kustomize reads the annotations without `internal.`.
        let pairs =
            vec![(LEGACY_INDEX.to_owned(), count.to_string()), (LEGACY_PATH.to_owned(), path)];
        *count += 1;
        annotations.push((resource.node, pairs));
    }
    let mut edit = Edit::new(source).json(file.path.is_json());
    for (node, pairs) in &annotations {
        annotate::add(&mut edit, *node, pairs).map_err(|error| edit_error(&error))?;
    }
    if edit.is_empty() {
        return Ok(None);
    }
    edit.apply().map(Some).map_err(|error| edit_error(&error))
}
