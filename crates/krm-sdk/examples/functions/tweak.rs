//! `tweak`: a small change to what another function made: an init container that waits for a database.

use krm_sdk::yaml::Value;
use krm_sdk::{Error, ResourceList, Selector};
use serde::Deserialize;

/// The page.
pub(crate) const PAGE: &str = "# tweak

Adds an init container to one Deployment that another function generates.
";

/// The functionConfig.
#[derive(Debug, Deserialize)]
struct Config {
    /// The Deployment.
    target: String,
    /// What is waited for.
    host: String,
}

/// Adds the init container where it is not there yet.
pub(crate) fn run(list: &mut ResourceList) -> Result<(), Error> {
    let config: Config = list.config()?;
    wait_for(list, &config.target, &config.host)
}

/// Lets a Deployment wait for a host.
pub(crate) fn wait_for(list: &mut ResourceList, target: &str, host: &str) -> Result<(), Error> {
    let selector = Selector::new().kind("Deployment").name(target);
    for deployment in list.select_mut(&selector) {
        let path = "spec.template.spec.initContainers";
        let there = deployment.containers_at(path);
        let at = there.iter().position(|it| it.name == "wait").unwrap_or(there.len());
        let bare = Value::Mapping(vec![(Value::from("name"), Value::from("wait"))]);
        if there.is_empty() {
            deployment.set(path, Value::Sequence(vec![bare]))?;
        } else if at == there.len() {
            deployment.set(&format!("{path}[-]"), bare)?;
        }
        deployment.set(&format!("{path}[{at}].image"), "busybox:1.36")?;
        let command =
            ["sh", "-c", &format!("until nc -z {host} 5432; do sleep 1; done")].map(str::to_owned);
        let command = command.into_iter().map(|word| Value::String(word.into())).collect();
        deployment.set(&format!("{path}[{at}].command"), Value::Sequence(command))?;
        let escalation = format!("{path}[{at}].securityContext.allowPrivilegeEscalation");
        deployment.set(&escalation, false)?;
    }
    Ok(())
}
