//! Which edits need no verification.

use krm_yaml::{CommentPosition, Edit, File, KeyPosition, NodeRef, Path, Value};

/// Edits the first document. Returns whether the edit needed no verification, and the new text.
///
/// In builds with debug assertions, such edits are verified all the same.
fn edited(
    text: &str,
    change: impl for<'a> Fn(&mut Edit<'a>, &dyn Fn(&str) -> NodeRef<'a>),
) -> (bool, String) {
    let file = File::parse(text.to_owned()).expect("it is small");
    let document = file.document(0).expect("there is one");
    let mut edit = Edit::new(&file);
    change(&mut edit, &|path| {
        let path = path.parse::<Path>().expect("it is a path");
        document.find(&path).expect("it is there")
    });
    (edit.is_certain(), edit.apply().expect("it can be made"))
}

/// Adds one change to an edit; nodes are found by their paths.
type More = for<'a> fn(&mut Edit<'a>, &dyn Fn(&str) -> NodeRef<'a>);

fn set(text: &str, path: &str, value: &Value<'static>) -> (bool, String) {
    edited(text, |edit, at| edit.overwrite(at(path), value.clone()).expect("it is set once"))
}

fn text(text: &'static str) -> Value<'static> {
    Value::from(text)
}

#[test]
fn simple_scalars_in_block_collections_need_no_verification() {
    let cases = [
        ("a: old\n", "a", text("new"), "a: new\n"),
        (
            "a: 3 # {\"$openapi\":\"n\"}\nb: 1\n",
            "a",
            Value::int(5),
            "a: 5 # {\"$openapi\":\"n\"}\nb: 1\n",
        ),
        ("a: nginx:1.24  \t# x\n", "a", text("nginx:1.25.3"), "a: nginx:1.25.3  \t# x\n"),
        ("a: old", "a", text("new"), "a: new"),
        ("a: old\r\nb: 1\r\n", "a", text("new"), "a: new\r\nb: 1\r\n"),
        ("a: old   \n", "a", text("new"), "a: new   \n"),
        ("a:\n  old\nb: 1\n", "a", text("new"), "a:\n  new\nb: 1\n"),
        ("a:\n- old\n- b\n", "a[0]", text("new"), "a:\n- new\n- b\n"),
        ("- - old\n  - b\n", "[0][0]", text("new"), "- - new\n  - b\n"),
        ("? a\n: old\n", "a", text("new"), "? a\n: new\n"),
        ("a: true\n", "a", Value::Bool(false), "a: false\n"),
        ("a: 1\n", "a", Value::Null, "a: null\n"),
        ("a: 'it: # [x'\n", "a", text("- {y"), "a: '- {y'\n"),
        ("a: \"\"\n", "a", text("1"), "a: \"1\"\n"),
        (
            "--- # x\na: old\n...\n---\nb: [\n",
            "a",
            text("new"),
            "--- # x\na: new\n...\n---\nb: [\n",
        ),
        ("a: &x {b: c}\nd: old\ne: *x\n", "d", text("new"), "a: &x {b: c}\nd: new\ne: *x\n"),
        ("a: old\na: old\n", "a", text("new"), "a: old\na: new\n"),
    ];
    for (old, path, value, new) in cases {
        assert_eq!(set(old, path, &value), (true, new.to_owned()), "{old:?}");
    }
}

#[test]
fn long_values_need_no_verification() {
    let long = "x".repeat(3000);
    for old in ["a: y\nb: 1\n", "- y\n- b\n", "? a\n: y\n"] {
        let (is_certain, new) = edited(old, |edit, at| {
            let path = if old.starts_with('-') { "[0]" } else { "a" };
            edit.set(at(path), Value::string(long.clone())).unwrap();
        });
        assert_eq!((is_certain, new), (true, old.replace('y', &long)));
    }
}

#[test]
fn other_edits_are_verified() {
    let cases = [
        // The root, flow collections, JSON.
        ("old\n", ".", text("new")),
        ("--- old\n", ".", text("new")),
        ("a: [old]\n", "a[0]", text("new")),
        ("a: {b: old}\n", "a.b", text("new")),
        ("[a: old]\n", "[0].a", text("new")),
        ("{\"a\": \"old\"}\n", "a", text("new")),
        // Anchors, tags, block scalars, empty values, several lines.
        ("a: &x old\n", "a", text("new")),
        ("a: !!str old\n", "a", text("new")),
        ("a: !own old\n", "a", text("new")),
        ("a: |\n  old\n", "a", text("new\n")),
        ("a:\n", "a", text("new")),
        ("a: old\n  text\n", "a", text("new")),
        ("a: \"old\n  text\"\n", "a", text("new")),
        ("a: {}\n", "a", text("new")),
        // Another style.
        ("a: old\n", "a", text("true")),
        ("a: old\n", "a", text("a: b")),
        ("a: 'old'\n", "a", Value::int(1)),
        ("a: \"1\"\n", "a", Value::Bool(true)),
        // Scalars that are not simple, before or after.
        ("a: old\n", "a", text("new text")),
        ("a: old text\n", "a", text("new")),
        ("a: old\n", "a", text("-new")),
        ("a: old#x\n", "a", text("new")),
        ("a: -1\n", "a", Value::int(1)),
        ("a: 1\n", "a", Value::int(-1)),
        ("a: 'it''s'\n", "a", text("new")),
        ("a: 'old'\n", "a", text("it's")),
        ("a: \"o\\nd\"\n", "a", text("new")),
        ("a: \"old\"\n", "a", text("n\\w")),
        ("a: \"old\"\n", "a", text("n\nw")),
        ("a: \"é\"\n", "a", text("new")),
        ("a: old\n", "a", text("né")),
        // Other changes than scalars.
        ("a: old\n", "a", Value::Sequence(vec![text("new")])),
        ("a: old\n", "a", Value::Mapping(Vec::new())),
    ];
    for (old, path, value) in cases {
        assert!(!set(old, path, &value).0, "{old:?} {value:?}");
    }
}

#[test]
fn one_other_change_verifies_the_whole_document() {
    let old = "a: old\nb: 1\nc: [x]\n";
    let (swaps, _) = edited(old, |edit, at| {
        edit.set(at("a"), "new").unwrap();
        edit.set(at("b"), 2).unwrap();
    });
    assert!(swaps);
    let others: [More; 4] = [
        |edit, at| edit.set(at("c[0]"), "y").unwrap(),
        |edit, at| edit.insert_key(at("."), "d", 1, KeyPosition::Last).unwrap(),
        |edit, at| edit.set_comment(at("a"), CommentPosition::Line, Some("x")).unwrap(),
        |edit, at| edit.rename(at("b").key().unwrap(), "z").unwrap(),
    ];
    for other in others {
        let (is_certain, _) = edited(old, |edit, at| {
            edit.set(at("a"), "new").unwrap();
            other(edit, at);
        });
        assert!(!is_certain);
    }
}

#[test]
fn copied_nodes_are_verified() {
    let other = File::parse("x: &y new # why\n".to_owned()).unwrap();
    let new = other.document(0).unwrap().find(&"x".parse::<Path>().unwrap()).unwrap();
    let file = File::parse("a: old\n".to_owned()).unwrap();
    let old = file.document(0).unwrap().find(&"a".parse::<Path>().unwrap()).unwrap();
    let mut edit = Edit::new(&file);
    edit.set(old, new).unwrap();
    assert!(!edit.is_certain());
}

#[test]
fn shared_values_are_refused() {
    let file = File::parse("a: &x\n  b: old\nc: *x\n".to_owned()).unwrap();
    let old = file.document(0).unwrap().find(&"a.b".parse::<Path>().unwrap()).unwrap();
    for (allowed, wanted) in [(false, None), (true, Some("a: &x\n  b: new\nc: *x\n"))] {
        let mut edit = Edit::new(&file).allow_shared(allowed);
        edit.set(old, "new").unwrap();
        assert_eq!(edit.is_certain(), allowed);
        assert_eq!(edit.apply().ok().as_deref(), wanted);
    }
}
