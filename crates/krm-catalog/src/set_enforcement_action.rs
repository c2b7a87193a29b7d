//! `set-enforcement-action`: what constraints of Gatekeeper do about a violation.

use krm_sdk::results::FileRef;
use krm_sdk::{Error, FunctionResult, Resource, ResourceList, Severity};
use serde::Deserialize;

use crate::Builtin;
use crate::changes::{at, change};
use crate::config::{failing, given, missing, wrong};

/// The function as it is listed.
pub const BUILTIN: Builtin = Builtin {
    name: "set-enforcement-action",
    aliases: &[],
    summary: "set what Gatekeeper's constraints do about a violation",
    doc: include_str!("../doc/set-enforcement-action.md"),
    tags: &["v0.1", "v0.1.0"],
    run,
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
    set(list)
        .map_err(|error| failing(error, |words| format!("failed to process policies: {words}")))
}

fn set(list: &mut ResourceList) -> Result<(), Error> {
    let action = action(list)?;
    let is_constraint =
        |it: &&mut Resource| it.api_version() == CONSTRAINT && !it.name().is_empty();
    let mut results = Vec::new();
    for resource in list.items.iter_mut().filter(is_constraint) {
        change(resource, |changes, resource| {
            match changes.follow(resource.root(), &["spec", "enforcementAction"]) {
                Some(spot) => changes.set(&spot, &action),
                None => {
                    let spec = resource.get("spec").unwrap_or_else(|| resource.root());
                    let message = "`spec.enforcementAction` is to be set, and `spec` is no mapping";
                    return Err(at(resource, spec, message, "make it a mapping, or remove it"));
                }
            }
            Ok(())
        })?;
        results.push(told(resource));
    }
    if results.is_empty() {
        list.say(Severity::Warning, format!("Found no policy to set to [{action}]"));
        return Ok(());
    }
    let count = results.len();
    list.say(Severity::Info, format!("Number of policies set to [{action}]: {count}"));
    list.results.extend(results);
    Ok(())
}

fn action(list: &ResourceList) -> Result<String, Error> {
    let needed = "expecting exactly 1 enforcementAction as part of the ConfigMap";
    let Some(config) = given(list) else {
        return Err(missing::<SetEnforcementAction>(list, BUILTIN.name, needed));
    };
    let SetEnforcementAction { enforcement_action } = config.read_config()?;
    let hint = "one of `deny`, `warn` and `dryrun`";
    match enforcement_action.as_str() {
        "deny" | "warn" | "dryrun" => Ok(enforcement_action),
        "" => Err(wrong(config, "data", needed).hint(hint).into()),
        _ => {
            let message = "expected values for enforcementAction are [deny] or [warn] or [dryrun]";
            Err(wrong(config, "data.enforcementAction", message).hint(hint).into())
        }
    }
}

fn told(resource: &Resource) -> FunctionResult {
    let message = format!("Policy name: [{}]", resource.name());
    let file = resource.path().map(|path| FileRef { path: path.to_string(), index: 0 });
    FunctionResult { file, ..FunctionResult::new(Severity::Info, message) }
}
