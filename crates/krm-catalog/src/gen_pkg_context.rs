//! `gen-pkg-context`: generates a ConfigMap with the name of the package.

use krm_core::PackagePath;
use krm_sdk::results::FileRef;
use krm_sdk::{Error, FunctionResult, Resource, ResourceList, Severity};
use serde::Deserialize;

use crate::config::PACKAGE_CONTEXT;
use crate::{Builtin, Run};

/// The description of the function.
pub const BUILTIN: Builtin = Builtin {
    name: "gen-pkg-context",
    aliases: &[],
    summary: "write the name of the package to the ConfigMap `kptfile.kpt.dev`",
    doc: include_str!("../doc/gen-pkg-context.md"),
    releases: &[],
    run: Run::Native(run),
};

const FILE: &str = "package-context.yaml";

#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
struct Config {
    /// The path of the package in its parent package.
    package_path: String,
}

/// Generates or updates the ConfigMap.
pub fn run(list: &mut ResourceList) -> Result<(), Error> {
    let config: Config = list.config_or_default()?;
    let is_in_package = |it: &&Resource| it.path().is_some_and(|path| path.directory().is_empty());
    let kptfile = list.items.iter().filter(is_in_package).find(|it| is_kptfile(it));
    let Some(kptfile) = kptfile else {
        let message = "no Kptfile among the resources: the name of the package is unknown";
        list.add_result(Severity::Warning, message);
        return Ok(());
    };
    let name = kptfile.name();
    let existing = list.items.iter().position(|it| is_in_package(&it) && is_context(it));
    let at = match existing {
        Some(at) => at,
        None => {
            list.items.push(new(&name)?);
            list.items.len() - 1
        }
    };
    let context = &mut list.items[at];
    context.set("data.name", name.as_str())?;
    if !config.package_path.is_empty() {
        context.set("data.package-path", config.package_path.as_str())?;
    }
    let file = context.path().map(|path| FileRef { path: path.into(), index: 0 });
    let result = FunctionResult::new(Severity::Info, "generated package context");
    list.results.push(FunctionResult { file, ..result });
    Ok(())
}

fn is_kptfile(it: &Resource) -> bool {
    it.kind() == "Kptfile" && it.path().is_some_and(|path| path.name() == "Kptfile")
}

fn is_context(it: &Resource) -> bool {
    it.kind() == "ConfigMap" && it.api_version() == "v1" && it.name() == PACKAGE_CONTEXT
}

fn new(name: &str) -> Result<Resource, Error> {
    let text = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {PACKAGE_CONTEXT}\n  annotations:\n    config.kubernetes.io/local-config: \"true\"\ndata:\n  name: example\n"
    );
    let mut context = Resource::parse(text)?;
    context.set("data.name", name)?;
    context.move_to(PackagePath::new(FILE).map_err(|error| Error::new(error.to_string()))?);
    Ok(context)
}
