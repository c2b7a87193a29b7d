//! The use cases of the specification, on files.

use krm_sdk::{Error, Function, ResourceList, testing};

use crate::{composed, inject, limits, nginx, pod_security, selectors, t_shirt, tweak};

fn golden(name: &str, run: fn(&mut ResourceList) -> Result<(), Error>, readme: &'static str) {
    let function = Function::new(name, run).readme(readme);
    assert!(readme.starts_with(&format!("# {name}\n\n")) && !function.summary().is_empty());
    testing::golden(format!("{}/tests/cases/{name}", env!("CARGO_MANIFEST_DIR")), function);
}

#[test]
fn limits_reports_containers_without_limits() {
    golden("limits", limits::run, limits::README);
}

#[test]
fn pod_security_reports_privileged_pods() {
    golden("pod-security", pod_security::run, pod_security::README);
}

#[test]
fn nginx_generates_resources_and_keeps_changes() {
    golden("nginx", nginx::run, nginx::README);
}

#[test]
fn t_shirt_sets_container_resources() {
    golden("t-shirt", t_shirt::run, t_shirt::README);
}

#[test]
fn inject_adds_containers_once() {
    golden("inject", inject::run, inject::README);
}

#[test]
fn selectors_must_match_labels() {
    golden("selectors", selectors::run, selectors::README);
}

#[test]
fn tweak_changes_generated_resources() {
    golden("tweak", tweak::run, tweak::README);
}

#[test]
fn composed_generates_injects_and_validates() {
    golden("composed", composed::run, composed::README);
}
