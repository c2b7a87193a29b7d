//! Reports of test cases.

use super::*;

fn replicas(list: &mut ResourceList) -> Result<(), Error> {
    list.of_kind_mut("Deployment").try_for_each(|it| it.set("spec.replicas", 3))
}

fn case(files: &[(&str, &str)]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = directory.path().join("case").join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    directory
}

fn check(files: &[(&str, &str)], function: impl Into<Function>) -> Result<(), String> {
    let directory = case(files);
    Case::all(directory.path())[0].check(&function.into())
}

const BEFORE: &str = "apiVersion: apps/v1\nkind: Deployment\nspec:\n  replicas: 1 # c\n";
const AFTER: &str = "apiVersion: apps/v1\nkind: Deployment\nspec:\n  replicas: 3 # c\n";

#[test]
fn matching_output_passes() {
    check(&[("in/a/b.yaml", BEFORE), ("expected/a/b.yaml", AFTER)], replicas).unwrap();
    let directory = case(&[("in/a.yaml", BEFORE), ("expected/a.yaml", AFTER)]);
    golden(directory.path(), replicas);
}

#[test]
fn differences_are_reported_line_by_line() {
    let failure = check(&[("in/a.yaml", BEFORE)], replicas).unwrap_err();
    assert!(
        failure.ends_with("a.yaml:\nline 4:\n-   replicas: 1 # c\n+   replicas: 3 # c\n"),
        "{failure}"
    );
    let failure =
        check(&[("in/a.yaml", AFTER), ("results.yaml", "results:\n- message: x\n")], replicas);
    assert!(failure.unwrap_err().contains("results.yaml:\nline 1:\n- results:\n- - message: x\n"));
    let failure = check(&[("in/a.yaml", AFTER), ("expected/b.yaml", AFTER)], replicas).unwrap_err();
    assert!(failure.contains("b.yaml: missing") && failure.contains("a.yaml: unexpected file"));
}

#[test]
fn second_run_must_change_nothing() {
    let grow = |list: &mut ResourceList| {
        let name = format!("{}x", list.items[0].name());
        list.items[0].set("metadata.name", name.as_str())
    };
    let failure = check(&[("in/a.yaml", AFTER)], grow).unwrap_err();
    assert!(failure.contains("the second run changes files"), "{failure}");
}

#[test]
fn cases_can_expect_a_failure() {
    let files =
        [("in/a.yaml", AFTER), ("results.yaml", "results:\n- message: never\n  severity: error\n")];
    check(&files, |_: &mut ResourceList| Err(Error::new("never"))).unwrap();
}

#[test]
fn case_without_input_is_a_case() {
    let generate = |list: &mut ResourceList| {
        if list.items.is_empty() {
            list.items.push(Resource::parse(AFTER)?);
        }
        Ok(())
    };
    let files = [("expected/config/deployment.yaml", AFTER)];
    let directory = case(&files);
    assert_eq!(Case::all(directory.path()).len(), 1);
    let failure = check(&[("results.yaml", "")], generate).unwrap_err();
    assert!(failure.contains("unexpected file"), "{failure}");
}

#[test]
fn files_stay_if_an_error_is_reported() {
    let fail = |list: &mut ResourceList| {
        list.items[0].set("spec.replicas", 3)?;
        list.add_result(crate::Severity::Error, "never");
        Ok(())
    };
    let results = "results:\n- message: never\n  severity: error\n";
    check(&[("in/a.yaml", BEFORE), ("results.yaml", results)], fail).unwrap();
}
