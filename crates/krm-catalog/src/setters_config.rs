//! The functionConfig of functions on setters: a ConfigMap from names to values, kept as a file so that errors have places.

use std::collections::BTreeMap;

use krm_core::PackageFile;
use krm_sdk::yaml::{NodeRef, ScalarType};
use krm_sdk::{Error, Resource, ResourceList};

use crate::config;

/// The functionConfig as a file of its own.
pub(crate) fn file(list: &ResourceList, name: &str) -> Result<PackageFile, Error> {
    let Some(config) = &list.function_config else {
        let words = "this function needs a functionConfig with the names and values of setters";
        return Err(config::missing::<BTreeMap<String, String>>(list, name, words));
    };
    check(config)?;
    let mut file = config.item().package_file();
    if config.path().is_none() {
        "functionConfig".clone_into(&mut file.display_path);
    }
    Ok(file)
}

/// What it maps names to; none where it holds nothing.
pub(crate) fn data(file: &PackageFile) -> Option<NodeRef<'_>> {
    let root = file.file()?.documents().find_map(|document| document.root())?;
    let data = root.as_mapping()?.get("data")?.resolve();
    data.as_mapping().map(|_| data)
}

fn check(config: &Resource) -> Result<(), Error> {
    let hint = "`data` maps the names of setters to their values";
    if let Some(data) = config.get("data") {
        let is_null = data.as_scalar().is_some_and(|it| it.resolve() == ScalarType::Null);
        if is_null || data.as_mapping().is_some() {
            return Ok(());
        }
        let words = "`data` is no mapping from names to values";
        return Err(config::wrong(config, "data", words).hint(hint).into());
    }
    let entries = config.root().as_mapping().into_iter().flat_map(|it| it.entries());
    let own = |name: &str| ["apiVersion", "kind", "metadata"].contains(&name);
    let mut keys = entries.map(|entry| entry.key.text());
    match keys.find(|key| !own(key)) {
        Some(key) => {
            let words = format!("`{key}` is no field of the functionConfig");
            let hint = format!("a ConfigMap with `data` is wanted: {hint}");
            Err(config::wrong(config, key, words).hint(hint).into())
        }
        None => Ok(()),
    }
}
