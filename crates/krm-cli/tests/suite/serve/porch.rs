//! Porch's own programs on the other side: its client with `krm serve`, and krm with its function-runner and wrapper-server.

use std::path::PathBuf;
use std::process::Command;

use super::server::{OtherServer, Server};
use super::{sandbox, succeeds};
use crate::sandbox::{krm, skipped};

/// A program of Porch: from `cargo xtask peers --only porch`, or in the directory `KRM_PORCH`. Without it tests are skipped, unless
/// `KRM_REQUIRE_PORCH` is set.
fn program(name: &str) -> Option<PathBuf> {
    let installed = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/peers/bin");
    let directory = std::env::var_os("KRM_PORCH").map_or_else(|| installed.into(), PathBuf::from);
    let program = directory.join(name);
    if program.is_file() {
        return Some(program);
    }
    assert!(
        std::env::var_os("KRM_REQUIRE_PORCH").is_none(),
        "KRM_REQUIRE_PORCH is set, and there is no {}",
        program.display()
    );
    skipped("porch", &format!("no {name}; run `cargo xtask peers --only porch`"));
    None
}

/// Runs Porch's client on a package, and returns its output and standard error.
fn porch_client(
    client: &PathBuf,
    server: &str,
    image: &str,
    package: &str,
) -> (bool, String, String) {
    let mut command = Command::new(client);
    command.args(["-address", server, "-image", image, "-package", package, "tier=web"]);
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.success(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn client_of_porch_gets_the_output_of_krm() {
    let Some(client) = program("porch-client") else { return };
    let sandbox = sandbox();
    let server = Server::start(&sandbox, &[]);
    let package = sandbox.path().join("repo/a").display().to_string();
    let image = "ghcr.io/kptdev/krm-functions-catalog/set-labels:v0.2.0";
    let (success, stdout, stderr) = porch_client(&client, &server.address, image, &package);
    assert!(success, "{stderr}");
    let (request, response) = stdout.split_once("\nResponse:\n\n").unwrap();
    let request = request.strip_prefix("Request:\n\n").unwrap();
    let response = response.split_once("\n\nLog:\n").unwrap().0;
    sandbox.write("request.yaml", request.as_bytes());
    let local = succeeds(&sandbox, "krm fn call set-labels:v0.2.0 < request.yaml");
    assert_eq!(response.trim_end(), local.stdout.trim_end());
    assert!(response.contains("tier: web"), "{response}");
}

#[test]
fn client_of_porch_gets_failures_with_their_results() {
    let Some(client) = program("porch-client") else { return };
    let sandbox = sandbox();
    sandbox.write("fail.star", b"fail('the third replica is missing')\n");
    let server = Server::start(&sandbox, &["--function", "example.com/check=fail.star"]);
    let package = sandbox.path().join("repo/a").display().to_string();
    let (success, _, stderr) =
        porch_client(&client, &server.address, "example.com/check:v1", &package);
    assert!(!success);
    assert!(stderr.contains("code = Internal"), "{stderr}");
    assert!(stderr.contains("the third replica is missing"), "{stderr}");
    let (success, _, stderr) =
        porch_client(&client, &server.address, "example.com/other:v1", &package);
    assert!(!success);
    assert!(stderr.contains("code = NotFound"), "{stderr}");
}

#[test]
fn krm_uses_the_wrapper_server_of_porch() {
    let Some(wrapper) = program("porch-wrapper-server") else { return };
    let sandbox = sandbox();
    let krm = krm().get_program().to_owned().into_string().unwrap();
    let server = OtherServer::start(&wrapper, |port| {
        let arguments =
            ["--port", &port.to_string(), "--", &krm, "fn", "call", "set-labels:v0.2.0"];
        arguments.map(str::to_owned).to_vec()
    });
    succeeds(&sandbox, "cp -r repo local; krm fn eval local -i set-labels:v0.2.0 -- a=b");
    let eval = format!("krm fn eval repo -i set-labels:v0.2.0 --runtime grpc://{}", server.address);
    succeeds(&sandbox, &format!("{eval} -- a=b; diff -r repo local"));
    // It reports failures as a status with the results in its message.
    let before = sandbox.files();
    let failed = sandbox.run(&format!("{eval} --fn-config repo/a/script.yaml"));
    assert_eq!(failed.exit, 4, "{}", failed.stderr);
    assert!(failed.stderr.contains("failed to evaluate function"), "{}", failed.stderr);
    assert_eq!(sandbox.files(), before);
}

#[test]
fn krm_uses_the_function_runner_of_porch() {
    let Some(runner) = program("porch-function-runner") else { return };
    let sandbox = sandbox();
    let krm = krm().get_program().to_owned().into_string().unwrap();
    let script = format!("#!/bin/sh\nexec {krm} fn call set-labels:v0.2.0\n");
    sandbox.write("functions/set-labels", script.as_bytes());
    let image = "ghcr.io/kptdev/krm-functions-catalog/set-labels:v0.2.0";
    sandbox.write(
        "config.yaml",
        format!("functions:\n- function: set-labels\n  images:\n  - {image}\n").as_bytes(),
    );
    succeeds(&sandbox, "chmod +x functions/set-labels");
    let path = |name: &str| sandbox.path().join(name).display().to_string();
    let server = OtherServer::start(&runner, |port| {
        let port = port.to_string();
        let (config, functions) = (path("config.yaml"), path("functions"));
        ["-port", &port, "-disable-runtimes", "pod", "-config", &config, "-functions", &functions]
            .map(str::to_owned)
            .to_vec()
    });
    succeeds(&sandbox, "cp -r repo local; krm fn eval local -i set-labels:v0.2.0 -- a=b");
    let eval = format!("krm fn eval repo --runtime grpc://{}", server.address);
    succeeds(&sandbox, &format!("{eval} -i set-labels:v0.2.0 -- a=b; diff -r repo local"));
    let unknown = sandbox.run(&format!("{eval} -i example.com/other:v1"));
    assert_eq!(unknown.exit, 4);
    assert!(unknown.stderr.contains("error[remote-function-not-found]"), "{}", unknown.stderr);
}
