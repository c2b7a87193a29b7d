//! The examples as exec functions of kustomize and kpt, if `cargo xtask peers` has installed them; kpt may also be on PATH.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use krm_sdk::testing::Host;

use crate::program::program;

/// The installed peers. If there is none, the test is skipped, or fails if `KRM_REQUIRE_PEERS` is set.
fn peers(names: &[&str]) -> Vec<PathBuf> {
    let target = program().ancestors().nth(3).map(|target| target.join("peers/bin"));
    let all = names.iter().filter_map(|name| Some(target.as_ref()?.join(name)));
    let mut found: Vec<PathBuf> = all.filter(|peer| peer.is_file()).collect();
    if found.is_empty() && names.contains(&"kpt") && Host::Kpt.is_installed() {
        found.push("kpt".into());
    }
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

/// The programs that have cases of their own, with the directories of their cases.
const EXAMPLES: [(&str, &str); 3] =
    [("sidecar", "sidecar"), ("container_limits", "container-limits"), ("web_app", "web-app")];

/// A package with the input of a case, and the functionConfig beside it.
///
/// kustomize finds the program in an annotation of the functionConfig, and the record of generated resources gets its name from the file of
/// the functionConfig. So the functionConfig has the name that it has in the package.
fn case_package(case: &Path, program: &Path) -> (tempfile::TempDir, PathBuf) {
    let directory = package(&[], &[]);
    copy(&case.join("in"), &directory.path().join("package"));
    let text = fs::read_to_string(case.join("config.yaml"));
    let config =
        text.as_deref().unwrap_or("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: none\n");
    let mut resource = krm_sdk::Resource::parse(config.to_owned()).unwrap();
    let function = format!("exec:\n  path: {}\n", program.display());
    resource.set_annotation("config.kubernetes.io/function", &function).unwrap();
    let path = directory.path().join(format!("functions/{}.yaml", resource.name()));
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, resource.text()).unwrap();
    (directory, path)
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        match entry.path().is_dir() {
            true => copy(&entry.path(), &to.join(entry.file_name())),
            false => _ = fs::copy(entry.path(), to.join(entry.file_name())).unwrap(),
        }
    }
}

/// The files below a directory, by path.
fn files(directory: &Path) -> BTreeMap<PathBuf, String> {
    let mut all = BTreeMap::new();
    let mut pending = vec![directory.to_owned()];
    while let Some(next) = pending.pop() {
        for path in fs::read_dir(next).unwrap().flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                pending.push(path);
            } else {
                let text = fs::read_to_string(&path).unwrap();
                all.insert(path.strip_prefix(directory).unwrap().to_owned(), text);
            }
        }
    }
    all
}

/// Runs all examples on their cases, and compares the files with the expected ones, byte by byte. `arguments` adds those for a case, a package
/// and its annotated functionConfig.
fn check_bytes(peer: &Path, arguments: impl Fn(&mut Command, &Path, &Path, &Path)) {
    for (name, cases) in EXAMPLES {
        let program = program().with_file_name(name);
        let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(cases);
        for case in fs::read_dir(cases).unwrap().flatten().map(|entry| entry.path()) {
            let (directory, config) = case_package(&case, &program);
            let package = directory.path().join("package");
            let mut host = Command::new(peer);
            arguments(&mut host, &case, &package, &config);
            if peer.ends_with("kpt") {
                host.arg("--exec").arg(&program);
            }
            let output = host.output().unwrap();
            let context =
                format!("{} under {}\n{}", case.display(), peer.display(), output_text(&output));
            let results = fs::read_to_string(case.join("results.yaml")).unwrap_or_default();
            assert_ne!(output.status.success(), results.contains("severity: error"), "{context}");
            let expected = ["expected", "in"].map(|it| case.join(it));
            let expected = expected.iter().find(|it| it.is_dir()).unwrap();
            assert_eq!(files(&package), files(expected), "{context}");
        }
    }
}

#[test]
fn examples_write_the_same_bytes_under_kustomize() {
    for peer in peers(&["kustomize-5", "kustomize-4.5.7"]) {
        check_bytes(&peer, |command, _, package, config| {
            command.args(["fn", "run", "--enable-exec", "--fn-path"]);
            command.arg(config.parent().unwrap()).arg(package);
        });
    }
}

#[test]
fn examples_write_the_same_bytes_under_kpt() {
    for peer in peers(&["kpt"]) {
        check_bytes(&peer, |command, case, package, _| {
            command.args(["fn", "eval"]).arg(package);
            if case.join("config.yaml").is_file() {
                command.arg("--fn-config").arg(case.join("config.yaml"));
            }
        });
    }
}
