//! The work on one file: every unit in it is merged, and the edits are made together.

use std::collections::BTreeMap;

use krm_yaml::{Edit, File, NodeRef};

use super::PackageMerge;
use super::moves;
use super::new_text::NewText;
use super::unit::{Part, Unit};
use crate::files::arrangement::ResourcePosition;
use crate::merge::node::documents::nameless;
use crate::merge::node::{Conflict, Merger, Outcome};
use crate::model::resource::is_null;
use crate::{Diagnostic, PackageFile, PackagePath};

/// A file of the destination with what is merged into it.
#[derive(Debug)]
pub struct Work<'a> {
    pub(super) file: &'a PackageFile,
    pub(super) units: Vec<Unit<'a>>,
}

/// What came of the work on one file.
#[derive(Debug, Default)]
pub struct Done {
    /// The text with the edits; none where nothing is edited.
    pub(super) text: Option<NewText>,
    /// What goes away.
    pub(super) gone: Vec<ResourcePosition>,
    /// What goes to another file.
    pub(super) moved: Vec<(ResourcePosition, PackagePath)>,
    pub(super) conflicts: Vec<Conflict>,
    pub(super) warnings: Vec<Diagnostic>,
}

pub(super) fn by_file(units: Vec<Unit<'_>>) -> Vec<Work<'_>> {
    let mut works: BTreeMap<&PackagePath, Work<'_>> = BTreeMap::new();
    for unit in units {
        let Some(local) = unit.local else { continue };
        let new = || Work { file: local.file, units: Vec::new() };
        works.entry(&local.file.path).or_insert_with(new).units.push(unit);
    }
    works.values_mut().for_each(|work| work.units.shrink_to_fit());
    works.into_values().collect()
}

/// Whether upstream has the very document that base has, so that local stays as it is.
///
/// Spec: a `null` of local is cleared even then.
fn is_unchanged(unit: &Unit<'_>) -> bool {
    let (base, upstream) = (whole(unit.base), whole(unit.upstream));
    base.is_some() && base == upstream && unit.local.is_some_and(|local| !has_null(local.node))
}

/// The document that a unit is all of.
fn whole(part: Option<Part<'_>>) -> Option<&str> {
    part.filter(|part| part.spot.item.is_none()).map(|part| part.node.document().text())
}

pub(super) fn has_null(node: NodeRef<'_>) -> bool {
    node.descendants().any(is_null)
}

impl<'a> PackageMerge<'a, '_> {
    /// Does the work on one file.
    pub fn run(&self, work: &Work<'a>) -> Result<Done, Diagnostic> {
        let mut done = Done::default();
        let Some(file) = work.file.file() else { return Ok(done) };
        let is_json = work.file.path.is_json();
        let mut edit = Edit::new(file).allow_shared(true).json(is_json);
        let mut merger = Merger::new(self.how.rules);
        for unit in &work.units {
            self.merge(unit, &mut merger, &mut edit, &mut done)?;
        }
        if !edit.is_empty() {
            let refused =
                |error| Diagnostic::from_edit(&error, file).in_file(&*work.file.display_path);
            let text = edit.apply().map_err(refused)?;
            done.text = (text != file.text()).then(|| NewText::of(file.text(), &text));
        }
        Ok(done)
    }

    fn merge(
        &self,
        unit: &Unit<'a>,
        merger: &mut Merger<'a, '_>,
        edit: &mut Edit<'a>,
        done: &mut Done,
    ) -> Result<(), Diagnostic> {
        let Some(local) = unit.local else { return Ok(()) };
        let version = |part: Option<Part<'a>>| part.map(|part| part.version());
        let report = match (self.is_three_way, unit.upstream) {
            // Nobody else has it, and nobody had it.
            (true, None) if unit.base.is_none() => return Ok(()),
            (false, None) => return Ok(()),
            (true, Some(_)) if is_unchanged(unit) => None,
            (true, upstream) => Some(merger.three_way(
                version(unit.base),
                version(unit.local),
                version(upstream),
                edit,
            )?),
            (false, Some(source)) => {
                let report = merger.two_way(source.version(), local.version(), edit)?;
                let has_name = source.resource.is_some_and(|it| it.identity().is_some());
                if report.outcome == Outcome::Goes && !has_name {
                    return Err(nameless(source.version()));
                }
                Some(report)
            }
        };
        let goes = report.as_ref().is_some_and(|report| report.outcome == Outcome::Goes);
        if let Some(report) = report {
            done.conflicts.extend(report.conflicts);
            done.warnings.extend(report.warnings);
        }
        if goes {
            done.gone.push(local.spot);
        } else if self.is_three_way
            && self.how.has_paths
            && let Some((target, conflict)) = moves::target(unit, self.how.rules.on_conflict)
        {
            done.conflicts.extend(conflict);
            done.moved.extend(target.map(|target| (local.spot, target)));
        }
        Ok(())
    }

    /// Whether what the destination does not have comes.
    pub(super) fn comes(
        &self,
        unit: &Unit<'a>,
        nothing: &'a File,
        done: &mut Done,
    ) -> Result<bool, Diagnostic> {
        let Some(upstream) = unit.upstream else { return Ok(false) };
        if !self.is_three_way || unit.base.is_none() {
            return Ok(true);
        }
        let mut merger = Merger::new(self.how.rules);
        let base = unit.base.map(|part| part.version());
        let mut edit = Edit::new(nothing);
        let report = merger.three_way(base, None, Some(upstream.version()), &mut edit)?;
        done.conflicts.extend(report.conflicts);
        done.warnings.extend(report.warnings);
        Ok(report.outcome == Outcome::Comes)
    }
}
