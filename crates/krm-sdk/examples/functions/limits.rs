//! `limits`: every container must have limits for CPU and memory.

use krm_sdk::{Error, ResourceList, Selector};
use serde::Deserialize;

/// The documentation.
pub(crate) const README: &str = "# limits

Fails if a container has no limit for CPU or memory.

`exempt` names containers that need no limits.
";

/// The functionConfig, which is optional.
#[derive(Debug, Default, Deserialize)]
struct Config {
    #[serde(default)]
    exempt: Vec<String>,
}

/// Validates all containers.
pub(crate) fn run(list: &mut ResourceList) -> Result<(), Error> {
    let config: Config = list.config_or_default()?;
    list.check(&Selector::new(), |resource, findings| {
        for container in resource.containers() {
            if config.exempt.contains(&container.name) {
                continue;
            }
            for limit in ["cpu", "memory"] {
                let path = container.field(&format!("resources.limits.{limit}"));
                if resource.get(&path)?.is_none() {
                    let message = format!("container `{}` has no {limit} limit", container.name);
                    findings.error(message).field(path);
                }
            }
        }
        Ok(())
    })
}
