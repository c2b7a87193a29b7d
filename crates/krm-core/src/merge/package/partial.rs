//! Patches of a two-way merge of packages that leave out a part of their identity: they are applied where it is clear to what, or refused.

use super::changed_identity::Joins;
use super::unit::{self, MergeUnit, UnitVersion};
use crate::compare::PairedBy;
use crate::merge::kinds::MergeKind;
use crate::model::resource::field;
use crate::{Diagnostic, Package};

/// Groups of kinds that have no name and are identified by their file.
const NAMELESS_GROUPS: [&str; 2] = ["kustomize.config.k8s.io", "kpt.dev"];

/// Finds the targets of patches without an identity. Returns warnings about documents that are skipped.
pub(super) fn resolve(
    units: &mut Vec<MergeUnit<'_>>,
    [source, destination]: [&Package; 2],
) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
    let (mut joins, mut warnings, mut errors) = (Joins::default(), Vec::new(), Vec::new());
    let mut skipped = Vec::new();
    let is_single = unit::single_document(source).is_some();
    let target_of_all = unit::single_document(destination).filter(|it| is_single && !it.is_list());
    for (at, unit) in units.iter().enumerate() {
        let (Some(patch), None) = (unit.upstream, unit.local) else { continue };
        if patch.has_identity() {
            continue;
        }
        let (target, paired_by) = match target_of_all.filter(|_| !patch.deletes_itself()) {
            Some(_) => (find_local(units, |_| true), PairedBy::SingleDocument),
            None => (find_local(units, |it| is_target(&patch, it)), PairedBy::Kind),
        };
        match target {
            Some(target) => joins.add(units, &[target, at], paired_by),
            None if is_ordinary_document(&patch) => {
                warnings.push(located(Diagnostic::warning(MergeKind::SkippedDocument), &patch));
                skipped.push(at);
            }
            None => errors.push(missing(&patch)),
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    joins.absorb(&skipped);
    joins.apply(units);
    Ok(warnings)
}

/// The only unit of the destination that matches; `None` also where several do, or where another patch is merged into it.
fn find_local(
    units: &[MergeUnit<'_>],
    matches: impl Fn(&UnitVersion<'_>) -> bool,
) -> Option<usize> {
    let is_match = |unit: &MergeUnit<'_>| unit.local.is_some_and(|local| matches(&local));
    let mut found = units.iter().enumerate().filter(|(_, unit)| is_match(unit));
    let (at, unit) = found.next()?;
    (found.next().is_none() && unit.upstream.is_none()).then_some(at)
}

/// Whether a patch without a name may be for a resource, as far as their kinds go.
fn is_target(patch: &UnitVersion<'_>, local: &UnitVersion<'_>) -> bool {
    let kind = patch.kind();
    !kind.is_empty() && kind == local.kind()
}

/// Whether a document of a file is no patch at all, such as the values of a chart.
fn is_ordinary_document(document: &UnitVersion<'_>) -> bool {
    let has = |name: &str| field(document.node, name).is_some();
    let is_patch = ["apiVersion", "kind", "metadata", "spec"].into_iter().any(has);
    !document.file.path.is_stream() && !is_patch
}

fn missing(patch: &UnitVersion<'_>) -> Diagnostic {
    let group = field(patch.node, "apiVersion").is_none().then_some("`apiVersion`");
    let kind = patch.kind().is_empty().then_some("`kind`");
    let name = patch.name().is_empty().then_some("`metadata.name`");
    let fields: Vec<&str> = [group, kind, name].into_iter().flatten().collect();
    let verb = if fields.len() == 1 { "is" } else { "are" };
    let missing = match fields.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => "its identity".to_owned(),
    };
    let kind = MergeKind::PartialPatch { missing: format!("{missing} {verb} missing") };
    located(Diagnostic::error(kind), patch)
}

fn located(diagnostic: Diagnostic, version: &UnitVersion<'_>) -> Diagnostic {
    let diagnostic = diagnostic.in_file(&*version.file.display_path);
    diagnostic.at(version.node.document().file(), version.node.full_span())
}

impl UnitVersion<'_> {
    /// Whether it can be added to a package that does not have it.
    fn has_identity(&self) -> bool {
        let Some(resource) = self.resource else { return false };
        let path = &self.file.path;
        let is_nameless = path.is_package_file() || NAMELESS_GROUPS.contains(&&*resource.group());
        !resource.name().is_empty() || is_nameless && !path.is_stream()
    }
}
