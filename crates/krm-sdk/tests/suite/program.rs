//! The examples as a program: stdin, stdout, exit codes, options and files.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// The program of the examples, which `cargo test` builds beside the tests.
pub(crate) fn program() -> PathBuf {
    let tests = std::env::current_exe().expect("the path of the test binary");
    let directory = tests.ancestors().nth(2).expect("tests are built in `deps`").join("examples");
    let program = directory.join(format!("functions{}", std::env::consts::EXE_SUFFIX));
    assert!(program.exists(), "build it first: cargo build -p krm-sdk --examples");
    program
}

fn run(arguments: &[&str], input: &str) -> Output {
    let mut command = Command::new(program());
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // The program may exit without reading its input.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    child.wait_with_output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

const POD: &str = "# a pod\napiVersion: v1\nkind: Pod\nmetadata:\n  name: a # comment\nspec:\n  containers:\n  - name: web\n";

fn list(kind: &str, version: &str) -> String {
    let item: String = POD.lines().skip(1).map(|line| format!("  {line}\n")).collect();
    format!("apiVersion: {version}\nkind: {kind}\nitems:\n- {}", &item[2..])
}

#[test]
fn failing_validator_returns_its_input_with_results() {
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
fn output_has_the_format_of_the_input() {
    for input in
        [list("List", "v1"), list("PodList", "v1"), POD.to_owned(), format!("{POD}---\n{POD}")]
    {
        let output = run(&["t-shirt"], &input);
        assert_eq!((output.status.code(), text(&output.stdout)), (Some(0), input));
        assert_eq!(text(&output.stderr), "");
    }
}

#[test]
fn help_schema_and_doc_are_printed() {
    let help = run(&["--help"], "");
    assert!(
        text(&help.stdout).contains("  pod-security  Fails if a pod"),
        "{}",
        text(&help.stdout)
    );
    let help = text(&run(&["limits", "--help"], "").stdout);
    assert!(help.starts_with("# limits\n") && help.contains("  exempt: array\n"), "{help}");
    let schema = text(&run(&["tweak", "--schema"], "").stdout);
    assert!(schema.contains(r#""required":["apiVersion","kind","target","host"]"#), "{schema}");
    let doc = text(&run(&["nginx", "--doc"], "").stdout);
    assert!(
        doc.starts_with(r#"{"name":"nginx","short":"Generates a Deployment and a Service"#),
        "{doc}"
    );
    assert!(doc.contains(r#""kind":{"const":"Nginx"}"#), "{doc}");
    let none = run(&["selectors", "--schema"], "");
    assert_eq!(none.status.code(), Some(1));
}

#[test]
fn invalid_usage_exits_with_2() {
    let output = run(&["limit"], "");
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).starts_with("error: unknown function `limit`; did you mean `limits`?")
    );
    let output = run(&["limits", "--confg=x"], "");
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(text(&output.stderr), "error: unknown option `--confg`; see `limits --help`\n");
}

#[test]
fn unreadable_input_is_reported_on_stderr() {
    let output = run(&["limits"], "a: [\n");
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(1), String::new()));
    assert!(text(&output.stderr).starts_with("error: "), "{}", text(&output.stderr));
}

#[test]
fn errors_name_the_file() {
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let pod = write("pod.yaml", POD);
    let misspelled = write("limits.yml", "apiVersion: a/v1\nkind: Limits\nspec:\n  exemt: [a]\n");
    let unreadable = write("broken.yml", "a: [\n");
    let stderr = |arguments: &[&str]| {
        let output = run(arguments, "");
        assert_eq!((output.status.code(), text(&output.stdout)), (Some(1), String::new()));
        text(&output.stderr)
    };
    assert_eq!(
        stderr(&["limits", "--config", &misspelled, &pod]),
        "error: unknown field `exemt` in the functionConfig (line 4, column 3); did you mean `exempt`? [limits.yml, Limits, spec.exemt]\n"
    );
    let error = stderr(&["limits", "--config", &unreadable, &pod]);
    assert!(error.contains("line 1, column 4") && error.contains(&unreadable), "{error}");
    let error = stderr(&["limits", &pod, &unreadable]);
    assert!(error.contains("line 1, column 4") && error.contains("[broken.yml]"), "{error}");
}

#[test]
fn program_name_selects_the_function() {
    let directory = tempfile::tempdir().unwrap();
    let link = directory.path().join("selectors");
    std::os::unix::fs::symlink(program(), &link).unwrap();
    let output = Command::new(link).arg("--help").output().unwrap();
    assert!(text(&output.stdout).starts_with("# selectors\n"));
}

#[test]
fn files_are_edited_in_place_or_printed() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("sub").join("pod.yaml");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    let before = POD.replace(
        "  name: a # comment\n",
        "  name: a # comment\n  annotations: {example.com/t-shirt-size: tiny}\n",
    );
    std::fs::write(&file, &before).unwrap();
    let config = directory.path().join("config.yml.txt");
    std::fs::write(&config, "apiVersion: a/v1\nkind: X\nsizes: {tiny: {cpu: '1', memory: 1Gi}}\n")
        .unwrap();
    let config = format!("--config={}", config.display());
    let arguments = ["t-shirt", &config, directory.path().to_str().unwrap(), "--dry-run"];
    let printed = run(&arguments, "");
    let after = format!(
        "{before}    resources:\n      requests:\n        cpu: \"1\"\n        memory: 1Gi\n      limits:\n        cpu: \"1\"\n        memory: 1Gi\n"
    );
    assert_eq!(text(&printed.stdout), format!("# sub/pod.yaml\n{after}"));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), before);
    let written = run(&arguments[..3], "");
    assert_eq!(
        (written.status.code(), text(&written.stderr)),
        (Some(0), "wrote sub/pod.yaml\n".to_owned())
    );
    assert_eq!(std::fs::read_to_string(&file).unwrap(), after);
    assert_eq!(std::fs::read_dir(file.parent().unwrap()).unwrap().count(), 1);
}
