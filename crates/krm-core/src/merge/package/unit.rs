//! Units of a merge: a resource, or a document without resources, as each version has it.

use std::borrow::Cow;

use krm_yaml::NodeRef;

use crate::compare::{PairedBy, PairedResource, content_roots, document_roots, pair_documents};
use crate::files::arrangement::ResourcePosition;
use crate::merge::kinds::MergeKind;
use crate::merge::node::{Conflict, FooterChange, Version, footer_change, left_out_comments};
use crate::model::resource::{Resource, field, is_resource, label, resources};
use crate::print::source_text::texts;
use crate::{Diagnostic, Package, PackageFile, PackageResource};

/// One version of a unit.
#[derive(Clone, Copy, Debug)]
pub(in crate::merge) struct UnitVersion<'a> {
    pub(in crate::merge) file: &'a PackageFile,
    pub(in crate::merge) node: NodeRef<'a>,
    pub(super) spot: ResourcePosition,
    /// `None` for a document that is not a resource.
    pub(in crate::merge) resource: Option<Resource<'a>>,
}

impl<'a> UnitVersion<'a> {
    fn of_resource(placed: PackageResource<'a>) -> Self {
        let resource = placed.resource;
        let spot = ResourcePosition::of(resource.node, resource.item);
        Self { file: placed.file, node: resource.node, spot, resource: Some(resource) }
    }

    /// A whole document, which may be a resource.
    fn of_document(file: &'a PackageFile, node: NodeRef<'a>) -> Self {
        let resource = is_resource(node).then_some(Resource { node, item: None });
        Self { file, node, spot: ResourcePosition::of(node, None), resource }
    }

    pub(in crate::merge) fn version(&self) -> Version<'a> {
        Version::new(self.node, &self.file.display_path)
    }

    /// The kind; empty where there is none.
    pub(super) fn kind(&self) -> Cow<'a, str> {
        field(self.node, "kind").and_then(NodeRef::as_str).unwrap_or_default()
    }

    /// The name; empty where there is none.
    pub(super) fn name(&self) -> Cow<'a, str> {
        Resource { node: self.node, item: None }.name()
    }

    /// The identity for messages, as far as there is one.
    pub(super) fn describe(&self) -> String {
        let identity = self.resource.and_then(Resource::identity);
        let label = || label(&self.kind(), "", &self.name());
        match identity.map_or_else(label, |identity| identity.to_string()) {
            label if label.is_empty() => "a document without a kind".to_owned(),
            label => label,
        }
    }

    /// Whether it leaves out a part of the identity that its target may have.
    pub(super) fn is_partial(&self) -> bool {
        self.resource.is_none_or(|resource| resource.namespace().is_empty())
    }

    /// Whether it is a list of resources.
    pub(super) fn is_list(&self) -> bool {
        resources(self.node.document()).iter().any(|resource| resource.item.is_some())
    }

    /// Whether it is a patch that deletes its target, which only an identity may name.
    pub(super) fn deletes_itself(&self) -> bool {
        field(self.node, "$patch").and_then(NodeRef::as_str).is_some_and(|it| it == "delete")
    }

    pub(super) fn label(&self) -> String {
        self.resource.map(Resource::label).unwrap_or_default()
    }
}

/// All versions of a unit. A two-way merge has no base; upstream is its source, and local its destination.
#[derive(Clone, Copy, Debug)]
pub(in crate::merge) struct MergeUnit<'a> {
    pub(in crate::merge) base: Option<UnitVersion<'a>>,
    pub(in crate::merge) upstream: Option<UnitVersion<'a>>,
    pub(in crate::merge) local: Option<UnitVersion<'a>>,
    /// Why they were paired.
    pub(in crate::merge) paired_by: PairedBy,
}

impl<'a> MergeUnit<'a> {
    pub(super) fn new(sides: [Option<UnitVersion<'a>>; 3], paired_by: PairedBy) -> Self {
        let [base, upstream, local] = sides;
        Self { base, upstream, local, paired_by }
    }

    /// The change of the comment at the end of the document that upstream made.
    pub(in crate::merge) fn footer_change(&self) -> Option<FooterChange> {
        footer_change(self.base?.node, self.local?.node, self.upstream?.node)
    }

    /// Warnings about comments of upstream that are not in the merged text.
    pub(in crate::merge) fn left_out_comments(&self, merged: &str) -> Vec<Diagnostic> {
        let (Some(base), Some(local), Some(upstream)) = (self.base, self.local, self.upstream)
        else {
            return Vec::new();
        };
        let comments = left_out_comments(base.node, upstream.node, merged).into_iter();
        let warning = |comment: &str| {
            let kind = MergeKind::CommentLeftOut { comment: comment.into() };
            let warning = Diagnostic::warning(kind).in_file(&*local.file.display_path);
            warning.at(local.node.document().file(), local.node.full_span())
        };
        comments.map(warning).collect()
    }

    /// Adds to conflicts which file they are of, and the document that local does not have.
    pub(in crate::merge) fn complete(&self, conflicts: &mut [Conflict]) {
        let Some(version) = self.local.or(self.upstream) else { return };
        for conflict in conflicts {
            version.file.path.as_str().clone_into(&mut conflict.file);
            let upstream = self.upstream.filter(|_| self.local.is_none());
            conflict.text = upstream.map(|it| texts(&[it.node]).concat());
        }
    }

    /// Base, upstream and local.
    pub(super) fn sides(&self) -> [Option<UnitVersion<'a>>; 3] {
        [self.base, self.upstream, self.local]
    }
}

pub(super) fn of_resources<'a>(pairs: &[PairedResource<'a, 3>]) -> Vec<MergeUnit<'a>> {
    let unit = |pair: &PairedResource<'a, 3>| {
        MergeUnit::new(pair.sides.map(|it| it.map(UnitVersion::of_resource)), pair.paired_by)
    };
    pairs.iter().map(unit).collect()
}

pub(super) fn of_two_sides<'a>(pairs: &[PairedResource<'a, 2>]) -> Vec<MergeUnit<'a>> {
    let unit = |pair: &PairedResource<'a, 2>| {
        let [upstream, local] = pair.sides.map(|side| side.map(UnitVersion::of_resource));
        MergeUnit::new([None, upstream, local], pair.paired_by)
    };
    pairs.iter().map(unit).collect()
}

/// The documents without resources of all packages.
pub(super) fn of_documents<'a, const N: usize>(
    packages: [&'a Package; N],
    whole_documents: bool,
) -> Vec<MergeUnit<'a>> {
    let pairs = pair_documents(packages, true, whole_documents);
    let unit = |documents: [Option<(&'a PackageFile, NodeRef<'a>)>; N]| {
        let mut sides = [None; 3];
        // A two-way merge has no base.
        for (side, document) in sides.iter_mut().skip(3 - N).zip(documents) {
            *side = document.map(|(file, node)| UnitVersion::of_document(file, node));
        }
        MergeUnit::new(sides, PairedBy::Position)
    };
    pairs.into_iter().map(unit).collect()
}

/// The only document of a package that is a single file.
pub(super) fn single_document(package: &Package) -> Option<UnitVersion<'_>> {
    let [file] = package.files() else { return None };
    let mut roots = content_roots(file);
    let root = roots.next().filter(|_| roots.next().is_none())?;
    Some(UnitVersion::of_document(file, root))
}

/// How many resources and documents a file has.
pub(super) fn count_units(file: &PackageFile) -> usize {
    file.package_resources().count() + document_roots(file, false).count()
}
