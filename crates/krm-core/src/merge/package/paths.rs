//! Where a resource goes that the destination does not have: beside those it stood with.

use std::collections::BTreeMap;

use super::unit::{Part, Unit};
use crate::files::arrangement::ResourcePosition;
use crate::{Package, PackagePath};

/// What stands in each file of upstream, in its order, and where the destination has it.
pub(super) struct Neighbours<'a, 'u> {
    files: BTreeMap<&'a PackagePath, Vec<(ResourcePosition, &'u Unit<'a>)>>,
}

/// Where something goes.
pub(super) struct Target<'a> {
    /// The file: of the destination as it is, or a new one.
    pub(super) path: &'a PackagePath,
    /// The part of the destination that it stands behind in upstream.
    pub(super) after: Option<Part<'a>>,
}

impl<'a, 'u> Neighbours<'a, 'u> {
    pub(super) fn new(units: impl Iterator<Item = &'u Unit<'a>>) -> Self {
        let mut files: BTreeMap<&PackagePath, Vec<(ResourcePosition, &'u Unit<'a>)>> =
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

    /// The file of the same path; where the destination has moved all that stood in it, the file that it is in now.
    pub(super) fn target(
        &self,
        unit: &Unit<'a>,
        upstream: &Part<'a>,
        local: &Package,
    ) -> Target<'a> {
        let path = &upstream.file.path;
        let none = Vec::new();
        let spots = self.files.get(path).unwrap_or(&none);
        let at = spots.partition_point(|(spot, _)| *spot < upstream.spot);
        let before = spots[..at].iter().rev().filter_map(|(_, unit)| unit.local);
        // What upstream moved goes where upstream has it.
        let stays = unit.base.is_none_or(|base| base.file.path == *path);
        let is_there = !stays || local.files().binary_search_by(|file| file.path.cmp(path)).is_ok();
        let was_here = |unit: &Unit<'a>| unit.base.is_some_and(|base| base.file.path == *path);
        let mut moved = spots.iter().filter(|(_, unit)| was_here(unit) && !is_there);
        let moved = moved.find_map(|(_, unit)| unit.local);
        let path = moved.map_or(path, |part| &part.file.path);
        let after = before.into_iter().find(|part| part.file.path == *path);
        Target { path, after }
    }
}
