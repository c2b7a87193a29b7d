//! Differences from kubeconform that are intended. The page of the function explains each of them under its id.

use super::json::Json;
use super::verdicts::{Group, Schemas, Verdict};

/// All classes with their reasons.
pub(super) const CLASSES: &[(&str, &str)] = &[
    (
        "null-int-or-string",
        "kubeconform rejects null for an optional IntOrString or quantity, which Kubernetes accepts",
    ),
    ("null-top-level", "kubeconform accepts null for required fields at the top of a kind"),
    ("recursive-kind", "kubeconform has no schema of kinds that contain themselves"),
    (
        "nested-kind",
        "kubeconform checks apiVersion and kind of resources in fields, which Kubernetes ignores",
    ),
    ("custom-metadata", "krm checks the metadata of custom resources"),
    (
        "custom-unknown-field",
        "schemas that are converted from definitions for kubeconform do not allow unknown fields even if it is not strict",
    ),
    ("custom-int-or-string", "krm names both types where a definition combines them"),
    ("file-name", "kubeconform finds no schema where the group and the file name differ"),
];

/// The class of a difference.
pub(super) fn class(
    manifest: &Json,
    ours: &Verdict,
    theirs: &Verdict,
    group: &Group<'_>,
) -> Option<&'static str> {
    let only_ours: Vec<_> = ours.problems.difference(&theirs.problems).collect();
    let only_theirs: Vec<_> = theirs.problems.difference(&ours.problems).collect();
    let is = |list: &[&(String, String)], test: &dyn Fn(&str, &str) -> bool| {
        !list.is_empty() && list.iter().all(|(path, message)| test(path, message))
    };
    let text = |key| manifest.get(key).and_then(Json::text).unwrap_or_default();
    if group.schemas == Schemas::Files {
        return None;
    }
    let recursive = ["CustomResourceDefinition", "Workload"];
    let is_recursive = recursive.iter().any(|it| text("kind").eq_ignore_ascii_case(it));
    if is_recursive && theirs.status == "error" {
        return Some("recursive-kind");
    }
    let is_elsewhere =
        text("apiVersion").starts_with("internal.apiserver.k8s.io/") || text("kind") == "Status";
    if is_elsewhere && theirs.status == "error" {
        return Some("file-name");
    }
    let nulls = |_: &str, message: &str| message == "'oneOf' failed, subschemas 0, 1 matched";
    if only_ours.is_empty() && is(&only_theirs, &nulls) {
        return Some("null-int-or-string");
    }
    let nested = |path: &str, message: &str| {
        let is_name = path.ends_with(".apiVersion") || path.ends_with(".kind");
        is_name && message.starts_with("value must be")
    };
    if only_ours.is_empty() && is(&only_theirs, &nested) {
        return Some("nested-kind");
    }
    let top = |path: &str, message: &str| !path.contains('.') && message.starts_with("got null");
    if only_theirs.is_empty() && is(&only_ours, &top) {
        return Some("null-top-level");
    }
    if text("kind") == "Box" {
        let metadata = |path: &str, _: &str| path.starts_with("metadata");
        if only_theirs.is_empty() && is(&only_ours, &metadata) {
            return Some("custom-metadata");
        }
        let unknown = |_: &str, message: &str| message.starts_with("additional ");
        if !group.strict && only_ours.is_empty() && is(&only_theirs, &unknown) {
            return Some("custom-unknown-field");
        }
        let port = |path: &str, _: &str| path == "spec.port";
        if is(&only_theirs, &port) && is(&only_ours, &port) {
            return Some("custom-int-or-string");
        }
    }
    None
}
