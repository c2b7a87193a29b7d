//! `set-annotations`: annotations of resources and of templates in them.

use std::collections::BTreeMap;

use krm_core::print::json;
use krm_sdk::results::{FieldRef, FileRef};
use krm_sdk::{Error, FunctionResult, Resource, ResourceList, Severity};
use krm_yaml::Value;
use serde::Deserialize;

use crate::Builtin;
use crate::changes::{Changes, Spot, at, change, is_null};
use crate::config::{given, is_config_map, is_custom, missing, unknown, wrong};
use crate::field_spec::{FieldSpec, keys};

/// The function as it is listed.
pub const BUILTIN: Builtin = Builtin {
    name: "set-annotations",
    aliases: &[],
    summary: "set annotations, also in templates of pods and jobs",
    doc: include_str!("../doc/set-annotations.md"),
    tags: &["v0.1", "v0.1.0", "v0.1.1", "v0.1.2", "v0.1.3", "v0.1.4", "v0.1.5"],
    run,
};

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct SetAnnotations {
    annotations: BTreeMap<String, String>,
    additional_annotation_fields: Option<Vec<FieldSpec>>,
    /// The older name of the other.
    field_specs: Option<Vec<FieldSpec>>,
}

const TEMPLATE: &str = "spec/template/metadata/annotations";
const JOB: &str = "spec/jobTemplate/metadata/annotations";
const JOB_POD: &str = "spec/jobTemplate/spec/template/metadata/annotations";

/// Group, version, kind and path of the fields that everybody wants.
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
    let said = said(&config.annotations);
    let mut results = Vec::new();
    for resource in &mut list.items {
        let paths = change(resource, |changes, resource| {
            set(changes, resource, &fields, &config.annotations)
        })?;
        results.extend(paths.into_iter().map(|path| result(resource, path, &said)));
    }
    if results.is_empty() {
        list.say(Severity::Info, "no annotations applied");
    }
    results.sort_by(|a, b| place(a).cmp(&place(b)));
    list.results.extend(results);
    Ok(())
}

fn read(list: &ResourceList) -> Result<SetAnnotations, Error> {
    let not_taken =
        "failed to configure function: `functionConfig` must be a `ConfigMap` or `SetAnnotations`";
    let Some(config) = given(list) else {
        return Err(missing::<SetAnnotations>(list, BUILTIN.name, not_taken));
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
        _ => return Err(unknown(config, "SetAnnotations", not_taken)),
    };
    check(config, read)
}

fn check(config: &Resource, mut read: SetAnnotations) -> Result<SetAnnotations, Error> {
    if let Some(fields) = read.field_specs.take() {
        if read.additional_annotation_fields.is_some() {
            let message = "failed to configure function: `fieldSpecs` has been deprecated, please rename it to `additionalAnnotationFields`";
            let told = wrong(config, "fieldSpecs", message);
            return Err(told.hint("move its items to `additionalAnnotationFields`").into());
        }
        read.additional_annotation_fields = Some(fields);
    }
    if read.annotations.is_empty() {
        let field = if is_config_map(config) { "data" } else { "annotations" };
        let message = "failed to configure function: input annotation list cannot be empty";
        let told = wrong(config, field, message);
        return Err(told
            .hint(format!("name the annotations and their values in `{field}`"))
            .into());
    }
    Ok(read)
}

/// The paths of the mappings that have the annotations now, each once.
fn set<'a>(
    changes: &mut Changes<'a>,
    resource: &'a Resource,
    fields: &[FieldSpec],
    annotations: &BTreeMap<String, String>,
) -> Result<Vec<String>, Error> {
    let mut paths: Vec<String> = Vec::new();
    for field in fields {
        let spots = field.find(resource, changes)?;
        for spot in &spots {
            for (name, value) in annotations {
                let entry = entry(changes, resource, spot, name)?;
                changes.set(&entry, value);
            }
        }
        let path = keys(field.path()).join(".").replace("[]", "");
        if !spots.is_empty() && !paths.contains(&path) {
            paths.push(path);
        }
    }
    Ok(paths)
}

/// Where one annotation stands, or will.
fn entry<'a>(
    changes: &mut Changes<'a>,
    resource: &'a Resource,
    spot: &Spot<'a>,
    name: &str,
) -> Result<Spot<'a>, Error> {
    match spot {
        Spot::Missing(at, keys) => {
            let keys = keys.iter().cloned().chain([name.to_owned()]).collect();
            Ok(Spot::Missing(*at, keys))
        }
        Spot::There(node) | Spot::Merged(node, ..) if is_null(*node) => {
            Ok(Spot::Missing(*node, vec![name.to_owned()]))
        }
        Spot::There(node) | Spot::Merged(node, ..) => {
            changes.follow(*node, &[name]).ok_or_else(|| {
                let words = "annotations are to be set here, and this is no mapping";
                at(resource, *node, words, "make it a mapping of names to values, or remove it")
            })
        }
    }
}

/// The annotations as the original tells them: as JSON.
fn said(annotations: &BTreeMap<String, String>) -> String {
    let pairs = annotations
        .iter()
        .map(|(name, value)| (Value::string(name.clone()), Value::string(value.clone())));
    format!("set annotations: {}", json::write(&Value::Mapping(pairs.collect())))
}

fn result(resource: &Resource, path: String, said: &str) -> FunctionResult {
    let file = resource.path().map(|path| FileRef {
        path: path.to_string(),
        index: resource.item().index.unwrap_or(0) as u64,
    });
    let field = Some(FieldRef { path, current: None, proposed: Vec::new() });
    FunctionResult { file, field, ..FunctionResult::new(Severity::Info, said) }
}

/// What results are put in order by.
fn place(result: &FunctionResult) -> (Option<(&str, u64)>, Option<&str>) {
    let file = result.file.as_ref().map(|file| (file.path.as_str(), file.index));
    (file, result.field.as_ref().map(|field| field.path.as_str()))
}
