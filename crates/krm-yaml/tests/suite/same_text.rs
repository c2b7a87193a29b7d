//! `NodeRef::is_written_as`: which subtrees are considered to have the same text.

use krm_yaml::{File, Path};

/// Whether the values at a path of two texts have the same text.
fn same_text(old: &str, new: &str, path: &str) -> bool {
    let [old, new] = [old, new].map(|text| File::parse(text.to_owned()).expect("it is small"));
    let path: Path = path.parse().expect("it is a path");
    let node = |file| File::document(file, 0).and_then(|document| document.find(&path));
    node(&old).expect("it is there").is_written_as(node(&new).expect("it is there"))
}

#[test]
fn changes_elsewhere_do_not_matter() {
    let old = "a: 1\nb:\n  # c\n  c: 2 # two\n  d: [x, {y: z}]\ne: 3\n";
    assert!(same_text(old, &old.replace("a: 1", "aa: 100\nf: 5"), "b"));
    assert!(same_text(old, &old.replace("e: 3", "e: 4"), "b"));
    assert!(same_text(old, &old.replace("c: 2", "c: 3"), "b.d"));
}

#[test]
fn values_comments_and_positions_matter() {
    let old = "a: 1\nb:\n  # c\n  c: 2 # two\n  d: [x]\n  # end\ne: 3\n";
    for (from, to) in [
        ("c: 2", "c: 3"),
        ("c: 2", "c:  2"),
        ("# two", "# too"),
        ("# c\n", "# d\n"),
        ("  # end\n", ""),
        ("[x]", "[x ]"),
    ] {
        assert!(!same_text(old, &old.replace(from, to), "b"), "{from:?} became {to:?}");
    }
}

#[test]
fn same_bytes_with_other_nodes_differ() {
    // Below the dash, `b` is inside `a` on the left, and beside it on the right.
    assert!(!same_text("x:\n- a:\n   b: 1\n", " x:\n - a:\n   b: 1\n", "x[0]"));
    assert!(same_text("x:\n- a:\n    b: 1\n", " x:\n - a:\n    b: 1\n", "x[0]"));
}

#[test]
fn nodes_with_aliases_anchors_or_tags_differ() {
    for value in ["[*x]", "&y [1]", "!t [1]", "[!!str 1]"] {
        let text = format!("a: &x 1\nb: {value}\n");
        assert!(!same_text(&text, &text, "b"), "{value}");
    }
    assert!(same_text("a: &x 1\nb: [2]\n", "a: &x 2\nb: [2]\n", "b"));
}

#[test]
fn indentation_of_a_block_scalar_matters() {
    let text = "x:\n b: |2\n     t\n";
    assert!(!same_text(text, &text.replace(" b", "  b"), "x.b"));
    assert!(same_text(text, &text.replace("x:", "x: # x"), "x.b"));
}
