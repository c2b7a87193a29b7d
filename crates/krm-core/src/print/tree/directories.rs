//! The tree of directories: the resources of a directory come before its subdirectories.

use std::collections::BTreeMap;

use super::{TreeFields, TreeNode};
use crate::model::package::{Package, PackageResource};
use crate::model::package_path::PackagePath;

#[derive(Default)]
struct Directory<'a> {
    resources: Vec<(String, PackageResource<'a>)>,
    directories: BTreeMap<String, Directory<'a>>,
}

/// The resources by directory. The paths of resources in a stream are read from their annotations.
pub fn by_directory(
    package: &Package,
    resources: &[PackageResource<'_>],
    title: &str,
    is_stream: bool,
    fields: &TreeFields,
) -> TreeNode {
    let mut root = Directory::default();
    for placed in resources {
        let path = if is_stream { annotated(*placed) } else { Some(placed.file.path.clone()) };
        let directory = path.as_ref().map_or("", |path| path.directory());
        let names = directory.split('/').filter(|name| !name.is_empty());
        let home =
            names.fold(&mut root, |at, name| at.directories.entry(name.to_owned()).or_default());
        let file = path.as_ref().map_or(".", |path| path.name()).to_owned();
        home.resources.push((file, *placed));
    }
    TreeNode { label: title.to_owned(), children: below(root, "", package, fields) }
}

fn annotated(placed: PackageResource<'_>) -> Option<PackagePath> {
    let names = ["internal.config.kubernetes.io/path", "config.kubernetes.io/path"];
    let path = names.iter().find_map(|name| placed.resource.annotation(name))?;
    PackagePath::new(&path).ok()
}

fn below(
    mut directory: Directory<'_>,
    path: &str,
    package: &Package,
    fields: &TreeFields,
) -> Vec<TreeNode> {
    // Compat: the order of resources that kustomize uses.
    directory.resources.sort_by_cached_key(|(file, placed)| {
        let resource = placed.resource;
        let parts =
            [resource.namespace(), resource.name(), resource.kind(), resource.api_version()];
        (file.clone(), parts.map(|part| part.into_owned()))
    });
    let mut lines: Vec<TreeNode> = directory
        .resources
        .iter()
        .map(|(file, placed)| TreeNode {
            label: format!("[{file}]  {}", placed.resource.label()),
            children: fields.nodes(placed.resource),
        })
        .collect();
    for (name, inner) in directory.directories {
        let path = if path.is_empty() { name.clone() } else { format!("{path}/{name}") };
        let is_package = package.roots().contains(&path);
        let label = if is_package { format!("Pkg: {name}") } else { name };
        lines.push(TreeNode { label, children: below(inner, &path, package, fields) });
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
        let text = by_directory(&package, &resources, "p", false, &TreeFields::default()).render();
        let expected = "p\n├── a\n│   ├── [x.yaml]  Pod p\n│   └── Pkg: b\n│       └── c\n│           └── [z.yaml]  Pod p\n└── abc\n    └── [y.yaml]  Pod p\n";
        assert_eq!(text, expected);
    }
}
