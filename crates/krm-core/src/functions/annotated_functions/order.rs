//! The annotated functions of a package: their order and the resources that each of them gets.

use std::cmp::Reverse;

use super::{FunctionDeclaration, declared_function};
use crate::{Diagnostic, Package, PackagePath, PackageResource};

/// A directory of this name has only functions: their scope is its parent. Compat: kustomize.
const FUNCTIONS: &str = "functions";

/// A function that a resource of a package declares.
#[derive(Clone, Debug)]
pub struct AnnotatedFunction<'a> {
    /// The resource, which is its functionConfig.
    pub resource: PackageResource<'a>,
    /// The declaration.
    pub declaration: FunctionDeclaration,
}

impl AnnotatedFunction<'_> {
    /// The directory whose resources it gets, including subdirectories; empty for the whole package.
    pub fn scope(&self) -> &str {
        scope(&self.resource.file.path)
    }

    /// Whether it gets the resources of a file.
    ///
    /// Compat: kustomize compares prefixes, so that a function in `a/` also gets `ab/`; krm compares directories.
    pub fn covers(&self, path: &PackagePath) -> bool {
        path.is_in(self.scope())
    }
}

fn scope(path: &PackagePath) -> &str {
    let directory = path.directory();
    match directory.rsplit_once('/') {
        Some((parent, FUNCTIONS)) => parent,
        None if directory == FUNCTIONS => "",
        _ => directory,
    }
}

/// The functions of a package in the order in which they run: by descending depth of their scope, then by scope, file and index.
///
/// ```
/// use krm_core::functions::annotated_functions;
/// use krm_core::{Package, PackageFile};
///
/// let text = "apiVersion: v1\nkind: Check\nmetadata:\n  annotations:\n    config.kubernetes.io/function: |\n      exec:\n        path: ./check.sh\n";
/// let package = Package::new(vec![PackageFile::from_text("check.yaml", text)?]);
/// let functions = annotated_functions(&package).expect("the declarations are valid");
/// assert_eq!(functions[0].declaration.runtime.name(), "./check.sh");
/// # Ok::<(), krm_core::PackagePathError>(())
/// ```
pub fn annotated_functions(
    package: &Package,
) -> Result<Vec<AnnotatedFunction<'_>>, Vec<Diagnostic>> {
    let (mut found, mut errors) = (Vec::new(), Vec::new());
    for resource in package.resources() {
        match declared_function(resource.resource) {
            None => {}
            Some(Ok(declaration)) => found.push(AnnotatedFunction { resource, declaration }),
            Some(Err(error)) => errors.push(error.in_file(&*resource.file.display_path)),
        }
    }
    // The sort is stable: files are in the order of their paths, and resources in source order.
    let depth = |scope: &str| if scope.is_empty() { 0 } else { scope.split('/').count() };
    let segments = |scope: &str| scope.split('/').map(str::to_owned).collect::<Vec<_>>();
    found.sort_by_cached_key(|it| (Reverse(depth(it.scope())), segments(it.scope())));
    if errors.is_empty() { Ok(found) } else { Err(errors) }
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
    fn deeper_scopes_run_first() {
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
    fn all_errors_are_returned() {
        let invalid = "apiVersion: v1\nkind: F\nmetadata: {annotations: {config.kubernetes.io/function: 'exec: {}'}}\n";
        let package = package(&[("a.yaml", invalid), ("b.yaml", invalid)]);
        let errors = annotated_functions(&package).unwrap_err();
        assert_eq!(
            errors.iter().map(|it| it.file.as_deref().unwrap()).collect::<Vec<_>>(),
            ["a.yaml", "b.yaml"]
        );
    }
}
