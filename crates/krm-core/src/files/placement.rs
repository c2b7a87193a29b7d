//! Placement: which file a new resource goes to, and whether a path that somebody chose can be used.

use std::collections::BTreeSet;

use crate::files::FilesKind;
use crate::functions::resource_list::Item;
use crate::model::package::Package;
use crate::model::package_path::PackagePath;
use crate::{Diagnostic, Resource};

/// Longer name segments are cut: most file systems allow 255 bytes per name, and two segments and a number must fit.
const MAX_SEGMENT_BYTES: usize = 120;

/// The paths of a package that are in use. Paths that are handed out or claimed are in use from then on.
///
/// This is the only implementation of "where does a new resource go": assembling function output, merging streams and packages below
/// the root all use it, so that the same resource gets the same file whichever command creates it.
#[derive(Clone, Debug, Default)]
pub struct Placement {
    /// In lower case, because some file systems ignore case.
    files: BTreeSet<String>,
    /// Directories of subpackages and other directories that belong to somebody else, in lower case.
    excluded: BTreeSet<String>,
}

impl Placement {
    /// The paths of a package.
    pub(crate) fn of(package: &Package) -> Self {
        let files = package.files().iter().map(|file| file.path.as_str().to_lowercase());
        let inner = package.roots().iter().filter(|root| !root.is_empty());
        Self { files: files.collect(), excluded: inner.map(|root| root.to_lowercase()).collect() }
    }

    /// Excludes directories, as if they were subpackages.
    pub(crate) fn exclude(&mut self, directories: &[String]) {
        self.excluded.extend(directories.iter().map(|directory| directory.to_lowercase()));
    }

    /// The directory of the innermost package that a path is in, in lower case; empty for the package itself.
    pub(crate) fn package_of(&self, path: &PackagePath) -> &str {
        let lower = path.directory().to_lowercase();
        let mut directory = lower.as_str();
        loop {
            match self.excluded.get(directory) {
                Some(package) => return package,
                None if directory.is_empty() => return "",
                None => directory = directory.rsplit_once('/').map_or("", |(parent, _)| parent),
            }
        }
    }

    /// A new file for a resource: `[namespace/]kind_name.yaml`, with a number if that is in use.
    pub(crate) fn new_file(&mut self, resource: Resource<'_>) -> PackagePath {
        let kind = file_name_segment(&resource.kind());
        // Compat: kustomize writes names and namespaces as they are, and kinds in lower case.
        let name = safe_characters(resource.name().chars());
        let stem = if name.is_empty() { kind } else { format!("{kind}_{name}") };
        let stem = if stem.is_empty() { "resource".to_owned() } else { stem };
        let namespace = safe_characters(resource.namespace().chars());
        let is_excluded = self.excluded.contains(&namespace.to_lowercase());
        let stem = match &*namespace {
            "" => stem,
            // The directory is a subpackage, and a resource of this package must not move into another one.
            namespace if is_excluded => format!("{namespace}_{stem}"),
            namespace => format!("{namespace}/{stem}"),
        };
        let numbered = |number: usize| match number {
            1 => format!("{stem}.yaml"),
            _ => format!("{stem}_{number}.yaml"),
        };
        let free = (1..).map(numbered).find_map(|path| {
            let path = self.check(&path).ok()?;
            (!self.files.contains(&path.as_str().to_lowercase())).then_some(path)
        });
        let path = free.expect("there are more numbers than files");
        self.files.insert(path.as_str().to_lowercase());
        path
    }

    /// Assigns a file of the package in `directory` to every new item that has no path. `existing` are the items whose files are
    /// in use, `subpackages` the directories below `directory` (and relative to it) that are packages of their own.
    pub fn assign_paths(
        items: &mut [Item],
        existing: &[Item],
        directory: &str,
        subpackages: &[String],
    ) {
        let needs_path = |item: &Item| item.path.is_none() && item.origin.is_none();
        if !items.iter().any(needs_path) {
            return;
        }
        let mut placement = Self::default();
        placement.exclude(subpackages);
        for path in existing.iter().chain(&*items).filter_map(|item| item.path.as_ref()) {
            // A path that cannot be used is an error when the files are assembled, not here.
            let path = path.relative_to(directory);
            let _ = path.map(|path| placement.claim(path.as_str()));
        }
        for item in items.iter_mut().filter(|item| needs_path(item)) {
            item.path = Some(placement.new_file(item.resource()).in_directory(directory));
            item.index = None;
        }
    }

    /// Checks a path that somebody chose for a resource, and marks it as used. The file may hold other resources.
    pub(crate) fn claim(&mut self, path: &str) -> Result<PackagePath, Diagnostic> {
        let path = self.check(path)?;
        self.files.insert(path.as_str().to_lowercase());
        Ok(path)
    }

    /// Checks a path that somebody chose for a resource.
    pub(crate) fn check(&self, path: &str) -> Result<PackagePath, Diagnostic> {
        let parsed = PackagePath::new(path).map_err(Diagnostic::error)?;
        let path = parsed.to_string();
        let lower = path.to_lowercase();
        let is_reserved = |part: &str| part == ".git" || part.starts_with(".krm-");
        if lower.split('/').any(is_reserved) {
            return Err(Diagnostic::error(FilesKind::ReservedPath { path }));
        }
        let inside = format!("{lower}/");
        if self.files.range(inside.clone()..).next().is_some_and(|it| it.starts_with(&inside)) {
            return Err(Diagnostic::error(FilesKind::PathIsDirectory { path }));
        }
        let mut ancestor = lower.as_str();
        while let Some((parent, _)) = ancestor.rsplit_once('/') {
            if self.files.contains(parent) {
                let file = parent.to_owned();
                return Err(Diagnostic::error(FilesKind::PathThroughFile { path, file }));
            }
            ancestor = parent;
        }
        Ok(parsed)
    }
}

/// The path that a wrapped program's new resource gets: `config/NAME_KIND.yaml`.
///
/// Spec: "config/${metadata.name}_${kind}.yaml"; `krm fn wrap` knows only the list that it is sent and no package, so this does not
/// avoid paths that are in use.
pub(crate) fn wrapped_output_path(resource: Resource<'_>) -> String {
    let [name, kind] = [resource.name(), resource.kind()].map(|text| file_name_segment(&text));
    match &*name {
        "" => format!("config/{kind}.yaml"),
        name => format!("config/{name}_{kind}.yaml"),
    }
}

/// Text as a part of a file name: in lower case, only characters that every file system and shell accepts, never hidden, never `..`.
pub(crate) fn file_name_segment(text: &str) -> String {
    safe_characters(text.chars().flat_map(char::to_lowercase))
}

fn safe_characters(text: impl Iterator<Item = char>) -> String {
    let safe = text.map(|c| match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '.' | '-' => c,
        _ => '-',
    });
    let text: String = safe.take(MAX_SEGMENT_BYTES).collect();
    text.trim_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::package::tests::package;
    use proptest::prelude::*;

    fn resource(kind: &str, namespace: &str, name: &str) -> Item {
        let [kind, namespace, name] = [kind, namespace, name].map(crate::print::json::string);
        let metadata = format!("metadata: {{name: {name}, namespace: {namespace}}}");
        Item::parse(format!("apiVersion: v1\nkind: {kind}\n{metadata}\n")).unwrap()
    }

    #[test]
    fn new_file_is_never_an_existing_one() {
        let package = package(&[
            ("pod_a.yaml", ""),
            ("POD_B.yaml", ""),
            ("pod_c.yaml/x.yaml", ""),
            ("inner/Kptfile", ""),
        ]);
        let mut placement = Placement::of(&package);
        let mut new_file = |namespace: &str, name: &str| {
            placement.new_file(resource("Pod", namespace, name).resource()).to_string()
        };
        assert_eq!(new_file("", "a"), "pod_a_2.yaml");
        assert_eq!(new_file("", "a"), "pod_a_3.yaml");
        assert_eq!(new_file("", "b"), "pod_b_2.yaml");
        assert_eq!(new_file("Shop", "myWeb"), "Shop/pod_myWeb.yaml");
        assert_eq!(new_file("shop", "myweb"), "shop/pod_myweb_2.yaml");
        assert_eq!(new_file("", "c"), "pod_c_2.yaml");
        assert_eq!(new_file("", ""), "pod.yaml");
        assert_eq!(new_file("inner", "a"), "inner_pod_a.yaml");
        assert_eq!(new_file("..", "../../etc/passwd"), "pod_-..-etc-passwd.yaml");
        assert_eq!(new_file(".git", "x"), "git/pod_x.yaml");
        assert_eq!(placement.new_file(resource("", "", "").resource()).as_str(), "resource.yaml");
    }

    #[test]
    fn unusable_path_is_an_error_with_its_reason() {
        let mut placement = Placement::of(&package(&[("a/b.yaml", "")]));
        let mut error = |path: &str| placement.claim(path).unwrap_err().message().to_owned();
        assert_eq!(error("/a"), "expected a path relative to the package, found `/a`");
        assert_eq!(error("x/../../a"), "path `x/../../a` leaves the package");
        assert_eq!(error("a"), "`a` is a directory");
        assert_eq!(error("a/"), "path `a/` does not name a file");
        assert_eq!(error("a/b.yaml/c"), "cannot use `a/b.yaml/c`: `a/b.yaml` is a file");
        assert!(error(".git/hooks/pre-commit").contains("reserved"));
        assert!(error("x/.krm-journal").contains("reserved"));
        assert_eq!(placement.claim("a/b.yaml").unwrap().as_str(), "a/b.yaml");
        assert_eq!(placement.claim("a..b.yaml").unwrap().as_str(), "a..b.yaml");
    }

    #[test]
    fn new_items_stay_in_the_package_of_their_function() {
        let mut existing = resource("Pod", "", "a");
        existing.path = PackagePath::new("sub/pod_a.yaml").ok();
        let mut items = vec![resource("Pod", "", "a"), resource("Pod", "inner", "b")];
        Placement::assign_paths(&mut items, &[existing], "sub", &["inner".to_owned()]);
        let paths: Vec<_> = items.iter().map(|item| item.path.as_ref().unwrap().as_str()).collect();
        assert_eq!(paths, ["sub/pod_a_2.yaml", "sub/inner_pod_b.yaml"]);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn never_wider(kind: String, namespace: String, name: String, path in "[./a-z\\\\:]{0,12}") {
            let mut placement = Placement::default();
            let item = resource(&kind, &namespace, &name);
            let made = placement.new_file(item.resource());
            let given = placement.claim(&path);
            for path in std::iter::once(&made).chain(given.as_ref().ok()) {
                let segments: Vec<&str> = path.as_str().split('/').collect();
                prop_assert!(!segments.iter().any(|part| part.is_empty() || matches!(*part, "." | ".." | ".git")), "{path}");
                prop_assert!(!path.as_str().starts_with(['/', '\\']), "{path}");
            }
            prop_assert!(made.as_str().ends_with(".yaml") && made.as_str().len() < 400);
            prop_assert!(!made.as_str().split('/').any(|part| part.starts_with('.')), "{made}");
            prop_assert_ne!(placement.new_file(item.resource()), made);
        }
    }
}
