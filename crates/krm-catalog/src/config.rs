//! Which functionConfigs a function takes: a ConfigMap, or a kind of its own in the group of the catalog.

use krm_core::diagnostics::closest_name;
use krm_sdk::{Diagnostic, Error, Resource, ResourceList};
use serde::de::DeserializeOwned;

/// The API version of the catalog's own kinds.
pub(crate) const API_VERSION: &str = "fn.kpt.dev/v1alpha1";

/// The functionConfig, where there is one that says something.
///
/// Compat: kpt puts an empty ConfigMap of this name in the place of a functionConfig that nobody gave.
pub(crate) fn given(list: &ResourceList) -> Option<&Resource> {
    let is_placeholder = |config: &Resource| {
        is_config_map(config) && config.name() == "function-input" && data_is_empty(config)
    };
    list.function_config.as_ref().filter(|config| !is_placeholder(config))
}

/// Whether it is a ConfigMap.
pub(crate) fn is_config_map(config: &Resource) -> bool {
    config.kind() == "ConfigMap" && config.api_version() == "v1"
}

/// Whether it is of one of the catalog's own kinds.
pub(crate) fn is_custom(config: &Resource, kind: &str) -> bool {
    config.kind() == kind && config.api_version() == API_VERSION
}

/// There is no functionConfig of this type.
pub(crate) fn missing<T: DeserializeOwned>(
    list: &ResourceList,
    name: &str,
    message: impl Into<String>,
) -> Error {
    // Who wants the schema calls the function with nothing, and sees which type it asks for. The words are ours.
    let _ = list.config::<T>();
    let hint = format!("`krm fn doc {name}` shows what it takes");
    Diagnostic::untyped_error(message).hint(hint).into()
}

/// The functionConfig is of a kind that the function does not take.
pub(crate) fn unknown(config: &Resource, kind: &str, message: impl Into<String>) -> Error {
    let its_kind = config.kind();
    let hint = match closest_name([kind, "ConfigMap"], &its_kind) {
        Some(near) if near != its_kind => format!("did you mean `kind: {near}`?"),
        Some("ConfigMap") => "a ConfigMap has `apiVersion: v1`".to_owned(),
        Some(_) => format!("{kind} has `apiVersion: {API_VERSION}`"),
        None => format!("take `kind: ConfigMap` of v1 or `kind: {kind}` of {API_VERSION}"),
    };
    wrong(config, "kind", message).hint(hint).into()
}

/// Something is wrong with a field of the functionConfig.
pub(crate) fn wrong(config: &Resource, field: &str, message: impl Into<String>) -> Diagnostic {
    let node = config.get(field).unwrap_or_else(|| config.root());
    let mut told = Diagnostic::untyped_error(message).at(config.item().file(), node.span());
    told.file = config.path().map(|path| path.as_str().into());
    told.resource = Some(config.view().label().into());
    told.field(field)
}

/// An error in the words that the original has around all of its own.
pub(crate) fn failing(mut error: Error, around: impl Fn(&str) -> String) -> Error {
    let errors = error.diagnostics.iter_mut().filter(|it| it.is_error());
    errors.for_each(|it| it.set_untyped(around(it.message())));
    error
}

/// A field that nobody knows, in the words that the original has for it.
pub(crate) fn unknown_fields(mut error: Error, words: impl Fn(&str) -> String) -> Error {
    for told in &mut error.diagnostics {
        let name = told.message().strip_suffix("` is no field of the functionConfig");
        if let Some(name) = name.and_then(|name| name.strip_prefix('`')) {
            told.set_untyped(words(name));
        }
    }
    error
}

fn data_is_empty(config: &Resource) -> bool {
    let data = config.get("data").and_then(|data| data.resolve().as_mapping());
    data.is_none_or(|data| data.entries().next().is_none())
}
