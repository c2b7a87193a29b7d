//! `set-enforcement-action`: sets the enforcement action of Gatekeeper constraints.

use krm_sdk::results::FileRef;
use krm_sdk::{Error, FunctionResult, Resource, ResourceList, Severity};
use serde::Deserialize;

use crate::changes::{change, not_a_mapping};
use crate::config::{function_config, invalid_field, missing, read_data, with_context};
use crate::{Builtin, Run, releases};

/// The description of the function.
pub const BUILTIN: Builtin = Builtin {
    name: "set-enforcement-action",
    aliases: &[],
    summary: "set the enforcement action of Gatekeeper constraints",
    doc: include_str!("../doc/set-enforcement-action.md"),
    releases: releases::SET_ENFORCEMENT_ACTION,
    run: Run::Native(run),
};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SetEnforcementAction {
    #[serde(default)]
    enforcement_action: String,
}

const CONSTRAINT: &str = "constraints.gatekeeper.sh/v1beta1";

/// Sets the action of all constraints.
pub fn run(list: &mut ResourceList) -> Result<(), Error> {
    set(list).map_err(|error| with_context(error, "failed to process policies"))
}

fn set(list: &mut ResourceList) -> Result<(), Error> {
    let action = action(list)?;
    let is_constraint =
        |it: &&mut Resource| it.api_version() == CONSTRAINT && !it.name().is_empty();
    let mut results = Vec::new();
    for resource in list.items.iter_mut().filter(is_constraint) {
        change(resource, |changes, resource| {
            match changes.follow(resource.root(), &["spec", "enforcementAction"]) {
                Some(slot) => changes.set(&slot, &action),
                None => {
                    let spec = resource.get_in(["spec"]).unwrap_or_else(|| resource.root());
                    return Err(not_a_mapping(resource, spec, "enforcementAction"));
                }
            }
            Ok(())
        })?;
        results.push(result(resource));
    }
    if results.is_empty() {
        list.add_result(Severity::Warning, format!("Found no policy to set to [{action}]"));
        return Ok(());
    }
    let count = results.len();
    list.add_result(Severity::Info, format!("Number of policies set to [{action}]: {count}"));
    list.results.extend(results);
    Ok(())
}

fn action(list: &ResourceList) -> Result<String, Error> {
    let required = "expecting exactly 1 enforcementAction as part of the ConfigMap";
    let Some(config) = function_config(list) else {
        return Err(missing::<SetEnforcementAction>(list, BUILTIN.name, required));
    };
    let SetEnforcementAction { enforcement_action } = read_data(config)?;
    let hint = "use one of `deny`, `warn` and `dryrun`";
    match enforcement_action.as_str() {
        "deny" | "warn" | "dryrun" => Ok(enforcement_action),
        "" => Err(invalid_field(config, "data", required).hint(hint).into()),
        _ => {
            let message = "expected values for enforcementAction are [deny] or [warn] or [dryrun]";
            Err(invalid_field(config, "data.enforcementAction", message).hint(hint).into())
        }
    }
}

fn result(resource: &Resource) -> FunctionResult {
    let message = format!("Policy name: [{}]", resource.name());
    let file = resource.path().map(|path| FileRef { path: path.into(), index: 0 });
    FunctionResult { file, ..FunctionResult::new(Severity::Info, message) }
}
