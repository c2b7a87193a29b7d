//! The strategy `resource-merge`: a three-way merge of resources, and of other files as a whole.

use std::collections::BTreeSet;
use std::path::Path;

use krm_core::functions::kptfile::upstream::{Upstream, UpstreamLock, write_upstream};
use krm_core::merge::{
    Conflict, MergeOptions, PackageMerge, PackageMergeOptions, merge_other_file,
};
use krm_core::{Diagnostic, FileText, OriginalFile, PackagePath, Plan};
use krm_yaml::File;

use super::super::versions::{KPTFILE, LocalVersion, Version};
use crate::cli::Global;
use crate::commands::cfg::package_merge;
use crate::commands::merge_options::ListOptions;
use crate::console::Console;
use crate::{Exit, Failure, disk};

/// The result of a merge, before anything is written.
pub(super) struct Merged {
    pub(super) plan: Plan,
    pub(super) conflicts: Vec<Conflict>,
    pub(super) warnings: Vec<Diagnostic>,
}

/// What the Kptfile is to say about the upstream.
pub(super) struct NewUpstream<'a> {
    pub(super) upstream: &'a Upstream,
    pub(super) lock: &'a UpstreamLock,
}

/// Merges the changes from base to upstream into the package.
pub(super) fn merge(
    [base, upstream]: [&Version; 2],
    local: &mut LocalVersion,
    options: &MergeOptions<'_>,
    detect_renames: bool,
    new: &NewUpstream<'_>,
    global: &Global,
) -> Result<Merged, Failure> {
    let packages = [&base.package, &upstream.package, &local.loaded.package];
    let package_options = PackageMergeOptions {
        nodes: options,
        by_path: false,
        only_common: false,
        has_paths: true,
        finds_renames: detect_renames,
    };
    let failed = |errors| Failure::Diagnostics(Exit::Input, errors);
    let merge = PackageMerge::three_way(packages, package_options).map_err(failed)?;
    let merged = package_merge::run(&merge, global)?;
    let changes: Vec<(PackagePath, Option<FileText>)> =
        merged.changes.into_iter().map(|change| (change.path, change.new)).collect();
    let (conflicts, warnings) = (merged.conflicts, merged.warnings);
    let (kptfile, changes): (Vec<_>, Vec<_>) =
        changes.into_iter().partition(|(path, _)| path.as_str() == KPTFILE);
    let kptfile_plan = plan_kptfile(kptfile.into_iter().next(), local, new)?;
    let mut plan = package_merge::plan(changes, &mut local.loaded)?;
    plan.set(kptfile_plan.0, Some(kptfile_plan.1)).map_err(Failure::input)?;
    let mut merged = Merged { plan, conflicts, warnings };
    merge_others([base, upstream], local, options, &mut merged)?;
    Ok(merged)
}

/// The merge options that update uses for the Kptfile of strategies that replace the package.
pub(super) fn schema_options<'a>(
    lists: &ListOptions,
    packages: [&krm_core::Package; 3],
    console: &mut Console,
    schema: &'a mut Option<krm_core::schema::Schema>,
) -> Result<krm_core::compare::ListOptions<'a>, Failure> {
    *schema = Some(package_merge::schema(lists, &packages, console)?);
    match schema {
        Some(schema) => Ok(lists.pairing(schema)),
        None => Ok(krm_core::compare::ListOptions::default()),
    }
}

/// The new text of the Kptfile: merged, and with the new upstream and lock.
fn plan_kptfile(
    change: Option<(PackagePath, Option<FileText>)>,
    local: &LocalVersion,
    new: &NewUpstream<'_>,
) -> Result<(OriginalFile, String), Failure> {
    let path = PackagePath::new(KPTFILE).map_err(|it| Failure::input(Diagnostic::error(it)))?;
    let original = local.loaded.original_at(&path);
    let old = original.text().unwrap_or_default();
    let text = match change {
        Some((_, Some(change))) => change.into_text(),
        // A package keeps its Kptfile, whatever upstream does.
        Some((_, None)) | None => old.to_owned(),
    };
    let text = with_upstream(text, new)?;
    Ok((original, text))
}

/// A Kptfile with a new upstream and lock.
pub(super) fn with_upstream(text: String, new: &NewUpstream<'_>) -> Result<String, Failure> {
    let in_file = |error: Diagnostic| Failure::input(error.in_file(KPTFILE));
    let file = File::parse(text).map_err(|error| in_file(Diagnostic::from(&error)))?;
    write_upstream(&file, new.upstream, new.lock).map_err(in_file)
}

/// Merges files that are not resources, each as a whole.
fn merge_others(
    [base, upstream]: [&Version; 2],
    local: &LocalVersion,
    options: &MergeOptions<'_>,
    merged: &mut Merged,
) -> Result<(), Failure> {
    let paths: BTreeSet<&PackagePath> = base.others.keys().chain(upstream.others.keys()).collect();
    for path in paths {
        let contents = [
            base.others.get(path).map(|it| &**it),
            upstream.others.get(path).map(|it| &**it),
            local.others.get(path).map(|it| &**it),
        ];
        let result = merge_other_file(path.as_str(), contents, options.on_conflict);
        merged.conflicts.extend(result.conflict);
        let [_, new, old] = contents;
        let new = if result.takes_upstream { new } else { old };
        let executable = executable([base, upstream], local, path, old.is_none());
        if new == old && executable.is_none() {
            continue;
        }
        let contents = [old, new].map(|it| it.map(<[u8]>::to_vec));
        let shown = local.loaded.display_path(path.as_str());
        let executable = executable.filter(|_| contents[1].is_some());
        merged.plan.set_bytes(path.clone(), shown, contents, executable).map_err(Failure::input)?;
    }
    Ok(())
}

/// Whether a file becomes executable, or stops to be, because it did so upstream.
fn executable(
    [base, upstream]: [&Version; 2],
    local: &LocalVersion,
    path: &PackagePath,
    is_new: bool,
) -> Option<bool> {
    let [was, is] = [base, upstream].map(|it| it.executables.contains(path));
    if is_new {
        return Some(is);
    }
    let now = disk::is_executable(Path::new(&local.loaded.display_path(path.as_str())));
    (was != is && now != is && upstream.others.contains_key(path)).then_some(is)
}
