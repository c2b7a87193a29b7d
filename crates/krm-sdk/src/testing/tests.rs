//! The kit tells what is wrong.

use super::*;

fn replicas(list: &mut ResourceList) -> Result<(), Error> {
    list.of_kind_mut("Deployment").try_for_each(|it| it.set("spec.replicas", 3))
}

fn case(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join("case").join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

fn check(files: &[(&str, &str)], function: impl Into<Function>) -> Result<(), String> {
    let folder = case(files);
    Case::all(folder.path())[0].check(&function.into())
}

const BEFORE: &str = "apiVersion: apps/v1\nkind: Deployment\nspec:\n  replicas: 1 # c\n";
const AFTER: &str = "apiVersion: apps/v1\nkind: Deployment\nspec:\n  replicas: 3 # c\n";

#[test]
fn a_case_that_comes_out_right_is_quiet() {
    check(&[("in/a/b.yaml", BEFORE), ("expected/a/b.yaml", AFTER)], replicas).unwrap();
    let folder = case(&[("in/a.yaml", BEFORE), ("expected/a.yaml", AFTER)]);
    golden(folder.path(), replicas);
}

#[test]
fn differences_are_told_line_by_line() {
    let wrong = check(&[("in/a.yaml", BEFORE)], replicas).unwrap_err();
    assert!(
        wrong.ends_with("a.yaml:\nline 4:\n-   replicas: 1 # c\n+   replicas: 3 # c\n"),
        "{wrong}"
    );
    let wrong =
        check(&[("in/a.yaml", AFTER), ("results.yaml", "results:\n- message: x\n")], replicas);
    assert!(wrong.unwrap_err().contains("results.yaml:\nline 1:\n- results:\n- - message: x\n"));
    let wrong = check(&[("in/a.yaml", AFTER), ("expected/b.yaml", AFTER)], replicas).unwrap_err();
    assert!(wrong.contains("b.yaml: is gone") && wrong.contains("a.yaml: nobody expects it"));
}

#[test]
fn a_second_run_must_change_nothing() {
    let grow = |list: &mut ResourceList| {
        let name = format!("{}x", list.items[0].name());
        list.items[0].set("metadata.name", name.as_str())
    };
    let wrong = check(&[("in/a.yaml", AFTER)], grow).unwrap_err();
    assert!(wrong.contains("a second run changes something"), "{wrong}");
}

#[test]
fn failures_and_results_are_expected_too() {
    let files =
        [("in/a.yaml", AFTER), ("results.yaml", "results:\n- message: never\n  severity: error\n")];
    check(&files, |_: &mut ResourceList| Err(Error::new("never"))).unwrap();
}
