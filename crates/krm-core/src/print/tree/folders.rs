//! The tree of folders: each path segment a line, the resources of a folder before its sub-folders.

use std::collections::BTreeMap;

use super::{Branch, Fields};
use crate::model::package::{Package, Placed};
use crate::model::package_path::PackagePath;

#[derive(Default)]
struct Folder<'a> {
    resources: Vec<(String, Placed<'a>)>,
    folders: BTreeMap<String, Folder<'a>>,
}

/// The resources by folder. Of a stream the annotations that readers leave say where a resource stands.
pub fn by_folder(
    package: &Package,
    resources: &[Placed<'_>],
    title: &str,
    is_stream: bool,
    fields: &Fields,
) -> Branch {
    let mut root = Folder::default();
    for placed in resources {
        let path = if is_stream { annotated(*placed) } else { Some(placed.file.path.clone()) };
        let folder = path.as_ref().map_or("", |path| path.folder());
        let names = folder.split('/').filter(|name| !name.is_empty());
        let home = names.fold(&mut root, |at, name| at.folders.entry(name.to_owned()).or_default());
        let file = path.as_ref().map_or(".", |path| path.name()).to_owned();
        home.resources.push((file, *placed));
    }
    Branch { label: title.to_owned(), children: below(root, "", package, fields) }
}

fn annotated(placed: Placed<'_>) -> Option<PackagePath> {
    let names = ["internal.config.kubernetes.io/path", "config.kubernetes.io/path"];
    let path = names.iter().find_map(|name| placed.resource.annotation(name))?;
    PackagePath::new(&path).ok()
}

fn below(mut folder: Folder<'_>, path: &str, package: &Package, fields: &Fields) -> Vec<Branch> {
    // Compat: the order of kustomize inside a folder.
    folder.resources.sort_by_cached_key(|(file, placed)| {
        let resource = placed.resource;
        let parts =
            [resource.namespace(), resource.name(), resource.kind(), resource.api_version()];
        (file.clone(), parts.map(|part| part.into_owned()))
    });
    let mut lines: Vec<Branch> = folder
        .resources
        .iter()
        .map(|(file, placed)| Branch {
            label: format!("[{file}]  {}", placed.resource.label()),
            children: fields.branches(placed.resource),
        })
        .collect();
    for (name, inner) in folder.folders {
        let path = if path.is_empty() { name.clone() } else { format!("{path}/{name}") };
        let is_package = package.roots().contains(&path);
        let label = if is_package { format!("Pkg: {name}") } else { name };
        lines.push(Branch { label, children: below(inner, &path, package, fields) });
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::package::tests::package;

    #[test]
    fn a_folder_is_not_nested_below_one_whose_name_it_begins_with() {
        let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n";
        let package = package(&[
            ("a/x.yaml", pod),
            ("abc/y.yaml", pod),
            ("a/b/c/z.yaml", pod),
            ("a/b/Krmfile", ""),
        ]);
        let resources: Vec<_> = package.resources().collect();
        let text = by_folder(&package, &resources, "p", false, &Fields::default()).draw();
        let expected = "p\n├── a\n│   ├── [x.yaml]  Pod p\n│   └── Pkg: b\n│       └── c\n│           └── [z.yaml]  Pod p\n└── abc\n    └── [y.yaml]  Pod p\n";
        assert_eq!(text, expected);
    }
}
