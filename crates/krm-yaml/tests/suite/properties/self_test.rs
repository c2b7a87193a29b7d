//! Tests of the checks: each kind of wrong result is detected by one of them.

use krm_yaml::{Edit, File};

use super::change::{Change, PositionArgument, What};
use super::editing::Edited;
use super::model::Tree;

const OLD: &str =
    "# head\n\na: 1 # one\n# two\nb:   'x'\n\nc: [p, q] # three\nd:\n- &k yes\n- *k # four\n";

/// Sets `b` to `new`, and returns whether some check fails for `new`.
fn is_detected(new: &str) -> bool {
    let changes = vec![Change { path: vec![3], what: What::Set(Tree::text("new")) }];
    let old = File::parse(OLD.to_owned()).expect("it is small");
    let edited = Edited { old, document: 0, changes, new: new.to_owned(), is_certain: false };
    let verdicts =
        [edited.untouched_stays(), edited.edit_is_read_back(), edited.unknown_survives()];
    verdicts.iter().any(Result::is_err)
}

#[test]
fn correct_result_is_accepted() {
    assert!(!is_detected(&OLD.replace("'x'", "'new'")));
    assert!(!is_detected(&OLD.replace("'x'", "new")));
}

#[test]
fn every_kind_of_damage_is_detected() {
    let right = OLD.replace("'x'", "'new'");
    let wrongs = [
        OLD.to_owned(),
        right.replace("a: 1 ", "a: '1' "),
        right.replace("# one", "#  one"),
        right.replace(" # one", ""),
        right.replace("# two\n", ""),
        right.replace("b:   ", "b: "),
        right.replace("\n\nc", "\nc"),
        right.replace("[p, q]", "[p,q]"),
        right.replace("&k ", ""),
        right.replace("*k", "yes"),
        right.replace("- &k yes\n", ""),
        right.replace("# four\n", "# four"),
        right.replace('\n', "\r\n"),
        right.replace("'new'", "no"),
        right.replace("'new'", "new: z"),
        format!("{right}# more\n"),
        format!("\u{feff}{right}"),
    ];
    for wrong in &wrongs {
        assert!(is_detected(wrong), "not seen: {wrong}");
    }
}

/// The text with one change.
fn changed(old: &str, change: &Change) -> String {
    let file = File::parse(old.to_owned()).expect("it is small");
    let mut edit = Edit::new(&file);
    change.request(file.document(0).expect("a document"), &mut edit).expect("it is possible");
    edit.apply().expect("it is possible")
}

/// Sets a node, and checks that the text behind it changes only as given.
fn behind(old: &str, path: &[usize], value: Tree, accepted: &str, wrongs: &[&str]) {
    let change = Change { path: path.to_vec(), what: What::Set(value) };
    let new = changed(old, &change);
    let edited = |new: String| {
        let old = File::parse(old.to_owned()).expect("it is small");
        Edited { old, document: 0, changes: vec![change.clone()], new, is_certain: false }
    };
    assert!(new.ends_with(accepted), "{new:?}");
    assert_eq!(edited(new.clone()).untouched_stays(), Ok(()));
    for wrong in wrongs {
        let new = format!("{}{wrong}", &new[..new.len() - accepted.len()]);
        assert!(edited(new.clone()).untouched_stays().is_err(), "not seen: {new:?}");
    }
}

#[test]
fn only_tabs_before_the_next_token_may_be_removed() {
    let list = Tree::sequence(vec![Tree::text("x")]);
    behind("-{j\n\t|:(5\n\t\n# c\n", &[], list, "x\n\n# c\n", &["x\n\n", "x\n\n# d\n"]);
    for (text, accepted, wrongs) in [
        ("a: x\n \t \nb: 1\n", "\n\nb: 1\n", ["\nb: 1\n", "\n\nb:  1\n"]),
        ("a: x\n \t# c\nb: 1\n", "\n  # c\nb: 1\n", ["\n# c\nb: 1\n", "\nb: 1\n"]),
    ] {
        behind(text, &[1], Tree::text("yes"), accepted, &wrongs);
    }
}

#[test]
fn deeper_comments_behind_blank_lines_belong_to_the_entry_above() {
    let place = PositionArgument::Last;
    let insert = What::InsertKey { key: "x".to_owned(), value: Tree::text("z"), at: 1, place };
    for (old, path, what, new) in [
        (":\n\n   # c\n", vec![], insert, ":\n\n   # c\nx: z\n"),
        ("a: 1\n\n   # c\nb: 2\n", vec![1], What::Remove { prune: false }, "b: 2\n"),
        ("a:\n  - 1\n\n   # c\nb: 2\n", vec![1], What::Set(Tree::text("x")), "a: x\nb: 2\n"),
    ] {
        let change = Change { path, what };
        assert_eq!(changed(old, &change), new);
        let old = File::parse(old.to_owned()).expect("it is small");
        let (new, changes) = (new.to_owned(), vec![change]);
        let edited = Edited { old, document: 0, changes, new, is_certain: false };
        assert_eq!(edited.untouched_stays(), Ok(()));
        assert_eq!(edited.unknown_survives(), Ok(()));
    }
}
