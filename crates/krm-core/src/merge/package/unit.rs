//! What is merged as one: a resource, or a document that is none, as each version has it.

use std::collections::BTreeMap;

use krm_yaml::NodeRef;

use crate::compare::pairing::Pair;
use crate::files::arrangement::ResourcePosition;
use crate::merge::node::Version;
use crate::model::resource::{Resource, resources};
use crate::{Package, PackageFile, PackageResource};

/// One version of a unit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part<'a> {
    pub(super) file: &'a PackageFile,
    pub(super) node: NodeRef<'a>,
    pub(super) spot: ResourcePosition,
    /// None for a document that is no resource.
    pub(super) resource: Option<Resource<'a>>,
}

impl<'a> Part<'a> {
    fn of(placed: PackageResource<'a>) -> Self {
        let resource = placed.resource;
        let spot = ResourcePosition::of(resource.node, resource.item);
        Self { file: placed.file, node: resource.node, spot, resource: Some(resource) }
    }

    pub(super) fn version(&self) -> Version<'a> {
        Version::new(self.node, &self.file.display_path)
    }

    pub(super) fn label(&self) -> String {
        self.resource.map(Resource::label).unwrap_or_default()
    }
}

/// All versions of a unit; a merge of two has no base.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unit<'a> {
    pub(super) base: Option<Part<'a>>,
    pub(super) upstream: Option<Part<'a>>,
    pub(super) local: Option<Part<'a>>,
}

pub(super) fn units<'a>(pairs: &[Pair<'a, 3>]) -> Vec<Unit<'a>> {
    let unit = |pair: &Pair<'a, 3>| {
        let [base, upstream, local] = pair.sides.map(|side| side.map(Part::of));
        Unit { base, upstream, local }
    };
    pairs.iter().map(unit).collect()
}

pub(super) fn of_two<'a>(pairs: &[Pair<'a, 2>]) -> Vec<Unit<'a>> {
    let unit = |pair: &Pair<'a, 2>| {
        let [upstream, local] = pair.sides.map(|side| side.map(Part::of));
        Unit { base: None, upstream, local }
    };
    pairs.iter().map(unit).collect()
}

/// Documents that are no resources, by file and by which of them it is.
pub(super) fn plain<'a>(packages: [&'a Package; 3]) -> Vec<Unit<'a>> {
    let mut found: BTreeMap<(&str, usize), [Option<Part<'a>>; 3]> = BTreeMap::new();
    for (side, package) in packages.into_iter().enumerate() {
        for file in package.files() {
            for (number, part) in plain_parts(file).enumerate() {
                found.entry((file.path.as_str(), number)).or_default()[side] = Some(part);
            }
        }
    }
    let unit = |[base, upstream, local]: [Option<Part<'a>>; 3]| Unit { base, upstream, local };
    found.into_values().map(unit).collect()
}

pub(super) fn plain_parts(file: &PackageFile) -> impl Iterator<Item = Part<'_>> {
    let documents = file.file().into_iter().flat_map(|it| it.documents());
    let roots = documents.filter(|it| resources(*it).is_empty()).filter_map(|it| it.root());
    let is_there = |root: &NodeRef<'_>| root.is_collection() || !root.text().is_empty();
    let part =
        move |node| Part { file, node, spot: ResourcePosition::of(node, None), resource: None };
    roots.filter(is_there).map(part)
}
