//! Merging packages: resources pair, each file of the destination is edited by itself, and files come, go and move.
//!
//! [`PackageMerge::works`] can be done side by side; [`PackageMerge::finish`] puts together what came of them.

mod assemble;
pub mod files;
mod layers;
mod moves;
mod new_text;
mod paths;
mod unit;
mod work;

use crate::compare::pairing::Pairing;
use crate::merge::node::{Conflict, OnConflict, Rules};
use crate::{Diagnostic, Package, PackageFile, PackagePath};

pub use layers::layers;
pub use new_text::NewText;
use unit::{Unit, units};
pub use work::{Done, Work};

/// What becomes of a file of the destination.
#[derive(Debug)]
pub struct FileChange<'a> {
    /// Where it stands in the package.
    pub path: PackagePath,
    /// The file as it is; none where it comes.
    pub old: Option<&'a PackageFile>,
    /// Its new text; none where it goes.
    pub new: Option<NewText>,
}

impl FileChange<'_> {
    /// Its new text as a whole; none where it goes.
    pub fn into_text(self) -> Option<String> {
        let old = self.old.and_then(PackageFile::file).map(krm_yaml::File::text);
        self.new.map(|new| new.into_text(old.unwrap_or_default()))
    }
}

/// What came of a merge.
#[derive(Debug, Default)]
pub struct Merged<'a> {
    /// The files that change, in the order of their paths.
    pub changes: Vec<FileChange<'a>>,
    /// Where both sides changed the same thing.
    pub conflicts: Vec<Conflict>,
    /// What is good to know.
    pub warnings: Vec<Diagnostic>,
}

impl Merged<'_> {
    /// Whether conflicts forbid to write: under `fail` any, under `mark` one that no comment can keep.
    pub fn is_refused(&self, on_conflict: OnConflict) -> bool {
        match on_conflict {
            OnConflict::Upstream | OnConflict::Local => false,
            OnConflict::Fail => !self.conflicts.is_empty(),
            OnConflict::Mark => self.conflicts.iter().any(|conflict| !conflict.is_marked),
        }
    }
}

/// How packages are merged.
#[derive(Clone, Copy, Debug)]
pub struct How<'r> {
    /// The rules for nodes.
    pub rules: &'r Rules<'r>,
    /// Whether resources in files of different paths are different ones.
    pub by_path: bool,
    /// Whether resources that are not on every side are left alone, because files are missing.
    pub only_common: bool,
    /// Whether the paths of files say something: not where a single file is merged.
    pub has_paths: bool,
}

/// A merge of packages into one of them.
#[derive(Debug)]
pub struct PackageMerge<'a, 'r> {
    how: How<'r>,
    local: &'a Package,
    /// Whether there is a base that tells what changed.
    is_three_way: bool,
    works: Vec<Work<'a>>,
    /// What the destination does not have.
    absent: Vec<Unit<'a>>,
}

impl<'a, 'r> PackageMerge<'a, 'r> {
    /// Merges what changed between base and upstream into local.
    pub fn three_way(
        [base, upstream, local]: [&'a Package; 3],
        how: How<'r>,
    ) -> Result<Self, Vec<Diagnostic>> {
        let pairing = Pairing { by_path: how.by_path, renames: true };
        let mut units = units(&pairing.pair([base, upstream, local])?);
        units.extend(unit::plain([base, upstream, local]));
        Ok(Self::new(units, local, how, true))
    }

    /// Merges a source into a destination: what the source says is set, what it does not mention stays.
    pub fn two_way(
        source: &'a Package,
        destination: &'a Package,
        how: How<'r>,
    ) -> Result<Self, Vec<Diagnostic>> {
        let pairing = Pairing { by_path: how.by_path, renames: false };
        let pairs = pairing.pair([source, destination])?;
        Ok(Self::new(unit::of_two(&pairs), destination, how, false))
    }

    fn new(units: Vec<Unit<'a>>, local: &'a Package, how: How<'r>, is_three_way: bool) -> Self {
        let is_common = |unit: &Unit<'a>| unit.base.is_some() || !is_three_way;
        let wanted = |unit: &Unit<'a>| {
            !how.only_common || (is_common(unit) && unit.upstream.is_some() && unit.local.is_some())
        };
        let (present, absent): (Vec<_>, Vec<_>) =
            units.into_iter().filter(wanted).partition(|unit| unit.local.is_some());
        Self { how, local, is_three_way, works: work::by_file(present), absent }
    }

    /// What is to be done, file by file; the order does not matter.
    pub fn works(&self) -> &[Work<'a>] {
        &self.works
    }
}

#[cfg(test)]
mod tests;
