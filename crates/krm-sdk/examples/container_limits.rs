//! `container-limits`: every container must have the limits that its namespace asks for.

use std::collections::BTreeMap;

use krm_sdk::{ContainerSelector, Error, Function, ResourceList, Selector};
use serde::Deserialize;

/// The documentation.
pub(crate) const README: &str = "# container-limits

Fails if a container has no limit for a resource.

`limits` has the required resources with the values to propose, `target` selects the workloads, and `exempt` the containers that need no
limits.
";

/// The functionConfig.
#[derive(Debug, Deserialize)]
#[serde(default)]
pub(crate) struct Config {
    limits: BTreeMap<String, String>,
    target: Selector,
    exempt: Option<ContainerSelector>,
}

impl Default for Config {
    fn default() -> Self {
        let limits = [("cpu", "500m"), ("memory", "512Mi")];
        let limits = limits.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        Self { limits, target: Selector::new(), exempt: None }
    }
}

/// Checks all containers of the targets.
pub(crate) fn run(list: &mut ResourceList) -> Result<(), Error> {
    let config: Config = list.config_or_default()?;
    list.check(&config.target, |workload, findings| {
        for container in workload.containers() {
            if let Some(exempt) = &config.exempt
                && exempt.matches(workload, &container)?
            {
                continue;
            }
            for (name, proposed) in &config.limits {
                let path = container.field(&format!("resources.limits.{name}"));
                if workload.get_text(&path)?.is_none() {
                    let message = format!("container `{}` has no {name} limit", container.name);
                    findings.error(message).field(path).propose(proposed);
                }
            }
        }
        Ok(())
    })
}

fn main() {
    krm_sdk::run(Function::new("container-limits", run).readme(README))
}
