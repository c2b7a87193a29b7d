//! What changed between two packages: resources that came, went, moved, have another name or another content.

use std::collections::BTreeMap;

use krm_yaml::NodeRef;

use super::{Differ, Difference};
use crate::compare::pairing::{Pair, Pairing};
use crate::merge::node::Rules;
use crate::model::resource::{Resource, resources};
use crate::{Diagnostic, Package, PackageFile, PackageResource};

/// A resource, or a document that is none, where it stands.
#[derive(Clone, Copy, Debug)]
pub struct Item<'a> {
    /// The file.
    pub file: &'a PackageFile,
    /// The resource, or the root of the document.
    pub node: NodeRef<'a>,
    /// None for a document that is no resource.
    pub resource: Option<Resource<'a>>,
}

impl Item<'_> {
    /// What it is called: `Deployment shop/web`, or `document 2`, counted from zero as `--doc` does.
    pub fn label(&self) -> String {
        match self.resource {
            Some(resource) => resource.label(),
            None => format!("document {}", self.node.document().index()),
        }
    }

    /// The file's path in its package; a stream by its name.
    pub fn place(&self) -> &str {
        if self.file.path.is_stream() { &self.file.display_path } else { self.file.path.as_str() }
    }

    /// Whether nobody should see its values.
    pub fn is_secret(&self) -> bool {
        self.resource.is_some_and(|resource| resource.kind() == "Secret")
    }
}

/// What became of one resource. At least one side is there.
#[derive(Clone, Debug)]
pub struct ItemChange<'a> {
    /// As it was.
    pub old: Option<Item<'a>>,
    /// As it is.
    pub new: Option<Item<'a>>,
    /// What is different, where both are there.
    pub difference: Difference<'a>,
    /// Whether it stands in another file.
    pub is_moved: bool,
    /// Whether it has another name or namespace.
    pub is_renamed: bool,
}

impl ItemChange<'_> {
    /// Whether more changed than comments and formatting.
    pub fn is_of_meaning(&self) -> bool {
        let is_there_once = self.old.is_none() || self.new.is_none();
        is_there_once || self.is_moved || self.is_renamed || !self.difference.fields.is_empty()
    }

    fn is_nothing(&self) -> bool {
        !self.is_of_meaning() && self.difference.is_empty()
    }
}

/// Everything that is different, in the order of the new package, and then what is gone.
///
/// `moves` says whether the path of a file is worth words: it is not where two single files are compared. Elements of lists pair
/// as in merges by the rules.
pub fn compare<'a>(
    old: &'a Package,
    new: &'a Package,
    moves: bool,
    rules: Rules<'_>,
) -> Result<Vec<ItemChange<'a>>, Vec<Diagnostic>> {
    let pairs = Pairing { by_path: false, renames: true }.pair([old, new])?;
    let mut differ = Differ::new(rules);
    let resources = pairs.iter().map(|pair| both(pair));
    let others = others(old, new, moves).into_iter();
    let changes = resources.chain(others).map(|(was, is)| change(was, is, moves, &mut differ));
    Ok(changes.filter(|change| !change.is_nothing()).collect())
}

/// What became of one resource, each side of which is a file of its own.
pub fn of_one<'a>(old: Option<&'a PackageFile>, new: Option<&'a PackageFile>) -> ItemChange<'a> {
    let item = |file: Option<&'a PackageFile>| {
        let PackageResource { file, resource, .. } = file?.package_resources().next()?;
        Some(Item { file, node: resource.node, resource: Some(resource) })
    };
    change(item(old), item(new), true, &mut Differ::default())
}

type Both<'a> = (Option<Item<'a>>, Option<Item<'a>>);

fn both<'a>(pair: &Pair<'a, 2>) -> Both<'a> {
    let [old, new] = pair.sides.map(|side| {
        side.map(|placed| Item {
            file: placed.file,
            node: placed.resource.node,
            resource: Some(placed.resource),
        })
    });
    (old, new)
}

fn change<'a>(
    old: Option<Item<'a>>,
    new: Option<Item<'a>>,
    moves: bool,
    differ: &mut Differ<'a, '_>,
) -> ItemChange<'a> {
    let mut change = ItemChange {
        old,
        new,
        difference: Difference::default(),
        is_moved: false,
        is_renamed: false,
    };
    if let (Some(was), Some(is)) = (old, new) {
        change.difference = differ.compare(was.node, is.node);
        change.is_moved = moves && was.file.path != is.file.path;
        let names = |item: Item<'a>| item.resource.map(|it| (it.namespace(), it.name()));
        change.is_renamed = names(was) != names(is);
    }
    change
}

/// Documents that are no resources, paired by file and by which of them it is.
fn others<'a>(old: &'a Package, new: &'a Package, paths: bool) -> Vec<Both<'a>> {
    let mut found: BTreeMap<(&str, usize), Both<'a>> = BTreeMap::new();
    for (side, package) in [old, new].into_iter().enumerate() {
        for file in package.files() {
            let path = if paths { file.path.as_str() } else { "" };
            for (number, item) in plain(file).enumerate() {
                let both = found.entry((path, number)).or_default();
                *(if side == 0 { &mut both.0 } else { &mut both.1 }) = Some(item);
            }
        }
    }
    found.into_values().collect()
}

/// The documents of a file that hold no resource.
fn plain(file: &PackageFile) -> impl Iterator<Item = Item<'_>> {
    let documents = file.file().into_iter().flat_map(|it| it.documents());
    let plain = documents.filter(|document| resources(*document).is_empty());
    let roots = plain.filter_map(|document| document.root());
    let is_there = |root: &NodeRef<'_>| root.is_collection() || !root.text().is_empty();
    roots.filter(is_there).map(move |node| Item { file, node, resource: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::package::tests::package;

    #[test]
    fn what_became_of_each_resource_is_told() {
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
        let changes = compare(&old, &new, true, Rules::default()).unwrap();
        let lines: Vec<String> = changes.iter().map(super::super::text::heading).collect();
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
        assert!(compare(&old, &old, true, Rules::default()).unwrap().is_empty());
    }
}
