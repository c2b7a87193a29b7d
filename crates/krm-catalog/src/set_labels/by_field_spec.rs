//! The releases before v0.2: labels are set as the label transformer of kustomize sets them.

use std::collections::BTreeMap;

use krm_sdk::{Error, Resource, ResourceList};
use serde::Deserialize;

use super::BUILTIN;
use crate::changes::change_each;
use crate::config::{
    function_config, invalid_field, is_config_map, is_custom, missing, unknown_kind,
};
use crate::field_spec::{FieldSpec, entry};

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct SetLabels {
    labels: BTreeMap<String, String>,
    additional_label_fields: Option<Vec<FieldSpec>>,
    /// The older name of `additionalLabelFields`.
    field_specs: Option<Vec<FieldSpec>>,
}

const LABELS: &str = "metadata/labels";
const MATCH: &str = "spec/selector/matchLabels";
const TEMPLATE: &str = "spec/template/metadata/labels";

/// Group, version, kind and path of the fields that get all labels, and are created.
const ADDED: &[[&str; 4]] = &[
    ["", "", "", LABELS],
    ["", "v1", "Service", "spec/selector"],
    ["", "v1", "ReplicationController", "spec/selector"],
    ["", "v1", "ReplicationController", TEMPLATE],
    ["", "", "Deployment", MATCH],
    ["", "", "Deployment", TEMPLATE],
    ["", "", "ReplicaSet", MATCH],
    ["", "", "ReplicaSet", TEMPLATE],
    ["", "", "DaemonSet", MATCH],
    ["", "", "DaemonSet", TEMPLATE],
    ["apps", "", "StatefulSet", MATCH],
    ["apps", "", "StatefulSet", TEMPLATE],
    ["apps", "", "StatefulSet", "spec/volumeClaimTemplates[]/metadata/labels"],
    ["batch", "", "Job", TEMPLATE],
    ["batch", "", "CronJob", "spec/jobTemplate/metadata/labels"],
    ["batch", "", "CronJob", "spec/jobTemplate/spec/template/metadata/labels"],
];

/// The fields that get all labels if they exist.
const EXISTING: &[[&str; 4]] = &[
    ["batch", "", "Job", MATCH],
    ["batch", "", "CronJob", "spec/jobTemplate/spec/selector/matchLabels"],
    ["policy", "", "PodDisruptionBudget", MATCH],
    ["networking.k8s.io", "", "NetworkPolicy", "spec/podSelector/matchLabels"],
    ["networking.k8s.io", "", "NetworkPolicy", "spec/ingress/from/podSelector/matchLabels"],
    ["networking.k8s.io", "", "NetworkPolicy", "spec/egress/to/podSelector/matchLabels"],
];

/// The selectors in the pod templates of Deployments and StatefulSets, which get all labels if they exist.
const POD_SELECTORS: &[&str] = &[
    "affinity/podAffinity/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector",
    "affinity/podAffinity/requiredDuringSchedulingIgnoredDuringExecution/labelSelector",
    "affinity/podAntiAffinity/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector",
    "affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution/labelSelector",
    "topologySpreadConstraints/labelSelector",
];

/// Sets the labels of all resources, of local configuration, too.
pub(super) fn run(list: &mut ResourceList) -> Result<(), Error> {
    let config = read(list)?;
    let mut fields = config.additional_label_fields.unwrap_or_default();
    fields.extend(default_fields());
    change_each(list.items.iter_mut().collect(), |changes, resource| {
        for field in &fields {
            for slot in field.find(resource, changes)? {
                for (name, value) in &config.labels {
                    let entry = entry(changes, resource, &slot, name)?;
                    changes.set(&entry, value);
                }
            }
        }
        Ok(())
    })?;
    Ok(())
}

fn default_fields() -> Vec<FieldSpec> {
    let of = |creates: bool| {
        move |[group, version, kind, path]: &[&str; 4]| {
            FieldSpec::new(group, version, kind, path, creates)
        }
    };
    let pods = ["Deployment", "StatefulSet"].into_iter().flat_map(|kind| {
        POD_SELECTORS.iter().map(move |selector| {
            let path = format!("spec/template/spec/{selector}/matchLabels");
            FieldSpec::new("apps", "", kind, &path, false)
        })
    });
    ADDED.iter().map(of(true)).chain(EXISTING.iter().map(of(false))).chain(pods).collect()
}

fn read(list: &ResourceList) -> Result<SetLabels, Error> {
    let wrong_kind = "`functionConfig` must be either a `ConfigMap` or `SetLabels`";
    let Some(config) = function_config(list) else {
        return Err(missing::<SetLabels>(list, BUILTIN.name, wrong_kind));
    };
    let is_kind = |kind: &&str| is_custom(config, kind);
    let read = match config {
        config if is_config_map(config) => {
            SetLabels { labels: config.read_config()?, ..SetLabels::default() }
        }
        config if ["SetLabels", "SetLabelConfig"].iter().any(is_kind) => config.read_config()?,
        _ => return Err(unknown_kind(config, "SetLabels", wrong_kind)),
    };
    check(config, read)
}

fn check(config: &Resource, mut read: SetLabels) -> Result<SetLabels, Error> {
    if let Some(fields) = read.field_specs.take() {
        if read.additional_label_fields.is_some() {
            let message = "`fieldSpecs` and `additionalLabelFields` are the same field";
            let error = invalid_field(config, "fieldSpecs", message);
            return Err(error.hint("move its items to `additionalLabelFields`").into());
        }
        read.additional_label_fields = Some(fields);
    }
    if read.labels.is_empty() {
        let field = if is_config_map(config) { "data" } else { "labels" };
        let error = invalid_field(config, field, "input label list cannot be empty");
        return Err(error.hint(format!("map the names of labels to values in `{field}`")).into());
    }
    Ok(read)
}
