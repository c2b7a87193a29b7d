//! Units of a merge: a resource, or a document without resources, as each version has it.

use krm_yaml::NodeRef;

use crate::compare::{PairedResource, document_roots, pair_documents};
use crate::files::arrangement::ResourcePosition;
use crate::merge::node::Version;
use crate::model::resource::Resource;
use crate::{Package, PackageFile, PackageResource};

/// One version of a unit.
#[derive(Clone, Copy, Debug)]
pub(super) struct UnitVersion<'a> {
    pub(super) file: &'a PackageFile,
    pub(super) node: NodeRef<'a>,
    pub(super) spot: ResourcePosition,
    /// `None` for a document without resources.
    pub(super) resource: Option<Resource<'a>>,
}

impl<'a> UnitVersion<'a> {
    fn of_resource(placed: PackageResource<'a>) -> Self {
        let resource = placed.resource;
        let spot = ResourcePosition::of(resource.node, resource.item);
        Self { file: placed.file, node: resource.node, spot, resource: Some(resource) }
    }

    fn of_document((file, node): (&'a PackageFile, NodeRef<'a>)) -> Self {
        Self { file, node, spot: ResourcePosition::of(node, None), resource: None }
    }

    pub(super) fn version(&self) -> Version<'a> {
        Version::new(self.node, &self.file.display_path)
    }

    pub(super) fn label(&self) -> String {
        self.resource.map(Resource::label).unwrap_or_default()
    }
}

/// All versions of a unit. A two-way merge has no base.
#[derive(Clone, Copy, Debug)]
pub(super) struct MergeUnit<'a> {
    pub(super) base: Option<UnitVersion<'a>>,
    pub(super) upstream: Option<UnitVersion<'a>>,
    pub(super) local: Option<UnitVersion<'a>>,
}

pub(super) fn of_resources<'a>(pairs: &[PairedResource<'a, 3>]) -> Vec<MergeUnit<'a>> {
    let unit = |pair: &PairedResource<'a, 3>| {
        let [base, upstream, local] = pair.sides.map(|side| side.map(UnitVersion::of_resource));
        MergeUnit { base, upstream, local }
    };
    pairs.iter().map(unit).collect()
}

pub(super) fn of_two_sides<'a>(pairs: &[PairedResource<'a, 2>]) -> Vec<MergeUnit<'a>> {
    let unit = |pair: &PairedResource<'a, 2>| {
        let [upstream, local] = pair.sides.map(|side| side.map(UnitVersion::of_resource));
        MergeUnit { base: None, upstream, local }
    };
    pairs.iter().map(unit).collect()
}

/// The documents without resources of all packages.
pub(super) fn of_documents<'a>(packages: [&'a Package; 3]) -> Vec<MergeUnit<'a>> {
    let unit = |documents: [Option<(&'a PackageFile, NodeRef<'a>)>; 3]| {
        let [base, upstream, local] = documents.map(|it| it.map(UnitVersion::of_document));
        MergeUnit { base, upstream, local }
    };
    pair_documents(packages, true).into_iter().map(unit).collect()
}

/// How many resources and documents a file has.
pub(super) fn count_units(file: &PackageFile) -> usize {
    file.package_resources().count() + document_roots(file).count()
}
