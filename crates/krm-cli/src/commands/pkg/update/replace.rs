//! The strategies that replace files instead of merging them: `fast-forward`, `force-delete-replace` and `copy-merge`.

use std::collections::BTreeSet;
use std::path::Path;

use krm_core::functions::kptfile::upstream::UpdateStrategy;
use krm_core::{Diagnostic, PackagePath, Plan};

use super::super::kinds::PkgKind;
use super::super::versions::{KPTFILE, LocalVersion, Version};
use super::merge::{NewUpstream, with_upstream};
use crate::{Failure, disk};

/// How many changed files a message lists.
const MOST_LISTED: usize = 10;

/// The plan of a strategy that replaces files. `kptfile` is the merged Kptfile.
pub(super) fn replace(
    strategy: UpdateStrategy,
    [base, upstream]: [&Version; 2],
    local: &LocalVersion,
    kptfile: String,
    new: &NewUpstream<'_>,
) -> Result<Plan, Failure> {
    if strategy == UpdateStrategy::FastForward {
        check_unchanged(base, local)?;
    }
    let is_kept = |path: &PackagePath| match strategy {
        UpdateStrategy::CopyMerge => !base.has(path),
        _ => false,
    };
    let paths: BTreeSet<PackagePath> = local.paths().chain(upstream.paths()).cloned().collect();
    let mut plan = Plan::default();
    for path in paths {
        let old = local.content(&path);
        let new = match upstream.content(&path) {
            _ if path.as_str() == KPTFILE => continue,
            Some(content) => Some(content),
            None if is_kept(&path) => old,
            None => None,
        };
        let shown = local.loaded.display_path(path.as_str());
        let executable = executable(upstream, &path, &shown, old.is_none());
        if old == new && executable.is_none() {
            continue;
        }
        let contents = [old, new].map(|it| it.map(<[u8]>::to_vec));
        plan.set_bytes(path, shown, contents, executable).map_err(Failure::input)?;
    }
    let path = PackagePath::new(KPTFILE).map_err(|it| Failure::input(Diagnostic::error(it)))?;
    let original = local.loaded.original_at(&path);
    plan.set(original, Some(with_upstream(kptfile, new)?)).map_err(Failure::input)?;
    Ok(plan)
}

/// Whether a file becomes executable, or stops to be: these strategies take upstream's mode with its content.
fn executable(upstream: &Version, path: &PackagePath, shown: &str, is_new: bool) -> Option<bool> {
    let is = upstream.executables.contains(path);
    let differs = is_new || disk::is_executable(Path::new(shown)) != is;
    (upstream.has(path) && differs).then_some(is)
}

/// Fails if the package has local changes.
fn check_unchanged(base: &Version, local: &LocalVersion) -> Result<(), Failure> {
    let changed = local.changes_since(base);
    if changed.is_empty() {
        return Ok(());
    }
    let names = changed.iter().map(PackagePath::as_str);
    let mut listed: Vec<&str> = names.take(MOST_LISTED).collect();
    if changed.len() > MOST_LISTED {
        listed.push("…");
    }
    let (count, names) = (changed.len(), listed.join(", "));
    let error = Diagnostic::error(PkgKind::LocalChanges { count, names });
    Err(Failure::input(error.in_file(&*local.loaded.title)))
}
