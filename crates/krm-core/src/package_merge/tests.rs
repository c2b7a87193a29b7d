//! The rules for resources and files.

use super::*;
use crate::merge::ConflictKind;
use crate::package::tests::package;

type Files<'f> = &'f [(&'f str, &'f str)];

/// The files of local that change, with their new texts (`-` where they go), and the kinds of conflicts.
fn merged(
    base: Files<'_>,
    upstream: Files<'_>,
    local: Files<'_>,
) -> (Vec<String>, Vec<ConflictKind>) {
    let packages = [base, upstream, local].map(package);
    let rules = Rules::default();
    let how = How { rules: &rules, by_path: false, only_common: false, has_paths: true };
    let [base, upstream, local] = &packages;
    let merge = PackageMerge::three_way([base, upstream, local], how).unwrap();
    let done = merge.works().iter().map(|work| merge.run(work)).collect();
    let merged = merge.finish(done).unwrap();
    let line = |change: &FileChange<'_>| {
        format!("{}: {}", change.path, change.new.as_deref().unwrap_or("-"))
    };
    let kinds = merged.conflicts.iter().map(|conflict| conflict.kind).collect();
    (merged.changes.iter().map(line).collect(), kinds)
}

fn map(name: &str, data: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata:\n  x: {data}\n")
}

fn none() -> (Vec<String>, Vec<ConflictKind>) {
    (Vec::new(), Vec::new())
}

#[test]
fn deleted_upstream_is_deleted_and_with_the_last_resource_goes_the_file() {
    let (a, b) = (map("a", "1"), map("b", "1"));
    let both = format!("{a}---\n{b}");
    assert_eq!(
        merged(&[("f", &both)], &[("f", &a)], &[("f", &both)]),
        (vec![format!("f: {a}")], vec![])
    );
    assert_eq!(merged(&[("f", &a)], &[], &[("f", &a)]), (vec!["f: -".to_owned()], vec![]));
    let changed = map("a", "2");
    assert_eq!(
        merged(&[("f", &a)], &[], &[("f", &changed)]),
        (vec!["f: -".to_owned()], vec![ConflictKind::DeletedUpstream])
    );
}

#[test]
fn added_upstream_comes_with_its_file_or_behind_its_neighbour() {
    let [a, b, c] = ["a", "b", "c"].map(|name| map(name, "1"));
    let theirs = format!("# theirs\n{b}---\n{c}");
    assert_eq!(merged(&[], &[("d/f", &theirs)], &[]), (vec![format!("d/f: {theirs}")], vec![]));
    let (two, three) = (format!("{a}---\n{c}"), format!("{a}---\n{b}---\n{c}"));
    assert_eq!(
        merged(&[("f", &two)], &[("f", &three)], &[("f", &two)]),
        (vec![format!("f: {three}")], vec![])
    );
    assert_eq!(
        merged(&[("f", &a)], &[("f", &format!("{a}---\n{b}"))], &[("g", &a)]),
        (vec![format!("g: {a}---\n{b}")], vec![]),
        "local moved the file"
    );
}

#[test]
fn only_local_is_kept_and_deleted_locally_stays_deleted() {
    let (a, b) = (map("a", "1"), map("b", "1"));
    assert_eq!(merged(&[], &[], &[("f", &a)]), none());
    assert_eq!(merged(&[("f", &a)], &[("f", &a)], &[("g", &b)]), none());
}

#[test]
fn deleted_locally_and_changed_upstream_is_a_conflict() {
    let (a, changed) = (map("a", "1"), map("a", "2"));
    assert_eq!(
        merged(&[("f", &a)], &[("f", &changed)], &[]),
        (vec![format!("f: {changed}")], vec![ConflictKind::DeletedLocally])
    );
}

#[test]
fn moved_upstream_and_edited_locally_is_one_resource_in_the_new_place() {
    let (a, b) = (map("a", "1"), map("b", "1"));
    let local = format!("# mine\n{}", map("a", "2 # local"));
    assert_eq!(
        merged(&[("f", &a)], &[("d/g", &a)], &[("f", &local)]),
        (vec![format!("d/g: {local}"), "f: -".to_owned()], vec![])
    );
    let both = format!("{local}---\n{b}");
    assert_eq!(
        merged(&[("f", &format!("{a}---\n{b}"))], &[("f", &b), ("g", &a)], &[("f", &both)]),
        (vec![format!("f: {b}"), format!("g: {local}")], vec![])
    );
}

#[test]
fn moved_locally_and_edited_upstream_is_one_resource_in_the_new_place() {
    let (a, changed) = (map("a", "1"), map("a", "2"));
    assert_eq!(
        merged(&[("f", &a)], &[("f", &changed)], &[("g", &a)]),
        (vec![format!("g: {changed}")], vec![])
    );
}

#[test]
fn moved_on_both_sides_is_a_conflict() {
    let a = map("a", "1");
    assert_eq!(
        merged(&[("f", &a)], &[("g", &a)], &[("h", &a)]),
        (vec![format!("g: {a}"), "h: -".to_owned()], vec![ConflictKind::Moved])
    );
}

#[test]
fn items_of_lists_come_and_go() {
    let list = |names: &[&str]| {
        let item =
            |name: &&str| format!("- apiVersion: v1\n  kind: A\n  metadata: {{name: {name}}}\n");
        let items: String = names.iter().map(item).collect();
        format!("apiVersion: v1\nkind: List\nitems:\n{items}")
    };
    assert_eq!(
        merged(
            &[("f", &list(&["a", "b"]))],
            &[("f", &list(&["b", "c"]))],
            &[("f", &list(&["a", "b", "x"]))]
        ),
        (vec![format!("f: {}", list(&["b", "c", "x"]))], vec![])
    );
}

#[test]
fn documents_that_are_no_resources_merge_by_their_place() {
    assert_eq!(
        merged(&[("v", "a: 1\nb: 1\n")], &[("v", "a: 2\nb: 1\n")], &[("v", "a: 1\nb: 3 # mine\n")]),
        (vec!["v: a: 2\nb: 3 # mine\n".to_owned()], vec![])
    );
}

#[test]
fn renamed_locally_and_edited_upstream_is_one_resource() {
    let base = map("a", "1");
    let local = map("b", "1");
    assert_eq!(
        merged(&[("f", &base)], &[("f", &map("a", "2"))], &[("f", &local)]),
        (vec![format!("f: {}", map("b", "2"))], vec![])
    );
}
