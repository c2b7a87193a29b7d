//! `remove-local-config-resources`: removes local configuration.

use krm_sdk::results::FileRef;
use krm_sdk::{Error, FunctionResult, Resource, ResourceList, Severity};

use crate::{Builtin, Run, releases};

/// The description of the function.
pub const BUILTIN: Builtin = Builtin {
    name: "remove-local-config-resources",
    aliases: &[],
    summary: "remove resources that are never applied to a cluster",
    doc: include_str!("../doc/remove-local-config-resources.md"),
    releases: releases::REMOVE_LOCAL_CONFIG_RESOURCES,
    run: Run::Native(run),
};

/// Removes every resource with the annotation.
pub fn run(list: &mut ResourceList) -> Result<(), Error> {
    let (removed, kept): (Vec<_>, Vec<_>) =
        std::mem::take(&mut list.items).into_iter().partition(is_local);
    list.items = kept;
    if removed.is_empty() {
        let message = "Found no resources to prune with the local config annotation";
        list.add_result(Severity::Warning, message);
        return Ok(());
    }
    list.add_result(Severity::Info, format!("Number of resources pruned: {}", removed.len()));
    list.results.extend(removed.iter().map(result));
    Ok(())
}

/// Compat: only `true`, in any case; other tools treat every value but `false` as local.
fn is_local(resource: &Resource) -> bool {
    let value = resource.annotation("config.kubernetes.io/local-config");
    value.is_some_and(|value| value.eq_ignore_ascii_case("true"))
}

fn result(resource: &Resource) -> FunctionResult {
    let message = format!("Resource name: [{}]", resource.name());
    let file = resource.path().map(|path| FileRef { path: path.into(), index: 0 });
    FunctionResult { file, ..FunctionResult::new(Severity::Info, message) }
}
