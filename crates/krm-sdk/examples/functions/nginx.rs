//! `nginx`: generates a Deployment and a Service from a client-side resource.

use krm_sdk::{Error, Resource, ResourceList};
use serde::Deserialize;

/// The documentation.
pub(crate) const README: &str = "# nginx

Generates a Deployment and a Service from an `Nginx` resource.

Changes of people are kept when the resources are generated again, unless the `Nginx` resource sets the same field.
";

/// The functionConfig. The only accepted kind is `Nginx`.
#[derive(Debug, Deserialize)]
enum Config {
    Nginx {
        replicas: u32,
        #[serde(default = "default_image")]
        image: String,
    },
}

fn default_image() -> String {
    "nginx:1.27".to_owned()
}

/// Generates or updates both resources.
pub(crate) fn run(list: &mut ResourceList) -> Result<(), Error> {
    let Config::Nginx { replicas, image } = list.config()?;
    let config = list.function_config.as_ref();
    let name = config.map(|config| config.name()).filter(|name| !name.is_empty());
    let Some(name) = name else { return Err(Error::new("the functionConfig has no name")) };
    list.upsert_generated([deployment(&name, replicas, &image)?, service(&name)?])
}

fn deployment(name: &str, replicas: u32, image: &str) -> Result<Resource, Error> {
    let mut deployment = Resource::parse(format!(
        "apiVersion: apps/v1
kind: Deployment
metadata:
  name: {name}
  labels:
    app: {name}
spec:
  selector:
    matchLabels:
      app: {name}
  template:
    metadata:
      labels:
        app: {name}
    spec:
      securityContext:
        runAsNonRoot: true
      containers:
      - name: nginx
        image: nginx
        ports:
        - containerPort: 80
        securityContext:
          allowPrivilegeEscalation: false
"
    ))?;
    // Set values instead of formatting them into the text, so that they are quoted if necessary.
    deployment.set("spec.replicas", replicas)?;
    deployment.set("spec.template.spec.containers[0].image", image)?;
    Ok(deployment)
}

fn service(name: &str) -> Result<Resource, Error> {
    Resource::parse(format!(
        "apiVersion: v1
kind: Service
metadata:
  name: {name}
  labels:
    app: {name}
spec:
  selector:
    app: {name}
  ports:
  - port: 80
    targetPort: 80
"
    ))
}
