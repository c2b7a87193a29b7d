//! Where a resource is inserted that the destination does not have: next to its neighbours of upstream.

use std::collections::BTreeMap;

use super::unit::{MergeUnit, UnitVersion};
use crate::files::arrangement::ResourcePosition;
use crate::{Package, PackagePath};

/// The units of each file of upstream, in order.
pub(super) struct Neighbours<'a, 'u> {
    files: BTreeMap<&'a PackagePath, Vec<(ResourcePosition, &'u MergeUnit<'a>)>>,
}

/// Where a unit is inserted.
pub(super) struct InsertPosition<'a> {
    /// The file: one of the destination, or a new one.
    pub(super) path: &'a PackagePath,
    /// The unit of the destination that it follows in upstream.
    pub(super) after: Option<UnitVersion<'a>>,
}

impl<'a, 'u> Neighbours<'a, 'u> {
    pub(super) fn new(units: impl Iterator<Item = &'u MergeUnit<'a>>) -> Self {
        let mut files: BTreeMap<&PackagePath, Vec<(ResourcePosition, &'u MergeUnit<'a>)>> =
            BTreeMap::new();
        for unit in units {
            if let Some(upstream) = unit.upstream {
                files.entry(&upstream.file.path).or_default().push((upstream.spot, unit));
            }
        }
        files.values_mut().for_each(|spots| spots.sort_by_key(|(spot, _)| *spot));
        Self { files }
    }

    /// How many units a file of upstream holds.
    pub(super) fn count(&self, path: &PackagePath) -> usize {
        self.files.get(path).map_or(0, Vec::len)
    }

    /// The file with the same path; where local moved all units of that file, the file that they are in now.
    pub(super) fn position(
        &self,
        unit: &MergeUnit<'a>,
        upstream: &UnitVersion<'a>,
        local: &Package,
    ) -> InsertPosition<'a> {
        let path = &upstream.file.path;
        let none = Vec::new();
        let spots = self.files.get(path).unwrap_or(&none);
        let at = spots.partition_point(|(spot, _)| *spot < upstream.spot);
        let before = spots[..at].iter().rev().filter_map(|(_, unit)| unit.local);
        // A unit that upstream moved follows upstream.
        let was_not_moved = unit.base.is_none_or(|base| base.file.path == *path);
        let exists =
            !was_not_moved || local.files().binary_search_by(|file| file.path.cmp(path)).is_ok();
        let was_here = |unit: &MergeUnit<'a>| unit.base.is_some_and(|base| base.file.path == *path);
        let mut moved = spots.iter().filter(|(_, unit)| was_here(unit) && !exists);
        let moved = moved.find_map(|(_, unit)| unit.local);
        let path = moved.map_or(path, |part| &part.file.path);
        let after = before.into_iter().find(|part| part.file.path == *path);
        InsertPosition { path, after }
    }
}
