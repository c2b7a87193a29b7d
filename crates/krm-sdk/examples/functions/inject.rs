//! `inject`: init and sidecar containers for resources with an annotation.

use krm_sdk::yaml::Value;
use krm_sdk::{Any, Error, Resource, ResourceList, value};
use serde::Deserialize;

/// The documentation.
pub(crate) const README: &str = "# inject

Adds containers to resources with the annotation `example.com/inject: \"true\"`.

`initContainers` and `containers` are lists of Kubernetes containers. An existing container of the same name is kept.
";

/// The annotation that requests injection.
const INJECT: &str = "example.com/inject";

/// The functionConfig. The default is a sidecar that ships logs.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Config {
    #[serde(default)]
    init_containers: Vec<Any>,
    #[serde(default)]
    containers: Vec<Any>,
}

impl Default for Config {
    fn default() -> Self {
        let logs = value!({
            "name": "logs",
            "image": "example.com/logs:1",
            "securityContext": { "allowPrivilegeEscalation": false },
        });
        Self { init_containers: Vec::new(), containers: vec![Any(logs)] }
    }
}

/// Adds the missing containers.
pub(crate) fn run(list: &mut ResourceList) -> Result<(), Error> {
    let config: Config = list.config_or_default()?;
    for resource in &mut list.items {
        let Some(spec) = resource.pod_spec() else { continue };
        if resource.annotation(INJECT).as_deref() != Some("true") {
            continue;
        }
        for container in &config.init_containers {
            add(resource, &format!("{spec}.initContainers"), container)?;
        }
        for container in &config.containers {
            add(resource, &format!("{spec}.containers"), container)?;
        }
    }
    Ok(())
}

fn add(resource: &mut Resource, list: &str, container: &Any) -> Result<(), Error> {
    let name = name(container).ok_or_else(|| Error::new("a container to inject has no name"))?;
    if resource.containers_at(list)?.iter().any(|it| it.name == name) {
        return Ok(());
    }
    match resource.get(list)? {
        Some(_) => resource.set(&format!("{list}[-]"), container.0.clone()),
        None => resource.set(list, vec![container.0.clone()]),
    }
}

fn name(container: &Any) -> Option<String> {
    let Value::Mapping(entries) = &container.0 else { return None };
    entries.iter().find_map(|(key, value)| match (key, value) {
        (Value::String(key), Value::String(name)) if key == "name" => Some(name.to_string()),
        _ => None,
    })
}
