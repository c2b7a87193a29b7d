//! Which nodes count as written alike, so that nobody needs to look into them.

use krm_yaml::{File, Path};

/// Whether the values at a path of two texts are written alike.
fn alike(old: &str, new: &str, path: &str) -> bool {
    let [old, new] = [old, new].map(|text| File::parse(text.to_owned()).expect("it is small"));
    let path: Path = path.parse().expect("it is a path");
    let node = |file| File::document(file, 0).and_then(|document| document.find(&path));
    node(&old).expect("it is there").is_written_as(node(&new).expect("it is there"))
}

#[test]
fn what_changed_elsewhere_makes_no_difference() {
    let old = "a: 1\nb:\n  # c\n  c: 2 # two\n  d: [x, {y: z}]\ne: 3\n";
    assert!(alike(old, &old.replace("a: 1", "aa: 100\nf: 5"), "b"));
    assert!(alike(old, &old.replace("e: 3", "e: 4"), "b"));
    assert!(alike(old, &old.replace("c: 2", "c: 3"), "b.d"));
}

#[test]
fn values_comments_and_their_places_count() {
    let old = "a: 1\nb:\n  # c\n  c: 2 # two\n  d: [x]\n  # end\ne: 3\n";
    for (from, to) in [
        ("c: 2", "c: 3"),
        ("c: 2", "c:  2"),
        ("# two", "# too"),
        ("# c\n", "# d\n"),
        ("  # end\n", ""),
        ("[x]", "[x ]"),
    ] {
        assert!(!alike(old, &old.replace(from, to), "b"), "{from:?} became {to:?}");
    }
}

#[test]
fn the_same_bytes_can_be_other_nodes() {
    // Below the dash `b` stands inside `a` on the left, and beside it on the right.
    assert!(!alike("x:\n- a:\n   b: 1\n", " x:\n - a:\n   b: 1\n", "x[0]"));
    assert!(alike("x:\n- a:\n    b: 1\n", " x:\n - a:\n    b: 1\n", "x[0]"));
}

#[test]
fn what_hangs_on_other_places_is_never_alike() {
    for value in ["[*x]", "&y [1]", "!t [1]", "[!!str 1]"] {
        let text = format!("a: &x 1\nb: {value}\n");
        assert!(!alike(&text, &text, "b"), "{value}");
    }
    assert!(alike("a: &x 1\nb: [2]\n", "a: &x 2\nb: [2]\n", "b"));
}

#[test]
fn the_indentation_of_a_text_counts() {
    let text = "x:\n b: |2\n     t\n";
    assert!(!alike(text, &text.replace(" b", "  b"), "x.b"));
    assert!(alike(text, &text.replace("x:", "x: # x"), "x.b"));
}
