//! Locates results in a package: the file, the resource and the field that each one is about.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use super::field::FieldLookup;
use crate::functions::resource_list::FunctionResult;
use crate::functions::resource_list::results::{FileRef, ResourceRef};
use crate::model::resource::Identity;
use crate::{Diagnostic, Package, PackageFile, PackagePath, PackageResource};

/// Locates results in a package.
#[derive(Debug)]
pub struct ResultLocator<'a> {
    package: &'a Package,
    /// Computed on the first request, because it needs the documents of all files, and most results name a file or no resource at all.
    by_name: OnceCell<ResourcesByName<'a>>,
}

/// Resources by kind and name.
type ResourcesByName<'a> = BTreeMap<(String, String), Vec<PackageResource<'a>>>;

/// The resource that a result is about.
#[derive(Clone, Debug)]
pub struct LocatedResult<'a> {
    /// The resource.
    pub resource: PackageResource<'a>,
    /// The field, if the result names one.
    pub field: Option<FieldLookup<'a>>,
}

impl<'a> ResultLocator<'a> {
    /// A locator for results about a package.
    pub fn new(package: &'a Package) -> Self {
        Self { package, by_name: OnceCell::new() }
    }

    fn by_name(&self) -> &ResourcesByName<'a> {
        self.by_name.get_or_init(|| {
            let mut by_name = ResourcesByName::new();
            for resource in self.package.resources() {
                let Some(Identity { kind, name, .. }) = resource.resource.identity() else {
                    continue;
                };
                by_name.entry((kind, name)).or_default().push(resource);
            }
            by_name
        })
    }

    /// The resource that a result is about. Its paths are relative to `directory`, the package that declares the function.
    pub fn locate(&self, directory: &str, result: &FunctionResult) -> Option<LocatedResult<'a>> {
        let resource = self.resource(directory, result)?;
        let path = result.field.as_ref().map(|field| field.path.as_str());
        let field = path.and_then(|path| FieldLookup::find(resource.resource.node, path));
        Some(LocatedResult { resource, field })
    }

    /// Finds the resource by file and index, unless another resource is there now; then by its names. A function before the one that
    /// reported the result may have set the namespace, so a resource that differs only in that is found, too, if there is one.
    fn resource(&self, directory: &str, result: &FunctionResult) -> Option<PackageResource<'a>> {
        let reference = result.resource.as_deref();
        let at_index = result.file.as_ref().and_then(|file| self.at(directory, file));
        let is_it = |resource: &PackageResource<'_>| {
            reference.is_none_or(|reference| matches(*resource, reference))
        };
        if let Some(resource) = at_index.filter(is_it) {
            return Some(resource);
        }
        let reference = reference?;
        let all = self.by_name().get(&(reference.kind.clone(), reference.name.clone()))?;
        let mut exact = all.iter().filter(|resource| matches(**resource, reference));
        let path = result.file.as_ref().map(|file| root_path(directory, file));
        let is_in_file = |it: &&PackageResource<'_>| {
            path.as_deref().is_none_or(|path| it.file.path.as_str() == path)
        };
        let same_file = exact.clone().find(|it| path.is_some() && is_in_file(it));
        let inside = || exact.clone().find(|it| it.file.path.is_in(directory));
        let in_other_namespace = || {
            let is_it = |it: &&PackageResource<'_>| is_same_but_namespace(**it, reference);
            let mut all = all.iter().filter(is_it).filter(is_in_file);
            all.next().filter(|_| all.next().is_none())
        };
        let found = same_file.or_else(inside).or_else(|| exact.next()).or_else(in_other_namespace);
        found.copied()
    }

    fn at(&self, directory: &str, reference: &FileRef) -> Option<PackageResource<'a>> {
        let file = self.file(&root_path(directory, reference))?;
        file.package_resources().nth(usize::try_from(reference.index).ok()?)
    }

    fn file(&self, path: &str) -> Option<&'a PackageFile> {
        self.package.file(&PackagePath::new(path).ok()?)
    }

    /// The result as a diagnostic that points to the field that it names.
    pub fn diagnostic(&self, directory: &str, result: &FunctionResult) -> Diagnostic {
        let mut diagnostic = result.to_diagnostic();
        if let Some(file) = &result.file {
            let path = root_path(directory, file);
            diagnostic.file = Some(match self.file(&path) {
                Some(file) => file.display_path.as_str().into(),
                None => path.into(),
            });
        }
        let Some(located) = self.locate(directory, result) else { return diagnostic };
        let PackageResource { file, resource, .. } = located.resource;
        let name = FieldLookup::find(resource.node, "metadata.name").filter(FieldLookup::exists);
        let span = match (&located.field, name) {
            (Some(field), _) if field.node != resource.node => field.span(),
            (_, Some(name)) => name.span(),
            _ => resource.node.span(),
        };
        diagnostic.resource.get_or_insert_with(|| resource.label().into());
        diagnostic.file = Some(file.display_path.as_str().into());
        let hints = std::mem::take(&mut diagnostic.hints);
        let diagnostic = diagnostic.at(resource.document().file(), span);
        if proposes_secret(located.resource, result) {
            return diagnostic.hint("apply the proposed value, which is secret, with `krm fix`");
        }
        hints.into_iter().fold(diagnostic, Diagnostic::hint)
    }
}

/// Whether a proposed value belongs to a Secret. It is not in any file yet, so the masking of excerpts does not know it.
fn proposes_secret(resource: PackageResource<'_>, result: &FunctionResult) -> bool {
    let field = result.field.as_ref().filter(|field| !field.proposed.is_empty());
    let is_data = |path: &str| {
        let path = path.trim_start_matches(['$', '.']);
        path.starts_with("data") || path.starts_with("stringData")
    };
    resource.resource.kind() == "Secret" && field.is_some_and(|field| is_data(&field.path))
}

/// The path of a file relative to the root package. The path of the result may be invalid, so this is a string.
pub(super) fn root_path(directory: &str, file: &FileRef) -> String {
    let path = file.path.trim_start_matches("./");
    match PackagePath::new(path) {
        Ok(path) => path.in_directory(directory).to_string(),
        Err(_) if directory.is_empty() => path.to_owned(),
        Err(_) => format!("{directory}/{path}"),
    }
}

fn matches(resource: PackageResource<'_>, reference: &ResourceRef) -> bool {
    let namespace = &reference.namespace;
    (namespace.is_empty() || resource.resource.namespace() == *namespace)
        && is_same_but_namespace(resource, reference)
}

fn is_same_but_namespace(resource: PackageResource<'_>, reference: &ResourceRef) -> bool {
    let resource = resource.resource;
    let group = |version: &str| version.split_once('/').map_or("", |(group, _)| group).to_owned();
    resource.kind() == reference.kind
        && resource.name() == reference.name
        && (reference.api_version.is_empty() || resource.group() == group(&reference.api_version))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::functions::resource_list::results;
    use crate::model::package::tests::package;
    use krm_yaml::File;

    fn result(text: &str) -> FunctionResult {
        let file = File::parse(format!("results: [{{message: m, {text}}}]\n")).unwrap();
        let root = file.document(0).unwrap().root().unwrap();
        results::parse(root).results.remove(0)
    }

    #[test]
    fn diagnostic_points_to_the_field_of_the_result() {
        let package = package(&[
            (
                "a.yaml",
                "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: b\nspec:\n  x: 1\n",
            ),
            ("sub/a.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: c}\n"),
        ]);
        let locator = ResultLocator::new(&package);
        for (directory, text, expected) in [
            ("", "file: {path: a.yaml, index: 1}, field: {path: spec.x}", ("a.yaml", 10, "1")),
            ("", "file: {path: a.yaml, index: 1}, field: {path: spec.y}", ("a.yaml", 9, "spec")),
            ("", "file: {path: a.yaml}", ("a.yaml", 3, "a")),
            ("sub", "file: {path: a.yaml}", ("sub/a.yaml", 3, "c")),
            ("", "resourceRef: {kind: Pod, name: c}", ("sub/a.yaml", 3, "c")),
            // The file and index are of another resource now.
            (
                "",
                "resourceRef: {apiVersion: v1, kind: Pod, name: b}, file: {path: a.yaml}",
                ("a.yaml", 8, "b"),
            ),
        ] {
            let diagnostic = locator.diagnostic(directory, &result(text));
            let place = diagnostic.location.unwrap();
            let marked = &place.text[place.marked.clone()];
            assert_eq!(
                (diagnostic.file.as_deref().unwrap(), place.line, marked),
                expected,
                "{text}"
            );
        }
        for (text, expected) in [
            // A function before set the namespace.
            ("{kind: Pod, name: b, namespace: prod}", Some(("a.yaml", 8))),
            ("{kind: Pod, name: b, namespace: prod}, file: {path: a.yaml}", Some(("a.yaml", 8))),
            ("{kind: Pod, name: b, namespace: prod}, file: {path: sub/a.yaml}", None),
            ("{kind: Pod, name: d, namespace: prod}", None),
        ] {
            let diagnostic = locator.diagnostic("", &result(&format!("resourceRef: {text}")));
            let line = diagnostic.location.as_ref().map(|it| it.line);
            let found = line.map(|line| (diagnostic.file.as_deref().unwrap(), line));
            assert_eq!(found, expected, "{text}");
        }
        let nowhere = locator.diagnostic("sub", &result("file: {path: x.yaml}"));
        assert_eq!((nowhere.file.as_deref(), nowhere.location), (Some("sub/x.yaml"), None));
    }

    #[test]
    fn proposed_value_of_a_secret_is_hidden() {
        let text = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData:\n  a: hush\n";
        let package = package(&[("a.yaml", text)]);
        let diagnostic = ResultLocator::new(&package).diagnostic(
            "",
            &result("file: {path: a.yaml}, field: {path: stringData.a, proposedValue: fresh}"),
        );
        assert!(!format!("{diagnostic:?}").contains("fresh"), "{diagnostic:?}");
    }
}
