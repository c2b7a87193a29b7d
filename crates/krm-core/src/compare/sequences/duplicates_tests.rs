//! Which elements with the same merge keys are counterparts.

use super::*;
use crate::compare::sequences::KeyField;
use krm_yaml::File;

/// The numbers of the elements of each version.
fn numbers<const N: usize>(keys: Vec<KeyField>, texts: [&str; N]) -> [Vec<usize>; N] {
    let files = texts.map(|text| File::parse(text.to_owned()).unwrap());
    let list_type = ListType::Map(keys);
    let mut elements = files.each_ref().map(|file| {
        let root = file.document(0).and_then(|document| document.root());
        Elements::of(root, &list_type, |_| true)
    });
    align_duplicates(&list_type, elements.each_mut());
    elements.map(|elements| elements.ids.iter().map(|id| id.occurrence).collect())
}

fn name() -> Vec<KeyField> {
    vec![KeyField::new("name")]
}

#[test]
fn equal_elements_are_counterparts() {
    let base = "[{name: a, v: 1}]";
    let local = "[{name: a, v: 0}, {name: a, v: 1}]";
    assert_eq!(numbers(name(), [base, local, base]), [vec![0], vec![1, 0], vec![0]]);
    assert_eq!(numbers(name(), [base, local, "[]"]), [vec![0], vec![1, 0], vec![]]);
}

#[test]
fn local_additions_are_not_counterparts_of_what_upstream_removed() {
    let base = "[{name: a, v: 1}, {name: a, v: 2}]";
    let merged = "[{name: a, v: 1}, {name: a, v: 3}]";
    let upstream = "[{name: a, v: 1}]";
    assert_eq!(numbers(name(), [base, merged, upstream]), [vec![0, 1], vec![0, 2], vec![0]]);
    let changed = "[{name: a, v: 1}, {name: a, v: 4}]";
    assert_eq!(numbers(name(), [base, merged, changed]), [[0, 1], [0, 1], [0, 1]]);
    let both = "[{name: a, v: 4}, {name: a, v: 3}]";
    assert_eq!(numbers(name(), [upstream, both, changed]), [vec![0], vec![1, 0], vec![0, 1]]);
}

#[test]
fn similar_elements_are_counterparts() {
    let base = "[{name: a, k: x, v: 1}, {name: a, k: y, v: 1}]";
    let upstream = "[{name: a, k: y, v: 2}, {name: a, k: x, v: 2}]";
    assert_eq!(numbers(name(), [base, upstream]), [vec![0, 1], vec![1, 0]]);
    assert_eq!(numbers(name(), [base, "[{name: a, k: y}]"]), [vec![0, 1], vec![1]]);
    assert_eq!(numbers(name(), [base, "[{name: a}, {name: a}]"]), [vec![0, 1], vec![0, 1]]);
}

#[test]
fn secondary_keys_decide_only_between_duplicates() {
    let secondary = KeyField { is_secondary: true, ..KeyField::new("when") };
    let keys = || vec![KeyField::new("key"), secondary.clone()];
    let both = "[{key: a, when: x, v: 1, w: 1}, {key: a, when: y}]";
    assert_eq!(numbers(keys(), [both, "[{key: a, when: y, v: 1, w: 1}]"]), [vec![0, 1], vec![1]]);
    assert_eq!(numbers(keys(), ["[{key: a, when: x}]", "[{key: a, when: y}]"]), [[0], [0]]);
}
