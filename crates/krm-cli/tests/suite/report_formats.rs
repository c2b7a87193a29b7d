//! Reports are read by other programs: SARIF by its validator, JUnit, Checkstyle and GitLab's code quality by their parsers.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::sandbox::{self, Sandbox};

/// A directory with the validators, which `cargo xtask ci` installs; the tests are skipped without it, unless `KRM_REQUIRE_VALIDATORS`
/// is set.
fn validators() -> Option<PathBuf> {
    let directory = std::env::var_os("KRM_VALIDATORS").map(PathBuf::from);
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/validators");
    let found = directory.or_else(|| Some(PathBuf::from(default))).filter(|it| it.is_dir());
    if found.is_none() {
        assert!(std::env::var_os("KRM_REQUIRE_VALIDATORS").is_none(), "no validators were found");
        sandbox::skipped("validation of reports", "the validators are not installed");
    }
    found
}

const CHECK: &str = "\
cat
cat <<'END'
results:
- message: \"one replica & \\\"quotes\\\" <b>\\u0001\"
  severity: warning
  resourceRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  field: {path: spec.replicas, currentValue: 1, proposedValue: 2}
  file: {path: web.yaml, index: 0}
  tags: {rule: replicas}
- message: no owner
  severity: error
  resourceRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  field: {path: metadata.labels.owner, proposedValue: shop}
  file: {path: web.yaml, index: 0}
- message: no owner
  severity: error
  resourceRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  field: {path: metadata.labels.owner, proposedValue: shop}
  file: {path: web.yaml, index: 0}
- message: about nothing in particular
  severity: info
END
exit 1
";

const WEB: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 1
";

/// Reports of a run with findings of all severities, with and without a file, in a file with an awkward name, too.
fn reports() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("pkg/check.sh", CHECK.as_bytes());
    sandbox.write("pkg/web.yaml", WEB.as_bytes());
    sandbox.write(
        "pkg/a b&<c>\"ä:.yaml",
        b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n---\na: [1\n",
    );
    fs::create_dir(sandbox.path().join("out")).unwrap();
    let formats = "--report junit=out/junit.xml --report checkstyle=out/checkstyle.xml --report gitlab=out/gitlab.json --report sarif=out/krm.sarif";
    let ran = sandbox
        .run(&format!("krm fn eval pkg/web.yaml -t validator -v --exec 'sh ./check.sh' {formats}"));
    assert_eq!(ran.exit, 1, "{}", ran.stderr);
    sandbox
}

#[test]
fn junit_checkstyle_and_gitlab_reports_are_valid() {
    let Some(validators) = validators() else { return };
    let sandbox = reports();
    let check = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs/check_reports.py");
    let run = |directory: &str| {
        let mut python = Command::new("python3");
        python.env("PYTHONPATH", validators.join("python")).arg(check).arg(directory);
        let output = python.current_dir(sandbox.path()).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{errors}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    assert_eq!(run("out"), "5 test cases, 2 files, 5 issues\n");
    let ran = sandbox.run(
        "cd pkg && krm yaml check . -q --report junit=../out/junit.xml --report checkstyle=../out/checkstyle.xml --report gitlab=../out/gitlab.json",
    );
    assert_eq!(ran.exit, 3);
    assert_eq!(run("out"), "1 test cases, 1 files, 1 issues\n");
}

#[test]
fn sarif_reports_are_valid() {
    let Some(validators) = validators() else { return };
    let sandbox = reports();
    let ran = sandbox.run("krm yaml check pkg -q --report sarif=out/check.sarif");
    assert_eq!(ran.exit, 3);
    let program = validators.join("node_modules/@microsoft/sarif-multitool-linux/Sarif.Multitool");
    let text = fs::read_to_string(sandbox.path().join("out/krm.sarif")).unwrap();
    assert!(text.contains("\"fixes\""), "{text}");
    // Notes are left out: one of them needs the network.
    let output = Command::new(program)
        .args(["validate", "--rule-kind", "Sarif;Ghas", "--level", "Error;Warning"])
        .args(["krm", "check"].map(|name| sandbox.path().join(format!("out/{name}.sarif"))))
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    let is_finding = |line: &&str| line.contains(": error ") || line.contains(": warning ");
    let findings: Vec<&str> = printed.lines().filter(is_finding).collect();
    assert!(findings.is_empty(), "{printed}");
    assert!(printed.contains("2 files scanned"), "{printed}");
}

#[test]
fn fingerprints_survive_other_lines_and_other_files_of_the_package() {
    let sandbox = Sandbox::new();
    let check: Vec<&str> = CHECK.lines().filter(|line| !line.contains("file: {")).collect();
    sandbox.write("pkg/check.sh", check.join("\n").as_bytes());
    let kptfile = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: a}\n";
    sandbox.write("pkg/Kptfile", kptfile.as_bytes());
    let fingerprints = |path: &str, text: String| {
        sandbox.write(path, text.as_bytes());
        let ran = sandbox.run(
            "krm fn eval pkg -t validator --exec 'sh check.sh' -q --report json=- 2>/dev/null",
        );
        fs::remove_file(sandbox.path().join(path)).unwrap();
        let parts = ran.stdout.split("\"fingerprint\":\"").skip(1);
        let mut all: Vec<String> = parts.map(|it| it[..32].to_owned()).collect();
        all.sort();
        all
    };
    let before = fingerprints("pkg/web.yaml", WEB.to_owned());
    assert!(before.len() > 3, "{before:?}");
    let mut distinct = before.clone();
    distinct.dedup();
    assert_eq!(distinct, before);
    assert_eq!(fingerprints("pkg/web.yaml", format!("# more\n\n{WEB}")), before);
    assert_eq!(fingerprints("pkg/deep/other.yaml", WEB.to_owned()), before);
    assert_ne!(fingerprints("pkg/web.yaml", WEB.replace("name: web", "name: db")), before);
}
