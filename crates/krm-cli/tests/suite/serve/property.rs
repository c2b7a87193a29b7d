//! Property: the output of a server is the output of `krm fn call`, byte for byte.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use krm_grpc::{Address, Client, ClientSettings, TlsFiles};

use super::sandbox;
use super::server::Server;

/// Input lists in several styles, with comments, other orders and other formats.
const ITEMS: [&str; 4] = [
    "items:\n- apiVersion: v1 # one\n  kind: Service\n  metadata: {name: a, namespace: 'x'}\n- kind:   Deployment\n  apiVersion: apps/v1\n  metadata:\n    # comment\n    name: \"b\"\n  spec:\n    template:\n      metadata:\n        labels:\n          app:   b\n      spec:\n        containers:\n        - name: c\n          image: nginx:1.0 # image\n",
    "items: [{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": \"a\"}, \"data\": {\"k\": \"v\"}}]\n",
    "items: []\n",
    "items:\n  - apiVersion: v1\n    kind: ConfigMap\n    metadata:\n      name: a\n      annotations:\n        config.kubernetes.io/path: dir/a.yaml\n        config.kubernetes.io/index: '0'\n    data:\n      text: |+\n        line\n\n  # before the second\n  - apiVersion: v1\n    kind: Secret\n    metadata: {name: s}\n",
];

/// Functions and what configures them, also wrongly.
const FUNCTIONS: [(&str, &str); 9] = [
    ("set-labels:v0.2.0", "  data: {tier: web}\n"),
    ("set-labels:v0.1.5", "  data: {tier: web, other: \"5\"}\n"),
    ("set-namespace:v0.4.1", "  data: {namespace: shop}\n"),
    ("set-annotations", "  data: {a: 'b: c'}\n"),
    ("set-image:v0.1.1", "  data: {name: nginx, newTag: '2.0'}\n"),
    ("search-replace:v0.2.0", "  data: {by-path: metadata.name, put-value: z}\n"),
    (
        "starlark:v0.5",
        "source: |\n  for r in ctx.resource_list[\"items\"]:\n    r[\"metadata\"][\"labels\"] = {\"new\": \"1\"}\n",
    ),
    ("starlark:v0.5", "source: |\n  fail(\"on purpose\")\n"),
    ("set-namespace:v0.4.1", "  data: {unknown: shop}\n"),
];

#[test]
fn remote_result_is_the_local_result() {
    let sandbox = sandbox();
    let server = Server::start(&sandbox, &[]);
    let address = Address::parse(&format!("grpc://{}", server.address)).unwrap().unwrap();
    let settings = ClientSettings { address, tls: TlsFiles::default(), max_message: 64 << 20 };
    let client = Client::new(settings).unwrap();
    let (mut successes, mut failures) = (0, 0);
    for version in ["config.kubernetes.io/v1", "config.kubernetes.io/v1alpha1"] {
        for items in ITEMS {
            for (function, config) in FUNCTIONS {
                let (api, kind) = match function.starts_with("starlark") {
                    true => ("fn.kpt.dev/v1alpha1", "StarlarkRun"),
                    false => ("v1", "ConfigMap"),
                };
                let source = config.trim_start().replace("\n  ", "\n    ");
                let list = format!(
                    "apiVersion: {version}\nkind: ResourceList # list\n{items}functionConfig:\n  apiVersion: {api}\n  kind: {kind}\n  metadata: {{name: c}}\n  {source}"
                );
                sandbox.write("input.yaml", list.as_bytes());
                let local = sandbox.run(&format!("krm fn call {function} < input.yaml"));
                let (time, cancelled) = (Duration::from_secs(60), AtomicBool::new(false));
                let remote = client.evaluate(function, list.as_bytes(), time, &cancelled).unwrap();
                let output = String::from_utf8(remote.output).unwrap();
                assert_eq!(output, local.stdout, "{function}\n{list}\n{}", local.stderr);
                assert_eq!(remote.exit_code, local.exit, "{function}\n{list}\n{}", local.stderr);
                *if local.exit == 0 { &mut successes } else { &mut failures } += 1;
            }
        }
    }
    assert!(successes >= 40 && failures >= 8, "{successes} {failures}");
}
