//! The input and output of a script: the same ResourceList that exec and container functions get.

use krm_core::format::{self, FormatOptions};
use krm_core::functions::resource_list::{AppliedOutput, InputList, InputOptions};
use krm_core::print::json;
use krm_sdk::{Diagnostic, Error, Item, Resource, ResourceList};
use krm_yaml::{ExpansionError, File, NodeRef, Value};

/// The ResourceList as a value.
pub(super) fn list_of(text: &str) -> Result<Value<'static>, Error> {
    let file = File::parse(text.to_owned()).map_err(|it| Diagnostic::from(&it))?;
    let root = file.documents().find_map(|document| document.root());
    let value = root.map_or(Ok(Value::Null), NodeRef::to_value).and_then(Value::into_owned);
    value.map_err(|error| Error::new(error.to_string()))
}

/// The options of the ResourceList.
pub(super) fn options(list: &ResourceList) -> InputOptions<'_> {
    let function_config = list.function_config.as_ref().map(Resource::item);
    InputOptions { function_config, ..InputOptions::default() }
}

/// The resources after the script. Those that it did not change keep their text.
pub(super) fn resources(input: &InputList<'_>, output: String) -> Result<Vec<Resource>, Error> {
    // The output exists only in memory, so a location in it helps nobody.
    let without_location = |mut error: Diagnostic| {
        (error.location, error.related) = (None, None);
        error
    };
    let output = input.apply_output(output).map_err(|refused| without_location(refused.error))?;
    let AppliedOutput { items, sources, .. } = output;
    items.into_iter().zip(sources).map(|(item, from)| format_new(item, from.is_none())).collect()
}

/// The list as text, a line for each resource.
pub(super) fn text_of(items: &[Value<'_>]) -> Result<String, ExpansionError> {
    let lines: Vec<String> = items.iter().map(json::flow).collect::<Result<_, _>>()?;
    Ok(format!("{{\"kind\":\"ResourceList\",\"items\":[\n{}\n]}}\n", lines.join(",\n")))
}

/// The items of a ResourceList, or whether there are any that are not a list.
pub(super) fn items_of(list: Value<'static>) -> Result<Vec<Value<'static>>, bool> {
    match take_field(list, "items") {
        Some(Value::Sequence(items)) => Ok(items),
        Some(_) => Err(true),
        None => Err(false),
    }
}

fn take_field(mapping: Value<'static>, name: &str) -> Option<Value<'static>> {
    let Value::Mapping(entries) = mapping else { return None };
    entries.into_iter().find(|(key, _)| is(key, name)).map(|(_, value)| value)
}

fn is(key: &Value<'_>, name: &str) -> bool {
    matches!(key, Value::String(text) if text == name)
}

/// Formats a new resource: the order of the keys of a dict is accidental.
fn format_new(item: Item, is_new: bool) -> Result<Resource, Error> {
    let mut resource = Resource::from(item);
    if is_new {
        let formatted = format::format(resource.item().file(), FormatOptions::default());
        let formatted = formatted.map_err(Error::of_diagnostics)?;
        resource.replace(formatted.text.unwrap_or_else(|| resource.text().to_owned()))?;
    }
    Ok(resource)
}
