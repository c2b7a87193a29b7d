//! `composed`: generation, injection and validation one after the other, as one function.

use krm_sdk::{Error, ResourceList, Severity};

use crate::{inject, limits, nginx, pod_security, selectors, t_shirt, tweak};

/// The page.
pub(crate) const PAGE: &str = "# composed

Makes an nginx, lets it wait for its database, gives it a size and a side-car, and checks all of it.

The functionConfig is that of `nginx`.
";

/// A step of the way.
type Step = fn(&mut ResourceList) -> Result<(), Error>;

/// Runs all steps; checks that find errors do not keep the others from looking.
pub(crate) fn run(list: &mut ResourceList) -> Result<(), Error> {
    nginx::run(list)?;
    let config = list.function_config.take();
    let name = config.as_ref().map(|config| config.name().into_owned()).unwrap_or_default();
    for deployment in list.of_kind_mut("Deployment").filter(|it| it.name() == name) {
        deployment.set_annotation("example.com/inject", "true")?;
        if deployment.annotation("example.com/t-shirt-size").is_none() {
            deployment.set_annotation("example.com/t-shirt-size", "small")?;
        }
    }
    tweak::wait_for(list, &name, "database")?;
    let steps: [Step; 5] =
        [inject::run, t_shirt::run, limits::run, selectors::run, pod_security::run];
    let done = steps.into_iter().try_for_each(|step| step(list));
    list.function_config = config;
    let errors = list.results.iter().filter(|result| result.severity == Severity::Error).count();
    if errors > 0 {
        list.say(Severity::Info, format!("{errors} findings in what was made"));
    }
    done
}
