//! Files named after their resources, as in `%n_%k.yaml`.

mod moves;

use crate::annotate;
use crate::files::placement::file_name_segment;
use crate::model::package::{Package, PackageFile};
use crate::model::package_path::PackagePath;
use crate::{Diagnostic, Resource};
use krm_yaml::Edit;

/// Compat: where kustomize notes the file of a resource, and its place in it.
const PATHS: [&str; 2] = ["internal.config.kubernetes.io/path", "config.kubernetes.io/path"];
const INDEX: &str = "config.kubernetes.io/index";

/// How files are named: `%n` is the name, `%k` the kind and `%s` the namespace, all in lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileNamePattern(String);

impl std::str::FromStr for FileNamePattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if !(text.ends_with(".yaml") || text.ends_with(".yml")) {
            return Err("it must end with .yaml or .yml, or the files are no part of the package"
                .to_owned());
        }
        PackagePath::new(text).map_err(|error| error.to_string())?;
        let mut rest = text;
        while let Some((_, after)) = rest.split_once('%') {
            if !after.starts_with(['n', 'k', 's']) {
                return Err("%n, %k and %s are known, for name, kind and namespace".to_owned());
            }
            rest = after;
        }
        Ok(Self(text.to_owned()))
    }
}

impl FileNamePattern {
    /// The path for a resource; none for one without a name that the pattern asks for.
    fn path(&self, resource: Resource<'_>) -> Option<String> {
        let name = file_name_segment(&resource.name());
        if name.is_empty() && self.0.contains("%n") {
            return None;
        }
        let text = self.0.replace("%k", &file_name_segment(&resource.kind()));
        let text =
            text.replace("%s", &file_name_segment(&resource.namespace())).replace("%n", &name);
        Some(text.trim_start_matches('/').to_owned())
    }
}

/// How files get their names.
#[derive(Clone, Debug)]
pub struct FileNaming {
    /// The names.
    pub pattern: FileNamePattern,
    /// Whether a resource whose annotations name a file is moved, too.
    pub overrides: bool,
}

impl FileNaming {
    /// Whether a resource is asked to be somewhere else.
    fn is_wanted(&self, resource: Resource<'_>) -> bool {
        let has_path = PATHS.iter().any(|name| resource.annotation(name).is_some());
        resource.item.is_none() && (self.overrides || !has_path)
    }
}

/// What becomes of the files of a package.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RenamedFiles {
    /// The files that change: their new text, or none for one that goes away.
    pub files: Vec<(PackagePath, Option<String>)>,
    /// What stays where it is, and why.
    pub told: Vec<Diagnostic>,
}

/// Puts every resource that is a document into the file that is named after it. Resources of one name share a file, in
/// the order of the package.
///
/// Items of lists, JSON files and package files stay where they are, and so does a resource whose file would be one
/// that holds something else, or in another package. `closed` are folders that are no part of the package, though
/// they are below it.
///
/// No comment is lost: what is the file's own stays while something else does, and goes with its document otherwise.
pub fn rename_files(
    package: &Package,
    closed: &[String],
    naming: &FileNaming,
) -> Result<RenamedFiles, Vec<Diagnostic>> {
    moves::rename(package, closed, naming)
}

/// Notes the files of the resources of a stream in their annotations, for the tool that writes them.
pub fn annotate_paths(
    file: &PackageFile,
    naming: &FileNaming,
) -> Result<Option<String>, Vec<Diagnostic>> {
    let Some(source) = file.file() else { return Ok(None) };
    let told = |error: &krm_yaml::EditError| {
        vec![Diagnostic::from_edit(error, source).in_file(&*file.display_path)]
    };
    let mut counts = std::collections::BTreeMap::<String, usize>::new();
    let mut notes = Vec::new();
    for resource in file.resources() {
        let wanted = naming.is_wanted(Resource { item: None, ..resource });
        let Some(path) = naming.pattern.path(resource).filter(|_| wanted) else { continue };
        let count = counts.entry(path.clone()).or_default();
        let pairs = vec![(INDEX.to_owned(), count.to_string()), (PATHS[1].to_owned(), path)];
        *count += 1;
        notes.push((resource.node, pairs));
    }
    let mut edit = Edit::new(source).json(file.path.is_json());
    for (node, pairs) in &notes {
        annotate::add(&mut edit, *node, pairs).map_err(|error| told(&error))?;
    }
    if edit.is_empty() {
        return Ok(None);
    }
    edit.apply().map(Some).map_err(|error| told(&error))
}
