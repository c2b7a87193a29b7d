//! The template of the specification, as an image.

use std::fs;
use std::sync::OnceLock;

use super::{add_program, import, is_built, open};
use crate::sandbox::Sandbox;

const IMAGE: &str = "example.com/krm-cli-tests/nginx-template:v1";

/// The script of the specification: it wraps itself, and is a template of the shell.
const TEMPLATE: &str = "#!/bin/sh\nif [ -z \"$WRAPPED\" ]; then\n  export WRAPPED=true\n  exec /bin/krm fn wrap -- /nginx-template.sh\nfi\ncat <<End\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: ${NAME}\nspec:\n  replicas: ${REPLICAS}\n  template:\n    spec:\n      containers:\n      - name: nginx\n        image: nginx:1.7\nEnd\n";

const DECLARED: &str = "apiVersion: example.com/v1beta1\nkind: Nginx\nmetadata:\n  name: my-instance\n  annotations:\n    config.kubernetes.io/function: |\n      container:\n        image: example.com/krm-cli-tests/nginx-template:v1\nspec:\n  replicas: 5\n";

/// Whether there is an engine with the image, which is built once.
fn has_image() -> bool {
    static BUILT: OnceLock<Result<(), String>> = OnceLock::new();
    is_built(BUILT.get_or_init(build))
}

/// An image of the shell, `cat`, krm and the script.
fn build() -> Result<(), String> {
    let root = tempfile::tempdir().unwrap();
    for (name, path) in [("sh", "/bin/sh"), ("cat", "/bin/cat"), ("krm", env!("CARGO_BIN_EXE_krm"))]
    {
        add_program(root.path(), name, path)?;
    }
    let script = root.path().join("nginx-template.sh");
    fs::write(&script, TEMPLATE).unwrap();
    open(&script, 0o755);
    import(root.path(), IMAGE, r#"["/nginx-template.sh"]"#)
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
fn template_image_keeps_local_changes() {
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
fn results_name_the_image_with_its_digest() {
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
