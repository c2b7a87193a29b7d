//! `cache`: generates a cache from a template, and patches the workloads that use it with templates.

use std::collections::BTreeMap;

use krm_sdk::{ContainerSelector, Error, Function, Patch, ResourceList, Selector, Templates};
use serde::{Deserialize, Serialize};

/// The documentation.
pub(crate) const README: &str = "# cache

Generates a cache and connects the selected workloads with it.

`name`, `version`, `memory` (in MiB), `settings` and `labels` describe the cache. `clients` selects the workloads: their containers get the
variable `CACHE_URL`, and their pods a label that the NetworkPolicy of the cache admits.
";

/// The functionConfig, which is also the data of the templates.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Config {
    name: String,
    #[serde(default = "default_version")]
    version: String,
    #[serde(default = "default_memory")]
    memory: u32,
    #[serde(default)]
    settings: BTreeMap<String, String>,
    #[serde(default)]
    labels: BTreeMap<String, String>,
    #[serde(skip_serializing)]
    clients: Selector,
}

fn default_version() -> String {
    "7.4".to_owned()
}

fn default_memory() -> u32 {
    64
}

/// Generates the cache and patches its clients.
pub(crate) fn run(list: &mut ResourceList) -> Result<(), Error> {
    let config: Config = list.config()?;
    let templates = Templates::new([
        ("cache.yaml", include_str!("cache.yaml")),
        ("client.yaml", include_str!("client.yaml")),
        ("container.yaml", include_str!("container.yaml")),
    ])?;
    list.sync_generated(
        format!("cache/{}", config.name),
        templates.resources("cache.yaml", &config)?,
    )?;
    let client = Patch::merge(templates.value("client.yaml", &config)?);
    let container = Patch::merge(templates.value("container.yaml", &config)?);
    list.patch(&[
        client.target(config.clients.clone()),
        container.target(config.clients).containers(ContainerSelector::new()),
    ])?;
    Ok(())
}

fn main() {
    krm_sdk::run(Function::new("cache", run).readme(README))
}
