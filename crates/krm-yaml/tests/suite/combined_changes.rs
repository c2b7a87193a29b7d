//! Edits with several changes that depend on each other, which cases of one action cannot express.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use krm_yaml::{
    CommentPosition, DocumentCopy, Edit, EmptyParents, File, KeyPosition, NodeRef, Path, Value,
};

fn edited(
    text: &str,
    change: impl for<'a> Fn(&mut Edit<'a>, &dyn Fn(&str) -> NodeRef<'a>),
) -> String {
    let file = File::parse(text.to_owned()).unwrap();
    let document = file.document(0).unwrap();
    let mut edit = Edit::new(&file);
    change(&mut edit, &|path| document.find(&path.parse::<Path>().unwrap()).unwrap());
    edit.apply().unwrap()
}

#[test]
fn lines_are_inserted_after_an_entry_whose_last_line_is_removed() {
    let text = edited("b:\n  c: 1\n  d: 2\nz: 1\n", |edit, at| {
        edit.remove(at("b.d"), EmptyParents::Keep).unwrap();
        edit.insert_key(at("."), "k", 1, KeyPosition::After("b")).unwrap();
    });
    assert_eq!(text, "b:\n  c: 1\nk: 1\nz: 1\n");
    let text = edited("b:\n  c: 1\n", |edit, at| {
        edit.remove(at("b.c"), EmptyParents::Keep).unwrap();
        edit.insert_key(at("b"), "e", 1, KeyPosition::Last).unwrap();
        edit.insert_key(at("."), "k", 1, KeyPosition::Last).unwrap();
    });
    assert_eq!(text, "b:\n  e: 1\nk: 1\n");
}

#[test]
fn elements_are_inserted_between_reordered_ones() {
    let text = "l:\n# one\n- a: 1\n- b: 2 # two\n- c: 3\nz: 1\n";
    let turned = |before: usize| {
        edited(text, |edit, at| {
            edit.reorder(at("l"), vec![2, 0, 1]).unwrap();
            edit.insert_element(at("l"), before, "new").unwrap();
        })
    };
    assert_eq!(turned(0), "l:\n- new\n- c: 3\n# one\n- a: 1\n- b: 2 # two\nz: 1\n");
    assert_eq!(turned(1), "l:\n- c: 3\n- new\n# one\n- a: 1\n- b: 2 # two\nz: 1\n");
    assert_eq!(turned(2), "l:\n- c: 3\n# one\n- a: 1\n- new\n- b: 2 # two\nz: 1\n");
    assert_eq!(turned(3), "l:\n- c: 3\n# one\n- a: 1\n- b: 2 # two\n- new\nz: 1\n");
    let text = edited("- - a\n  - b\n- c\n", |edit, at| {
        edit.reorder(at("[0]"), vec![1, 0]).unwrap();
        edit.insert_element(at("[0]"), 0, "new").unwrap();
        edit.reorder(at("."), vec![1, 0]).unwrap();
        edit.insert_element(at("."), 0, "first").unwrap();
    });
    assert_eq!(text, "- first\n- c\n- - new\n  - b\n  - a\n");
}

#[test]
fn reordered_elements_lose_their_last_fields() {
    let text = "l:\n- n: p\n  z: 1\n- n: m\n  x: 1\n  # why\n  y: {}\n- n: o\n  z: 1";
    for end in ["", "\n", "\nk: 1\n"] {
        let text = edited(&format!("{text}{end}"), |edit, at| {
            edit.reorder(at("l"), vec![1, 2, 0]).unwrap();
            for field in ["l[1].x", "l[1].y", "l[2].z"] {
                edit.remove(at(field), EmptyParents::Keep).unwrap();
            }
        });
        assert_eq!(text, format!("l:\n- n: m\n- n: o\n- n: p\n  z: 1{end}"));
    }
    let text = edited("- n: p\n- n: m\n  x: 1\n- n: o\n", |edit, at| {
        edit.reorder(at("."), vec![1, 0, 2]).unwrap();
        edit.remove(at("[1].x"), EmptyParents::Keep).unwrap();
        edit.insert_key(at("[1]"), "w", 1, KeyPosition::Last).unwrap();
        edit.insert_element(at("."), 2, "new").unwrap();
    });
    assert_eq!(text, "- n: m\n  w: 1\n- n: p\n- new\n- n: o\n");
    let text = edited("a:\n  b: {}\n  c: 1\nd:\n  e: 1\n  f: 1\n", |edit, at| {
        edit.reorder(at("."), vec![1, 0]).unwrap();
        edit.remove(at("d.f"), EmptyParents::Keep).unwrap();
        edit.remove(at("a.c"), EmptyParents::Keep).unwrap();
    });
    assert_eq!(text, "d:\n  e: 1\na:\n  b: {}\n");
}

#[test]
fn line_comment_is_written_after_the_new_value() {
    let beside = CommentPosition::Line;
    let text = edited("a: {}\nb: 1 # old\nc:\n  d: 1\ne:\n  f: 1\n", |edit, at| {
        edit.insert_key(at("a"), "x", 1, KeyPosition::Last).unwrap();
        edit.set_comment(at("a"), beside, Some("of a")).unwrap();
        edit.set(at("b"), 2).unwrap();
        edit.set_comment(at("b"), beside, None).unwrap();
        edit.remove(at("c.d"), EmptyParents::Keep).unwrap();
        edit.set_comment(at("c"), beside, Some("of c")).unwrap();
        edit.set(at("e"), 5).unwrap();
        edit.set_comment(at("e"), beside, Some("of e")).unwrap();
    });
    assert_eq!(text, "a: # of a\n  x: 1\nb: 2\nc: {} # of c\ne: 5 # of e\n");
}

#[test]
fn line_comment_precedes_entries_inserted_after_it() {
    let text = edited("a: 1\nb: 1\n", |edit, at| {
        edit.set_comment(at("a"), CommentPosition::Line, Some("of a")).unwrap();
        edit.set_comment(at("b"), CommentPosition::Head, Some("of b")).unwrap();
        edit.insert_key(at("."), "k", 1, KeyPosition::After("a")).unwrap();
    });
    assert_eq!(text, "a: 1 # of a\nk: 1\n# of b\nb: 1\n");
}

#[test]
fn comment_line_is_replaced_by_several_lines() {
    let file = File::parse("# head\na: 1 # x\n".to_owned()).unwrap();
    let comments = file.document(0).unwrap().comments();
    let mut edit = Edit::new(&file);
    edit.replace_comment(0, &comments[0], Some("one\ntwo"));
    edit.replace_comment(0, &comments[1], Some("one\ntwo"));
    assert_eq!(edit.apply().unwrap(), "# one\n# two\na: 1 # one two\n");
}

#[test]
fn keys_of_any_type_are_inserted() {
    let source = File::parse("? [a, b]\n: 1\n2: x\n".to_owned()).unwrap();
    let keys: Vec<NodeRef<'_>> = source.document(0).unwrap().root().unwrap().children().collect();
    let file = File::parse("a: 1\n".to_owned()).unwrap();
    let root = file.document(0).unwrap().root().unwrap();
    let mut edit = Edit::new(&file);
    edit.insert_entry(root, None, keys[2], keys[3]).unwrap();
    edit.insert_entry(root, Some(0), keys[0], keys[1]).unwrap();
    assert_eq!(edit.apply().unwrap(), "2: x\na: 1\n[a, b]: 1\n");
}

#[test]
fn document_copy_keeps_the_text_of_the_rest() {
    let text = "list:\n# one\n- name: a # first\n  drop: 1\n- drop\n# two\n- {name: b, drop: 1}\n";
    let source = File::parse(text.to_owned()).unwrap();
    let at = |path: &str| source.document(0).unwrap().find(&path.parse().unwrap()).unwrap();
    let without = [at("list[0].drop"), at("list[1]"), at("list[2].drop")];
    let notes = [(at("list[2]"), "# noted".to_owned())];
    let pruned = DocumentCopy::new(source.document(0).unwrap(), &without, &notes).unwrap();
    let file = File::parse("x:\n  - 1\n".to_owned()).unwrap();
    let list = file.document(0).unwrap().find(&"x".parse().unwrap()).unwrap();
    let mut edit = Edit::new(&file);
    for item in ["list[0]", "list[2]"] {
        edit.append(list, Value::OwnedNode(pruned.owned_node(at(item)))).unwrap();
    }
    let expected = "x:\n  - 1\n  # one\n  - name: a # first\n  # noted\n  # two\n  - {name: b}\n";
    assert_eq!(edit.apply().unwrap(), expected);
}
