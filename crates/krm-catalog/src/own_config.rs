//! The functionConfig of a call may be among its resources, and is no place to look for the values that it names.

use krm_sdk::{Resource, ResourceList};

/// The functionConfig's text, by which it is known among the resources: how it gets there is not the function's business.
pub(crate) fn text(list: &ResourceList) -> Option<String> {
    list.function_config.as_ref().map(|config| config.text().to_owned())
}

/// Whether a resource is the functionConfig itself.
pub(crate) fn is_it(item: &Resource, config: Option<&str>) -> bool {
    config.is_some_and(|text| item.text() == text)
}
