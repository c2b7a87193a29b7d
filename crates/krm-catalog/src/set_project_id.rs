//! `set-project-id`: sets the setter and the annotation with the ID of a Google Cloud project, unless they are set.

use krm_core::PackagePath;
use krm_sdk::{Diagnostic, Error, Resource, ResourceList};
use krm_yaml::{NodeRef, Value};
use serde::Deserialize;

use crate::changes::{Changes, change, change_each, in_resource, not_a_mapping, text_of};
use crate::config::{function_config, invalid_field, missing, read_data, with_context};
use crate::kinds::CatalogKind;
use crate::lookup;
use crate::{Builtin, Run, Version, releases};

/// The description of the function.
pub const BUILTIN: Builtin = Builtin {
    name: "set-project-id",
    aliases: &[],
    summary: "set the setter `project-id` and the annotation of Config Connector, unless they are set",
    doc: include_str!("../doc/set-project-id.md"),
    releases: releases::SET_PROJECT_ID,
    run: Run::Versioned(run),
};

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Config {
    #[serde(default)]
    project_id: String,
}

const SETTER: &str = "project-id";
const ANNOTATION: &str = "cnrm.cloud.google.com/project-id";
/// Compat: the function that a release of the original adds to a Kptfile without setters; see [`releases::SET_PROJECT_ID`].
fn apply_setters(version: Version) -> &'static str {
    match version < Version::new(0, 2, 0) {
        true => "gcr.io/kpt-fn/apply-setters:v0.1",
        false => "gcr.io/kpt-fn/apply-setters:v0.2",
    }
}

/// Sets the setter in every Kptfile, and the annotation of every resource of Config Connector.
pub fn run(list: &mut ResourceList, version: Version) -> Result<(), Error> {
    let id = read(list)?;
    set_setters(&mut list.items, &id, apply_setters(version))
        .map_err(|error| with_context(error, "failed to set project-id setter"))?;
    let resources = list.items.iter_mut().filter(|it| is_config_connector(&it.api_version()));
    change_each(resources.collect(), |changes, resource| {
        let keys = ["metadata", "annotations", ANNOTATION];
        let Some(slot) = changes.follow(resource.root(), &keys) else {
            let at = resource.get_in(["metadata"]).unwrap_or_else(|| resource.root());
            return Err(not_a_mapping(resource, at, ANNOTATION));
        };
        if slot.node().is_none() {
            changes.set(&slot, &id);
        }
        Ok(())
    })?;
    Ok(())
}

fn read(list: &ResourceList) -> Result<String, Error> {
    let required = "`project-id` is required";
    let Some(config) = function_config(list) else {
        return Err(missing::<Config>(list, BUILTIN.name, required));
    };
    let Config { project_id } = read_data(config)?;
    if project_id.is_empty() {
        let error = invalid_field(config, "data", required);
        return Err(error.hint("set `project-id` to the ID of the project").into());
    }
    Ok(project_id)
}

/// Whether this is the apiVersion of a resource of Config Connector, except for the configuration of Config Connector itself.
fn is_config_connector(api_version: &str) -> bool {
    let is_word =
        |it: &str| !it.is_empty() && it.chars().all(|it| it.is_ascii_alphanumeric() || it == '_');
    let Some((group, version)) = api_version.split_once('/') else { return false };
    let service = group.strip_suffix(".cnrm.cloud.google.com");
    is_word(version) && service.is_some_and(|service| is_word(service) && service != "core")
}

fn set_setters(items: &mut [Resource], id: &str, image: &'static str) -> Result<(), Error> {
    let kptfiles: Vec<usize> =
        (0..items.len()).filter(|at| items[*at].kind() == "Kptfile").collect();
    if kptfiles.is_empty() {
        let message = "failed to find Kptfile: unable to find Kptfile, please include --include-meta-resources flag if a Kptfile is present";
        let error = Diagnostic::error(CatalogKind::Failed { message: message.into() });
        return Err(error.hint("run the function on the directory of the Kptfile").into());
    }
    for at in kptfiles {
        set_setter(items, at, id, image)
            .map_err(|error| with_context(error, "error updating Kptfile"))?;
    }
    Ok(())
}

/// Where a Kptfile has its setters.
enum Setters {
    /// In the `configMap` of the mutator with this index.
    Inline(usize),
    /// In another file.
    File(String),
    /// There is no `apply-setters`.
    None,
}

fn set_setter(
    items: &mut [Resource],
    at: usize,
    id: &str,
    image: &'static str,
) -> Result<(), Error> {
    match setters(&items[at])? {
        Setters::Inline(index) => change(&mut items[at], |changes, kptfile| {
            let mutator = mutators(kptfile).and_then(|list| list.as_sequence()?.items().nth(index));
            set_if_empty(changes, kptfile, mutator, &["configMap", SETTER], id)
        }),
        Setters::File(path) => {
            let file = find(items, at, &path)?;
            change(&mut items[file], |changes, file| {
                set_if_empty(changes, file, Some(file.root()), &["data", SETTER], id)
            })
        }
        Setters::None => add_function(&mut items[at], id, image),
    }
}

fn mutators(kptfile: &Resource) -> Option<NodeRef<'_>> {
    let list = kptfile.get_in(["pipeline", "mutators"])?.resolve();
    list.as_sequence().map(|_| list)
}

fn setters(kptfile: &Resource) -> Result<Setters, Error> {
    let list = mutators(kptfile).and_then(|list| list.as_sequence());
    let mutators = list.into_iter().flat_map(|list| list.items()).map(NodeRef::resolve);
    let is_apply_setters = |node: &NodeRef<'_>| {
        lookup::text(*node, "image").is_some_and(|it| it.contains("apply-setters"))
    };
    let Some((index, mutator)) = mutators.enumerate().find(|(_, node)| is_apply_setters(node))
    else {
        return Ok(Setters::None);
    };
    if lookup::child(mutator, "configMap").is_some() {
        return Ok(Setters::Inline(index));
    }
    match lookup::text(mutator, "configPath").filter(|path| !path.is_empty()) {
        Some(path) => Ok(Setters::File(path.into_owned())),
        None => {
            let message = "unable to find `ConfigMap` or `configPath` as the `functionConfig` for apply-setters";
            let error = failed(kptfile, mutator, message.to_owned());
            Err(in_resource(kptfile, error.hint("add an empty `configMap: {}`")))
        }
    }
}

/// The resource in the file that a Kptfile names.
fn find(items: &[Resource], kptfile: usize, path: &str) -> Result<usize, Error> {
    let kptfile = &items[kptfile];
    let directory = kptfile.path().map_or("", |path| path.directory());
    let file = PackagePath::new(path).ok().map(|path| path.in_directory(directory));
    let found = items.iter().position(|it| file.is_some() && it.path() == file.as_ref());
    found.ok_or_else(|| {
        let message = format!(
            "failed to find setter file: file {path} doesn't exist, please ensure the file specified in \"configPath\" exists and retry"
        );
        let at = mutators(kptfile).unwrap_or_else(|| kptfile.root());
        in_resource(kptfile, failed(kptfile, at, message))
    })
}

fn set_if_empty<'a>(
    changes: &mut Changes<'a>,
    resource: &'a Resource,
    node: Option<NodeRef<'a>>,
    keys: &[&str],
    id: &str,
) -> Result<(), Error> {
    let node = node.unwrap_or_else(|| resource.root());
    let Some(slot) = changes.follow(node, keys) else {
        return Err(not_a_mapping(resource, node, SETTER));
    };
    let is_empty =
        |it: NodeRef<'_>| !it.is_collection() && text_of(it).unwrap_or_default().is_empty();
    if slot.node().is_none_or(is_empty) {
        changes.set(&slot, id);
    }
    Ok(())
}

/// Appends `apply-setters` to the mutators.
fn add_function(kptfile: &mut Resource, id: &str, image: &'static str) -> Result<(), Error> {
    let entry = |key: &'static str, value| (Value::string(key), value);
    let setter = Value::Mapping(vec![(Value::string(SETTER), Value::string(id.to_owned()))]);
    let function =
        Value::Mapping(vec![entry("image", Value::string(image)), entry("configMap", setter)]);
    match mutators(kptfile) {
        Some(_) => kptfile.edit(|edit, root| {
            let path = krm_yaml::Path::default().join("pipeline").join("mutators");
            match root.document().find(&path) {
                Some(list) => edit.append(list.resolve(), function),
                None => Ok(()),
            }
        }),
        None => kptfile.set("pipeline.mutators", Value::Sequence(vec![function])),
    }
}

fn failed(resource: &Resource, node: NodeRef<'_>, message: String) -> Diagnostic {
    let error = Diagnostic::error(CatalogKind::Failed { message: message.into() });
    error.at(resource.item().file(), node.span())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn config_connector_is_recognized_by_its_group() {
        assert!(is_config_connector("storage.cnrm.cloud.google.com/v1beta1"));
        for other in [
            "core.cnrm.cloud.google.com/v1beta1",
            "cnrm.cloud.google.com/v1beta1",
            "a.b.cnrm.cloud.google.com/v1",
            "storage.cnrm.cloud.google.com",
            "storage.cnrm.cloud.google.com/",
            "v1",
        ] {
            assert!(!is_config_connector(other), "{other}");
        }
    }
}
