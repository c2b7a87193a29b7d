//! In which order the pipelines of a package and its subpackages run.

use super::PackageTree;

impl PackageTree {
    /// Packages by depth, the root first. Packages of one level do not see each other's resources, so they can run in parallel.
    pub fn levels(&self) -> Vec<Vec<usize>> {
        let deepest = self.nodes.iter().map(|node| node.depth).max().unwrap_or(0);
        let at = |depth| {
            (0..self.nodes.len()).filter(move |at| self.nodes[*at].depth == depth).collect()
        };
        (0..=deepest).map(at).collect()
    }

    /// For each package its position in the order of execution.
    ///
    /// Spec: subpackages run before their parent, because the parent's functions see their output. Compat: with the annotation
    /// `kpt.dev/bfs-rendering` packages run level by level, from the root.
    pub fn run_order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.nodes.len()).collect();
        match self.root().pipeline.breadth_first {
            true => order.sort_by_key(|at| self.nodes[*at].depth),
            // Post-order: a subtree ends no later than the subtree that contains it, and of two that end together the inner is first.
            false => order.sort_by_key(|at| (self.nodes[*at].end, std::cmp::Reverse(*at))),
        }
        let mut positions = vec![0; order.len()];
        order.into_iter().enumerate().for_each(|(position, at)| positions[at] = position);
        positions
    }
}
