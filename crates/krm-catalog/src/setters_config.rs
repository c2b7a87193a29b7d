//! The functionConfig of setter functions: a ConfigMap of names and values, kept as a file so that errors have locations.

use std::collections::BTreeMap;

use krm_core::PackageFile;
use krm_core::diagnostics::CommonKind;
use krm_sdk::yaml::{NodeRef, ScalarType};
use krm_sdk::{Diagnostic, Error, Resource, ResourceList};

use crate::config;

/// The functionConfig as a file.
pub(crate) fn file(list: &ResourceList, name: &str) -> Result<PackageFile, Error> {
    let Some(config) = &list.function_config else {
        let message = "this function needs a functionConfig with the names and values of setters";
        return Err(config::missing::<BTreeMap<String, String>>(list, name, message));
    };
    check(config)?;
    let mut file = config.item().package_file();
    if config.path().is_none() {
        "functionConfig".clone_into(&mut file.display_path);
    }
    Ok(file)
}

/// The mapping of names to values; none if there is none.
pub(crate) fn data(file: &PackageFile) -> Option<NodeRef<'_>> {
    let root = file.file()?.documents().find_map(|document| document.root())?;
    let data = root.as_mapping()?.get("data")?.resolve();
    data.as_mapping().map(|_| data)
}

fn check(config: &Resource) -> Result<(), Error> {
    let hint = "map the names of setters to their values in `data`";
    if let Some(data) = config.get_in(["data"]) {
        let is_null = data.as_scalar().is_some_and(|it| it.resolve() == ScalarType::Null);
        if is_null || data.as_mapping().is_some() {
            return Ok(());
        }
        let message = "`data` is not a mapping of names to values";
        return Err(config::invalid_field(config, "data", message).hint(hint).into());
    }
    let entries = config.root().as_mapping().into_iter().flat_map(|it| it.entries());
    let is_common = |name: &str| ["apiVersion", "kind", "metadata"].contains(&name);
    let mut keys = entries.map(|entry| entry.key.text());
    match keys.find(|key| !is_common(key)) {
        Some(key) => {
            let (field, owner) = (key.to_owned(), "the functionConfig".to_owned());
            let error = Diagnostic::error(CommonKind::UnknownField { field, owner });
            Err(config::at_field(config, key, error).hint(hint).into())
        }
        None => Ok(()),
    }
}
