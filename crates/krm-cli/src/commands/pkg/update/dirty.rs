//! Whether the git repository around a package has changes that are not committed, so that an update could not be undone.

use krm_core::Diagnostic;

use super::super::kinds::PkgKind;
use crate::Failure;
use crate::git::WorkingTree;

/// Fails if the package has changes that are not committed. A package that is in no git repository has none.
pub(super) fn check_clean(dir: &str) -> Result<(), Failure> {
    let Ok(directory) = std::fs::canonicalize(dir) else { return Ok(()) };
    let Ok(tree) = WorkingTree::of(&directory, dir) else { return Ok(()) };
    match tree.count_uncommitted(&directory).map_err(Failure::input)? {
        0 => Ok(()),
        count => {
            let error = Diagnostic::error(PkgKind::DirtyPackage { count });
            Err(Failure::input(error.in_file(dir)))
        }
    }
}
