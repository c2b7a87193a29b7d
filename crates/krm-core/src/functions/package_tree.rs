//! Packages inside packages: in which order their pipelines run, and what each of them sees.

use std::ops::Range;

use crate::files::Placement;
use crate::functions::kptfile::{self, Pipeline};
use crate::functions::resource_list::Item;
use crate::model::package_path::PackagePath;
use crate::{Diagnostic, Package};

/// A package with all packages inside it, in the order of their paths: a package comes before those inside it.
#[derive(Clone, Debug)]
pub struct PackageTree {
    nodes: Vec<PackageNode>,
}

/// One package of a tree.
#[derive(Clone, Debug)]
pub struct PackageNode {
    /// Its folder from the outermost package, which is the empty path.
    pub root: String,
    /// What it wants to have done.
    pub pipeline: Pipeline,
    /// How many packages it is inside of.
    pub depth: usize,
    /// The first node that is not inside of it.
    end: usize,
}

impl PackageTree {
    /// The packages of a folder with their pipelines. All that is wrong with them comes together.
    pub fn of(package: &Package) -> Result<Self, Vec<Diagnostic>> {
        let (mut nodes, mut errors) = (Vec::<PackageNode>::new(), Vec::new());
        let mut open: Vec<usize> = Vec::new();
        for (at, root) in package.roots().iter().enumerate() {
            while let Some(above) = open.pop_if(|above| !is_below(root, &nodes[*above].root)) {
                nodes[above].end = at;
            }
            let pipeline = kptfile::pipeline(package, root).unwrap_or_else(|wrong| {
                errors.extend(wrong);
                Pipeline::default()
            });
            nodes.push(PackageNode { root: root.clone(), pipeline, depth: open.len(), end: 0 });
            open.push(at);
        }
        let count = nodes.len();
        open.into_iter().for_each(|at| nodes[at].end = count);
        if errors.is_empty() { Ok(Self { nodes }) } else { Err(errors) }
    }

    /// All packages, by path.
    pub fn nodes(&self) -> &[PackageNode] {
        &self.nodes
    }

    /// The outermost package.
    pub fn root(&self) -> &PackageNode {
        &self.nodes[0]
    }

    /// A package and those inside it.
    pub fn subtree(&self, node: usize) -> Range<usize> {
        node..self.nodes[node].end
    }

    /// The packages directly inside one.
    pub fn children(&self, node: usize) -> impl Iterator<Item = usize> {
        let depth = self.nodes[node].depth + 1;
        (node + 1..self.nodes[node].end).filter(move |at| self.nodes[*at].depth == depth)
    }

    /// Packages of the same depth, the outermost first: none of them sees anything of another.
    pub fn levels(&self) -> Vec<Vec<usize>> {
        let deepest = self.nodes.iter().map(|node| node.depth).max().unwrap_or(0);
        let at = |depth| {
            (0..self.nodes.len()).filter(move |at| self.nodes[*at].depth == depth).collect()
        };
        (0..=deepest).map(at).collect()
    }

    /// For each package its turn: sub-packages before the package that holds them, or level by level.
    pub fn run_order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.nodes.len()).collect();
        match self.root().pipeline.breadth_first {
            true => order.sort_by_key(|at| self.nodes[*at].depth),
            // What is inside has ended before its holder has.
            false => order.sort_by_key(|at| (self.nodes[*at].end, std::cmp::Reverse(*at))),
        }
        let mut run_order = vec![0; order.len()];
        order.into_iter().enumerate().for_each(|(turn, at)| run_order[at] = turn);
        run_order
    }

    /// The innermost package that a path belongs to.
    pub fn owner(&self, path: &PackagePath) -> usize {
        let mut folder = path.directory();
        loop {
            let found = self.nodes.binary_search_by(|it| it.root.split('/').cmp(folder.split('/')));
            match found {
                Ok(at) => return at,
                Err(_) if folder.is_empty() => return 0,
                Err(_) => folder = folder.rsplit_once('/').map_or("", |(above, _)| above),
            }
        }
    }

    /// Resources by the package that owns them.
    pub fn group_by_package(&self, items: Vec<Item>) -> Vec<Vec<Item>> {
        let mut own: Vec<Vec<Item>> = vec![Vec::new(); self.nodes.len()];
        for item in items {
            let owner = item.path.as_ref().map_or(0, |path| self.owner(path));
            own[owner].push(item);
        }
        own
    }

    /// Items as a package sees them: paths begin at its own folder.
    pub fn to_package_paths(&self, node: usize, mut items: Vec<Item>) -> Vec<Item> {
        let root = &self.nodes[node].root;
        if !root.is_empty() {
            for item in &mut items {
                let inner = item.path.as_ref().and_then(|path| below(path, root));
                item.path = inner.and_then(|inner| PackagePath::new(inner).ok());
            }
        }
        items
    }

    /// Items as the outermost package sees them. One without a file gets one in the package that made it.
    pub fn from_package_paths(&self, node: usize, mut items: Vec<Item>) -> Vec<Item> {
        if items.iter().any(|item| item.path.is_none()) {
            self.place(node, &mut items);
        }
        let root = &self.nodes[node].root;
        if !root.is_empty() {
            for item in &mut items {
                let whole = item.path.as_ref().map(|path| format!("{root}/{path}"));
                item.path = whole.and_then(|whole| PackagePath::new(&whole).ok());
            }
        }
        items
    }

    fn place(&self, node: usize, items: &mut [Item]) {
        let mut placement = Placement::default();
        let inside = self.subtree(node).skip(1).map(|at| &self.nodes[at].root);
        let root = &self.nodes[node].root;
        let prefix = if root.is_empty() { 0 } else { root.len() + 1 };
        placement.exclude(&inside.map(|inner| inner[prefix..].to_owned()).collect::<Vec<_>>());
        for path in items.iter().filter_map(|item| item.path.as_ref()) {
            // What is no place is told by those who put the files together.
            let _ = placement.claim(path.as_str());
        }
        for item in items.iter_mut().filter(|item| item.path.is_none()) {
            let path = item.resource().identity().map(|identity| placement.new_file(&identity));
            (item.path, item.index) = (path, None);
        }
    }
}

/// Whether a folder is inside another one, which may be the outermost.
fn is_below(folder: &str, above: &str) -> bool {
    let rest = folder.strip_prefix(above);
    above.is_empty() || rest.is_some_and(|rest| rest.starts_with('/'))
}

fn below<'p>(path: &'p PackagePath, root: &str) -> Option<&'p str> {
    path.as_str().strip_prefix(root)?.strip_prefix('/')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::package::tests::package;

    const KPTFILE: &str = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: a}\n";

    fn tree(kptfile: &str) -> PackageTree {
        let roots = ["a/Kptfile", "a/x/Kptfile", "a-b/Kptfile", "b/c/Kptfile"];
        let mut files: Vec<(&str, &str)> = roots.map(|root| (root, KPTFILE)).to_vec();
        files.push(("Kptfile", kptfile));
        PackageTree::of(&package(&files)).unwrap()
    }

    #[test]
    fn sub_packages_come_before_the_package_that_holds_them() {
        let tree = tree(KPTFILE);
        let roots: Vec<&str> = tree.nodes().iter().map(|it| it.root.as_str()).collect();
        assert_eq!(roots, ["", "a", "a/x", "a-b", "b/c"]);
        assert_eq!(tree.run_order(), [4, 1, 0, 2, 3]);
        assert_eq!(tree.children(0).collect::<Vec<_>>(), [1, 3, 4]);
        assert_eq!((tree.subtree(1), tree.subtree(0)), (1..3, 0..5));
    }

    #[test]
    fn level_by_level_where_that_is_asked_for() {
        let annotated =
            KPTFILE.replace("{name: a}", "{annotations: {kpt.dev/bfs-rendering: \"true\"}}");
        let tree = tree(&annotated);
        assert_eq!(tree.run_order(), [0, 1, 4, 2, 3]);
        assert_eq!(tree.levels(), [vec![0], vec![1, 3, 4], vec![2]]);
    }

    #[test]
    fn a_package_sees_paths_from_its_own_folder() {
        let tree = tree(KPTFILE);
        let mut item =
            Item::parse("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n".to_owned()).unwrap();
        item.path = PackagePath::new("a/x/p.yaml").ok();
        assert_eq!(tree.owner(item.path.as_ref().unwrap()), 2);
        let inside = tree.to_package_paths(1, vec![item]);
        assert_eq!(inside[0].path.as_ref().unwrap().as_str(), "x/p.yaml");
        let mut made = inside[0].clone();
        made.path = None;
        let outside = tree.from_package_paths(1, vec![inside[0].clone(), made.clone(), made]);
        let paths: Vec<&str> =
            outside.iter().map(|it| it.path.as_ref().unwrap().as_str()).collect();
        assert_eq!(paths, ["a/x/p.yaml", "a/pod_p.yaml", "a/pod_p_2.yaml"]);
    }
}
