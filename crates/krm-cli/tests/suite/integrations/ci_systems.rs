//! GitHub Actions and GitLab CI: their files match the schemas of both systems, and their scripts run as the runners run them.

use std::fs;
use std::path::{Path, PathBuf};

use super::{DEPLOYMENT, file, package, program, python_programs, root, succeed, value};
use crate::sandbox::Sandbox;

/// Validates files with a schema that check-jsonschema contains.
fn validate(schema: &str, files: &[PathBuf]) {
    let Some(checker) = program(&["check-jsonschema"], &[python_programs()]) else { return };
    let sandbox = Sandbox::new();
    let files: Vec<String> = files.iter().map(|it| it.display().to_string()).collect();
    let line = format!("{} --builtin-schema {schema} {}", checker.display(), files.join(" "));
    succeed(&sandbox, &line);
}

#[test]
fn workflows_and_actions_match_their_schemas() {
    let workflows = fs::read_dir(root().join(".github/workflows")).unwrap();
    let workflows: Vec<PathBuf> = workflows.map(|entry| entry.unwrap().path()).collect();
    assert!(workflows.len() > 1);
    validate("vendor.github-workflows", &workflows);
    let actions = [file("github/setup/action.yml"), file("github/render-check/action.yml")];
    validate("vendor.github-actions", &actions);
    validate("vendor.gitlab-ci", &[file("gitlab/render-check.yml")]);
}

/// Runs the step of a composite action that has a script, with the variables that the runner and the step set.
fn run_action(
    sandbox: &Sandbox,
    action: &str,
    step: usize,
    inputs: &str,
) -> crate::sandbox::Output {
    let directory = file(&format!("github/{action}"));
    let metadata = directory.join("action.yml");
    let script = value(&metadata, &format!("runs.steps[{step}].run"));
    assert_eq!(value(&metadata, &format!("runs.steps[{step}].shell")), "bash");
    for input in inputs.split_whitespace() {
        let (name, _) = input.split_once('=').unwrap();
        value(&metadata, &format!("runs.steps[{step}].env.{name}"));
    }
    sandbox.write("runner/path", b"");
    sandbox.write("runner/output", b"");
    sandbox.write("runner/summary", b"");
    let environment = format!(
        "export RUNNER_TEMP=$PWD/runner GITHUB_PATH=$PWD/runner/path GITHUB_OUTPUT=$PWD/runner/output \
         GITHUB_STEP_SUMMARY=$PWD/runner/summary GITHUB_ACTION_PATH={} {inputs}",
        directory.display()
    );
    sandbox.run(&format!("{environment}; bash --noprofile --norc -eo pipefail -c '{script}'"))
}

#[test]
fn setup_action_installs_the_program_of_an_archive() {
    let sandbox = Sandbox::new();
    let krm = Path::new(env!("CARGO_BIN_EXE_krm"));
    // A small stand-in for the archive: a script that starts the program under test.
    let starter = format!("#!/bin/sh\nexec {} \"$@\"\n", krm.display());
    sandbox.write("krm-0.1.0/krm", starter.as_bytes());
    let pack = "chmod +x krm-0.1.0/krm && tar -czf krm.tar.gz krm-0.1.0 && sha256sum krm.tar.gz";
    let sum = succeed(&sandbox, pack).stdout;
    let sum = sum.split_whitespace().next().unwrap();
    let inputs = format!("KRM_SETUP_ARCHIVE=krm.tar.gz KRM_SETUP_SHA256={sum}");
    let ran = run_action(&sandbox, "setup", 1, &inputs);
    assert_eq!(ran.exit, 0, "{}{}", ran.stdout, ran.stderr);
    let files = sandbox.files();
    assert_eq!(files["runner/output"], "version=krm 0.1.0\n");
    let directory = files["runner/path"].trim_end();
    assert_eq!(succeed(&sandbox, &format!("{directory}/krm version")).stdout, "krm 0.1.0\n");

    let wrong = format!("KRM_SETUP_ARCHIVE=krm.tar.gz KRM_SETUP_SHA256={}", "0".repeat(64));
    assert_ne!(run_action(&sandbox, "setup", 1, &wrong).exit, 0, "the checksum is wrong");
}

#[test]
fn render_check_action_annotates_summarizes_and_writes_sarif() {
    let sandbox = package();
    let ran = run_action(&sandbox, "render-check", 0, "KRM_CHECK_DIRECTORY=shop");
    assert_eq!(ran.exit, 1, "{}{}", ran.stdout, ran.stderr);
    let annotation = "::error file=shop/deployment.yaml,";
    assert!(ran.stdout.contains(annotation), "{}", ran.stdout);
    let files = sandbox.files();
    assert!(files["runner/summary"].contains("shop/deployment.yaml"), "{files:?}");
    assert!(files["runner/output"].starts_with("sarif="), "{files:?}");
    assert!(files["runner/krm.sarif"].contains("\"uri\":\"shop/deployment.yaml\""));

    succeed(&sandbox, "krm fn render shop -q");
    let inputs = "KRM_CHECK_DIRECTORY=shop KRM_CHECK_SHARD=1/1 KRM_CHECK_ARGUMENTS=--strict";
    let ran = run_action(&sandbox, "render-check", 0, inputs);
    assert_eq!(ran.exit, 0, "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn render_check_action_renders_what_a_branch_changed() {
    let sandbox = package();
    sandbox.write("other/Kptfile", super::KPTFILE.as_bytes());
    sandbox.write("other/deployment.yaml", DEPLOYMENT.as_bytes());
    let git = "export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b";
    let base = format!(
        "{git}; printf 'runner\\n' > .gitignore; git init -q -b main . && git add . && git commit -q -m base && git checkout -q -b change && krm fn render other -q"
    );
    succeed(&sandbox, &base);
    let inputs = "KRM_CHECK_DIRECTORY=. KRM_CHECK_CHANGED_SINCE=main...";
    let ran = run_action(&sandbox, "render-check", 0, inputs);
    assert_eq!(
        ran.exit, 0,
        "only `other` changed, and it is rendered: {}{}",
        ran.stdout, ran.stderr
    );
}

#[test]
fn gitlab_job_writes_code_quality() {
    let sandbox = package();
    let job = file("gitlab/render-check.yml");
    let script = value(&job, "krm-render-check.script[0]");
    let report = value(&job, "krm-render-check.artifacts.reports.codequality");
    sandbox.write("job.sh", format!("set -eo pipefail\n{script}\n").as_bytes());
    let variables = "KRM_DIRECTORY=shop KRM_ARGUMENTS=-q CI_NODE_INDEX=1 CI_NODE_TOTAL=1";
    let ran = sandbox.run(&format!("{variables} bash job.sh"));
    assert_eq!(ran.exit, 1, "{}{}", ran.stdout, ran.stderr);
    let fields = ["check_name", "description", "fingerprint", "severity"];
    for field in fields {
        let line = format!("krm yaml get '[0].{field}' {report}");
        assert!(!succeed(&sandbox, &line).stdout.trim().is_empty(), "{field}");
    }
    let path = succeed(&sandbox, &format!("krm yaml get '[0].location.path' {report}")).stdout;
    assert_eq!(path, "shop/deployment.yaml\n");
    succeed(&sandbox, &format!("krm fn render shop -q && {variables} bash job.sh"));
}
