//! `inject`: init and side-car containers for what asks for them with an annotation.

use krm_sdk::yaml::Value;
use krm_sdk::{Any, Error, Resource, ResourceList};
use serde::Deserialize;

/// The page.
pub(crate) const PAGE: &str = "# inject

Puts containers into resources with the annotation `example.com/inject: \"true\"`.

`initContainers` and `containers` are lists of containers as Kubernetes has them. One of the same name that is there
already stays as it is.
";

/// The annotation.
const WANTED: &str = "example.com/inject";

/// The functionConfig. Without one a side-car that ships logs is put in.
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
        let text = |text: &'static str| Value::from(text);
        let security = vec![(text("allowPrivilegeEscalation"), Value::Bool(false))];
        let logs = vec![
            (text("name"), text("logs")),
            (text("image"), text("example.com/logs:1")),
            (text("securityContext"), Value::Mapping(security)),
        ];
        Self { init_containers: Vec::new(), containers: vec![Any(Value::Mapping(logs))] }
    }
}

/// Adds what is missing.
pub(crate) fn run(list: &mut ResourceList) -> Result<(), Error> {
    let config: Config = list.config_or_default()?;
    for resource in &mut list.items {
        let Some(spec) = resource.pod_spec() else { continue };
        if resource.annotation(WANTED).as_deref() != Some("true") {
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
    let name =
        name(container).ok_or_else(|| Error::new("a container to be injected has no name"))?;
    if resource.containers_at(list).iter().any(|it| it.name == name) {
        return Ok(());
    }
    match resource.get(list) {
        Some(_) => resource.set(&format!("{list}[-]"), container.0.clone()),
        None => resource.set(list, Value::Sequence(vec![container.0.clone()])),
    }
}

fn name(container: &Any) -> Option<String> {
    let Value::Mapping(entries) = &container.0 else { return None };
    entries.iter().find_map(|(key, value)| match (key, value) {
        (Value::String(key), Value::String(name)) if key == "name" => Some(name.to_string()),
        _ => None,
    })
}
