//! `set-annotations`: sets annotations of resources and of the templates in them.

use std::collections::BTreeMap;

use krm_core::print::json;
use krm_sdk::results::{FieldRef, FileRef};
use krm_sdk::{Error, FunctionResult, Resource, ResourceList, Severity};
use krm_yaml::Value;
use serde::Deserialize;

use crate::changes::{Changes, change_each};
use crate::config::{
    function_config, invalid_field, is_config_map, is_custom, missing, unknown_kind,
};
use crate::field_spec::{FieldSpec, entry};
use crate::{Builtin, Run, releases};

/// The description of the function.
pub const BUILTIN: Builtin = Builtin {
    name: "set-annotations",
    aliases: &["set-annotation"],
    summary: "set annotations, including those of pod and job templates",
    doc: include_str!("../doc/set-annotations.md"),
    releases: releases::SET_ANNOTATIONS,
    run: Run::Native(run),
};

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct SetAnnotations {
    annotations: BTreeMap<String, String>,
    additional_annotation_fields: Option<Vec<FieldSpec>>,
    /// The deprecated name of `additionalAnnotationFields`.
    field_specs: Option<Vec<FieldSpec>>,
}

const TEMPLATE: &str = "spec/template/metadata/annotations";
const JOB: &str = "spec/jobTemplate/metadata/annotations";
const JOB_POD: &str = "spec/jobTemplate/spec/template/metadata/annotations";

/// Group, version, kind and path of the default fields.
const FIELDS: &[[&str; 4]] = &[
    ["", "", "", "metadata/annotations"],
    ["", "v1", "ReplicationController", TEMPLATE],
    ["", "", "Deployment", TEMPLATE],
    ["", "", "ReplicaSet", TEMPLATE],
    ["", "", "DaemonSet", TEMPLATE],
    ["", "", "StatefulSet", TEMPLATE],
    ["batch", "", "Job", TEMPLATE],
    ["batch", "", "CronJob", JOB],
    ["batch", "", "CronJob", JOB_POD],
];

/// Sets the annotations of all resources.
pub fn run(list: &mut ResourceList) -> Result<(), Error> {
    let config = read(list)?;
    let mut fields = config.additional_annotation_fields.unwrap_or_default();
    let known = FIELDS
        .iter()
        .map(|[group, version, kind, path]| FieldSpec::new(group, version, kind, path, true));
    fields.extend(known);
    let fields: Vec<(FieldSpec, String)> = fields.into_iter().map(with_path).collect();
    let message = message(&config.annotations);
    let changed = change_each(list.items.iter_mut().collect(), |changes, resource| {
        set(changes, resource, &fields, &config.annotations)
    })?;
    let (first, count) = (list.results.len(), changed.iter().map(Vec::len).sum());
    // Every resource has a result, so room for more of them, and a second list to sort them, are noticeable.
    list.results.reserve_exact(count);
    for (resource, paths) in list.items.iter().zip(changed) {
        list.results.extend(paths.into_iter().map(|path| result(resource, path, &message)));
    }
    let results = &mut list.results[first..];
    if !results.is_sorted_by(|a, b| sort_key(a) <= sort_key(b)) {
        results.sort_by(|a, b| sort_key(a).cmp(&sort_key(b)));
    }
    if count == 0 {
        list.add_result(Severity::Info, "no annotations applied");
    }
    Ok(())
}

fn read(list: &ResourceList) -> Result<SetAnnotations, Error> {
    let wrong_kind =
        "failed to configure function: `functionConfig` must be a `ConfigMap` or `SetAnnotations`";
    let Some(config) = function_config(list) else {
        return Err(missing::<SetAnnotations>(list, BUILTIN.name, wrong_kind));
    };
    let read = match config {
        config if is_config_map(config) => {
            SetAnnotations { annotations: config.read_config()?, ..SetAnnotations::default() }
        }
        config
            if ["SetAnnotations", "SetAnnotationConfig"].iter().any(|it| is_custom(config, it)) =>
        {
            config.read_config()?
        }
        _ => return Err(unknown_kind(config, "SetAnnotations", wrong_kind)),
    };
    check(config, read)
}

fn check(config: &Resource, mut read: SetAnnotations) -> Result<SetAnnotations, Error> {
    if let Some(fields) = read.field_specs.take() {
        if read.additional_annotation_fields.is_some() {
            let message = "failed to configure function: `fieldSpecs` has been deprecated, please rename it to `additionalAnnotationFields`";
            let error = invalid_field(config, "fieldSpecs", message);
            return Err(error.hint("move its items to `additionalAnnotationFields`").into());
        }
        read.additional_annotation_fields = Some(fields);
    }
    if read.annotations.is_empty() {
        let field = if is_config_map(config) { "data" } else { "annotations" };
        let message = "failed to configure function: input annotation list cannot be empty";
        let error = invalid_field(config, field, message);
        return Err(error
            .hint(format!("map the names of annotations to values in `{field}`"))
            .into());
    }
    Ok(read)
}

/// Sets the annotations, and returns the paths of the mappings that were set, each once.
fn set<'a, 'f>(
    changes: &mut Changes<'a>,
    resource: &'a Resource,
    fields: &'f [(FieldSpec, String)],
    annotations: &BTreeMap<String, String>,
) -> Result<Vec<&'f str>, Error> {
    let mut paths: Vec<&str> = Vec::new();
    let kind = resource.view().kind();
    for (field, path) in fields.iter().filter(|(field, _)| field.is_of_kind(&kind)) {
        let slots = field.find(resource, changes)?;
        for slot in &slots {
            for (name, value) in annotations {
                let entry = entry(changes, resource, slot, name)?;
                changes.set(&entry, value);
            }
        }
        if !slots.is_empty() && !paths.contains(&path.as_str()) {
            paths.push(path);
        }
    }
    Ok(paths)
}

/// A field with its path in results.
fn with_path(field: FieldSpec) -> (FieldSpec, String) {
    let path = field.keys().join(".").replace("[]", "");
    (field, path)
}

/// The message of the original, with the annotations as JSON.
fn message(annotations: &BTreeMap<String, String>) -> String {
    let pairs = annotations
        .iter()
        .map(|(name, value)| (Value::string(name.clone()), Value::string(value.clone())));
    format!("set annotations: {}", json::display(&Value::Mapping(pairs.collect())))
}

fn result(resource: &Resource, path: &str, message: &str) -> FunctionResult {
    let file = resource.path().map(|path| FileRef {
        path: path.into(),
        index: resource.item().index.unwrap_or(0) as u64,
    });
    let field = Some(FieldRef::new(path));
    FunctionResult { file, field, ..FunctionResult::new(Severity::Info, message) }
}

fn sort_key(result: &FunctionResult) -> (Option<(&str, u64)>, Option<&str>) {
    let file = result.file.as_ref().map(|file| (&*file.path, file.index));
    (file, result.field.as_ref().map(|field| field.path.as_str()))
}
