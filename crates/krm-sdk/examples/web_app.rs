//! `web-app`: generates the resources of a web application, and keeps what people change in them.

use std::collections::BTreeMap;

use krm_sdk::{Context, Error, Function, Resource, ResourceList, value};
use serde::Deserialize;

/// The documentation.
pub(crate) const README: &str = "# web-app

Generates a Deployment, a Service and, with `host` or `env`, an Ingress and a ConfigMap of a `WebApp`.

Changes of people in the generated resources are kept. Resources that are no longer needed are removed.
";

/// The functionConfig.
#[derive(Debug, Deserialize)]
pub(crate) enum Config {
    WebApp {
        image: String,
        #[serde(default = "default_replicas")]
        replicas: u32,
        #[serde(default = "default_port")]
        port: u16,
        host: Option<String>,
        #[serde(default)]
        env: BTreeMap<String, String>,
    },
}

fn default_replicas() -> u32 {
    2
}

fn default_port() -> u16 {
    8080
}

/// Generates all resources of the application.
pub(crate) fn run(list: &mut ResourceList) -> Result<(), Error> {
    let Config::WebApp { image, replicas, port, host, env } = list.config()?;
    let config = list.function_config.as_ref().context("there is no functionConfig")?;
    let name = &config.name();
    let resource = |api_version: &str, kind: &str, field: &str, content| {
        Resource::from_value(value!({
            "apiVersion": api_version,
            "kind": kind,
            "metadata": { "name": name, "labels": { "app": name } },
            (field): content,
        }))
    };
    let mut container =
        value!({ "name": "web", "image": image, "ports": [{ "containerPort": port }] });
    if let (krm_sdk::yaml::Value::Mapping(fields), false) = (&mut container, env.is_empty()) {
        fields.push((value!("envFrom"), value!([{ "configMapRef": { "name": name } }])));
    }
    let pod = value!({ "metadata": { "labels": { "app": name } }, "spec": { "containers": [container] } });
    let selector = value!({ "matchLabels": { "app": name } });
    let deployment = value!({ "replicas": replicas, "selector": selector, "template": pod });
    let ports = value!([{ "port": 80, "targetPort": port }]);
    let service = value!({ "selector": { "app": name }, "ports": ports });
    let mut all = vec![
        resource("apps/v1", "Deployment", "spec", deployment)?,
        resource("v1", "Service", "spec", service)?,
    ];
    if !env.is_empty() {
        all.push(resource("v1", "ConfigMap", "data", env.into())?);
    }
    if let Some(host) = host {
        let backend = value!({ "service": { "name": name, "port": { "number": 80 } } });
        let path = value!({ "path": "/", "pathType": "Prefix", "backend": backend });
        let rules = value!([{ "host": host, "http": { "paths": [path] } }]);
        all.push(resource("networking.k8s.io/v1", "Ingress", "spec", value!({ "rules": rules }))?);
    }
    list.sync_generated(format!("web-app/{name}"), all)?;
    Ok(())
}

fn main() {
    krm_sdk::run(Function::new("web-app", run).readme(README))
}
