//! Resources whose identity a side changed.

use super::tests::{map, merged};
use crate::merge::ConflictKind;

#[test]
fn resource_pairs_although_a_side_changed_its_namespace() {
    let base = map("a", "1");
    let namespaced = base.replace("name: a\n", "name: a\n  namespace: shop\n");
    let edited = base.replace("x: 1\n", "x: 1 # mine\n  z: 3\n");
    let both = namespaced.replace("x: 1\n", "x: 1 # mine\n  z: 3\n");
    let other = map("b", "1");
    let with_other = |text: &str| format!("{text}---\n{other}");
    for (upstream, local) in [(&namespaced, &edited), (&edited, &namespaced)] {
        assert_eq!(
            merged(&[("f", &base)], &[("f", upstream)], &[("f", local)]),
            (vec![format!("f: {both}")], vec![])
        );
        let texts = [&base, upstream, local, &both].map(|text| with_other(text));
        assert_eq!(
            merged(&[("f", &texts[0])], &[("f", &texts[1])], &[("f", &texts[2])]),
            (vec![format!("f: {}", texts[3])], vec![])
        );
    }
    // With two of the same kind and name it is not clear which one changed, and their positions decide.
    let twice = format!("{}---\n{base}", base.replace("name: a\n", "name: a\n  namespace: x\n"));
    let moved = twice.replace("namespace: x", "namespace: y");
    let mine = twice.replacen("x: 1\n", "x: 1\n  z: 3\n", 1);
    let result = moved.replacen("x: 1\n", "x: 1\n  z: 3\n", 1);
    assert_eq!(
        merged(&[("f", &twice)], &[("f", &moved)], &[("f", &mine)]),
        (vec![format!("f: {result}")], vec![])
    );
}

#[test]
fn document_that_gains_a_kind_keeps_local_edits() {
    let base = "resources:\n- a.yaml\n";
    let kind = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n";
    let upstream = format!("{kind}{base}");
    let local = format!("{base}namePrefix: x- # mine\n");
    let both = format!("{kind}{local}");
    for (upstream, local) in [(&upstream, &local), (&local, &upstream)] {
        let (changes, conflicts) = merged(&[("k", base)], &[("k", upstream)], &[("k", local)]);
        assert_eq!(changes.len(), 1, "{changes:?}");
        let text = changes[0].trim_start_matches("k: ");
        let sorted = |text: &str| {
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            lines.sort();
            lines
        };
        assert_eq!((sorted(text), conflicts), (sorted(&both), vec![]));
    }
}

#[test]
fn resource_of_another_kind_at_the_same_position_is_another_resource() {
    let (a, b) = (map("a", "1"), map("b", "1").replace("ConfigMap", "Secret"));
    let local = map("a", "2");
    assert_eq!(
        merged(&[("f", &a)], &[("f", &b)], &[("f", &local)]),
        (vec![format!("f: {b}")], vec![ConflictKind::DeletedUpstream])
    );
}
