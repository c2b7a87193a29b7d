//! Which resources and documents of the versions belong together, in steps: by identity, by what is left of it, and by position.

use super::changed_identity;
use super::unit::{self, MergeUnit};
use crate::compare::{PairedBy, Renames, ResourcePairing};
use crate::merge::kinds::MergeKind;
use crate::{Diagnostic, Package, Severity};

/// How the resources and documents of several packages are paired. Merges of packages and of files share it, so that they agree.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::merge) struct UnitPairing {
    /// Whether the path of the file is part of the identity.
    pub(in crate::merge) by_path: bool,
    /// Whether a resource that local renamed is found by its kind and content.
    pub(in crate::merge) finds_renames: bool,
    /// Whether a list is one unit, and not its items.
    pub(in crate::merge) whole_documents: bool,
    /// Whether the user named single files. Files that each have one document are versions of the same thing, whatever their kinds and names.
    pub(in crate::merge) are_files: bool,
}

impl UnitPairing {
    /// Pairs base, upstream and local.
    pub(in crate::merge) fn three_way<'a>(
        self,
        packages: [&'a Package; 3],
    ) -> Result<Vec<MergeUnit<'a>>, Vec<Diagnostic>> {
        if let Some(unit) = self.single_documents(packages) {
            return Ok(vec![unit]);
        }
        let renames = if self.finds_renames { Renames::All } else { Renames::ExceptLast };
        let mut units = unit::of_resources(&self.resources(renames).pair(packages)?);
        units.extend(unit::of_documents(packages, self.whole_documents));
        changed_identity::join_three_way(&mut units, self.by_path);
        Ok(units)
    }

    /// Pairs source and destination.
    pub(in crate::merge) fn two_way<'a>(
        self,
        packages: [&'a Package; 2],
    ) -> Result<Vec<MergeUnit<'a>>, Vec<Diagnostic>> {
        if let Some(unit) = self.single_documents(packages) {
            return Ok(vec![unit]);
        }
        let mut units = unit::of_two_sides(&self.resources(Renames::None).pair(packages)?);
        units.extend(unit::of_documents(packages, self.whole_documents));
        changed_identity::join_two_way(&mut units, self.by_path);
        Ok(units)
    }

    fn resources(self, renames: Renames) -> ResourcePairing {
        ResourcePairing { by_path: self.by_path, renames, whole_documents: self.whole_documents }
    }

    /// The only unit of files that each have one document.
    fn single_documents<'a, const N: usize>(
        self,
        packages: [&'a Package; N],
    ) -> Option<MergeUnit<'a>> {
        if !self.are_files {
            return None;
        }
        let mut sides = [None; 3];
        for (side, package) in sides.iter_mut().skip(3 - N).zip(packages) {
            *side = Some(unit::single_document(package)?);
        }
        let units = sides.iter().flatten();
        let has_items = units.clone().any(|it| it.is_list()) && !self.whole_documents;
        let is_deletion = sides[1].is_some_and(|it| N == 2 && it.deletes_itself());
        (!has_items && !is_deletion).then(|| MergeUnit::new(sides, PairedBy::SingleDocument))
    }
}

impl MergeUnit<'_> {
    /// A note where versions were paired that have different identities.
    pub(in crate::merge) fn note(&self) -> Option<Diagnostic> {
        let local = self.local.filter(|_| self.paired_by != PairedBy::Identity)?;
        let ours = local.describe();
        let others = [self.upstream, self.base].into_iter().flatten().map(|it| it.describe());
        let other = others.into_iter().find(|other| *other != ours)?;
        let reason = self.paired_by.to_string();
        let kind = MergeKind::PairedResources { local: ours, other, reason };
        let note = Diagnostic::new(Severity::Info, kind).in_file(&*local.file.display_path);
        Some(note.at(local.node.document().file(), local.node.full_span()))
    }
}
