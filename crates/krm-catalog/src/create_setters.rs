//! `create-setters`: fields that hold the values of setters get `kpt-set` comments.

use krm_core::setters::{Mark, SetterValue};
use krm_sdk::{Diagnostic, Error, FunctionResult, Resource, ResourceList};

use crate::{Builtin, setters_config, telling};

/// The function as it is listed.
pub const BUILTIN: Builtin = Builtin {
    name: "create-setters",
    aliases: &[],
    summary: "add `kpt-set` comments to the fields that hold the values of setters",
    doc: include_str!("../doc/create-setters.md"),
    tags: &["v0.1", "v0.1.0"],
    run,
};

/// Marks every field that holds one of the values.
pub fn run(list: &mut ResourceList) -> Result<(), Error> {
    let config = setters_config::file(list)?;
    let data = setters_config::data(&config).filter(|data| data.children().next().is_some());
    let Some(data) = data else {
        let hint = "`data` maps the names of new setters to the values that fields hold now";
        return Err(Diagnostic::error("config map cannot be empty").hint(hint).into());
    };
    let mark = Mark::new(&config, data)?;
    let mut results = Vec::new();
    let mut any = false;
    for item in &mut list.items {
        let (count, told) = set(item, &mark)?;
        any |= count > 0;
        results.extend(told);
    }
    if !any {
        let hint = "fields are found by the values that they hold now; look at `data`";
        let error = Diagnostic::error("no matches for the input list of setters").hint(hint);
        return Err(error.into());
    }
    list.results.extend(results);
    Ok(())
}

/// How many fields have references now, and what there is to say.
fn set(item: &mut Resource, mark: &Mark) -> Result<(usize, Vec<FunctionResult>), Error> {
    let file = item.item().package_file();
    let marked = mark.on(&file);
    let mut told = Vec::new();
    for field in &marked.fields {
        let value = match &field.value {
            SetterValue::List(items) => format!("[{}]", items.join(" ")),
            other => other.shown(),
        };
        let message = format!(
            "Added line comment {} for field with value {}",
            telling::quoted(&field.reference),
            telling::value(item, field.node, &value)
        );
        told.push(telling::of_field(item, telling::path(field.node), message));
    }
    told.extend(marked.warnings.iter().map(telling::warning));
    let count = marked.fields.len();
    if let Some(text) = marked.changes.text(&file)? {
        item.replace(text)?;
    }
    Ok((count, told))
}
