//! The directories below `integrations`: each with the real tool, or as that tool runs it.
//!
//! Tools that are not installed are skipped with a message, unless `KRM_REQUIRE_INTEGRATIONS` is set, as in CI, which installs all
//! but kubectl and helm.

mod argo;
mod ci_systems;
mod container;
mod git_install;
mod kubernetes_tools;
mod pre_commit;
mod tekton;

use std::fs;
use std::path::{Path, PathBuf};

use crate::sandbox::{Output, Sandbox, skipped};

/// A Kptfile with this pipeline.
const KPTFILE: &str = "\
apiVersion: kpt.dev/v1
kind: Kptfile
metadata:
  name: shop
  annotations: {config.kubernetes.io/local-config: \"true\"}
pipeline:
  mutators:
  - image: set-labels
    configMap: {team: shop}
  - image: apply-setters
    configMap: {replicas: \"3\"}
  validators:
  - image: kubeconform
";

/// A Deployment that the pipeline has not changed yet.
const DEPLOYMENT: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 1 # kpt-set: ${replicas}
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: web}
    spec:
      containers:
      - name: web
        image: shop/web:1.0
";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// A file below `integrations`.
fn file(path: &str) -> PathBuf {
    root().join("integrations").join(path)
}

/// A sandbox with the package `shop`, which is not rendered.
fn package() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("shop/Kptfile", KPTFILE.as_bytes());
    sandbox.write("shop/deployment.yaml", DEPLOYMENT.as_bytes());
    sandbox
}

/// Runs a command line and expects that it succeeds.
fn succeed(sandbox: &Sandbox, line: &str) -> Output {
    let ran = sandbox.run(line);
    assert_eq!(ran.exit, 0, "{line}\n{}{}", ran.stdout, ran.stderr);
    ran
}

/// The value at a path of a file, as `krm yaml get` prints it.
fn value(file: &Path, path: &str) -> String {
    let sandbox = Sandbox::new();
    sandbox.write("file.yaml", &fs::read(file).unwrap());
    let text = succeed(&sandbox, &format!("krm yaml get '{path}' file.yaml")).stdout;
    text.trim_end().to_owned()
}

/// The directory in which CI installs programs from PyPI.
fn python_programs() -> PathBuf {
    root().join("target/integrations/python/bin")
}

/// The first of these programs that is in one of the directories or on PATH; none, with a message, if none is installed.
fn program(names: &[&str], directories: &[PathBuf]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let directories: Vec<PathBuf> =
        directories.iter().cloned().chain(std::env::split_paths(&path)).collect();
    let mut candidates =
        names.iter().flat_map(|name| directories.iter().map(move |it| it.join(name)));
    let found = candidates.find(|it| it.is_file());
    if found.is_none() {
        let message = format!("{} is not installed", names[0]);
        let is_required = std::env::var_os("KRM_REQUIRE_INTEGRATIONS").is_some();
        assert!(!is_required || names == ["kubectl"], "{message}");
        skipped("integrations", &message);
    }
    found
}
