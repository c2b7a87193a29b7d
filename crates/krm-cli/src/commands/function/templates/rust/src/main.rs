//! `{{name}}`: sets the owner of every resource, and reports Deployments without replicas.

use krm_sdk::{Error, Function, ResourceList, Severity};
use serde::Deserialize;

/// The functionConfig.
#[derive(Deserialize)]
struct Config {
    /// The team that owns the resources.
    owner: String,
}

/// The annotation that holds the owner.
const OWNER: &str = "example.com/owner";

fn set_owner(list: &mut ResourceList) -> Result<(), Error> {
    let config: Config = list.config()?;
    for resource in &mut list.items {
        resource.set_annotation(OWNER, &config.owner)?;
    }
    for deployment in list.items.iter().filter(|it| it.kind() == "Deployment") {
        if deployment.get_text("spec.replicas")?.as_deref() == Some("0") {
            let result = deployment.result(Severity::Warning, "the Deployment has no replicas");
            list.results.push(result.field("spec.replicas").propose(1).into());
        }
    }
    Ok(())
}

fn main() {
    krm_sdk::run(Function::new("{{name}}", set_owner).readme(include_str!("../README.md")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `UPDATE_CASES=1 cargo test` rewrites the expected output; review the diff.
    #[test]
    fn cases() {
        let cases = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases");
        krm_sdk::testing::golden(cases, set_owner);
    }
}
