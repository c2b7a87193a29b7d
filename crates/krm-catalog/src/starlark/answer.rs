//! What a script is given and what it gives back: resources on the same wire as those of functions outside.

use krm_core::format::{self, FormatOptions};
use krm_core::functions::resource_list::{AppliedOutput, InputList, InputOptions};
use krm_core::print::json;
use krm_sdk::{Diagnostic, Error, Item, Resource, ResourceList};
use krm_yaml::{File, NodeRef, Value};

/// The list as a script sees it.
pub(super) fn list_of(sending: &InputList<'_>) -> Result<Value<'static>, Error> {
    let file = File::parse(sending.text().to_owned()).map_err(|it| Diagnostic::from(&it))?;
    let root = file.documents().find_map(|document| document.root());
    let value = root.map_or(Ok(Value::Null), NodeRef::to_value).and_then(Value::into_owned);
    value.map_err(|error| Error::new(error.to_string()))
}

/// How a list is sent to a script.
pub(super) fn options(list: &ResourceList) -> InputOptions<'_> {
    let function_config = list.function_config.as_ref().map(Resource::item);
    InputOptions { function_config, ..InputOptions::default() }
}

/// The resources as they are after the script: those that it did not change are the very same.
pub(super) fn taken(sending: &InputList<'_>, list: Value<'static>) -> Result<Vec<Resource>, Error> {
    let items = items_of(list)?;
    // A place in what a script gave back is no place that anybody can look at.
    let told = |mut error: Diagnostic| {
        (error.location, error.related) = (None, None);
        error
    };
    let output = sending.apply_output(text_of(&items)).map_err(|refused| told(refused.error))?;
    let AppliedOutput { items, sources, .. } = output;
    items.into_iter().zip(sources).map(|(item, from)| in_order(item, from.is_none())).collect()
}

/// The list as text, a line for each resource.
fn text_of(items: &[Value<'_>]) -> String {
    let lines: Vec<String> = items.iter().map(json::flow).collect();
    format!("{{\"kind\":\"ResourceList\",\"items\":[\n{}\n]}}\n", lines.join(",\n"))
}

fn items_of(list: Value<'static>) -> Result<Vec<Value<'static>>, Error> {
    match taken_out(list, "items") {
        Some(Value::Sequence(items)) => Ok(items),
        Some(_) => Err(Error::new("the script left something in `items` that is no list")),
        None => Err(Error::new("the script left no `items` in `ctx.resource_list`")),
    }
}

fn taken_out(mapping: Value<'static>, name: &str) -> Option<Value<'static>> {
    let Value::Mapping(entries) = mapping else { return None };
    entries.into_iter().find(|(key, _)| is(key, name)).map(|(_, value)| value)
}

fn is(key: &Value<'_>, name: &str) -> bool {
    matches!(key, Value::String(text) if text == name)
}

/// A new resource gets its fields in the usual order: that of a dict is nobody's wish.
fn in_order(item: Item, is_new: bool) -> Result<Resource, Error> {
    let mut resource = Resource::from(item);
    if is_new {
        let formatted = format::format(resource.item().file(), FormatOptions::default())?;
        resource.replace(formatted.text.unwrap_or_else(|| resource.text().to_owned()))?;
    }
    Ok(resource)
}
