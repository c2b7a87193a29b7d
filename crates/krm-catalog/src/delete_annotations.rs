//! `delete-annotations`: removes annotations by name.

use krm_sdk::results::FileRef;
use krm_sdk::{Error, FunctionResult, Resource, ResourceList, Severity};
use krm_yaml::EmptyParents;
use serde::Deserialize;

use crate::config::{function_config, invalid_field, missing, read_data};
use crate::{Builtin, Run, releases};

/// The description of the function.
pub const BUILTIN: Builtin = Builtin {
    name: "delete-annotations",
    aliases: &[],
    summary: "remove annotations by name",
    doc: include_str!("../doc/delete-annotations.md"),
    releases: releases::DELETE_ANNOTATIONS,
    run: Run::Native(run),
};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DeleteAnnotations {
    #[serde(default)]
    annotation_keys: String,
}

/// Removes the annotations from all resources.
pub fn run(list: &mut ResourceList) -> Result<(), Error> {
    let names = names(list)?;
    let mut results = Vec::new();
    let mut count = 0;
    for resource in list.items.iter_mut().filter(|it| !it.name().is_empty()) {
        let removed = remove(resource, &names)?;
        count += usize::from(!removed.is_empty());
        results.extend(removed.into_iter().map(|name| result(resource, name)));
    }
    if results.is_empty() {
        let message = "None of the resources had the provided annotations to delete";
        list.add_result(Severity::Info, message);
        return Ok(());
    }
    let message = format!("The provided annotations were deleted from {count} resource(s)");
    list.add_result(Severity::Info, message);
    list.results.extend(results);
    Ok(())
}

fn names(list: &ResourceList) -> Result<Vec<String>, Error> {
    let message =
        "annotationKeys was not provided as part of the config or paramters to the function";
    let Some(config) = function_config(list) else {
        return Err(missing::<DeleteAnnotations>(list, BUILTIN.name, message));
    };
    let DeleteAnnotations { annotation_keys } = read_data(config)?;
    let names = annotation_keys.split(',').map(str::trim).filter(|name| !name.is_empty());
    let names: Vec<String> = names.map(str::to_owned).collect();
    if names.is_empty() {
        let error = invalid_field(config, "data.annotationKeys", message);
        return Err(error
            .hint("list the annotations in `data.annotationKeys`, separated by commas")
            .into());
    }
    Ok(names)
}

/// Removes annotations, and returns the names of those that existed.
fn remove<'n>(resource: &mut Resource, names: &'n [String]) -> Result<Vec<&'n str>, Error> {
    let mut removed = Vec::new();
    resource.edit(|edit, root| {
        let metadata = root.as_mapping().and_then(|root| root.get("metadata"));
        let annotations = metadata.and_then(|metadata| metadata.as_mapping()?.get("annotations"));
        let Some(annotations) = annotations.and_then(|it| it.as_mapping()) else { return Ok(()) };
        for name in names {
            let before = removed.len();
            for entry in annotations.entries().filter(|entry| entry.is(name)) {
                edit.remove(entry.key, EmptyParents::Remove)?;
                removed.truncate(before);
                removed.push(name.as_str());
            }
        }
        Ok(())
    })?;
    Ok(removed)
}

fn result(resource: &Resource, name: &str) -> FunctionResult {
    // Compat: the original has this misspelling.
    let message = format!("Annonation: [{name}] removed from resource: [{}]", resource.name());
    let file = resource.path().map(|path| FileRef { path: path.into(), index: 0 });
    FunctionResult { file, ..FunctionResult::new(Severity::Info, message) }
}
