//! The read-back refuses every result that means something else.

use super::*;
use crate::{Edit, EmptyParents, KeyPosition};

const TEXT: &str = "apiVersion: v1 # one\nkind: Pod\nmetadata:\n  name: web\n  labels:\n    app: web\nspec:\n  # two\n  containers:\n  - name: \"one\"\n    args: [a, {b: c}]\n    script: |\n      text\n      more\n  - name: two\n  empty: {}\n  last: 'x'\n";

/// Whether a text is accepted as the result of an edit of [`TEXT`].
fn is_accepted(edit: &Edit<'_>, file: &File, new: &str) -> bool {
    let (_, edit) = edit.documents.first().expect("the document changes");
    let changes = edit.collections.iter().map(|(index, collection)| {
        let inserted = collection.inserted.iter().collect();
        let removed = collection.removed.clone();
        (index, CollectionChange { removed, inserted, ..CollectionChange::default() })
    });
    let changes = changes.collect();
    let expected = Expected::new(edit, &changes, false);
    let document = file.document(0).expect("there is one");
    read_back(document, &expected, new.to_owned(), None).is_ok()
}

#[test]
fn every_other_change_of_a_value_is_refused() {
    let file = File::parse(TEXT.to_owned()).unwrap();
    let get = |path: &str| file.get(path).unwrap();
    let mut edit = Edit::new(&file);
    edit.insert_key(get("metadata.labels"), "run", "x", KeyPosition::Last).unwrap();
    edit.insert_key(get("spec"), "new", "y", KeyPosition::First).unwrap();
    edit.remove(get("spec.containers[1]"), EmptyParents::Keep).unwrap();
    edit.set(get("metadata.name"), "shop").unwrap();
    let right = TEXT
        .replace("name: web", "name: shop")
        .replace("    app: web\n", "    app: web\n    run: x\n")
        .replace("spec:\n", "spec:\n  new: y\n")
        .replace("  - name: two\n", "");
    assert!(is_accepted(&edit, &file, &right));
    let mut refused = 0;
    let mut start = 0;
    for line in right.split_inclusive('\n') {
        let content = line.split('#').next().unwrap_or_default();
        for (at, byte) in content.bytes().enumerate() {
            let other = if byte == b'q' { "z" } else { "q" };
            let mut wrong = right.clone();
            wrong.replace_range(start + at..=start + at, other);
            if byte.is_ascii_alphanumeric() {
                assert!(!is_accepted(&edit, &file, &wrong), "{wrong}");
                refused += 1;
            }
        }
        let mut without = right.clone();
        without.replace_range(start..start + line.len(), "");
        let is_comment = content.trim().is_empty();
        assert_eq!(is_accepted(&edit, &file, &without), is_comment, "{without}");
        start += line.len();
    }
    assert!(refused > 100, "only {refused} were tried");
}
