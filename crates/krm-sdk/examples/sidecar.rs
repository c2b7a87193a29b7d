//! `sidecar`: injects a container, its volumes and its settings into workloads.

use k8s_openapi::api::core::v1::{Container, EnvVar, Volume};
use krm_sdk::{Error, Function, Resource, ResourceList, Selector};
use serde::Deserialize;

/// The documentation.
pub(crate) const README: &str = "# sidecar

Adds a container to workloads, or updates the one of the same name.

`container` and `volumes` are those of a pod, `target` selects the workloads, and `env` is added to all other containers. A workload with
the annotation `example.com/sidecar: disabled` loses the sidecar.
";

/// The annotation with which a workload opts out.
const SIDECAR: &str = "example.com/sidecar";

/// The functionConfig.
#[derive(Debug, Deserialize)]
pub(crate) struct Config {
    container: Container,
    #[serde(default)]
    volumes: Vec<Volume>,
    #[serde(default)]
    env: Vec<EnvVar>,
    #[serde(default)]
    target: Selector,
}

/// Injects the sidecar into all targets.
pub(crate) fn run(list: &mut ResourceList) -> Result<(), Error> {
    let config: Config = list.config()?;
    for workload in list.select_mut(&config.target) {
        if workload.pod_spec().is_some() {
            inject(workload, &config)?;
        }
    }
    Ok(())
}

fn inject(workload: &mut Resource, config: &Config) -> Result<(), Error> {
    let spec = workload.pod_spec().unwrap_or_default();
    let is_disabled = workload.annotation(SIDECAR).as_deref() == Some("disabled");
    let [containers_at, volumes_at] = ["containers", "volumes"].map(|it| format!("{spec}.{it}"));
    let mut containers: Vec<Container> = workload.read_at(&containers_at)?.unwrap_or_default();
    let mut volumes: Vec<Volume> = workload.read_at(&volumes_at)?.unwrap_or_default();
    if is_disabled {
        containers.retain(|it| it.name != config.container.name);
        volumes.retain(|it| config.volumes.iter().all(|own| own.name != it.name));
    } else {
        put(&mut containers, &config.container, |it| &it.name);
        for volume in &config.volumes {
            put(&mut volumes, volume, |it| &it.name);
        }
        for container in containers.iter_mut().filter(|it| it.name != config.container.name) {
            for variable in &config.env {
                put(container.env.get_or_insert_default(), variable, |it| &it.name);
            }
        }
    }
    workload.set_at(&containers_at, &containers)?;
    match volumes.is_empty() {
        true => workload.remove(&volumes_at).map(|_| ()),
        false => workload.set_at(&volumes_at, &volumes),
    }
}

/// Replaces the element of the same name, or adds it.
fn put<T: Clone>(all: &mut Vec<T>, new: &T, name: impl Fn(&T) -> &String) {
    match all.iter_mut().find(|it| name(it) == name(new)) {
        Some(old) => *old = new.clone(),
        None => all.push(new.clone()),
    }
}

fn main() {
    krm_sdk::run(Function::new("sidecar", run).readme(README))
}
