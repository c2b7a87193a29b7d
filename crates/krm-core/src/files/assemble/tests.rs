//! Tests of assembly: resources are changed, added, deleted and moved.

use super::*;
use crate::functions::resource_list::Items;
use crate::model::package::tests::package;

const A: &str = "apiVersion: v1\nkind: A\nmetadata:\n  name: a # it\n";
const B: &str = "apiVersion: v1\nkind: B\nmetadata:\n  name: b\n";
const C: &str = "apiVersion: v1\nkind: C\nmetadata:\n  name: c\n";

/// The files that change, with their new text.
fn changed(
    files: &[(&str, &str)],
    change: impl FnOnce(&mut Vec<Item>),
    deletions: Deletions,
) -> Result<Vec<(String, Option<String>)>, String> {
    let package = package(files);
    let before = Items::from_package(&package, |_| true).unwrap().items;
    let mut after = before.clone();
    change(&mut after);
    let done = assemble(&package, &before, &after, deletions);
    let done = done.map_err(|errors| errors[0].message().to_owned())?;
    Ok(done.changes.into_iter().map(|it| (it.path.as_str().to_owned(), it.into_text())).collect())
}

fn one(files: &[(&str, &str)], change: impl FnOnce(&mut Vec<Item>)) -> String {
    let mut all = changed(files, change, Deletions::Some).unwrap();
    assert_eq!(all.len(), 1, "{all:?}");
    all.pop().unwrap().1.unwrap()
}

fn new(text: &str, path: Option<&str>, index: Option<usize>) -> Item {
    let mut item = Item::parse(text.to_owned()).unwrap();
    item.path = path.map(|path| PackagePath::new(path).unwrap());
    item.index = index;
    item
}

fn edited(item: &Item) -> Item {
    item.with_text(item.text().replace("metadata:\n", "spec: 1\nmetadata:\n")).unwrap()
}

#[test]
fn unchanged_items_change_no_file() {
    let files = [("a.yaml", &*format!("{A}---\n{B}")), ("b.yaml", C)];
    assert_eq!(changed(&files, |_| (), Deletions::Some), Ok(vec![]));
    assert_eq!(changed(&files, |items| items.reverse(), Deletions::Some), Ok(vec![]));
}

#[test]
fn changed_document_keeps_everything_around_it() {
    let file = format!("# licence\n---\n# of a\n{A}\n\n---   # b\n{B}...\n# end\n---\nother: 1\n");
    let text = one(&[("a.yaml", &file)], |items| {
        items[0] = edited(&items[0]);
        items[1] = edited(&items[1]);
    });
    let wanted =
        file.replace("kind: A\n", "kind: A\nspec: 1\n").replace("kind: B\n", "kind: B\nspec: 1\n");
    assert_eq!(text, wanted);
    let marked = format!("\u{feff}---\n{A}");
    assert_eq!(
        one(&[("a.yaml", &marked)], |items| items[0] = edited(&items[0])),
        marked.replace("kind: A\n", "kind: A\nspec: 1\n")
    );
}

/// Only Kubernetes reads `---#` as a document marker, and krm does so in files that are not YAML 1.2.
#[test]
fn a_change_that_joins_other_documents_is_an_error() {
    let file = format!("{A}x: \"a\nb\"\n---\nc\n---# d\ne\n---\n{B}");
    let change = |items: &mut Vec<Item>| {
        items[0] = items[0].with_text(items[0].text().replace("\"a\nb\"", "1")).unwrap();
    };
    let error = changed(&[("a.yaml", &file)], change, Deletions::Some).unwrap_err();
    assert_eq!(error, "cannot change the resources of this file without changing others");
    let valid = file.replace("---# d", "--- # d");
    assert_eq!(one(&[("a.yaml", &valid)], change), valid.replace("\"a\nb\"", "1"));
}

#[test]
fn final_block_scalar_keeps_its_meaning() {
    let text = "apiVersion: v1\nkind: T\nx: |\n  a";
    let file = format!("{text}\n---\n{text}");
    let change = |items: &mut Vec<Item>| {
        for item in items {
            *item = item.with_text(item.text().replace("kind: T", "kind: U")).unwrap();
        }
    };
    assert_eq!(one(&[("a.yaml", &file)], change), file.replace("kind: T", "kind: U"));
    let kept = "apiVersion: v1\nkind: T\nx: |+\n  a\n\n";
    let file = format!("{kept}---\n{kept}");
    assert_eq!(one(&[("a.yaml", &file)], change), file.replace("kind: T", "kind: U"));
}

#[test]
fn list_items_are_edited_in_place() {
    let list = "apiVersion: v1\nkind: List\nitems:\n  # one\n  - apiVersion: v1\n    kind: A # a\n    x:   [1,2]\n  - {apiVersion: v1, kind: B}\n";
    let text = one(&[("a.yaml", list)], |items| {
        items[0] = items[0]
            .with_text("# ein\napiVersion: v1\nkind: A\nx:   [1,2]\ny: 1 # why\n".to_owned())
            .unwrap();
        items[1] = items[1].with_text("{apiVersion: v1, kind: B, z: 2}\n".to_owned()).unwrap();
    });
    assert_eq!(
        text,
        "apiVersion: v1\nkind: List\nitems:\n  # ein\n  - apiVersion: v1\n    kind: A\n    x:   [1,2]\n    y: 1 # why\n  - {apiVersion: v1, kind: B, z: 2}\n"
    );
}

#[test]
fn new_resource_goes_to_its_file_or_gets_a_new_one() {
    let all = changed(
        &[("a.yaml", A)],
        |items| {
            items.push(new(B, Some("a.yaml"), None));
            items.push(new(C, None, None));
            items.push(new(C, Some("x/y.yaml"), Some(3)));
        },
        Deletions::Some,
    );
    let wanted = [
        ("a.yaml", format!("{A}---\n{B}")),
        ("c_c.yaml", C.to_owned()),
        ("x/y.yaml", C.to_owned()),
    ];
    let wanted = wanted.map(|(path, text)| (path.to_owned(), Some(text)));
    assert_eq!(all.unwrap(), wanted);
}

#[test]
fn index_is_the_position_in_the_file() {
    let file = format!("{A}---\n{B}");
    let at = |index| {
        one(&[("a.yaml", &file)], |items| {
            items
                .iter_mut()
                .filter(|it| it.index >= Some(index))
                .for_each(|it| it.index = it.index.map(|it| it + 1));
            items.push(new(C, Some("a.yaml"), Some(index)));
        })
    };
    assert_eq!(at(0), format!("{C}---\n{A}---\n{B}"));
    assert_eq!(at(1), format!("{A}---\n{C}---\n{B}"));
    assert_eq!(at(2), format!("{A}---\n{B}---\n{C}"));
    let file = format!("{A}---\n{B}---\n{C}");
    let swapped = one(&[("a.yaml", &file)], |items| {
        items[0].index = Some(2);
        items[2].index = Some(0);
    });
    assert_eq!(swapped, format!("{C}---\n{B}---\n{A}"));
}

#[test]
fn new_resource_gets_the_position_that_it_asks_for() {
    let file = format!("# head\n{A}---\n{B}");
    let files = [("a.yaml", &*file)];
    let added = |index| one(&files, |items| items.push(new(C, Some("a.yaml"), index)));
    assert_eq!(added(Some(0)), format!("{C}---\n{file}"));
    assert_eq!(added(Some(1)), format!("# head\n{A}---\n{C}---\n{B}"));
    for index in [Some(2), Some(7), None] {
        assert_eq!(added(index), format!("{file}---\n{C}"), "{index:?}");
    }
    let replaced = one(&[("a.yaml", &format!("{A}---\n{B}"))], |items| {
        items[0] = new(C, Some("a.yaml"), Some(0));
    });
    assert_eq!(replaced, format!("{C}---\n{B}"));
    let both = one(&[("a.yaml", A)], |items| {
        items.insert(0, new(C, Some("a.yaml"), Some(0)));
        items.insert(0, new(B, Some("a.yaml"), Some(0)));
    });
    assert_eq!(both, format!("{B}---\n{C}---\n{A}"));
}

#[test]
fn moved_resource_gets_the_position_that_it_asks_for() {
    let (a, c) = (format!("{A}---\n{B}"), C.to_owned());
    let moved = |from: usize, path: &str, index: Option<usize>| {
        let files = [("a.yaml", &*a), ("c.yaml", &*c)];
        let change = |items: &mut Vec<Item>| {
            items[from].path = PackagePath::new(path).ok();
            items[from].index = index;
        };
        let all = changed(&files, change, Deletions::Some).unwrap();
        all.into_iter().find(|(name, _)| name == path).unwrap().1.unwrap()
    };
    assert_eq!(moved(0, "c.yaml", Some(0)), format!("{A}---\n{C}"));
    assert_eq!(moved(1, "c.yaml", Some(1)), format!("{C}---\n{B}"));
    assert_eq!(moved(1, "c.yaml", None), format!("{C}---\n{B}"));
    assert_eq!(moved(2, "a.yaml", Some(0)), format!("{C}---\n{A}---\n{B}"));
    assert_eq!(moved(2, "a.yaml", Some(1)), format!("{A}---\n{C}---\n{B}"));
    assert_eq!(moved(1, "a.yaml", Some(0)), format!("{B}---\n{A}"));
    assert_eq!(moved(0, "a.yaml", Some(1)), format!("{B}---\n{A}"));
}

#[test]
fn json_file_gets_json() {
    let files = [("a.yaml", A), ("b.yaml", B)];
    let package = package(&files);
    let before = Items::from_package(&package, |_| true).unwrap().items;
    let mut after = before.clone();
    after[0].path = PackagePath::new("x.json").ok();
    after.push(new(C, Some("y.json"), None));
    let done = assemble(&package, &before, &after, Deletions::Some).unwrap();
    let texts: Vec<_> = done.changes.into_iter().filter_map(|it| it.into_text()).collect();
    let json = |name: &str, kind: &str| {
        let metadata = format!("\"metadata\":{{\"name\":\"{name}\"}}");
        format!("{{\"apiVersion\":\"v1\",\"kind\":\"{kind}\",{metadata}}}\n")
    };
    assert_eq!(texts, [json("a", "A"), json("c", "C")]);
    let warnings: Vec<_> = done.warnings.iter().map(Diagnostic::message).collect();
    assert_eq!(warnings, ["1 comment is lost in `x.json`: JSON has no comments"]);
}

#[test]
fn file_is_deleted_with_its_last_resource() {
    let files = [
        ("a.yaml", &*format!("# licence\n\n{A}")),
        ("b.yaml", &*format!("{B}---\nother: 1\n")),
        ("c.yaml", C),
    ];
    let all = changed(&files, |items| items.truncate(0), Deletions::Any).unwrap();
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(
        all.iter().map(|it| it.1.clone()).collect::<Vec<_>>(),
        [None, text("other: 1\n"), None]
    );
    assert_eq!(
        changed(&files, |items| items.truncate(0), Deletions::Some),
        Err("all 3 resources would be deleted".to_owned())
    );
    let kpt = [("Kptfile", A), ("b.yaml", B)];
    assert_eq!(
        changed(&kpt, |items| _ = items.remove(0), Deletions::Some),
        Err("Kptfile would be deleted".to_owned())
    );
    assert!(changed(&kpt, |items| _ = items.remove(1), Deletions::Some).is_ok());
}

#[test]
fn moved_resource_keeps_its_comments_and_markers() {
    let marked = format!("---\n# head\n{A}");
    let to = |item: &mut Item, path: &str| {
        item.path = PackagePath::new(path).ok();
        item.index = None;
    };
    let all = changed(
        &[("a.yaml", &marked), ("b.yaml", B)],
        |items| to(&mut items[0], "x/c.yaml"),
        Deletions::Some,
    );
    assert_eq!(
        all.unwrap(),
        [("a.yaml".to_owned(), None), ("x/c.yaml".to_owned(), Some(marked.clone()))]
    );
    let all = changed(
        &[("a.yaml", &marked), ("b.yaml", B)],
        |items| to(&mut items[0], "b.yaml"),
        Deletions::Some,
    );
    assert_eq!(all.unwrap()[1].1.as_deref(), Some(&*format!("{B}---\n# head\n{A}")));
}

#[test]
fn never_wider() {
    let to = |path: &str| {
        let item = new(C, Some(path), None);
        changed(&[("a.yaml", A)], |items| items.push(item), Deletions::Some)
    };
    assert!(to(".git/config").unwrap_err().contains("reserved"));
    assert!(to("a.yaml/b.yaml").unwrap_err().contains("`a.yaml` is a file"));
}

#[test]
fn unselected_resources_are_untouched() {
    let package = package(&[("a.yaml", &format!("{A}---\n{B}"))]);
    let before =
        Items::from_package(&package, |placed| placed.resource.kind() == "B").unwrap().items;
    let done = assemble(&package, &before, &[], Deletions::Any).unwrap();
    assert_eq!(done.changes[0].new, Some(A.to_owned().into()));
    assert_eq!(
        done.deleted,
        [DeletedResource {
            resource: "B b".into(),
            path: package.files()[0].path.clone(),
            index: 1
        }]
    );
}

/// Debug builds compare every result with a parse of the assembled text.
#[test]
fn documents_are_replaced_whatever_surrounds_them() {
    let around = [
        ["", "---\n"],
        ["---\n", "---\n"],
        ["# licence\n---\n", "\n\n---   # b\n"],
        ["--- # a\n", "...\n---\n"],
        ["---\n\n", "\n---\n\n"],
        ["%YAML 1.2\n---\n", "---\n"],
        ["\u{feff}", "---\n"],
    ];
    let replacements = [
        "x: 1\n",
        "x: 1",
        "x: |\n  text\n",
        "x: |+\n  text\n\n",
        "x: |\n  text",
        "x: &a [1]\ny: *a\n",
        "x: !t 1\n",
        "# end\n",
        "x: [1,\n 2]\n\n\n",
    ];
    for [before, after] in around {
        for end in replacements {
            let file = format!("{before}{A}{after}{B}");
            let mut wanted = None;
            let done = changed(
                &[("a.yaml", &file)],
                |items| {
                    let Some(item) = items.first_mut() else { return };
                    *item = item.with_text(format!("{A}{end}")).unwrap();
                    wanted = Some(item.clone());
                },
                Deletions::Some,
            );
            let Ok(done) = done else { continue };
            let text = done[0].1.clone().unwrap();
            let package = package(&[("a.yaml", &text)]);
            let items = Items::from_package(&package, |_| true).unwrap().items;
            let is_same =
                crate::compare::equal_in_yaml_1_2(items[0].root(), wanted.as_ref().unwrap().root());
            assert!(is_same && items.len() == 2, "{file:?} with {end:?}: {text:?}");
        }
    }
}

#[test]
fn document_that_becomes_a_list_is_an_error() {
    let file = format!("{A}---\n{B}");
    let item = format!("- {}\n", C.trim_end().replace('\n', "\n  "));
    for count in [1, 2] {
        let list = format!("apiVersion: v1\nkind: List\nitems:\n{}", item.repeat(count));
        let replace = |items: &mut Vec<Item>| items[0] = items[0].with_text(list).unwrap();
        let error = changed(&[("a.yaml", &file)], replace, Deletions::Some).unwrap_err();
        assert!(error.starts_with("cannot change the resources of this file"), "{error}");
    }
}
