//! The examples as exec functions of kustomize and kpt, if `cargo xtask peers` has installed them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::program::program;

/// The installed peers. If there is none, the test is skipped, or fails if `KRM_REQUIRE_PEERS` is set.
fn peers(names: &[&str]) -> Vec<PathBuf> {
    let target = program().ancestors().nth(3).map(|target| target.join("peers/bin"));
    let all = names.iter().filter_map(|name| Some(target.as_ref()?.join(name)));
    let found: Vec<PathBuf> = all.filter(|peer| peer.is_file()).collect();
    if found.is_empty() {
        let message = format!("skipped: none of {} is in target/peers/bin", names.join(", "));
        assert!(std::env::var_os("KRM_REQUIRE_PEERS").is_none(), "{message}");
        println!("{message}; `cargo xtask peers` installs them");
    }
    found
}

/// A package with files and exec functions.
fn package(files: &[(&str, String)], functions: &[&str]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = directory.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    for name in functions {
        std::os::unix::fs::symlink(program(), directory.path().join(name)).unwrap();
    }
    directory
}

fn function_config(kind: &str, name: &str, function: &Path, rest: &str) -> String {
    format!(
        "apiVersion: example.com/v1\nkind: {kind}\nmetadata:\n  name: {name}\n  annotations:\n    config.kubernetes.io/local-config: \"true\"\n    config.kubernetes.io/function: |\n      exec:\n        path: {}\n{rest}",
        function.display()
    )
}

fn kustomize(peer: &Path, directory: &Path) -> Output {
    let mut command = Command::new(peer);
    command.args(["fn", "run", "--enable-exec", "."]).current_dir(directory);
    command.output().unwrap()
}

const DEPLOYMENT: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: shop # ours\n  annotations:\n    example.com/t-shirt-size: small\nspec:\n  template:\n    spec:\n      containers:\n      - name: web # the one\n        image: shop\n";

fn output_text(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!("{:?}\n{}{}", output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn mutator_runs_under_kustomize_and_keeps_comments() {
    for peer in peers(&["kustomize-5", "kustomize-4.5.7"]) {
        let directory = package(&[("shop.yaml", DEPLOYMENT.to_owned())], &["t-shirt"]);
        let config = function_config("TShirt", "sizes", &directory.path().join("t-shirt"), "");
        fs::write(directory.path().join("fn.yaml"), config).unwrap();
        let output = kustomize(&peer, directory.path());
        assert!(output.status.success(), "{}: {}", peer.display(), output_text(&output));
        let text = fs::read_to_string(directory.path().join("shop.yaml")).unwrap();
        let limits = "resources:\n          requests:\n            cpu: 100m\n            memory: 128Mi\n          limits:\n            cpu: 100m\n            memory: 128Mi\n";
        assert!(text.contains(limits), "{}:\n{text}", peer.display());
        assert!(
            text.contains("name: shop # ours") && text.contains("- name: web # the one"),
            "{text}"
        );
        assert!(!text.contains("internal.config"), "{text}");
    }
}

#[test]
fn generator_runs_under_kustomize_and_keeps_changes() {
    for peer in peers(&["kustomize-5", "kustomize-4.5.7"]) {
        let directory = package(&[], &["nginx"]);
        let config = function_config(
            "Nginx",
            "my-instance",
            &directory.path().join("nginx"),
            "spec:\n  replicas: 5\n",
        );
        fs::write(directory.path().join("nginx.yaml"), &config).unwrap();
        let output = kustomize(&peer, directory.path());
        assert!(output.status.success(), "{}: {}", peer.display(), output_text(&output));
        let generated = directory.path().join("config/my-instance_deployment.yaml");
        let text = fs::read_to_string(&generated).unwrap();
        assert!(text.contains("replicas: 5"), "{text}");
        let edited = text.replace("        - containerPort: 80\n", "        - containerPort: 80\n        resources:\n          limits:\n            cpu: 200m # mine\n");
        assert_ne!(text, edited);
        fs::write(&generated, edited).unwrap();
        fs::write(
            directory.path().join("nginx.yaml"),
            config.replace("replicas: 5", "replicas: 6"),
        )
        .unwrap();
        let output = kustomize(&peer, directory.path());
        assert!(output.status.success(), "{}: {}", peer.display(), output_text(&output));
        let text = fs::read_to_string(&generated).unwrap();
        assert!(text.contains("replicas: 6") && text.contains("cpu: 200m # mine"), "{text}");
    }
}

#[test]
fn validator_fails_under_kustomize_with_its_results() {
    for peer in peers(&["kustomize-5", "kustomize-4.5.7"]) {
        let directory = package(&[("shop.yaml", DEPLOYMENT.to_owned())], &["limits"]);
        let config = function_config("Limits", "limits", &directory.path().join("limits"), "");
        fs::write(directory.path().join("fn.yaml"), config).unwrap();
        let output = kustomize(&peer, directory.path());
        assert!(!output.status.success(), "{}: {}", peer.display(), output_text(&output));
        assert!(
            output_text(&output).contains("container `web` has no cpu limit"),
            "{}",
            output_text(&output)
        );
        assert_eq!(fs::read_to_string(directory.path().join("shop.yaml")).unwrap(), DEPLOYMENT);
    }
}

#[test]
fn mutator_runs_under_kpt() {
    for peer in peers(&["kpt"]) {
        let directory = package(&[("shop.yaml", DEPLOYMENT.to_owned())], &["t-shirt"]);
        let mut command = Command::new(&peer);
        let program = directory.path().join("t-shirt");
        command.args(["fn", "eval", ".", "--exec"]).arg(program).current_dir(directory.path());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", output_text(&output));
        let text = fs::read_to_string(directory.path().join("shop.yaml")).unwrap();
        assert!(text.contains("cpu: 100m") && text.contains("- name: web # the one"), "{text}");
    }
}
