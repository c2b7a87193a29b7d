//! Where in a package a result points: the file, the resource and the field.

use std::collections::BTreeMap;

use super::field::FieldLookup;
use crate::functions::resource_list::FunctionResult;
use crate::functions::resource_list::results::{FileRef, ResourceRef};
use crate::model::resource::Identity;
use crate::{Diagnostic, Package, PackageFile, PackageResource};

/// A package in which results are looked up.
#[derive(Debug)]
pub struct ResultLocator<'a> {
    package: &'a Package,
    by_name: BTreeMap<(String, String), Vec<PackageResource<'a>>>,
}

/// What a result points to.
#[derive(Clone, Debug)]
pub struct LocatedResult<'a> {
    /// The resource.
    pub placed: PackageResource<'a>,
    /// The field of it, where one is named.
    pub field: Option<FieldLookup<'a>>,
}

impl<'a> ResultLocator<'a> {
    /// Looks at all resources of a package once.
    pub fn new(package: &'a Package) -> Self {
        let mut by_name: BTreeMap<(String, String), Vec<PackageResource<'a>>> = BTreeMap::new();
        for placed in package.resources() {
            let Some(Identity { kind, name, .. }) = placed.resource.identity() else { continue };
            by_name.entry((kind, name)).or_default().push(placed);
        }
        Self { package, by_name }
    }

    /// What a result of a function points to. Paths are relative to the folder of the package that declares it.
    pub fn locate(&self, folder: &str, result: &FunctionResult) -> Option<LocatedResult<'a>> {
        let placed = self.resource(folder, result)?;
        let path = result.field.as_ref().map(|field| field.path.as_str());
        let field = path.and_then(|path| FieldLookup::find(placed.resource.node, path));
        Some(LocatedResult { placed, field })
    }

    /// By its place, unless somebody else stands there now; then by its names.
    fn resource(&self, folder: &str, result: &FunctionResult) -> Option<PackageResource<'a>> {
        let wanted = result.resource.as_ref();
        let there = result.file.as_ref().and_then(|file| self.at(folder, file));
        let is_it = |placed: &PackageResource<'_>| wanted.is_none_or(|wanted| is(*placed, wanted));
        if let Some(placed) = there.filter(is_it) {
            return Some(placed);
        }
        let wanted = wanted?;
        let all = self.by_name.get(&(wanted.kind.clone(), wanted.name.clone()))?;
        let mut all = all.iter().filter(|placed| is(**placed, wanted));
        let same_file = all.clone().find(|it| {
            result
                .file
                .as_ref()
                .is_some_and(|file| it.file.path.as_str() == root_path(folder, file))
        });
        let inside = || all.clone().find(|it| is_inside(it.file.path.directory(), folder));
        same_file.or_else(inside).or_else(|| all.next()).copied()
    }

    fn at(&self, folder: &str, place: &FileRef) -> Option<PackageResource<'a>> {
        let file = self.file(&root_path(folder, place))?;
        file.package_resources().nth(usize::try_from(place.index).ok()?)
    }

    fn file(&self, path: &str) -> Option<&'a PackageFile> {
        let files = self.package.files();
        let path = crate::PackagePath::new(path).ok()?;
        files.binary_search_by(|file| file.path.cmp(&path)).ok().map(|at| &files[at])
    }

    /// The result as people are told it, with the line of the field that it names.
    pub fn diagnostic(&self, folder: &str, result: &FunctionResult) -> Diagnostic {
        let mut told = result.to_diagnostic();
        if let Some(file) = &result.file {
            told.file = Some(match self.file(&root_path(folder, file)) {
                Some(file) => file.display_path.as_str().into(),
                None => root_path(folder, file).into(),
            });
        }
        let Some(target) = self.locate(folder, result) else { return told };
        let PackageResource { file, resource, .. } = target.placed;
        let name = FieldLookup::find(resource.node, "metadata.name").filter(FieldLookup::exists);
        let span = match (&target.field, name) {
            (Some(field), _) if field.node != resource.node => field.span(),
            (_, Some(name)) => name.span(),
            _ => resource.node.span(),
        };
        told.resource.get_or_insert_with(|| resource.label().into());
        told.file = Some(file.display_path.as_str().into());
        let hints = std::mem::take(&mut told.hints);
        let told = told.at(resource.document().file(), span);
        if is_hidden(target.placed, result) {
            return told.hint("the function proposes another value, which is a secret");
        }
        hints.into_iter().fold(told, Diagnostic::hint)
    }
}

/// Whether what is proposed is the value of a Secret.
fn is_hidden(placed: PackageResource<'_>, result: &FunctionResult) -> bool {
    let field = result.field.as_ref().filter(|field| !field.proposed.is_empty());
    let starts = |path: &str| {
        let path = path.trim_start_matches(['$', '.']);
        path.starts_with("data") || path.starts_with("stringData")
    };
    placed.resource.kind() == "Secret" && field.is_some_and(|field| starts(&field.path))
}

/// The path of a file from the root of what was read.
pub(super) fn root_path(folder: &str, file: &FileRef) -> String {
    let path = file.path.trim_start_matches("./");
    if folder.is_empty() { path.to_owned() } else { format!("{folder}/{path}") }
}

fn is_inside(folder: &str, outer: &str) -> bool {
    let rest = folder.strip_prefix(outer);
    rest.is_some_and(|rest| outer.is_empty() || rest.is_empty() || rest.starts_with('/'))
}

fn is(placed: PackageResource<'_>, wanted: &ResourceRef) -> bool {
    let resource = placed.resource;
    let group = |version: &str| version.split_once('/').map_or("", |(group, _)| group).to_owned();
    resource.kind() == wanted.kind
        && resource.name() == wanted.name
        && (wanted.namespace.is_empty() || resource.namespace() == wanted.namespace)
        && (wanted.api_version.is_empty() || resource.group() == group(&wanted.api_version))
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
    fn a_result_is_told_with_the_line_of_its_field() {
        let package = package(&[
            (
                "a.yaml",
                "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: b\nspec:\n  x: 1\n",
            ),
            ("sub/a.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: c}\n"),
        ]);
        let locator = ResultLocator::new(&package);
        for (folder, text, wanted) in [
            ("", "file: {path: a.yaml, index: 1}, field: {path: spec.x}", ("a.yaml", 10, "1")),
            ("", "file: {path: a.yaml, index: 1}, field: {path: spec.y}", ("a.yaml", 9, "spec")),
            ("", "file: {path: a.yaml}", ("a.yaml", 3, "a")),
            ("sub", "file: {path: a.yaml}", ("sub/a.yaml", 3, "c")),
            ("", "resourceRef: {kind: Pod, name: c}", ("sub/a.yaml", 3, "c")),
            // Somebody else stands at the place.
            (
                "",
                "resourceRef: {apiVersion: v1, kind: Pod, name: b}, file: {path: a.yaml}",
                ("a.yaml", 8, "b"),
            ),
        ] {
            let told = locator.diagnostic(folder, &result(text));
            let place = told.location.unwrap();
            let marked = &place.text[place.marked.clone()];
            assert_eq!((told.file.as_deref().unwrap(), place.line, marked), wanted, "{text}");
        }
        let nowhere = locator.diagnostic("sub", &result("file: {path: x.yaml}"));
        assert_eq!((nowhere.file.as_deref(), nowhere.location), (Some("sub/x.yaml"), None));
    }

    #[test]
    fn what_is_proposed_for_a_secret_is_not_told() {
        let text = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData:\n  a: hush\n";
        let package = package(&[("a.yaml", text)]);
        let told = ResultLocator::new(&package).diagnostic(
            "",
            &result("file: {path: a.yaml}, field: {path: stringData.a, proposedValue: fresh}"),
        );
        assert!(!format!("{told:?}").contains("fresh"), "{told:?}");
    }
}
