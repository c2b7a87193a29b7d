//! Diff of packages: resources that were added, removed, moved, renamed or changed.

use krm_yaml::NodeRef;

use super::{Differ, NodeDiff};
use crate::compare::{ListOptions, PairedResource, Renames, ResourcePairing, pair_documents};
use crate::model::resource::Resource;
use crate::{Diagnostic, Package, PackageFile, PackageResource};

/// A resource, or a document without resources, with its file.
#[derive(Clone, Copy, Debug)]
pub struct DiffItem<'a> {
    /// The file.
    pub file: &'a PackageFile,
    /// The resource, or the root of the document.
    pub node: NodeRef<'a>,
    /// `None` for a document without resources.
    pub resource: Option<Resource<'a>>,
}

impl DiffItem<'_> {
    /// `Deployment shop/web`, or `document 2`, counted from zero as `--doc` does.
    pub fn label(&self) -> String {
        match self.resource {
            Some(resource) => resource.label(),
            None => format!("document {}", self.node.document().index()),
        }
    }

    /// The path of the file in its package; for stdin its display name.
    pub fn path(&self) -> &str {
        if self.file.path.is_stream() { &self.file.display_path } else { self.file.path.as_str() }
    }

    /// Whether its values must be masked.
    pub fn is_secret(&self) -> bool {
        self.resource.is_some_and(|resource| resource.kind() == "Secret")
    }
}

/// How one resource changed. At least one of `old` and `new` is set.
#[derive(Clone, Debug)]
pub struct ResourceDiff<'a> {
    /// The old resource.
    pub old: Option<DiffItem<'a>>,
    /// The new resource.
    pub new: Option<DiffItem<'a>>,
    /// What differs, where both are set.
    pub nodes: NodeDiff<'a>,
    /// Whether it is in another file.
    pub is_moved: bool,
    /// Whether it has another name or namespace.
    pub is_renamed: bool,
}

impl ResourceDiff<'_> {
    /// Whether more changed than comments and formatting.
    pub fn is_semantic(&self) -> bool {
        let is_on_one_side = self.old.is_none() || self.new.is_none();
        is_on_one_side || self.is_moved || self.is_renamed || !self.nodes.fields.is_empty()
    }

    fn is_empty(&self) -> bool {
        !self.is_semantic() && self.nodes.is_empty()
    }
}

/// Compares two packages: the resources of the new package in its order, then removed ones, then documents without resources.
///
/// Without `moves` the paths of files do not matter, which is so where two single files are compared.
pub fn diff_packages<'a>(
    old: &'a Package,
    new: &'a Package,
    moves: bool,
    options: ListOptions<'_>,
) -> Result<Vec<ResourceDiff<'a>>, Vec<Diagnostic>> {
    let pairs =
        ResourcePairing { renames: Renames::All, ..ResourcePairing::default() }.pair([old, new])?;
    let mut differ = Differ::new(options);
    let resources = pairs.iter().map(|pair| both(pair));
    let documents = pair_documents([old, new], moves, false)
        .into_iter()
        .map(|[old, new]| (old.map(document), new.map(document)));
    let changes = resources.chain(documents).map(|(was, is)| change(was, is, moves, &mut differ));
    Ok(changes.filter(|change| !change.is_empty()).collect())
}

/// Compares the first resources of two files.
pub fn diff_resource<'a>(
    old: Option<&'a PackageFile>,
    new: Option<&'a PackageFile>,
) -> ResourceDiff<'a> {
    let item = |file: Option<&'a PackageFile>| {
        let PackageResource { file, resource, .. } = file?.package_resources().next()?;
        Some(DiffItem { file, node: resource.node, resource: Some(resource) })
    };
    change(item(old), item(new), true, &mut Differ::default())
}

type Both<'a> = (Option<DiffItem<'a>>, Option<DiffItem<'a>>);

fn both<'a>(pair: &PairedResource<'a, 2>) -> Both<'a> {
    let [old, new] = pair.sides.map(|side| {
        side.map(|placed| DiffItem {
            file: placed.file,
            node: placed.resource.node,
            resource: Some(placed.resource),
        })
    });
    (old, new)
}

fn change<'a>(
    old: Option<DiffItem<'a>>,
    new: Option<DiffItem<'a>>,
    moves: bool,
    differ: &mut Differ<'a, '_>,
) -> ResourceDiff<'a> {
    let mut change =
        ResourceDiff { old, new, nodes: NodeDiff::default(), is_moved: false, is_renamed: false };
    if let (Some(was), Some(is)) = (old, new) {
        change.nodes = differ.compare(was.node, is.node);
        change.is_moved = moves && was.file.path != is.file.path;
        let names = |item: DiffItem<'a>| item.resource.map(|it| (it.namespace(), it.name()));
        change.is_renamed = names(was) != names(is);
    }
    change
}

fn document<'a>((file, node): (&'a PackageFile, NodeRef<'a>)) -> DiffItem<'a> {
    DiffItem { file, node, resource: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::package::tests::package;

    #[test]
    fn every_change_of_a_resource_is_reported() {
        let map = |name: &str, data: &str| {
            format!(
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{{data}}}\n"
            )
        };
        let old = package(&[
            ("a.yaml", &map("a", "x: '1'")),
            ("b.yaml", &map("b", "x: '2'")),
            ("c.yaml", &map("c", "x: '3'")),
            ("d.yaml", &map("d", "x: '4'")),
            ("v.yaml", "x: 1\n"),
        ]);
        let new = package(&[
            ("a.yaml", &map("a", "x: '5'")),
            ("sub/b.yaml", &map("b", "x: '2'")),
            ("c.yaml", &map("cc", "x: '3'")),
            ("e.yaml", &map("e", "x: '6'")),
            ("v.yaml", "x: 2\n"),
        ]);
        let changes = diff_packages(&old, &new, true, ListOptions::default()).unwrap();
        let lines: Vec<String> = changes.iter().map(super::super::heading).collect();
        assert_eq!(
            lines,
            [
                "changed ConfigMap a in a.yaml",
                "renamed ConfigMap c → ConfigMap cc in c.yaml",
                "added ConfigMap e in e.yaml",
                "moved ConfigMap b: b.yaml → sub/b.yaml",
                "removed ConfigMap d in d.yaml",
                "changed document 0 in v.yaml",
            ]
        );
        assert!(diff_packages(&old, &old, true, ListOptions::default()).unwrap().is_empty());
    }
}
