//! The merge of one file: all its units are merged, and their edits are applied together.

use std::borrow::Cow;
use std::collections::BTreeMap;

use krm_yaml::{Edit, File, NodeRef};

use super::PackageMerge;
use super::moves;
use super::unit::{MergeUnit, UnitVersion};
use crate::files::arrangement::ResourcePosition;
use crate::merge::node::{
    Conflict, FooterChange, MergeAction, Merger, Nulls, delete_unnamed, write_footers,
};
use crate::model::resource::is_null;
use crate::{Diagnostic, FileText, PackageFile, PackagePath};

/// A file of the destination, with the units that are merged into it.
#[derive(Debug)]
pub struct FileMerge<'a> {
    pub(super) file: &'a PackageFile,
    pub(super) units: Vec<MergeUnit<'a>>,
}

/// The result of merging one file.
#[derive(Debug, Default)]
pub struct FileMergeResult {
    /// The edited text; `None` where nothing is edited.
    pub(super) text: Option<FileText>,
    /// Resources and documents that are removed.
    pub(super) removed: Vec<ResourcePosition>,
    /// Resources and documents that are moved to another file.
    pub(super) moved: Vec<(ResourcePosition, PackagePath)>,
    pub(super) conflicts: Vec<Conflict>,
    pub(super) warnings: Vec<Diagnostic>,
}

pub(super) fn group_by_file(units: Vec<MergeUnit<'_>>) -> Vec<FileMerge<'_>> {
    let mut merges: BTreeMap<&PackagePath, FileMerge<'_>> = BTreeMap::new();
    for unit in units {
        let Some(local) = unit.local else { continue };
        let new = || FileMerge { file: local.file, units: Vec::new() };
        merges.entry(&local.file.path).or_insert_with(new).units.push(unit);
    }
    merges.values_mut().for_each(|merge| merge.units.shrink_to_fit());
    merges.into_values().collect()
}

/// Whether upstream has the same text as base, so that local need not be visited.
///
/// Spec: a `null` of upstream clears a value of local even then.
fn is_unchanged(unit: &MergeUnit<'_>, nulls: Nulls) -> bool {
    let (base, upstream) = (document_text(unit.base), document_text(unit.upstream));
    let clears = || unit.upstream.is_some_and(|upstream| has_null(upstream.node));
    base.is_some() && base == upstream && !(nulls == Nulls::Clear && clears())
}

/// The text of the document that consists of this unit.
fn document_text(part: Option<UnitVersion<'_>>) -> Option<&str> {
    part.filter(|part| part.spot.item.is_none()).map(|part| part.node.document().text())
}

pub(super) fn has_null(node: NodeRef<'_>) -> bool {
    node.descendants().any(is_null)
}

impl<'a> PackageMerge<'a, '_> {
    /// Merges one file.
    pub fn run(&self, merge: &FileMerge<'a>) -> Result<FileMergeResult, Diagnostic> {
        let mut result = FileMergeResult::default();
        let Some(file) = merge.file.file() else { return Ok(result) };
        let is_json = merge.file.path.is_json();
        let mut edit = Edit::new(file).allow_shared(true).json(is_json);
        let mut merger = Merger::new(self.options.nodes);
        for unit in &merge.units {
            self.merge_unit(unit, &mut merger, &mut edit, &mut result)?;
        }
        let footers = self.footers(merge, &result);
        let mut merged = Cow::Borrowed(file.text());
        if !edit.is_empty() || !footers.is_empty() {
            let refused =
                |error| Diagnostic::from_edit(&error, file).in_file(&*merge.file.display_path);
            let text = match edit.is_empty() {
                true => file.text().to_owned(),
                false => edit.apply().map_err(refused)?,
            };
            merged = Cow::Owned(write_footers(text, &footers));
            result.text =
                (*merged != *file.text()).then(|| FileText::between(file.shared_text(), &merged));
        }
        if self.is_three_way && !is_json {
            let units = merge.units.iter();
            result.warnings.extend(units.flat_map(|unit| unit.left_out_comments(&merged)));
        }
        Ok(result)
    }

    /// The comments at the end of documents that change.
    fn footers(&self, merge: &FileMerge<'a>, result: &FileMergeResult) -> Vec<FooterChange> {
        let is_kept = |unit: &&MergeUnit<'a>| {
            unit.local.is_some_and(|local| !result.removed.contains(&local.spot))
        };
        let is_merged = self.is_three_way && !merge.file.path.is_json();
        let units = merge.units.iter().filter(|_| is_merged).filter(is_kept);
        units.filter_map(MergeUnit::footer_change).collect()
    }

    fn merge_unit(
        &self,
        unit: &MergeUnit<'a>,
        merger: &mut Merger<'a, '_>,
        edit: &mut Edit<'a>,
        result: &mut FileMergeResult,
    ) -> Result<(), Diagnostic> {
        let Some(local) = unit.local else { return Ok(()) };
        let version = |part: Option<UnitVersion<'a>>| part.map(|part| part.version());
        let report = match (self.is_three_way, unit.upstream) {
            // Only local has it.
            (true, None) if unit.base.is_none() => return Ok(()),
            (false, None) => return Ok(()),
            (true, Some(_)) if is_unchanged(unit, self.options.nodes.nulls) => None,
            (true, upstream) => Some(merger.three_way(
                version(unit.base),
                version(unit.local),
                version(upstream),
                edit,
            )?),
            (false, Some(source)) => {
                let report = merger.two_way(source.version(), local.version(), edit)?;
                let has_name = source.resource.is_some_and(|it| it.identity().is_some());
                if report.action == MergeAction::Remove && !has_name {
                    return Err(delete_unnamed(source.version()));
                }
                Some(report)
            }
        };
        result.warnings.extend(unit.note());
        let is_removed = report.as_ref().is_some_and(|report| report.action == MergeAction::Remove);
        if let Some(mut report) = report {
            unit.complete(&mut report.conflicts);
            result.conflicts.extend(report.conflicts);
            result.warnings.extend(report.warnings);
        }
        if is_removed {
            result.removed.push(local.spot);
        } else if self.is_three_way
            && self.options.has_paths
            && let Some((target, conflict)) = moves::target(unit, self.options.nodes.on_conflict)
        {
            result.conflicts.extend(conflict);
            result.moved.extend(target.map(|target| (local.spot, target)));
        }
        Ok(())
    }

    /// Whether a unit that the destination does not have is inserted.
    pub(super) fn is_inserted(
        &self,
        unit: &MergeUnit<'a>,
        empty_file: &'a File,
        result: &mut FileMergeResult,
    ) -> Result<bool, Diagnostic> {
        let Some(upstream) = unit.upstream else { return Ok(false) };
        if !self.is_three_way || unit.base.is_none() {
            return Ok(true);
        }
        let mut merger = Merger::new(self.options.nodes);
        let base = unit.base.map(|part| part.version());
        let mut edit = Edit::new(empty_file);
        let mut report = merger.three_way(base, None, Some(upstream.version()), &mut edit)?;
        unit.complete(&mut report.conflicts);
        result.conflicts.extend(report.conflicts);
        result.warnings.extend(report.warnings);
        Ok(report.action == MergeAction::Insert)
    }
}
