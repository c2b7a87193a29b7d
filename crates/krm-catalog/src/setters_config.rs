//! The functionConfig of functions on setters: a ConfigMap from names to values, kept as a file so that errors have places.

use krm_core::{Diagnostic, PackageFile};
use krm_sdk::yaml::{NodeRef, Resolved};
use krm_sdk::{Error, Resource, ResourceList};

/// The functionConfig as a file of its own.
pub(crate) fn file(list: &ResourceList) -> Result<PackageFile, Error> {
    let Some(config) = &list.function_config else {
        return Err(Diagnostic::error("this function needs a functionConfig")
            .hint("give it a ConfigMap whose `data` has the names and values of setters")
            .into());
    };
    check(config)?;
    let mut file = config.item().package_file();
    if config.path().is_none() {
        "functionConfig".clone_into(&mut file.shown);
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
    let error = |node: NodeRef<'_>, words: String| {
        let mut error = Diagnostic::error(words).at(config.item().file(), node.span());
        error.file = config.path().map(|path| path.as_str().into());
        error
    };
    let hint = "`data` maps the names of setters to their values";
    if let Some(data) = config.get("data") {
        let is_null = data.as_scalar().is_some_and(|it| it.resolve() == Resolved::Null);
        if is_null || data.as_mapping().is_some() {
            return Ok(());
        }
        let words = "`data` is no mapping from names to values".to_owned();
        return Err(error(data, words).hint(hint).into());
    }
    let entries = config.root().as_mapping().into_iter().flat_map(|it| it.entries());
    let own = |name: &str| ["apiVersion", "kind", "metadata"].contains(&name);
    let other = entries.map(|entry| entry.key).find(|key| !own(key.text()));
    match other {
        Some(key) => {
            let words = format!("`{}` is no field of the functionConfig", key.text());
            Err(error(key, words).hint(format!("a ConfigMap with `data` is wanted: {hint}")).into())
        }
        None => Ok(()),
    }
}
