//! `upsert-resource`: adds resources, or replaces those with the same identity.

use std::collections::BTreeMap;

use krm_core::PackagePath;
use krm_core::print::source_text;
use krm_sdk::{Any, Diagnostic, Error, Resource, ResourceList};
use krm_yaml::{EmptyParents, NodeRef};

use crate::align::align;
use crate::config::missing;
use crate::kinds::CatalogKind;
use crate::{Builtin, Run, releases};

/// The description of the function.
pub const BUILTIN: Builtin = Builtin {
    name: "upsert-resource",
    aliases: &[],
    summary: "add a resource, or replace the one with the same identity",
    doc: include_str!("../doc/upsert-resource.md"),
    releases: releases::UPSERT_RESOURCE,
    run: Run::Native(run),
};

/// The file of the resource.
const TARGET_PATH: &str = "config.kubernetes.io/target-path";
/// Annotations of functionConfigs of older tools, which are not replaced.
const FUNCTIONS: [&str; 2] = ["config.kubernetes.io/function", "config.k8s.io/function"];

/// Adds the functionConfig, or each of its items if it is a list.
pub fn run(list: &mut ResourceList) -> Result<(), Error> {
    let Some(config) = list.function_config.clone() else {
        let message = "failed to upsert resource: there is no functionConfig";
        return Err(missing::<Any>(list, BUILTIN.name, message));
    };
    let upserts = resources(&config)?;
    let own = own_file(&list.items, &upserts).filter(|_| config.kind() == "List");
    for Upsert { resource, path, .. } in upserts {
        let mut exists = false;
        let others = list.items.iter_mut().filter(|it| own.is_none() || it.path() != own.as_ref());
        for item in others.filter(|item| is_same(item, &resource, path.as_ref())) {
            align(item, &resource)?;
            exists = true;
        }
        if !exists {
            let mut resource = resource;
            path.into_iter().for_each(|path| resource.move_to(path));
            list.items.push(resource);
        }
    }
    Ok(())
}

/// The file of the package that the functionConfig is, where that is a list: its items are resources of the package as well,
/// and not those that are looked for.
fn own_file(items: &[Resource], upserts: &[Upsert]) -> Option<PackagePath> {
    let mut files: BTreeMap<&PackagePath, Vec<&str>> = BTreeMap::new();
    for (path, item) in items.iter().filter_map(|item| Some((item.path()?, item))) {
        files.entry(path).or_default().push(item.text());
    }
    let texts: Vec<&str> = upserts.iter().map(|it| it.text.as_str()).collect();
    let found = files.into_iter().find(|(_, file)| *file == texts);
    found.map(|(path, _)| path.clone())
}

/// A resource to put in, and the file that it is for.
struct Upsert {
    resource: Resource,
    path: Option<PackagePath>,
    /// As the functionConfig has it.
    text: String,
}

/// What to put in, each as a document of its own.
fn resources(config: &Resource) -> Result<Vec<Upsert>, Error> {
    if config.kind() != "List" {
        return Ok(vec![upsert(config, config.root(), config.text().to_owned())?]);
    }
    let items = config.get_in(["items"]).and_then(|items| items.resolve().as_sequence());
    let items: Vec<NodeRef<'_>> = items.into_iter().flat_map(|items| items.items()).collect();
    let texts = source_text::texts(&items).into_iter().map(source_text::ensure_trailing_newline);
    items.iter().zip(texts).map(|(item, text)| upsert(config, *item, text)).collect()
}

fn upsert(config: &Resource, node: NodeRef<'_>, text: String) -> Result<Upsert, Error> {
    let mut resource = Resource::parse(text.clone())?;
    if resource.kind().is_empty() || resource.name().is_empty() {
        let message = "failed to upsert resource: it has no kind or no name";
        let hint = "set `kind` and `metadata.name`, which identify the resource";
        return Err(failed(config, node, message.to_owned()).hint(hint).into());
    }
    let path = match resource.annotation(TARGET_PATH).filter(|path| !path.is_empty()) {
        Some(path) => Some(parse_path(config, node, &path)?),
        None => None,
    };
    let names = FUNCTIONS.into_iter().chain([TARGET_PATH]);
    resource.edit(|edit, root| {
        let metadata = root.as_mapping().and_then(|root| root.get("metadata"));
        let annotations = metadata.and_then(|it| it.as_mapping()?.get("annotations"));
        let Some(annotations) = annotations.and_then(|it| it.as_mapping()) else { return Ok(()) };
        for entry in names.filter_map(|name| annotations.entry(name)) {
            edit.remove(entry.key, EmptyParents::Remove)?;
        }
        Ok(())
    })?;
    Ok(Upsert { resource, path, text })
}

fn parse_path(config: &Resource, node: NodeRef<'_>, path: &str) -> Result<PackagePath, Error> {
    PackagePath::new(path).map_err(|error| {
        let message = format!("failed to upsert resource: `{TARGET_PATH}`: {error}");
        let hint = "use the path of a file inside the package, such as `dir/file.yaml`";
        failed(config, node, message).hint(hint).into()
    })
}

/// A diagnostic at a resource of the functionConfig.
fn failed(config: &Resource, node: NodeRef<'_>, message: String) -> Diagnostic {
    let error = Diagnostic::error(CatalogKind::Failed { message: message.into() });
    error.at(config.item().file(), node.span())
}

/// Whether an item has the identity of the resource, and is in its file if it names one.
fn is_same(item: &Resource, resource: &Resource, path: Option<&PackagePath>) -> bool {
    let is_function = FUNCTIONS.iter().any(|name| item.annotation(name).is_some());
    let is_here = path.is_none_or(|path| item.path() == Some(path));
    !is_function && is_here && item.view().identity() == resource.view().identity()
}
