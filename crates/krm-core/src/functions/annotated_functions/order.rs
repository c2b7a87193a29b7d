//! Which functions of a package run, in which order, and what each of them gets.

use std::cmp::Reverse;

use super::{FunctionDeclaration, declared_function};
use crate::{Diagnostic, Package, PackagePath, PackageResource};

/// A folder that holds only functions counts as the folder above it.
const FUNCTIONS: &str = "functions";

/// A function that a resource of a package declares.
#[derive(Clone, Debug)]
pub struct AnnotatedFunction<'a> {
    /// The resource, which is its functionConfig.
    pub placed: PackageResource<'a>,
    /// What it says.
    pub declaration: FunctionDeclaration,
}

impl AnnotatedFunction<'_> {
    /// The folder whose resources it gets, with all that is below; empty for the whole package.
    pub fn scope(&self) -> &str {
        scope(&self.placed.file.path)
    }

    /// Whether it gets the resources of this file.
    ///
    /// Compat: kustomize compares texts, so that a function in `a/` gets `ab/` too; a folder is a folder here.
    pub fn covers(&self, path: &PackagePath) -> bool {
        let scope = self.scope();
        let inside = path.as_str().strip_prefix(scope);
        scope.is_empty() || inside.is_some_and(|rest| rest.starts_with('/'))
    }
}

fn scope(path: &PackagePath) -> &str {
    let folder = path.directory();
    match folder.rsplit_once('/') {
        Some((above, FUNCTIONS)) => above,
        None if folder == FUNCTIONS => "",
        _ => folder,
    }
}

/// The functions of a package in the order in which they run: deeper folders before those above them, then by folder, by file and
/// by place in the file.
pub fn annotated_functions(
    package: &Package,
) -> Result<Vec<AnnotatedFunction<'_>>, Vec<Diagnostic>> {
    let (mut found, mut wrong) = (Vec::new(), Vec::new());
    for placed in package.resources() {
        match declared_function(placed.resource) {
            None => {}
            Some(Ok(declaration)) => found.push(AnnotatedFunction { placed, declaration }),
            Some(Err(told)) => wrong.push(told.in_file(&*placed.file.display_path)),
        }
    }
    // The order is stable: files come in the order of their paths, and resources as they stand.
    let depth = |scope: &str| if scope.is_empty() { 0 } else { scope.split('/').count() };
    let by_folder = |scope: &str| scope.split('/').map(str::to_owned).collect::<Vec<_>>();
    found.sort_by_cached_key(|it| (Reverse(depth(it.scope())), by_folder(it.scope())));
    if wrong.is_empty() { Ok(found) } else { Err(wrong) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::package::tests::package;

    fn function(name: &str) -> String {
        format!(
            "apiVersion: v1\nkind: F\nmetadata:\n  name: {name}\n  annotations: {{config.kubernetes.io/container: {name}}}\n"
        )
    }

    #[test]
    fn deeper_folders_come_first_and_a_folder_is_a_folder() {
        let two = format!("{}---\n{}", function("b1"), function("b2"));
        let package = package(&[
            ("root.yaml", &function("root")),
            ("a/b/x.yaml", &two),
            ("a/b/a.yaml", &function("b0")),
            ("a/functions/f.yaml", &function("f")),
            ("a/a.yaml", &function("a")),
            ("functions/g.yaml", &function("g")),
            ("z/y/x/deep.yaml", &function("deep")),
        ]);
        let all = annotated_functions(&package).unwrap();
        let names: Vec<&str> = all.iter().map(|it| it.declaration.runtime.name()).collect();
        assert_eq!(names, ["deep", "b0", "b1", "b2", "a", "f", "g", "root"]);
        let covers = |name: &str, path: &str| {
            let function = all.iter().find(|it| it.declaration.runtime.name() == name).unwrap();
            function.covers(&PackagePath::new(path).unwrap())
        };
        assert!(covers("f", "a/x.yaml") && covers("f", "a/b/x.yaml") && covers("g", "q.yaml"));
        assert!(!covers("a", "ab/x.yaml") && !covers("a", "x.yaml"));
    }

    #[test]
    fn all_that_is_wrong_is_told() {
        let wrong = "apiVersion: v1\nkind: F\nmetadata: {annotations: {config.kubernetes.io/function: 'exec: {}'}}\n";
        let package = package(&[("a.yaml", wrong), ("b.yaml", wrong)]);
        let told = annotated_functions(&package).unwrap_err();
        assert_eq!(
            told.iter().map(|it| it.file.as_deref().unwrap()).collect::<Vec<_>>(),
            ["a.yaml", "b.yaml"]
        );
    }
}
