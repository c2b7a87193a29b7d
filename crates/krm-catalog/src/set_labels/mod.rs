//! `set-labels`: sets labels of resources, selectors and pod templates.

mod by_field_spec;

use std::collections::BTreeMap;

use krm_sdk::{Error, Resource, ResourceList, Severity};
use krm_yaml::{Mapping, NodeRef};
use serde::Deserialize;

use crate::changes::{Changes, FieldSlot, change_each, not_a_mapping};
use crate::config::{function_config, is_config_map, is_custom, missing, unknown_kind};
use crate::field_spec::find;
use crate::{Builtin, Run, Version, releases};

/// The description of the function.
pub const BUILTIN: Builtin = Builtin {
    name: "set-labels",
    aliases: &["set-label"],
    summary: "set labels, including those of selectors and pod templates",
    doc: include_str!("../../doc/set-labels.md"),
    releases: releases::SET_LABELS,
    run: Run::Versioned(run),
};

#[derive(Deserialize)]
struct SetLabels {
    #[serde(default)]
    labels: BTreeMap<String, String>,
}

/// Where some kinds have labels: below each existing node at `within` (or each element, if that is a sequence), the mapping at `path`.
struct Rule {
    kinds: &'static [[&'static str; 2]],
    within: &'static [&'static str],
    path: &'static [&'static str],
    /// Whether labels are added; if not, only existing ones are changed.
    adds: bool,
}

const LABELS: &[&str] = &["metadata", "labels"];
const MATCH: &[&str] = &["selector", "matchLabels"];
const POD_MATCH: &[&str] = &["podSelector", "matchLabels"];
const LABEL_MATCH: &[&str] = &["labelSelector", "matchLabels"];

const ALL: &[[&str; 2]] = &[["", ""]];
const SELECTING: &[[&str; 2]] = &[["core", "Service"], ["core", "ReplicationController"]];
const WORKLOADS: &[[&str; 2]] =
    &[["", "Deployment"], ["", "ReplicaSet"], ["", "DaemonSet"], ["apps", "StatefulSet"]];
const MATCHING: &[[&str; 2]] = &[["batch", "Job"], ["policy", "PodDisruptionBudget"]];
const POLICIES: &[[&str; 2]] = &[["networking.k8s.io", "NetworkPolicy"]];
const STATEFUL: &[[&str; 2]] = &[["apps", "StatefulSet"]];
const CRON: &[[&str; 2]] = &[["batch", "CronJob"]];
/// Kinds with a pod template at `spec/template`.
const TEMPLATED: &[[&str; 2]] = &[
    ["core", "ReplicationController"],
    ["", "Deployment"],
    ["", "ReplicaSet"],
    ["", "DaemonSet"],
    ["apps", "StatefulSet"],
    ["batch", "Job"],
];

const fn rule(
    kinds: &'static [[&'static str; 2]],
    within: &'static [&'static str],
    path: &'static [&'static str],
    adds: bool,
) -> Rule {
    Rule { kinds, within, path, adds }
}

const RULES: &[Rule] = &[
    rule(ALL, &[], LABELS, true),
    rule(SELECTING, &[], &["spec", "selector"], true),
    rule(WORKLOADS, &[], &["spec", "selector", "matchLabels"], true),
    rule(MATCHING, &[], &["spec", "selector", "matchLabels"], false),
    rule(POLICIES, &[], &["spec", "podSelector", "matchLabels"], false),
    rule(CRON, &["spec", "jobTemplate"], LABELS, true),
    rule(CRON, &["spec", "jobTemplate", "spec"], MATCH, false),
    rule(STATEFUL, &["spec", "volumeClaimTemplates"], LABELS, true),
    rule(STATEFUL, &["spec", "volumeClaimTemplates"], MATCH, false),
    rule(POLICIES, &["spec", "ingress[]", "from"], POD_MATCH, false),
    rule(POLICIES, &["spec", "egress[]", "to"], POD_MATCH, false),
];

/// The labels and selectors of a pod template, relative to the template.
const POD_RULES: &[(&[&str], &[&str], bool)] = &[
    (&[], LABELS, true),
    (&["spec", "topologySpreadConstraints"], LABEL_MATCH, false),
    (
        &[
            "spec",
            "affinity",
            "podAffinity",
            "preferredDuringSchedulingIgnoredDuringExecution[]",
            "podAffinityTerm",
        ],
        LABEL_MATCH,
        false,
    ),
    (
        &["spec", "affinity", "podAffinity", "requiredDuringSchedulingIgnoredDuringExecution"],
        LABEL_MATCH,
        false,
    ),
    (
        &[
            "spec",
            "affinity",
            "podAntiAffinity",
            "preferredDuringSchedulingIgnoredDuringExecution[]",
            "podAffinityTerm",
        ],
        LABEL_MATCH,
        false,
    ),
    (
        &["spec", "affinity", "podAntiAffinity", "requiredDuringSchedulingIgnoredDuringExecution"],
        LABEL_MATCH,
        false,
    ),
];

/// Compat: the original reports this as info, and fails if there are resources to label.
const NOT_GIVEN: &str = "`FunctionConfig` is not given";

/// The release that rewrote the function; see [`releases::SET_LABELS`].
const REWRITTEN: Version = Version::new(0, 2, 0);

/// Sets the labels of resources as a release of the original does.
pub fn run(list: &mut ResourceList, version: Version) -> Result<(), Error> {
    match version < REWRITTEN {
        true => by_field_spec::run(list),
        false => set_all(list),
    }
}

/// Sets the labels of all resources except local configuration.
fn set_all(list: &mut ResourceList) -> Result<(), Error> {
    let labels = function_config(list).map(labels).transpose()?;
    if labels.is_none() {
        list.add_result(Severity::Info, NOT_GIVEN);
    }
    if list.items.iter().all(|it| it.view().is_local()) {
        list.add_result(Severity::Info, "no input resources");
        return Ok(());
    }
    let Some(labels) = labels else {
        return Err(missing::<SetLabels>(list, BUILTIN.name, NOT_GIVEN).reported());
    };
    if labels.is_empty() {
        list.add_result(Severity::Warning, "no `labels` arguments are given in FunctionConfig");
        return Ok(());
    }
    let resources = list.items.iter_mut().collect();
    let counts = change_each(resources, |changes, resource| match resource.view().is_local() {
        true => Ok(0),
        false => set(changes, resource, &labels),
    })?;
    let count: usize = counts.into_iter().sum();
    list.add_result(Severity::Info, format!("set {count} labels in total"));
    Ok(())
}

fn labels(config: &Resource) -> Result<BTreeMap<String, String>, Error> {
    if is_config_map(config) {
        return config.read_config();
    }
    if is_custom(config, "SetLabels") {
        return Ok(config.read_config::<SetLabels>()?.labels);
    }
    let group = config.view().group();
    let message = format!(
        "unknown FunctionConfig `{}.{group}`, expect `SetLabels.fn.kpt.dev` or `ConfigMap.v1`",
        config.kind()
    );
    Err(unknown_kind(config, "SetLabels", message))
}

/// Sets the labels, and returns their number as the original counts it.
fn set<'a>(
    changes: &mut Changes<'a>,
    resource: &'a Resource,
    labels: &BTreeMap<String, String>,
) -> Result<usize, Error> {
    let mut count = 0;
    let (api_version, kind) = (resource.view().api_version(), resource.view().kind());
    let group = api_version.split_once('/').map_or("core", |(group, _)| group);
    let matches_kind = |kinds| matches_kind(group, &kind, kinds);
    for rule in RULES.iter().filter(|rule| matches_kind(rule.kinds)) {
        for node in within(changes, resource, rule.within)? {
            count += apply(changes, resource, node, (rule.path, rule.adds), labels)?;
        }
    }
    let template = match () {
        () if matches_kind(TEMPLATED) => &["spec", "template"][..],
        () if matches_kind(CRON) => &["spec", "jobTemplate", "spec", "template"],
        () => return Ok(count),
    };
    let spec = pod_spec(resource, template);
    for (below, path, adds) in POD_RULES {
        // Most pods have neither an affinity nor spread constraints.
        if let (Some(spec), Some(key)) = (spec, below.get(1))
            && spec.get(key).is_none()
        {
            continue;
        }
        for node in within(changes, resource, &[template, below].concat())? {
            count += apply(changes, resource, node, (path, *adds), labels)?;
        }
    }
    Ok(count)
}

/// The spec of a pod template, if it is certain that it has no other keys: aliases and merged keys are left to the search of a rule.
fn pod_spec<'a>(resource: &'a Resource, template: &[&str]) -> Option<Mapping<'a>> {
    let mut path = template.iter().chain(&["spec"]);
    let spec = path.try_fold(resource.root(), |node, key| node.as_mapping()?.get(key));
    spec.and_then(NodeRef::as_mapping).filter(|spec| spec.get("<<").is_none())
}

/// Whether a resource has one of the groups and kinds. `core` is the group without a name, and an empty name matches any group.
/// A resource that lacks the group of its kind by mistake matches, too.
fn matches_kind(group: &str, kind: &str, kinds: &[[&str; 2]]) -> bool {
    kinds.iter().any(|[its_group, its_kind]| {
        let is_group = match *its_group {
            "" => true,
            "apps" | "batch" | "policy" if group == "core" => true,
            its_group => its_group == group,
        };
        is_group && (its_kind.is_empty() || *its_kind == kind)
    })
}

fn within<'a>(
    changes: &mut Changes<'a>,
    resource: &'a Resource,
    path: &[&str],
) -> Result<Vec<NodeRef<'a>>, Error> {
    if path.is_empty() {
        return Ok(vec![resource.root()]);
    }
    let slots = find(resource, changes, path, false)?;
    let mut nodes = Vec::new();
    for node in slots.iter().filter_map(FieldSlot::node) {
        let Some(list) = node.as_sequence() else {
            nodes.push(node);
            continue;
        };
        let is_shared = changes.is_shared(node);
        for item in list.items() {
            let is_shared = is_shared || changes.is_shared(item);
            let node = changes.resolve(item);
            changes.arrive(node, is_shared);
            nodes.push(item);
        }
    }
    Ok(nodes.into_iter().filter(|node| node.resolve().as_mapping().is_some()).collect())
}

fn apply<'a>(
    changes: &mut Changes<'a>,
    resource: &'a Resource,
    node: NodeRef<'a>,
    (path, adds): (&[&str], bool),
    labels: &BTreeMap<String, String>,
) -> Result<usize, Error> {
    for (name, value) in labels {
        let keys: Vec<&str> = path.iter().copied().chain([name.as_str()]).collect();
        match changes.follow(node, &keys) {
            Some(slot @ FieldSlot::Missing(..)) if !adds => changes.decline(&slot),
            Some(slot) => changes.set(&slot, value),
            None => {
                return Err(not_a_mapping(
                    resource,
                    wrong_node(changes, node, path),
                    &keys.join("."),
                ));
            }
        }
    }
    Ok(labels.len())
}

/// The node on the path that is not a mapping.
fn wrong_node<'a>(changes: &mut Changes<'a>, node: NodeRef<'a>, path: &[&str]) -> NodeRef<'a> {
    let longest = (0..=path.len()).rev().find_map(|end| changes.follow(node, &path[..end]));
    match longest {
        Some(
            FieldSlot::Existing(node) | FieldSlot::Merged(node, ..) | FieldSlot::Missing(node, _),
        ) => node,
        None => node,
    }
}
