//! Merges packages: resources are paired, each file of the destination is edited, and files are added, removed and moved.
//!
//! The merges of single files, [`PackageMerge::file_merges`], are independent and can run in parallel; [`PackageMerge::finish`]
//! combines their results.

mod assemble;
mod changed_identity;
mod file_merge;
mod insert_position;
mod moves;
mod other_files;
mod pairing;
mod partial;
mod repeated;
mod unit;

use crate::merge::node::{Conflict, MergeOptions};
use crate::{Diagnostic, FileText, Package, PackageFile, PackagePath};

pub use file_merge::{FileMerge, FileMergeResult};
pub use other_files::{OtherFileMerge, merge_other_file};
pub(in crate::merge) use pairing::UnitPairing;
pub use repeated::split_repeated_resources;
pub(in crate::merge) use unit::{MergeUnit, UnitVersion};

/// The change of a file of the destination.
#[derive(Debug)]
pub struct FileChange<'a> {
    /// The path in the package.
    pub path: PackagePath,
    /// The file as it is; `None` where it is added.
    pub old: Option<&'a PackageFile>,
    /// The new text; `None` where the file is removed.
    pub new: Option<FileText>,
}

impl FileChange<'_> {
    /// The whole new text; `None` where the file is removed.
    pub fn into_text(self) -> Option<String> {
        self.new.map(FileText::into_text)
    }
}

/// The result of a merge of packages.
#[derive(Debug, Default)]
pub struct PackageMergeResult<'a> {
    /// The files that change, sorted by path.
    pub changes: Vec<FileChange<'a>>,
    /// Where both sides changed the same thing.
    pub conflicts: Vec<Conflict>,
    /// Warnings.
    pub warnings: Vec<Diagnostic>,
}

/// Options of a merge of packages.
#[derive(Clone, Copy, Debug)]
pub struct PackageMergeOptions<'r> {
    /// Options of the merge of each resource.
    pub nodes: &'r MergeOptions<'r>,
    /// Whether the path of the file is part of the identity of a resource.
    pub by_path: bool,
    /// Whether resources that are not in every package are left alone, because files are missing.
    pub only_common: bool,
    /// Whether the paths of files matter. They do not where single files are merged.
    pub has_paths: bool,
    /// Whether a resource that local renamed is found by its kind and content.
    pub finds_renames: bool,
}

/// A merge of packages.
#[derive(Debug)]
pub struct PackageMerge<'a, 'r> {
    options: PackageMergeOptions<'r>,
    local: &'a Package,
    /// Whether there is a base.
    is_three_way: bool,
    file_merges: Vec<FileMerge<'a>>,
    /// Resources and documents that the destination does not have.
    absent: Vec<MergeUnit<'a>>,
    /// Warnings about what is not merged.
    warnings: Vec<Diagnostic>,
}

impl<'a, 'r> PackageMerge<'a, 'r> {
    /// Merges the changes between base and upstream into local.
    pub fn three_way(
        packages: [&'a Package; 3],
        options: PackageMergeOptions<'r>,
    ) -> Result<Self, Vec<Diagnostic>> {
        let pairing = UnitPairing {
            by_path: options.by_path,
            finds_renames: options.finds_renames,
            whole_documents: false,
            are_files: !options.has_paths,
        };
        let units = pairing.three_way(packages)?;
        Ok(Self::new(units, packages[2], options, true))
    }

    /// Merges a source into a destination: fields of the source are set, all others are kept.
    pub fn two_way(
        source: &'a Package,
        destination: &'a Package,
        options: PackageMergeOptions<'r>,
    ) -> Result<Self, Vec<Diagnostic>> {
        let pairing = UnitPairing { by_path: options.by_path, ..UnitPairing::default() };
        let mut units = pairing.two_way([source, destination])?;
        let warnings = partial::resolve(&mut units, [source, destination])?;
        Ok(Self { warnings, ..Self::new(units, destination, options, false) })
    }

    fn new(
        units: Vec<MergeUnit<'a>>,
        local: &'a Package,
        options: PackageMergeOptions<'r>,
        is_three_way: bool,
    ) -> Self {
        let is_common = |unit: &MergeUnit<'a>| unit.base.is_some() || !is_three_way;
        let is_selected = |unit: &MergeUnit<'a>| {
            !options.only_common
                || (is_common(unit) && unit.upstream.is_some() && unit.local.is_some())
        };
        let (present, absent): (Vec<_>, Vec<_>) =
            units.into_iter().filter(is_selected).partition(|unit| unit.local.is_some());
        Self {
            options,
            local,
            is_three_way,
            file_merges: file_merge::group_by_file(present),
            absent,
            warnings: Vec::new(),
        }
    }

    /// The merges of single files, to be run in any order with [`Self::run`].
    pub fn file_merges(&self) -> &[FileMerge<'a>] {
        &self.file_merges
    }
}

#[cfg(test)]
mod pairing_tests;
#[cfg(test)]
mod tests;
