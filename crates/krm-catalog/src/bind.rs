//! `bind`: gives a placeholder resource the name and namespace of the resource that takes its place.

use krm_sdk::{Any, Diagnostic, Error, Resource, ResourceList};

use crate::changes::in_resource;
use crate::config::{function_config, invalid_field, missing};
use crate::kinds::CatalogKind;
use crate::rename::Renames;
use crate::{Builtin, Run};

/// The description of the function.
pub const BUILTIN: Builtin = Builtin {
    name: "bind",
    aliases: &[],
    summary: "give a placeholder the name and namespace of another resource, and update references to it",
    doc: include_str!("../doc/bind.md"),
    releases: &[],
    run: Run::Native(run),
};

const LOCAL_CONFIG: &str = "config.kubernetes.io/local-config";

/// Renames the placeholder of the functionConfig's kind.
pub fn run(list: &mut ResourceList) -> Result<(), Error> {
    let Some(config) = function_config(list) else {
        return Err(missing::<Any>(list, BUILTIN.name, "`data.object` should not be empty"));
    };
    let Some(object) = config.view().identity() else {
        let error = invalid_field(config, "metadata", "`name` is required");
        return Err(error.hint("set `metadata.name` to the name of the resource to bind").into());
    };
    let is_placeholder = |it: &&Resource| {
        it.annotation(LOCAL_CONFIG).as_deref() == Some("binding")
            && it.kind() == config.kind()
            && it.api_version() == config.api_version()
    };
    let mut placeholders = list.items.iter().filter(is_placeholder);
    let placeholder = match (placeholders.next(), placeholders.next()) {
        (Some(placeholder), None) => placeholder,
        (None, _) => return Err(not_one(config, "no match")),
        (Some(_), Some(_)) => return Err(not_one(config, "multiple matches")),
    };
    let Some(old) = placeholder.view().identity() else {
        let error =
            Diagnostic::error(CatalogKind::Failed { message: "`oldName` is required".into() });
        let error = error.at(placeholder.item().file(), placeholder.root().span());
        return Err(in_resource(placeholder, error.hint("give the placeholder a name")));
    };
    let mut renames = Renames::default();
    if old != object {
        renames.add(old, object.name, object.namespace);
    }
    renames.apply(&mut list.items)
}

fn not_one(config: &Resource, found: &str) -> Error {
    let (api_version, kind) = (config.api_version(), config.kind());
    let message = format!("{found} found for binding object of kind {api_version}/{kind}");
    let hint = format!("annotate one resource of this kind with `{LOCAL_CONFIG}: binding`");
    invalid_field(config, "kind", message).hint(hint).into()
}
