//! The examples as a program: stdin, stdout, exit codes, questions, files.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// The program of the examples, which `cargo test` builds beside the tests.
pub(crate) fn program() -> PathBuf {
    let tests = std::env::current_exe().expect("a test is a program");
    let folder = tests.ancestors().nth(2).expect("tests are built in `deps`").join("examples");
    let program = folder.join(format!("functions{}", std::env::consts::EXE_SUFFIX));
    assert!(program.exists(), "build it first: cargo build -p krm-sdk --examples");
    program
}

fn run(arguments: &[&str], input: &str) -> Output {
    let mut command = Command::new(program());
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // A program that asks no question of its input may be gone before it is written.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    child.wait_with_output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

const POD: &str = "# a pod\napiVersion: v1\nkind: Pod\nmetadata:\n  name: a # it\nspec:\n  containers:\n  - name: web\n";

fn list(kind: &str, version: &str) -> String {
    let item: String = POD.lines().skip(1).map(|line| format!("  {line}\n")).collect();
    format!("apiVersion: {version}\nkind: {kind}\nitems:\n- {}", &item[2..])
}

#[test]
fn a_validator_fails_with_results_and_leaves_its_input() {
    for version in ["v1alpha1", "v1beta1", "v1", "v2alpha1"] {
        let input = list("ResourceList", &format!("config.kubernetes.io/{version}"));
        let output = run(&["limits"], &input);
        assert_eq!(output.status.code(), Some(1));
        let out = text(&output.stdout);
        assert!(out.starts_with(&input), "{out}");
        assert!(out.contains("results:\n- message: container `web` has no cpu limit\n"), "{out}");
        assert!(
            text(&output.stderr)
                .starts_with("error: container `web` has no cpu limit [Pod a, spec")
        );
    }
}

#[test]
fn every_list_and_documents_come_out_as_they_came_in() {
    for input in
        [list("List", "v1"), list("PodList", "v1"), POD.to_owned(), format!("{POD}---\n{POD}")]
    {
        let output = run(&["t-shirt"], &input);
        assert_eq!((output.status.code(), text(&output.stdout)), (Some(0), input));
        assert_eq!(text(&output.stderr), "");
    }
}

#[test]
fn questions_are_answered() {
    let help = run(&["--help"], "");
    assert!(
        text(&help.stdout).contains("  pod-security  Fails where a pod"),
        "{}",
        text(&help.stdout)
    );
    let help = text(&run(&["limits", "--help"], "").stdout);
    assert!(help.starts_with("# limits\n") && help.contains("  exempt: array\n"), "{help}");
    let schema = text(&run(&["tweak", "--schema"], "").stdout);
    assert!(schema.contains(r#""required":["apiVersion","kind","target","host"]"#), "{schema}");
    let doc = text(&run(&["nginx", "--doc"], "").stdout);
    assert!(
        doc.starts_with(r#"{"name":"nginx","short":"Makes a Deployment and a Service"#),
        "{doc}"
    );
    assert!(doc.contains(r#""kind":{"const":"Nginx"}"#), "{doc}");
    let none = run(&["selectors", "--schema"], "");
    assert_eq!(none.status.code(), Some(1));
}

#[test]
fn wrong_usage_is_told() {
    let output = run(&["limit"], "");
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr)
            .starts_with("error: there is no function `limit`; did you mean `limits`?")
    );
    let output = run(&["limits", "--confg=x"], "");
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(text(&output.stderr), "error: `--confg` is no flag; `limits --help` tells more\n");
}

#[test]
fn input_that_cannot_be_read_is_told_on_stderr() {
    let output = run(&["limits"], "a: [\n");
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(1), String::new()));
    assert!(text(&output.stderr).starts_with("error: "), "{}", text(&output.stderr));
}

#[test]
fn what_is_wrong_with_a_file_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let pod = write("pod.yaml", POD);
    let misspelled = write("limits.yml", "apiVersion: a/v1\nkind: Limits\nspec:\n  exemt: [a]\n");
    let unreadable = write("broken.yml", "a: [\n");
    let told = |arguments: &[&str]| {
        let output = run(arguments, "");
        assert_eq!((output.status.code(), text(&output.stdout)), (Some(1), String::new()));
        text(&output.stderr)
    };
    assert_eq!(
        told(&["limits", "--config", &misspelled, &pod]),
        "error: `exemt` is no field of the functionConfig (line 4, column 3); did you mean `exempt`? [limits.yml, Limits, spec.exemt]\n"
    );
    let said = told(&["limits", "--config", &unreadable, &pod]);
    assert!(said.contains("line 1, column 4") && said.contains(&unreadable), "{said}");
    let said = told(&["limits", &pod, &unreadable]);
    assert!(said.contains("line 1, column 4") && said.contains("[broken.yml]"), "{said}");
}

#[test]
fn a_name_of_the_program_chooses_the_function() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("selectors");
    std::os::unix::fs::symlink(program(), &link).unwrap();
    let output = Command::new(link).arg("--help").output().unwrap();
    assert!(text(&output.stdout).starts_with("# selectors\n"));
}

#[test]
fn files_are_edited_in_place_or_shown() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sub").join("pod.yaml");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    let before = POD.replace(
        "  name: a # it\n",
        "  name: a # it\n  annotations: {example.com/t-shirt-size: tiny}\n",
    );
    std::fs::write(&file, &before).unwrap();
    let config = folder.path().join("config.yml.txt");
    std::fs::write(&config, "apiVersion: a/v1\nkind: X\nsizes: {tiny: {cpu: '1', memory: 1Gi}}\n")
        .unwrap();
    let config = format!("--config={}", config.display());
    let arguments = ["t-shirt", &config, folder.path().to_str().unwrap(), "--dry-run"];
    let shown = run(&arguments, "");
    let after = format!(
        "{before}    resources:\n      requests:\n        cpu: \"1\"\n        memory: 1Gi\n      limits:\n        cpu: \"1\"\n        memory: 1Gi\n"
    );
    assert_eq!(text(&shown.stdout), format!("# sub/pod.yaml\n{after}"));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), before);
    let written = run(&arguments[..3], "");
    assert_eq!(
        (written.status.code(), text(&written.stderr)),
        (Some(0), "wrote sub/pod.yaml\n".to_owned())
    );
    assert_eq!(std::fs::read_to_string(&file).unwrap(), after);
    assert_eq!(std::fs::read_dir(file.parent().unwrap()).unwrap().count(), 1);
}
