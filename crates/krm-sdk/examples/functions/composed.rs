//! `composed`: generation, injection and validation in one function.

use krm_sdk::{Error, ResourceList, Severity};

use crate::{inject, limits, nginx, pod_security, selectors, t_shirt, tweak};

/// The documentation.
pub(crate) const README: &str = "# composed

Generates an nginx Deployment that waits for its database, sets its size, injects a sidecar, and validates the result.

The functionConfig is the same as that of `nginx`.
";

/// One of the composed functions.
type Step = fn(&mut ResourceList) -> Result<(), Error>;

/// Runs all steps. Validators report errors as results, so that all of them run.
pub(crate) fn run(list: &mut ResourceList) -> Result<(), Error> {
    nginx::run(list)?;
    let config = list.function_config.take();
    let name = config.as_ref().map(|config| config.name()).unwrap_or_default();
    for deployment in list.of_kind_mut("Deployment").filter(|it| it.name() == name) {
        deployment.set_annotation("example.com/inject", "true")?;
        if deployment.annotation("example.com/t-shirt-size").is_none() {
            deployment.set_annotation("example.com/t-shirt-size", "small")?;
        }
    }
    tweak::wait_for(list, &name, "database")?;
    let steps: [Step; 5] =
        [inject::run, t_shirt::run, limits::run, selectors::run, pod_security::run];
    let outcome = steps.into_iter().try_for_each(|step| step(list));
    list.function_config = config;
    let errors = list.results.iter().filter(|result| result.severity == Severity::Error).count();
    if errors > 0 {
        list.add_result(Severity::Info, format!("{errors} errors in the generated resources"));
    }
    outcome
}
