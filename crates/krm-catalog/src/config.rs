//! The functionConfigs that built-in functions accept: a ConfigMap, or a kind of the catalog's API group.

use krm_core::diagnostics::{CommonKind, closest_name};
use krm_sdk::{Diagnostic, Error, Resource, ResourceList};
use serde::de::DeserializeOwned;

use crate::builtin::doc_hint;
use crate::kinds::CatalogKind;

/// The API version of the catalog's own kinds.
pub(crate) const API_VERSION: &str = "fn.kpt.dev/v1alpha1";

/// The name of the ConfigMap that kpt generates for a package.
pub(crate) const PACKAGE_CONTEXT: &str = "kptfile.kpt.dev";

/// The functionConfig, unless it is a placeholder.
///
/// Compat: kpt passes an empty ConfigMap of this name if the user gave no functionConfig.
pub(crate) fn function_config(list: &ResourceList) -> Option<&Resource> {
    let is_placeholder = |config: &Resource| {
        is_config_map(config) && config.name() == "function-input" && data_is_empty(config)
    };
    list.function_config.as_ref().filter(|config| !is_placeholder(config))
}

pub(crate) fn is_config_map(config: &Resource) -> bool {
    config.kind() == "ConfigMap" && config.api_version() == "v1"
}

/// Whether the functionConfig has a kind of the catalog's API group.
pub(crate) fn is_custom(config: &Resource, kind: &str) -> bool {
    config.kind() == kind && config.api_version() == API_VERSION
}

/// Reads `data` of a functionConfig of any kind, as the original functions do; without `data`, the functionConfig itself.
pub(crate) fn read_data<T: DeserializeOwned>(config: &Resource) -> Result<T, Error> {
    if config.get_in(["data"]).is_some() { config.read_data() } else { config.read_config() }
}

/// The text of the functionConfig, by which [`is_function_config`] recognizes it.
pub(crate) fn config_text(list: &ResourceList) -> Option<String> {
    list.function_config.as_ref().map(|config| config.text().to_owned())
}

/// Whether a resource is the functionConfig, which may be among the items. Functions that search for the values of their
/// functionConfig must not find them there.
pub(crate) fn is_function_config(item: &Resource, config: Option<&str>) -> bool {
    config.is_some_and(|text| item.text() == text)
}

/// A diagnostic about the functionConfig, in the words of the original function.
pub(crate) fn rejected(message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(CatalogKind::ConfigRejected { message: message.into().into() })
}

/// The error for a missing functionConfig of type `T`.
pub(crate) fn missing<T: DeserializeOwned>(
    list: &ResourceList,
    name: &str,
    message: impl Into<String>,
) -> Error {
    // `krm fn doc` calls functions without a functionConfig to capture the schema of the type that they read.
    let _ = list.config::<T>();
    rejected(message).hint(doc_hint(name)).into()
}

/// The error for a functionConfig of a kind that the function does not accept.
pub(crate) fn unknown_kind(config: &Resource, kind: &str, message: impl Into<String>) -> Error {
    let found = config.kind();
    let hint = match closest_name([kind, "ConfigMap"], &found) {
        Some(near) if near != found => format!("did you mean `kind: {near}`?"),
        Some("ConfigMap") => "a ConfigMap has `apiVersion: v1`".to_owned(),
        Some(_) => format!("{kind} has `apiVersion: {API_VERSION}`"),
        None => format!("use `kind: ConfigMap` of v1 or `kind: {kind}` of {API_VERSION}"),
    };
    invalid_field(config, "kind", message).hint(hint).into()
}

/// A diagnostic at a field of the functionConfig.
pub(crate) fn invalid_field(
    config: &Resource,
    field: &str,
    message: impl Into<String>,
) -> Diagnostic {
    at_field(config, field, rejected(message))
}

/// Locates a diagnostic at a field of the functionConfig.
pub(crate) fn at_field(config: &Resource, field: &str, diagnostic: Diagnostic) -> Diagnostic {
    let node = config.get(field).ok().flatten().unwrap_or_else(|| config.root());
    let mut diagnostic = diagnostic.at(config.item().file(), node.span());
    diagnostic.file = config.path().map(|path| path.as_str().into());
    diagnostic.resource = Some(config.view().label().into());
    diagnostic.field(field)
}

/// Prefixes all errors. Compat: original functions prefix their errors with what they were doing.
pub(crate) fn with_context(error: Error, context: &str) -> Error {
    map_diagnostics(error, |diagnostic| match diagnostic.is_error() {
        true => diagnostic.context(context),
        false => diagnostic,
    })
}

/// Replaces the message of unknown fields by the wording of the original function.
pub(crate) fn reword_unknown_fields(error: Error, message: impl Fn(&str) -> String) -> Error {
    map_diagnostics(error, |diagnostic| {
        let Some(CommonKind::UnknownField { field, .. }) = diagnostic.kind() else {
            return diagnostic;
        };
        let mut reworded = rejected(message(field)).located_as(&diagnostic);
        reworded.hints = diagnostic.hints;
        reworded
    })
}

/// Changes every diagnostic of an error.
pub(crate) fn map_diagnostics(
    mut error: Error,
    change: impl FnMut(Diagnostic) -> Diagnostic,
) -> Error {
    error.diagnostics = error.diagnostics.into_iter().map(change).collect();
    error
}

fn data_is_empty(config: &Resource) -> bool {
    let data = config.get_in(["data"]).and_then(|data| data.as_mapping());
    data.is_none_or(|data| data.entries().next().is_none())
}
