//! `set-name-prefix`: replaces the prefix of names, and updates references.

use std::collections::BTreeMap;

use krm_sdk::{Diagnostic, Error, Resource, ResourceList};
use serde::Deserialize;

use crate::config::{PACKAGE_CONTEXT, function_config, invalid_field, is_config_map};
use crate::field_spec::is_of;
use crate::kinds::CatalogKind;
use crate::rename::Renames;
use crate::{Builtin, Run, releases};

/// The description of the function.
pub const BUILTIN: Builtin = Builtin {
    name: "set-name-prefix",
    aliases: &[],
    summary: "replace the prefix of names, by default with the name of the package",
    doc: include_str!("../doc/set-name-prefix.md"),
    releases: releases::SET_NAME_PREFIX,
    run: Run::Native(run),
};

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct SetNamePrefix {
    prefix: Option<String>,
    old_prefix: Option<String>,
}

/// The prefix that packages are written with.
const OLD_PREFIX: &str = "packagename";

/// Replaces the prefix of all names except those of local configuration.
pub fn run(list: &mut ResourceList) -> Result<(), Error> {
    let config = read(list)?;
    let prefix = match config.prefix {
        Some(prefix) => prefix,
        None => package_name(&list.items)?,
    };
    let old_prefix = config.old_prefix.as_deref().unwrap_or(OLD_PREFIX);
    let mut renames = Renames::default();
    for item in list.items.iter().filter(|it| !it.view().is_local() && !is_inventory(it)) {
        let new = new_name(&item.name(), old_prefix, &prefix);
        if let (Some(new), Some(identity)) = (new, item.view().identity()) {
            let namespace = identity.namespace.clone();
            renames.add(identity, new, namespace);
        }
    }
    renames.apply(&mut list.items)
}

fn is_inventory(item: &Resource) -> bool {
    is_of(item, ["kpt.dev", "v1alpha1", "ResourceGroup"])
}

/// The new name; none if it does not change. A name with the new prefix already has it, even if that starts with the old one: otherwise
/// each run would add a part to it.
fn new_name(name: &str, old: &str, new: &str) -> Option<String> {
    let rest = |prefix: &str| match name.strip_prefix(prefix)? {
        rest if rest.is_empty() || rest.starts_with('-') => Some(rest),
        _ => None,
    };
    if rest(new).is_some() {
        return None;
    }
    rest(old).map(|rest| format!("{new}{rest}"))
}

fn read(list: &ResourceList) -> Result<SetNamePrefix, Error> {
    let Some(config) = function_config(list) else {
        return Ok(SetNamePrefix::default());
    };
    if !is_config_map(config) {
        let message = format!("unknown functionConfig Kind {}", config.kind());
        let error = invalid_field(config, "kind", message);
        return Err(error.hint("use a ConfigMap of v1").into());
    }
    let read = match config.name() == PACKAGE_CONTEXT {
        true => {
            let mut data: BTreeMap<String, String> = config.read_config()?;
            SetNamePrefix { prefix: data.remove("prefix"), old_prefix: data.remove("oldPrefix") }
        }
        false => config.read_config()?,
    };
    if read.prefix.as_deref() == Some("") {
        let error = invalid_field(config, "data.prefix", "`data.prefix` should not be empty");
        return Err(error.hint("set `data.prefix` to the new prefix, or remove it").into());
    }
    Ok(read)
}

/// The name of the package, from its package context.
fn package_name(items: &[Resource]) -> Result<String, Error> {
    let mut contexts =
        items.iter().filter(|it| it.view().is_local() && it.name() == PACKAGE_CONTEXT);
    let failed = |message: &str| Diagnostic::error(CatalogKind::Failed { message: message.into() });
    let hint = "run `gen-pkg-context` first, or set `prefix` in the functionConfig";
    let (context, others) = (contexts.next(), contexts.next());
    let Some(context) = context else {
        return Err(failed("unable to find package context object").hint(hint).into());
    };
    if others.is_some() {
        let error = failed("found multiple matches for package-context object");
        return Err(error.hint("set `prefix` in the functionConfig").into());
    }
    match context.get_text("data.name")?.filter(|name| !name.is_empty()) {
        Some(name) => Ok(name),
        None => {
            let message = "package name (data.name) not set in package context object";
            Err(failed(message).hint(hint).into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefix_ends_at_a_hyphen() {
        let rows = [
            ("app", Some("shop")),
            ("app-web", Some("shop-web")),
            ("app-", Some("shop-")),
            ("apps", None),
            ("web", None),
            ("shop-web", None),
            ("", None),
        ];
        for (name, new) in rows {
            assert_eq!(new_name(name, "app", "shop").as_deref(), new, "{name}");
        }
        assert_eq!(new_name("app-web", "app", "app-dev").as_deref(), Some("app-dev-web"));
        assert_eq!(new_name("app-dev-web", "app", "app-dev"), None);
    }
}
