//! Every use case that the specification names, on files.

use krm_sdk::{Error, Function, ResourceList, testing};

use crate::{composed, inject, limits, nginx, pod_security, selectors, t_shirt, tweak};

fn golden(name: &str, run: fn(&mut ResourceList) -> Result<(), Error>, page: &'static str) {
    let function = Function::new(name, run).page(page);
    assert!(page.starts_with(&format!("# {name}\n\n")) && !function.summary().is_empty());
    testing::golden(format!("{}/tests/cases/{name}", env!("CARGO_MANIFEST_DIR")), function);
}

#[test]
fn containers_without_limits_are_found() {
    golden("limits", limits::run, limits::PAGE);
}

#[test]
fn pods_that_may_do_too_much_are_found() {
    golden("pod-security", pod_security::run, pod_security::PAGE);
}

#[test]
fn a_client_side_kind_makes_resources_and_keeps_changes() {
    golden("nginx", nginx::run, nginx::PAGE);
}

#[test]
fn sizes_become_resources_of_containers() {
    golden("t-shirt", t_shirt::run, t_shirt::PAGE);
}

#[test]
fn containers_are_injected_once() {
    golden("inject", inject::run, inject::PAGE);
}

#[test]
fn selectors_and_labels_are_held_against_each_other() {
    golden("selectors", selectors::run, selectors::PAGE);
}

#[test]
fn what_was_generated_is_tweaked() {
    golden("tweak", tweak::run, tweak::PAGE);
}

#[test]
fn generation_injection_and_validation_are_composed() {
    golden("composed", composed::run, composed::PAGE);
}
