//! Package trees: a package with its subpackages, and which resources each of them sees.

use std::ops::Range;

use crate::files::Placement;
use crate::functions::kptfile::{self, Pipeline};
use crate::functions::resource_list::Item;
use crate::model::package_path::PackagePath;
use crate::{Diagnostic, Package};

/// A package and all its subpackages, in the order of their paths: a package comes before its subpackages.
#[derive(Clone, Debug)]
pub struct PackageTree {
    pub(super) nodes: Vec<PackageNode>,
}

/// One package of a tree.
#[derive(Clone, Debug)]
pub struct PackageNode {
    /// Its directory, relative to the root package, which is the empty path.
    pub root: String,
    /// The functions that it declares.
    pub pipeline: Pipeline,
    /// How many packages it is inside of.
    pub depth: usize,
    /// The index of the first package that is not inside it.
    pub(super) end: usize,
}

/// The pipeline of one package, or what is wrong with its Kptfile.
pub type PipelineResult = Result<Pipeline, Vec<Diagnostic>>;

impl PackageTree {
    /// Reads the pipelines of a package and its subpackages, and returns the errors of all of them.
    pub fn of(package: &Package) -> Result<Self, Vec<Diagnostic>> {
        Self::of_with(package, |count, work| (0..count).map(work).collect())
    }

    /// Like [`PackageTree::of`]. `for_each` computes the pipeline of each of this many packages, in order, and may do so in parallel.
    pub fn of_with(
        package: &Package,
        for_each: impl FnOnce(usize, &(dyn Fn(usize) -> PipelineResult + Sync)) -> Vec<PipelineResult>,
    ) -> Result<Self, Vec<Diagnostic>> {
        let roots = package.roots();
        let pipelines = for_each(roots.len(), &|at| kptfile::pipeline(package, &roots[at]));
        let (mut nodes, mut errors) = (Vec::<PackageNode>::new(), Vec::new());
        // The packages that the current one is inside of, from the outermost.
        let mut open: Vec<usize> = Vec::new();
        for (at, (root, pipeline)) in roots.iter().zip(pipelines).enumerate() {
            while let Some(closed) = open.pop_if(|it| !is_inside(root, &nodes[*it].root)) {
                nodes[closed].end = at;
            }
            let pipeline = pipeline.unwrap_or_else(|invalid| {
                errors.extend(invalid);
                Pipeline::default()
            });
            nodes.push(PackageNode { root: root.clone(), pipeline, depth: open.len(), end: 0 });
            open.push(at);
        }
        let count = nodes.len();
        open.into_iter().for_each(|at| nodes[at].end = count);
        if errors.is_empty() { Ok(Self { nodes }) } else { Err(errors) }
    }

    /// All packages, in the order of their paths.
    pub fn nodes(&self) -> &[PackageNode] {
        &self.nodes
    }

    /// The package that contains all others.
    pub fn root(&self) -> &PackageNode {
        &self.nodes[0]
    }

    /// A package and the packages inside it.
    pub fn subtree(&self, node: usize) -> Range<usize> {
        node..self.nodes[node].end
    }

    /// The packages directly inside a package.
    pub fn children(&self, node: usize) -> impl Iterator<Item = usize> {
        let depth = self.nodes[node].depth + 1;
        (node + 1..self.nodes[node].end).filter(move |at| self.nodes[*at].depth == depth)
    }

    /// The innermost package that contains a file.
    pub fn owner(&self, path: &PackagePath) -> usize {
        let mut directory = path.directory();
        loop {
            let found =
                self.nodes.binary_search_by(|it| it.root.split('/').cmp(directory.split('/')));
            match found {
                Ok(at) => return at,
                Err(_) if directory.is_empty() => return 0,
                Err(_) => directory = directory.rsplit_once('/').map_or("", |(parent, _)| parent),
            }
        }
    }

    /// The items of each package.
    pub fn group_by_package(&self, items: Vec<Item>) -> Vec<Vec<Item>> {
        let mut own: Vec<Vec<Item>> = vec![Vec::new(); self.nodes.len()];
        for item in items {
            let owner = item.path.as_ref().map_or(0, |path| self.owner(path));
            own[owner].push(item);
        }
        own
    }

    /// Items as the functions of a package see them: with paths relative to its directory.
    pub fn to_package_paths(&self, node: usize, mut items: Vec<Item>) -> Vec<Item> {
        let root = &self.nodes[node].root;
        for item in &mut items {
            item.path = item.path.take().and_then(|path| path.relative_to(root));
        }
        items
    }

    /// Items that functions of a package returned, with paths relative to the root package. New items without a path get a file in
    /// the package whose function created them.
    pub fn from_package_paths(&self, node: usize, mut items: Vec<Item>) -> Vec<Item> {
        let root = &self.nodes[node].root;
        for item in &mut items {
            item.path = item.path.take().map(|path| path.in_directory(root));
        }
        let inner = self.subtree(node).skip(1).map(|at| &self.nodes[at].root);
        let prefix = if root.is_empty() { 0 } else { root.len() + 1 };
        let inner: Vec<String> = inner.map(|inner| inner[prefix..].to_owned()).collect();
        Placement::assign_paths(&mut items, &[], root, &inner);
        items
    }
}

/// Whether a directory is inside another one; the empty directory is the root package.
fn is_inside(directory: &str, outer: &str) -> bool {
    let rest = directory.strip_prefix(outer);
    outer.is_empty() || rest.is_some_and(|rest| rest.starts_with('/'))
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
    fn subpackages_run_before_their_parent() {
        let tree = tree(KPTFILE);
        let roots: Vec<&str> = tree.nodes().iter().map(|it| it.root.as_str()).collect();
        assert_eq!(roots, ["", "a", "a/x", "a-b", "b/c"]);
        assert_eq!(tree.run_order(), [4, 1, 0, 2, 3]);
        assert_eq!(tree.children(0).collect::<Vec<_>>(), [1, 3, 4]);
        assert_eq!((tree.subtree(1), tree.subtree(0)), (1..3, 0..5));
    }

    #[test]
    fn packages_run_level_by_level_with_the_bfs_annotation() {
        let annotated =
            KPTFILE.replace("{name: a}", "{annotations: {kpt.dev/bfs-rendering: \"true\"}}");
        let tree = tree(&annotated);
        assert_eq!(tree.run_order(), [0, 1, 4, 2, 3]);
        assert_eq!(tree.levels(), [vec![0], vec![1, 3, 4], vec![2]]);
    }

    #[test]
    fn functions_see_paths_relative_to_their_package() {
        let tree = tree(KPTFILE);
        let mut item =
            Item::parse("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n".to_owned()).unwrap();
        item.path = PackagePath::new("a/x/p.yaml").ok();
        assert_eq!(tree.owner(item.path.as_ref().unwrap()), 2);
        let inner = tree.to_package_paths(1, vec![item]);
        assert_eq!(inner[0].path.as_ref().unwrap().as_str(), "x/p.yaml");
        let mut created = inner[0].clone();
        (created.path, created.origin) = (None, None);
        let outer = tree.from_package_paths(1, vec![inner[0].clone(), created.clone(), created]);
        let paths: Vec<&str> = outer.iter().map(|it| it.path.as_ref().unwrap().as_str()).collect();
        assert_eq!(paths, ["a/x/p.yaml", "a/pod_p.yaml", "a/pod_p_2.yaml"]);
    }
}
