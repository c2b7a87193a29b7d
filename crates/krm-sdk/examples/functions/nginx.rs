//! `nginx`: a client-side resource of its own kind, from which a Deployment and a Service are made.

use krm_sdk::{Error, Resource, ResourceList};
use serde::Deserialize;

/// The page.
pub(crate) const PAGE: &str = "# nginx

Makes a Deployment and a Service of an `Nginx` resource.

What people change in them stays when they are made again, unless the `Nginx` resource says something else.
";

/// The functionConfig: only this kind will do.
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

/// Makes both, or brings them up to date.
pub(crate) fn run(list: &mut ResourceList) -> Result<(), Error> {
    let Config::Nginx { replicas, image } = list.config()?;
    let config = list.function_config.as_ref();
    let name = config.map(|config| config.name().into_owned()).filter(|name| !name.is_empty());
    let Some(name) = name else { return Err(Error::new("the functionConfig has no name")) };
    list.upsert_generated([deployment(&name, replicas, &image)?, service(&name)?])
}

fn deployment(name: &str, replicas: u32, image: &str) -> Result<Resource, Error> {
    let mut made = Resource::parse(format!(
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
    // Values are set and not written into the text: whatever they hold, they stay what they are.
    made.set("spec.replicas", i64::from(replicas))?;
    made.set("spec.template.spec.containers[0].image", image)?;
    Ok(made)
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
