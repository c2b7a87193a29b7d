//! `create-setters`: fields that hold the values of setters get `kpt-set` comments.

use krm_core::setters::{AddSetterComments, SetterValue};
use krm_sdk::{Diagnostic, Error, FunctionResult, Resource, ResourceList};

use crate::config::failing;
use crate::{Builtin, own_config, setters_config, telling};

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
    create(list)
        .map_err(|error| failing(error, |words| format!("failed to create setters: {words}")))
}

fn create(list: &mut ResourceList) -> Result<(), Error> {
    let config = setters_config::file(list, BUILTIN.name)?;
    let data = setters_config::data(&config).filter(|data| data.children().next().is_some());
    let Some(data) = data else {
        let hint = "`data` maps the names of new setters to the values that fields hold now";
        return Err(Diagnostic::untyped_error("config map cannot be empty").hint(hint).into());
    };
    let mark = AddSetterComments::new(&config, data)?;
    let (mut results, mut warnings) = (Vec::new(), Vec::new());
    let own = own_config::text(list);
    for item in list.items.iter_mut().filter(|it| !own_config::is_it(it, own.as_deref())) {
        let (told, left) = set(item, &mark)?;
        results.extend(told);
        warnings.extend(left);
    }
    if results.is_empty() {
        let hint = "fields are found by the values that they hold now; look at `data`";
        let error =
            Diagnostic::untyped_error("no matches for the input list of setters").hint(hint);
        return Err(std::iter::once(error).chain(warnings).collect::<Vec<_>>().into());
    }
    list.results.extend(results);
    list.results.extend(warnings.iter().map(telling::warning));
    Ok(())
}

/// What there is to say of fields that have references now, and of those that cannot have one.
fn set(
    item: &mut Resource,
    mark: &AddSetterComments,
) -> Result<(Vec<FunctionResult>, Vec<Diagnostic>), Error> {
    let file = item.item().package_file();
    let marked = mark.compute(&file);
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
    if let Some(text) = marked.changes.text(&file)? {
        item.replace(text)?;
    }
    Ok((told, marked.warnings))
}
