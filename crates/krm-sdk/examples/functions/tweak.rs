//! `tweak`: changes a generated resource: adds an init container that waits for a database.

use krm_sdk::{Error, ResourceList, Selector, value};
use serde::Deserialize;

/// The documentation.
pub(crate) const README: &str = "# tweak

Adds an init container to one Deployment that another function generates.
";

/// The functionConfig.
#[derive(Debug, Deserialize)]
struct Config {
    /// The Deployment.
    target: String,
    /// The host to wait for.
    host: String,
}

/// Adds or updates the init container.
pub(crate) fn run(list: &mut ResourceList) -> Result<(), Error> {
    let config: Config = list.config()?;
    wait_for(list, &config.target, &config.host)
}

/// Makes a Deployment wait for a host.
pub(crate) fn wait_for(list: &mut ResourceList, target: &str, host: &str) -> Result<(), Error> {
    let selector = Selector::new().kind("Deployment").name(target);
    for deployment in list.select_mut(&selector) {
        let path = "spec.template.spec.initContainers";
        let existing = deployment.containers_at(path)?;
        let at = existing.iter().position(|it| it.name == "wait").unwrap_or(existing.len());
        let container = value!({ "name": "wait" });
        if existing.is_empty() {
            deployment.set(path, [container])?;
        } else if at == existing.len() {
            deployment.set(&format!("{path}[-]"), container)?;
        }
        deployment.set(&format!("{path}[{at}].image"), "busybox:1.36")?;
        let wait = format!("until nc -z {host} 5432; do sleep 1; done");
        deployment.set(&format!("{path}[{at}].command"), ["sh", "-c", &wait])?;
        let escalation = format!("{path}[{at}].securityContext.allowPrivilegeEscalation");
        deployment.set(&escalation, false)?;
    }
    Ok(())
}
