//! `apply-setters`: sets the fields that refer to setters in `kpt-set` comments.

use krm_core::setters::ApplySetters;
use krm_sdk::{Error, FunctionResult, Resource, ResourceList, Severity};

use crate::config::with_context;
use crate::{Builtin, Run, results, setters_config};

/// The description of the function.
pub const BUILTIN: Builtin = Builtin {
    name: "apply-setters",
    aliases: &[],
    summary: "set the fields that name a setter in a `kpt-set` comment",
    doc: include_str!("../doc/apply-setters.md"),
    tags: &["v0.1", "v0.1.0", "v0.1.1", "v0.2", "v0.2.0", "v0.2.1"],
    run: Run::Native(run),
};

/// Sets every field that refers to one of the setters.
pub fn run(list: &mut ResourceList) -> Result<(), Error> {
    apply(list).map_err(|error| with_context(error, "failed to apply setters"))
}

fn apply(list: &mut ResourceList) -> Result<(), Error> {
    let config = setters_config::file(list, BUILTIN.name)?;
    let (mut results, mut errors) = (Vec::new(), Vec::new());
    if let Some(data) = setters_config::data(&config) {
        let apply = ApplySetters::new(&config, data)?;
        for item in &mut list.items {
            match set(item, &apply) {
                Ok(set) => results.extend(set),
                Err(error) => errors.extend(error.diagnostics),
            }
        }
    }
    if !errors.is_empty() {
        return Err(errors.into());
    }
    if results.is_empty() {
        list.add_result(Severity::Info, "no matches for input setter(s)");
    }
    list.results.extend(results);
    Ok(())
}

fn set(item: &mut Resource, apply: &ApplySetters<'_>) -> Result<Vec<FunctionResult>, Error> {
    if !item.text().contains("kpt-set:") {
        return Ok(Vec::new());
    }
    let file = item.item().package_file();
    let applied = apply.compute(&file)?;
    let mut set = Vec::new();
    for it in &applied.fields {
        let value = results::value(item, it.field.node, &it.value);
        let message = format!("set field value to {value}");
        set.push(results::of_field(item, results::path(it.field.node), message));
    }
    set.extend(applied.warnings.iter().map(results::warning));
    if let Some(text) = applied.changes.text(&file)? {
        item.replace(text)?;
    }
    Ok(set)
}
