//! `create-setters`: adds `kpt-set` comments to fields with the values of setters.

use krm_core::setters::{AddSetterComments, SetterValue};
use krm_sdk::{Diagnostic, Error, FunctionResult, Resource, ResourceList};

use crate::config::with_context;
use crate::kinds::CatalogKind;
use crate::{Builtin, Run, config, releases, results, setters_config};

/// The description of the function.
pub const BUILTIN: Builtin = Builtin {
    name: "create-setters",
    aliases: &[],
    summary: "add `kpt-set` comments to the fields that hold the values of setters",
    doc: include_str!("../doc/create-setters.md"),
    releases: releases::CREATE_SETTERS,
    run: Run::Native(run),
};

/// Adds a comment to every field that contains one of the values.
pub fn run(list: &mut ResourceList) -> Result<(), Error> {
    create(list).map_err(|error| with_context(error, "failed to create setters"))
}

fn create(list: &mut ResourceList) -> Result<(), Error> {
    let config_file = setters_config::file(list, BUILTIN.name)?;
    let data = setters_config::data(&config_file).filter(|data| data.children().next().is_some());
    let Some(data) = data else {
        let hint = "map the names of new setters to current values of fields in `data`";
        return Err(config::rejected("config map cannot be empty").hint(hint).into());
    };
    let mark = AddSetterComments::new(&config_file, data).map_err(Error::of_diagnostics)?;
    let (mut results, mut warnings) = (Vec::new(), Vec::new());
    let own = config::config_text(list);
    for item in list.items.iter_mut().filter(|it| !config::is_function_config(it, own.as_deref())) {
        let (set, not_set) = set(item, &mark)?;
        results.extend(set);
        warnings.extend(not_set);
    }
    if results.is_empty() {
        let hint = "set `data` to values that fields have now";
        let message = "no matches for the input list of setters".into();
        let error = Diagnostic::error(CatalogKind::Failed { message }).hint(hint);
        return Err(Error::of_diagnostics(std::iter::once(error).chain(warnings).collect()));
    }
    list.results.extend(results);
    list.results.extend(warnings.iter().map(results::warning));
    Ok(())
}

/// Results for the fields that got a comment, and warnings for those that cannot have one.
fn set(
    item: &mut Resource,
    mark: &AddSetterComments,
) -> Result<(Vec<FunctionResult>, Vec<Diagnostic>), Error> {
    let file = item.item().package_file();
    let marked = mark.compute(&file);
    let mut field_results = Vec::new();
    for field in &marked.fields {
        let value = match &field.value {
            SetterValue::List(items) => format!("[{}]", items.join(" ")),
            other => other.to_string(),
        };
        let message = format!(
            "Added line comment {} for field with value {}",
            results::quoted(&field.reference),
            results::value(item, field.node, &value)
        );
        field_results.push(results::of_field(item, results::path(field.node), message));
    }
    if let Some(text) = marked.changes.text(&file)? {
        item.replace(text)?;
    }
    Ok((field_results, marked.warnings))
}
