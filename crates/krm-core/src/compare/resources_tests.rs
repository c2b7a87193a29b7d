//! Which resources pair.

use super::*;
use crate::model::package::tests::package;

fn pod(name: &str, spec: &str) -> String {
    format!("apiVersion: v1\nkind: Pod\nmetadata:\n  name: {name}\nspec: {spec}\n")
}

/// The pairs as `file:name` of each side.
fn pairs<const N: usize>(pairing: ResourcePairing, packages: [&Package; N]) -> Vec<String> {
    let side = |placed: &Option<PackageResource<'_>>| {
        placed.map_or("-".to_owned(), |it| format!("{}:{}", it.file.path, it.resource.name()))
    };
    let pairs = pairing.pair(packages).unwrap();
    let line = |pair: &PairedResource<'_, N>| {
        format!(
            "{} {:?}",
            pair.sides.iter().map(side).collect::<Vec<_>>().join(" "),
            pair.paired_by
        )
    };
    pairs.iter().map(line).collect()
}

const RENAMES: ResourcePairing =
    ResourcePairing { by_path: false, renames: Renames::All, whole_documents: false };

#[test]
fn resource_pairs_across_files_and_versions() {
    let text = "apiVersion: apps/v1\nkind: A\nmetadata: {name: x}\n";
    let old = package(&[("a.yaml", text)]);
    let new = package(&[("b/a.yaml", &text.replace("/v1", "/v1beta1"))]);
    assert_eq!(pairs(ResourcePairing::default(), [&old, &new]), ["a.yaml:x b/a.yaml:x Identity"]);
    let by_path = ResourcePairing { by_path: true, ..RENAMES };
    assert_eq!(pairs(by_path, [&old, &new]), ["- b/a.yaml:x Identity", "a.yaml:x - Identity"]);
}

#[test]
fn same_name_in_a_subpackage_is_another_resource() {
    let (a, pod) = (pod("x", "{a: 1}"), pod("x", "{a: 2}"));
    let both = package(&[("a.yaml", &a), ("sub/Krmfile", ""), ("sub/b.yaml", &pod)]);
    assert_eq!(
        pairs(ResourcePairing::default(), [&both, &both]),
        ["a.yaml:x a.yaml:x Identity", "sub/b.yaml:x sub/b.yaml:x Identity"]
    );
    let moved = package(&[("c.yaml", &a), ("sub/Krmfile", "")]);
    let first = package(&[("sub/Krmfile", ""), ("sub/a.yaml", &a)]);
    assert_eq!(
        pairs(ResourcePairing::default(), [&first, &moved]),
        ["sub/a.yaml:x c.yaml:x Identity"]
    );
}

#[test]
fn kpt_merge_comment_pairs_by_the_upstream_name() {
    let base = package(&[("a.yaml", &pod("x", "{a: 1}"))]);
    let text = pod("y", "{a: 2}").replace("metadata:\n", "metadata: # kpt-merge: default/x\n");
    let local = package(&[("a.yaml", &text)]);
    assert_eq!(pairs(RENAMES, [&base, &base, &local]), ["a.yaml:x a.yaml:x a.yaml:y Comment"]);
}

#[test]
fn rename_is_found_when_one_resource_has_the_content() {
    let base = package(&[("a.yaml", &pod("x", "{a: 1}"))]);
    let upstream = package(&[("a.yaml", &pod("x", "{a: 2}"))]);
    let local = package(&[("a.yaml", &pod("y", "{a: 1}"))]);
    assert_eq!(pairs(RENAMES, [&base, &upstream, &local]), ["a.yaml:x a.yaml:x a.yaml:y Content"]);
    let two = package(&[("a.yaml", &pod("y", "{a: 1}")), ("b.yaml", &pod("z", "{a: 1}"))]);
    assert_eq!(pairs(RENAMES, [&base, &two]).len(), 3, "ambiguous");
    let none = package(&[]);
    assert_eq!(pairs(RENAMES, [&none, &base, &local]).len(), 2, "both were added");
}

#[test]
fn unnamed_resources_pair_by_position() {
    let text = "apiVersion: v1\nkind: Krmfile\n";
    let [old, new] = ["a", "b"].map(|name| {
        let kptfile = format!("apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: {name}\n");
        package(&[("Kptfile", &kptfile), ("x.yaml", text)])
    });
    assert_eq!(
        pairs(ResourcePairing::default(), [&old, &new]),
        ["Kptfile:a Kptfile:b Identity", "x.yaml: x.yaml: Identity"]
    );
}

#[test]
fn duplicate_in_one_package_is_an_error_with_both_locations() {
    let (x, y) = (pod("x", "{}"), pod("y", "{}"));
    let once = package(&[("a.yaml", &x)]);
    let again = package(&[("a.yaml", &format!("{y}---\n{x}")), ("b.yaml", &x)]);
    let errors = ResourcePairing::default().pair([&once, &again]).unwrap_err();
    assert_eq!(errors.len(), 1);
    assert!(errors[0].is_error());
    assert_eq!(errors[0].message(), "Pod x is defined twice, first in a.yaml:7");
    assert_eq!(errors[0].file.as_deref(), Some("b.yaml"));
}

#[test]
fn ten_thousand_resources_pair_quickly() {
    let many = |prefix: &str| -> String {
        (0..10_000)
            .map(|n| format!("{}---\n", pod(&format!("{prefix}{n}"), &format!("{{a: {n}}}"))))
            .collect()
    };
    let (old, new) = (package(&[("a.yaml", &many("a"))]), package(&[("b.yaml", &many("b"))]));
    let pairs = RENAMES.pair([&old, &new]).unwrap();
    assert_eq!(pairs.len(), 10_000);
    assert!(pairs.iter().all(|pair| pair.paired_by == PairedBy::Content));
}
