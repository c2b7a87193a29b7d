//! `krm serve` and `--runtime grpc://…`: the same bytes as locally, with krm and with Porch's programs on either side.

mod failures;
mod porch;
mod property;
mod security;
mod server;

use server::Server;

use crate::sandbox::{Output, Sandbox};

/// Two packages with a pipeline of built-in functions and a script.
const PACKAGES: &str = r#"
for name in a b; do
mkdir -p repo/$name
cat > repo/$name/Kptfile <<EOF
apiVersion: kpt.dev/v1
kind: Kptfile
metadata:
  name: $name # the name
pipeline:
  mutators:
  - image: set-namespace:v0.4.1
    configMap: {namespace: $name}
  - image: ghcr.io/kptdev/krm-functions-catalog/set-labels:v0.2.0
    configMap:
      tier: web
  - image: starlark:v0.5
    configPath: script.yaml
  validators:
  - image: example.com/check:v1
EOF
cat > repo/$name/script.yaml <<EOF
apiVersion: fn.kpt.dev/v1alpha1
kind: StarlarkRun
metadata:
  name: script
  annotations: {config.kubernetes.io/local-config: "true"}
source: |
  for r in ctx.resource_list["items"]:
    r["metadata"].setdefault("annotations", {})["seen"] = "yes"
EOF
cat > repo/$name/all.yaml <<EOF
# the first
apiVersion: apps/v1
kind: Deployment   # odd spaces
metadata: {name: web}
spec:
    replicas: 3
    template:
        metadata:
          labels: {app: "web"}
---
kind: ConfigMap
apiVersion: v1
metadata:
  # a comment
  name: settings
data:
  text: |
    # not a comment
    x:   1
EOF
done
"#;

/// A validator as a script: nothing is found if there are two or more resources.
const CHECK: &str = r#"
if len(ctx.resource_list["items"]) < 2:
    fail("too few resources")
"#;

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("check.star", CHECK.as_bytes());
    assert_eq!(sandbox.run(PACKAGES).exit, 0);
    sandbox
}

fn succeeds(sandbox: &Sandbox, line: &str) -> Output {
    let ran = sandbox.run(line);
    assert_eq!(ran.exit, 0, "{line}\n{}{}", ran.stdout, ran.stderr);
    ran
}

#[test]
fn remote_pipeline_writes_the_same_bytes_as_a_local_one() {
    let sandbox = sandbox();
    let server = Server::start(&sandbox, &["--function", "example.com/check=check.star"]);
    succeeds(
        &sandbox,
        "cp -r repo local; sed -i '/validators/,$d' local/*/Kptfile; krm fn render local",
    );
    let ran =
        succeeds(&sandbox, &format!("krm fn render repo --runtime grpc://{}", server.address));
    assert!(
        ran.stderr.contains("8 functions") || ran.stdout.contains("8 functions"),
        "{}",
        ran.stderr
    );
    let files = sandbox.files();
    for package in ["a", "b"] {
        let name = |root: &str| format!("{root}/{package}/all.yaml");
        assert_eq!(files[&name("repo")], files[&name("local")]);
        assert!(files[&name("repo")].contains("kind: Deployment   # odd spaces"));
        assert!(files[&name("repo")].contains("seen: "), "{}", files[&name("repo")]);
    }
    assert_eq!(server.codes("OK"), 8, "every function was evaluated by the server");
    let again = format!("krm fn render repo --check --runtime grpc://{}", server.address);
    succeeds(&sandbox, &again);
}

#[test]
fn variable_names_the_servers_and_the_flag_has_precedence() {
    let sandbox = sandbox();
    let server = Server::start(&sandbox, &[]);
    let eval = "krm fn eval repo/a -i set-labels:v0.2.0 --dry-run";
    succeeds(&sandbox, &format!("KRM_FN_RUNTIME=grpc://{} {eval} -- a=b", server.address));
    assert_eq!(server.codes("OK"), 1);
    succeeds(&sandbox, &format!("KRM_FN_RUNTIME=grpc://127.0.0.1:1 {eval} --runtime auto -- a=b"));
    assert_eq!(server.codes("OK"), 1);
}

#[test]
fn signal_ends_the_server_with_success() {
    for signal in ["TERM", "INT"] {
        let sandbox = sandbox();
        let mut server = Server::start(&sandbox, &[]);
        assert_eq!(server.stop(signal), Some(0), "{}", server.log());
        let events = server.events();
        assert_eq!(events, ["listening", "stopping", "stopped"], "{}", server.log());
    }
}

#[test]
fn metrics_count_requests() {
    let sandbox = sandbox();
    let server = Server::start(&sandbox, &["--metrics-address", "127.0.0.1:0"]);
    let eval = format!("krm fn eval repo/a --dry-run --runtime grpc://{}", server.address);
    succeeds(&sandbox, &format!("{eval} -i set-labels:v0.2.0 -- a=b"));
    assert_eq!(sandbox.run(&format!("{eval} -i example.com/other:v1")).exit, 4);
    let metrics = server.metrics();
    for line in [
        "krm_serve_requests_total{runtime=\"builtin\",code=\"OK\"} 1",
        "krm_serve_requests_total{runtime=\"none\",code=\"NOT_FOUND\"} 1",
        "krm_serve_running_functions 0",
    ] {
        assert!(metrics.lines().any(|it| it == line), "{line}\n{metrics}");
    }
}
