//! A real engine under the commands: a template of the specification as an image, and what it may see.
#![cfg(target_os = "linux")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use crate::sandbox::Sandbox;

const IMAGE: &str = "example.com/krm-cli-tests/nginx-template:v1";

/// The script of the specification: it wraps itself, and is a template of the shell.
const TEMPLATE: &str = "#!/bin/sh\nif [ -z \"$WRAPPED\" ]; then\n  export WRAPPED=true\n  exec /bin/krm fn wrap -- /nginx-template.sh\nfi\ncat <<End\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: ${NAME}\nspec:\n  replicas: ${REPLICAS}\n  template:\n    spec:\n      containers:\n      - name: nginx\n        image: nginx:1.7\nEnd\n";

const DECLARED: &str = "apiVersion: example.com/v1beta1\nkind: Nginx\nmetadata:\n  name: my-instance\n  annotations:\n    config.kubernetes.io/function: |\n      container:\n        image: example.com/krm-cli-tests/nginx-template:v1\nspec:\n  replicas: 5\n";

/// Whether there is an engine with the image; it is built once.
fn has_image() -> bool {
    static BUILT: OnceLock<Result<(), String>> = OnceLock::new();
    match BUILT.get_or_init(build) {
        Ok(()) => true,
        Err(why) if std::env::var_os("KRM_REQUIRE_ENGINE").is_some() => {
            panic!("KRM_REQUIRE_ENGINE is set, and there is no image: {why}")
        }
        Err(why) => {
            println!("skipped: containers: {why}");
            false
        }
    }
}

pub(crate) fn engine() -> String {
    std::env::var("KRM_FN_RUNTIME").unwrap_or_else(|_| "docker".to_owned())
}

/// An image of the shell, `cat`, krm and the script, without a registry.
fn build() -> Result<(), String> {
    let answers = Command::new(engine()).arg("version").output();
    if !answers.is_ok_and(|it| it.status.success()) {
        return Err("no engine answers".to_owned());
    }
    let root = tempfile::tempdir().unwrap();
    fs::create_dir(root.path().join("bin")).unwrap();
    let mut libraries = BTreeSet::new();
    for (name, path) in [("sh", "/bin/sh"), ("cat", "/bin/cat"), ("krm", env!("CARGO_BIN_EXE_krm"))]
    {
        fs::copy(path, root.path().join("bin").join(name)).unwrap();
        libraries.extend(libraries_of(path)?);
    }
    for library in libraries {
        let inside = root.path().join(library.trim_start_matches('/'));
        fs::create_dir_all(inside.parent().unwrap()).unwrap();
        fs::copy(&library, inside).unwrap();
    }
    let script = root.path().join("nginx-template.sh");
    fs::write(&script, TEMPLATE).unwrap();
    make_executable(&script);
    let archive = tempfile::NamedTempFile::new().unwrap();
    let mut tar = Command::new("tar");
    tar.arg("-C").arg(root.path()).arg("-cf").arg(archive.path()).arg(".");
    assert!(tar.status().unwrap().success());
    let mut import = Command::new(engine());
    import
        .args(["import", "--change", "CMD [\"/nginx-template.sh\"]"])
        .arg(archive.path())
        .arg(IMAGE);
    let imported = import.output().map_err(|error| error.to_string())?;
    match imported.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&imported.stderr).into_owned()),
    }
}

/// What a program needs beside itself, as the system's own tool says.
pub(crate) fn libraries_of(program: &str) -> Result<Vec<String>, String> {
    let output = Command::new("ldd").arg(program).output().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let words = text.split_whitespace().filter(|word| word.starts_with('/'));
    Ok(words.map(str::to_owned).collect())
}

fn make_executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

pub(crate) fn run(sandbox: &Sandbox, line: &str) -> String {
    let line = match std::env::var("DOCKER_HOST") {
        Ok(host) => format!("export DOCKER_HOST='{host}'; {line}"),
        Err(_) => line.to_owned(),
    };
    let ran = sandbox.run(&line);
    assert_eq!(ran.exit, 0, "{line}\n{}{}", ran.stdout, ran.stderr);
    ran.stdout
}

#[test]
fn a_template_is_an_image_and_what_people_change_stays() {
    if !has_image() {
        return;
    }
    let sandbox = Sandbox::new();
    sandbox.write("shop/nginx.yaml", DECLARED.as_bytes());
    run(&sandbox, "krm fn run shop -q --image-pull-policy never");
    let made = "shop/config/my-instance_deployment.yaml";
    let first = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: my-instance\nspec:\n  replicas: 5\n  template:\n    spec:\n      containers:\n      - name: nginx\n        image: nginx:1.7\n";
    assert_eq!(sandbox.files()[made], first);
    // Somebody gives the container more, and the configuration changes.
    let edited = format!("{first}        resources: {{limits: {{cpu: 500m}}}} # mine\n");
    sandbox.write(made, edited.as_bytes());
    sandbox.write("shop/nginx.yaml", DECLARED.replace("replicas: 5", "replicas: 7").as_bytes());
    run(&sandbox, "krm fn run shop -q --image-pull-policy never");
    let files = sandbox.files();
    assert_eq!(files[made], edited.replace("replicas: 5", "replicas: 7"));
    assert_eq!(run(&sandbox, "krm fn run shop -q --image-pull-policy never --check"), "");
}

#[test]
fn the_image_is_named_to_the_byte_in_the_results() {
    if !has_image() {
        return;
    }
    let sandbox = Sandbox::new();
    sandbox.write("shop/nginx.yaml", DECLARED.as_bytes());
    run(&sandbox, "krm fn run shop -q --image-pull-policy never --results-dir out");
    let results = &sandbox.files()["out/results.yaml"];
    assert!(results.contains("- image: example.com/krm-cli-tests/nginx-template:v1"), "{results}");
    assert!(results.contains("sha256:"), "{results}");
}
