//! The tree of owners: each resource below its owner.

use std::collections::{BTreeMap, BTreeSet};

use krm_yaml::NodeRef;

use super::{TreeFields, TreeNode};
use crate::Diagnostic;
use crate::model::package::PackageResource;
use crate::model::resource::{Identity, Resource, field, scalar_text};
use crate::print::PrintKind;

/// The maximum depth. Longer chains of owners continue at the top level.
const MAX_DEPTH: usize = 200;

/// A tree of owners.
#[derive(Debug)]
pub struct OwnerTree {
    /// The tree.
    pub tree: TreeNode,
    /// Warnings for owners that are not resources of the tree.
    pub missing_owners: Vec<Diagnostic>,
}

/// Whether any of the resources names an owner.
pub fn has_owners(resources: &[PackageResource<'_>]) -> bool {
    resources.iter().any(|placed| reference(placed.resource).is_some())
}

/// The resources by owner. Resources without an owner, or whose owner is missing, are at the top level.
pub fn by_owner(resources: &[PackageResource<'_>], title: &str, fields: &TreeFields) -> OwnerTree {
    let mut order: Vec<usize> = (0..resources.len()).collect();
    order.sort_by_cached_key(|at| sort_key(resources[*at].resource));
    let mut places: BTreeMap<Identity, usize> = BTreeMap::new();
    for at in &order {
        let identity = resources[*at].resource.identity();
        identity.map(|identity| places.entry(identity).or_insert(*at));
    }
    let mut missing = Vec::new();
    let mut tops = Vec::new();
    let mut below: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for at in order {
        match owner(resources[at].resource, &places) {
            Owner::None => tops.push(at),
            Owner::At(owner) => below.entry(owner).or_default().push(at),
            Owner::Missing(label, node) => {
                missing.push(not_found(&resources[at], label, node));
                tops.push(at);
            }
        }
    }
    let mut builder = TreeBuilder { resources, below, fields, added: BTreeSet::new() };
    // Resources that are not below a top-level resource are part of a cycle.
    let all = tops.into_iter().chain(0..resources.len());
    let children = all.filter_map(|at| builder.node(at, 0)).collect();
    OwnerTree { tree: TreeNode { label: title.to_owned(), children }, missing_owners: missing }
}

struct TreeBuilder<'a> {
    resources: &'a [PackageResource<'a>],
    below: BTreeMap<usize, Vec<usize>>,
    fields: &'a TreeFields,
    added: BTreeSet<usize>,
}

impl TreeBuilder<'_> {
    /// The resource with what it owns; none if it was already added, or if it is too deep.
    fn node(&mut self, at: usize, depth: usize) -> Option<TreeNode> {
        if depth > MAX_DEPTH || !self.added.insert(at) {
            return None;
        }
        let resource = self.resources[at].resource;
        let mut children = self.fields.nodes(resource);
        for owned in self.below.remove(&at).unwrap_or_default() {
            children.extend(self.node(owned, depth + 1));
        }
        Some(TreeNode { label: format!("[Resource]  {}", resource.label()), children })
    }
}

enum Owner<'a> {
    None,
    At(usize),
    Missing(String, NodeRef<'a>),
}

fn owner<'a>(resource: Resource<'a>, places: &BTreeMap<Identity, usize>) -> Owner<'a> {
    let Some(reference) = reference(resource) else { return Owner::None };
    let text = |name| field(reference, name).and_then(scalar_text).unwrap_or_default().into_owned();
    let version = text("apiVersion");
    let group = version.split_once('/').map_or("", |(group, _)| group).to_owned();
    let namespace = resource.namespace().into_owned();
    let mut identity = Identity { group, kind: text("kind"), namespace, name: text("name") };
    if let Some(at) = places.get(&identity) {
        return Owner::At(*at);
    }
    let label = identity.to_string();
    // The owner may be cluster-scoped.
    identity.namespace.clear();
    places.get(&identity).map_or(Owner::Missing(label, reference), |at| Owner::At(*at))
}

/// The owner that is the controller, or the first one.
fn reference(resource: Resource<'_>) -> Option<NodeRef<'_>> {
    let list = field(field(resource.node, "metadata")?, "ownerReferences")?.as_sequence()?;
    let controls = |node: &NodeRef<'_>| {
        field(*node, "controller").and_then(scalar_text).as_deref() == Some("true")
    };
    list.items().find(controls).or_else(|| list.items().next())
}

fn not_found(placed: &PackageResource<'_>, owner: String, reference: NodeRef<'_>) -> Diagnostic {
    let warning = Diagnostic::warning(PrintKind::OwnerNotFound { owner });
    let file = reference.document().file();
    warning.in_file(&*placed.file.display_path).at(file, reference.span())
}

fn sort_key(resource: Resource<'_>) -> [String; 4] {
    let parts = [resource.namespace(), resource.name(), resource.kind(), resource.api_version()];
    parts.map(|part| part.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::package::tests::package;

    fn owned(kind: &str, name: &str, owner: Option<(&str, &str)>) -> String {
        let owner = owner.map_or(String::new(), |(kind, name)| {
            format!("  ownerReferences: [{{apiVersion: v1, kind: {kind}, name: {name}}}]\n")
        });
        format!("apiVersion: v1\nkind: {kind}\nmetadata:\n  name: {name}\n{owner}")
    }

    fn added(texts: &[String]) -> (String, usize) {
        let package = package(&[("a.yaml", &texts.join("---\n"))]);
        let resources: Vec<_> = package.resources().collect();
        let owned = by_owner(&resources, ".", &TreeFields::default());
        (owned.tree.render(), owned.missing_owners.len())
    }

    #[test]
    fn resources_stand_below_their_owners_and_a_missing_one_is_told() {
        let texts = [
            owned("A", "a", None),
            owned("C", "c", Some(("B", "b"))),
            owned("B", "b", Some(("A", "a"))),
            owned("D", "d", Some(("X", "x"))),
        ];
        let expected = ".\n├── [Resource]  A a\n│   └── [Resource]  B b\n│       └── [Resource]  C c\n└── [Resource]  D d\n";
        assert_eq!(added(&texts), (expected.to_owned(), 1));
    }

    #[test]
    fn cycle_of_owners_terminates() {
        let texts = [
            owned("A", "a", Some(("B", "b"))),
            owned("B", "b", Some(("A", "a"))),
            owned("S", "s", Some(("S", "s"))),
        ];
        let (text, missing) = added(&texts);
        assert_eq!((text.lines().count(), missing), (4, 0), "{text}");
    }
}
