//! The use cases of the specification, on files.

use krm_core::functions::results::{Fixes, PackageResult};
use krm_core::{Package, PackageFile};
use krm_sdk::{Error, Function, ResourceList, testing};

use crate::{
    composed, container_limits, inject, limits, nginx, pod_security, selectors, sidecar, t_shirt,
    tweak, web_app,
};

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

#[test]
fn sidecar_is_injected_updated_and_removed() {
    golden("sidecar", sidecar::run, sidecar::README);
}

#[test]
fn container_limits_are_required_and_proposed() {
    golden("container-limits", container_limits::run, container_limits::README);
}

#[test]
fn web_app_keeps_changes_and_forgets_what_is_gone() {
    golden("web-app", web_app::run, web_app::README);
}

#[cfg(feature = "templates")]
#[test]
fn cache_is_generated_from_templates_and_its_clients_are_patched() {
    golden("cache", crate::cache::run, crate::cache::README);
}

#[test]
fn proposals_below_one_missing_field_are_applied_together() {
    let text = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\nspec:\n  containers:\n  - name: web # it\n";
    let mut list = testing::list(&[text]);
    list.items[0].move_to(krm_core::PackagePath::new("a.yaml").unwrap());
    container_limits::run(&mut list).unwrap();
    let results: Vec<PackageResult<'_>> =
        list.results.iter().map(|result| PackageResult { directory: "", result }).collect();
    let package = Package::new(vec![PackageFile::from_text("a.yaml", text).unwrap()]);
    let fixes = Fixes::apply(&package, &results, |_, _| None);
    assert!(fixes.skipped.is_empty(), "{:?}", fixes.skipped);
    let fixed = fixes.texts.into_values().next().unwrap();
    let limits = "    resources:\n      limits:\n        cpu: 500m\n        memory: 512Mi\n";
    assert_eq!(fixed, format!("{text}{limits}"));
}
