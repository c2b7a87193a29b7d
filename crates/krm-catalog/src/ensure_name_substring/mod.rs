//! `ensure-name-substring`: adds a prefix or suffix to names, and updates references.

mod references;
mod renamed;

use std::collections::BTreeMap;

use krm_sdk::{Error, Resource, ResourceList};
use serde::Deserialize;

use crate::changes::{Changes, FieldSlot, change_each, text_of};
use crate::config::{
    function_config, invalid_field, is_config_map, is_custom, missing, unknown_kind,
};
use crate::depends_on::{Dependency, rewrite};
use crate::field_spec::{FieldSpec, is_of};
use crate::scope::Scopes;
use crate::{Builtin, Run, Version, releases};
use references::References;
use renamed::Renamed;

/// The description of the function.
pub const BUILTIN: Builtin = Builtin {
    name: "ensure-name-substring",
    aliases: &[],
    summary: "add a prefix or suffix to names, and update references to them",
    doc: include_str!("../../doc/ensure-name-substring.md"),
    releases: releases::ENSURE_NAME_SUBSTRING,
    run: Run::Versioned(run),
};

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct EnsureNameSubstring {
    substring: String,
    edit_mode: EditMode,
    additional_name_fields: Option<Vec<FieldSpec>>,
    /// The deprecated name of `additionalNameFields`.
    field_specs: Option<Vec<FieldSpec>>,
    /// Whether the Kptfile is renamed.
    #[serde(skip)]
    renames_package: bool,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum EditMode {
    #[default]
    Prepend,
    Append,
}

/// Kinds whose names cannot be changed.
const FIXED: &[[&str; 3]] = &[
    ["", "", "CustomResourceDefinition"],
    ["apiregistration.k8s.io", "", "APIService"],
    ["", "", "Namespace"],
];
/// A kind whose name is not changed since [`DEPENDENCIES`].
const PACKAGE: [&str; 3] = ["kpt.dev", "", "Kptfile"];

/// The release that knows dependencies; see [`releases::ENSURE_NAME_SUBSTRING`].
const DEPENDENCIES: Version = Version::new(0, 2, 0);

/// Changes the names of all resources, and what refers to them.
pub fn run(list: &mut ResourceList, version: Version) -> Result<(), Error> {
    let mut config = read(list)?;
    config.renames_package = version < DEPENDENCIES;
    let scopes = Scopes::of(&list.items);
    let renamed = config.renamed(&list.items, &scopes);
    let references = References::to(&renamed);
    change_each(list.items.iter_mut().collect(), |changes, resource| {
        let is_namespaced = scopes.is_namespaced(resource);
        config.set_names(changes, resource)?;
        references.update(changes, resource, is_namespaced, &renamed, |old| config.new_name(old));
        if version >= DEPENDENCIES {
            rewrite(changes, resource, |dependency| {
                let is_renamed = renamed.has_dependency(&dependency);
                let new = config.new_name(&dependency.name).filter(|_| is_renamed)?;
                Some(Dependency { name: new, ..dependency })
            });
        }
        Ok(())
    })?;
    Ok(())
}

fn read(list: &ResourceList) -> Result<EnsureNameSubstring, Error> {
    let Some(config) = function_config(list) else {
        let message = "failed to load the `functionConfig`: it is missing";
        return Err(missing::<EnsureNameSubstring>(list, BUILTIN.name, message));
    };
    let read = match config {
        config if is_config_map(config) => from_config_map(config)?,
        config if is_custom(config, "EnsureNameSubstring") => {
            config.read_config::<EnsureNameSubstring>()?
        }
        _ => {
            let message = format!(
                "failed to load the `functionConfig`: function config must be either /v1, Kind=ConfigMap or fn.kpt.dev/v1alpha1, Kind=EnsureNameSubstring, but we got: {}, Kind={}",
                config.api_version(),
                config.kind()
            );
            return Err(unknown_kind(config, "EnsureNameSubstring", message));
        }
    };
    check(config, read)
}

fn from_config_map(config: &Resource) -> Result<EnsureNameSubstring, Error> {
    let data: BTreeMap<String, String> = config.read_config()?;
    let mut entries = data.into_iter();
    let (Some((mode, substring)), 0) = (entries.next(), entries.len()) else {
        let count = config.read_config::<BTreeMap<String, String>>()?.len();
        let message = format!(
            "failed to load the `functionConfig`: only 1 entry is allowed in the ConfigMap, but got: {count}"
        );
        return Err(invalid_field(config, "data", message)
            .hint("use either `prepend` or `append`")
            .into());
    };
    let edit_mode = match mode.as_str() {
        "prepend" => EditMode::Prepend,
        "append" => EditMode::Append,
        _ => {
            let message = format!(
                "failed to load the `functionConfig`: unknown editMode: {mode}, only prepend and append are allowed"
            );
            return Err(invalid_field(config, "data", message)
                .hint("use either `prepend` or `append`")
                .into());
        }
    };
    Ok(EnsureNameSubstring { substring, edit_mode, ..EnsureNameSubstring::default() })
}

fn check(config: &Resource, mut read: EnsureNameSubstring) -> Result<EnsureNameSubstring, Error> {
    if read.substring.is_empty() {
        let field = if is_config_map(config) { "data" } else { "substring" };
        let message = "failed to load the `functionConfig`: substring must not be empty";
        return Err(invalid_field(config, field, message)
            .hint("set it to the prefix or suffix")
            .into());
    }
    if let Some(fields) = read.field_specs.take() {
        if read.additional_name_fields.is_some() {
            let message = "failed to load the `functionConfig`: `fieldSpecs` has been deprecated, please rename it to `additionalNameFields`";
            let error = invalid_field(config, "fieldSpecs", message);
            return Err(error.hint("move its items to `additionalNameFields`").into());
        }
        read.additional_name_fields = Some(fields);
    }
    Ok(read)
}

impl EnsureNameSubstring {
    /// The new name; none if the name contains the substring already.
    fn new_name(&self, name: &str) -> Option<String> {
        if name.contains(&self.substring) {
            return None;
        }
        Some(match self.edit_mode {
            EditMode::Prepend => format!("{}{name}", self.substring),
            EditMode::Append => format!("{name}{}", self.substring),
        })
    }

    /// The resources that are renamed.
    fn renamed(&self, items: &[Resource], scopes: &Scopes) -> Renamed {
        let renamed = items
            .iter()
            .filter(|it| self.can_be_renamed(it) && self.new_name(&it.name()).is_some());
        Renamed::of(renamed.map(|it| (it, scopes.is_namespaced(it))))
    }

    fn set_names<'a>(
        &self,
        changes: &mut Changes<'a>,
        resource: &'a Resource,
    ) -> Result<(), Error> {
        if !self.can_be_renamed(resource) {
            return Ok(());
        }
        if let Some(slot) = changes.follow(resource.root(), &["metadata", "name"]) {
            self.set_name(changes, &slot, false);
        }
        for field in self.additional_name_fields.iter().flatten() {
            for slot in field.find(resource, changes)? {
                self.set_name(changes, &slot, true);
            }
        }
        Ok(())
    }

    fn set_name<'a>(&self, changes: &mut Changes<'a>, slot: &FieldSlot<'a>, create: bool) {
        let old = match slot.node() {
            Some(node) => text_of(node),
            None => create.then(|| "".into()),
        };
        if let Some(new) = old.and_then(|old| self.new_name(&old)) {
            changes.set(slot, &new);
        }
    }

    fn can_be_renamed(&self, resource: &Resource) -> bool {
        let is_fixed = FIXED.iter().any(|kind| is_of(resource, *kind));
        !is_fixed && (self.renames_package || !is_of(resource, PACKAGE))
    }
}
