//! What a command does when a function or a server fails.

use super::server::Server;
use super::{sandbox, succeeds};

#[test]
fn results_of_a_failed_function_reach_the_user_and_nothing_is_written() {
    let sandbox = sandbox();
    sandbox.write("fail.star", b"fail('the third replica is missing')\n");
    let server = Server::start(&sandbox, &["--function", "example.com/check:v1=fail.star"]);
    let before = sandbox.files();
    let ran = sandbox.run(&format!("krm fn render repo --runtime grpc://{}", server.address));
    // A finding, as that of a process.
    assert_eq!(ran.exit, 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("the third replica is missing"), "{}", ran.stderr);
    assert_eq!(sandbox.files(), before);
    assert!(!server.log().contains("replica"), "the log has nothing of resources or results");
}

#[test]
fn failed_function_has_the_same_status_for_all_clients() {
    let sandbox = sandbox();
    sandbox.write("fail.star", b"fail('the third replica is missing')\n");
    let function = "--function=example.com/check:v1=fail.star";
    let server = Server::start(&sandbox, &[function, "--metrics-address=127.0.0.1:0", "--quiet"]);
    let eval = "krm fn eval repo/a --dry-run -i example.com/check:v1 --runtime grpc://";
    assert_eq!(sandbox.run(&format!("{eval}{}", server.address)).exit, 1);
    let requests = "krm_serve_requests_total{runtime=\"starlark\",code=\"INTERNAL\"} 1";
    let metrics = server.metrics();
    assert!(metrics.lines().any(|line| line == requests), "{metrics}");
    // With --quiet, only requests that succeeded are left out.
    let request = |line: &&str| line.contains("\"event\":\"request\"");
    let log = server.log();
    let lines: Vec<&str> = log.lines().filter(request).collect();
    assert_eq!(lines.len(), 1, "{log}");
    assert!(lines[0].contains("\"level\":\"warning\""), "{log}");
}

#[test]
fn unknown_functions_and_unreachable_servers_are_errors() {
    let sandbox = sandbox();
    let server = Server::start(&sandbox, &[]);
    let before = sandbox.files();
    let eval = |image: &str, address: &str| {
        sandbox.run(&format!("krm fn eval repo -i {image} --runtime grpc://{address}"))
    };
    let unknown = eval("example.com/other:v1", &server.address);
    assert_eq!(unknown.exit, 4);
    assert!(unknown.stderr.contains("error[remote-function-not-found]"), "{}", unknown.stderr);
    let unreachable = eval("set-labels:v0.2.0", "127.0.0.1:1");
    assert_eq!(unreachable.exit, 4);
    assert!(
        unreachable.stderr.contains("error[remote-runtime-unreachable]"),
        "{}",
        unreachable.stderr
    );
    assert!(unreachable.stderr.contains("refused"), "{}", unreachable.stderr);
    assert!(!unreachable.stderr.contains("built-in tag"), "{}", unreachable.stderr);
    let invalid = eval("set-labels:v0.2.0", "host/path");
    assert_eq!(invalid.exit, 2);
    assert!(invalid.stderr.contains("error[invalid-grpc-address]"), "{}", invalid.stderr);
    assert_eq!(sandbox.files(), before);
}

#[test]
fn functions_that_need_this_machine_are_refused() {
    let sandbox = sandbox();
    let server = Server::start(&sandbox, &[]);
    for flags in ["--network", "--env A=b", "--mount type=bind,src=.,dst=/x", "--as-current-user"] {
        let line = format!(
            "krm fn eval repo -i example.com/x:v1 --runtime grpc://{} {flags}",
            server.address
        );
        let ran = sandbox.run(&line);
        assert_eq!(ran.exit, 4, "{line}\n{}", ran.stderr);
        assert!(ran.stderr.contains("error[remote-runtime-unsupported]"), "{}", ran.stderr);
    }
    assert_eq!(server.events(), ["listening"]);
}

#[test]
fn locked_images_are_sent_by_digest_and_built_in_functions_run_here() {
    let sandbox = sandbox();
    let server = Server::start(&sandbox, &[]);
    let digest = format!("sha256:{}", "a".repeat(64));
    let lock = format!("version: 1\nimages:\n- image: example.com/fn:v1\n  digest: {digest}\n");
    sandbox.write("repo/a/krm.lock", lock.as_bytes());
    let eval = format!("krm fn eval repo/a --dry-run --locked --runtime grpc://{}", server.address);
    succeeds(&sandbox, &format!("{eval} -i set-labels:v0.2.0 -- a=b"));
    assert_eq!(server.events(), ["listening"]);
    let ran = sandbox.run(&format!("{eval} -i example.com/fn:v1"));
    let expected = format!("example.com/fn@{digest}");
    assert!(ran.stderr.contains(&expected), "{}", ran.stderr);
    assert_eq!(server.codes("NOT_FOUND"), 1);
}

#[test]
fn server_that_dies_in_the_middle_loses_nothing() {
    let sandbox = sandbox();
    sandbox.write("many.sh", b"for n in $(seq 60); do cp -r repo/a many/p$n; done\n");
    succeeds(&sandbox, "mkdir many; sh many.sh; cp -r many local");
    let flags = ["--function", "example.com/check=check.star"];
    let (mut first, second) = (Server::start(&sandbox, &flags), Server::start(&sandbox, &flags));
    let line = format!("krm fn render many --runtime grpc://{},{}", first.address, second.address);
    let ran = std::thread::scope(|scope| {
        let render = scope.spawn(|| sandbox.run(&line));
        first.wait_for("it has work", |it| it.log().matches("\"code\":\"OK\"").count() >= 10);
        first.stop("KILL");
        render.join().unwrap()
    });
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    let local = "sed -i '/validators/,$d' local/*/Kptfile; krm fn render local -q; diff -r -x Kptfile local many";
    succeeds(&sandbox, local);
    // Without another server the command fails and writes nothing.
    let mut only = Server::start(&sandbox, &flags);
    succeeds(&sandbox, "rm -rf many local; mkdir many; sh many.sh; cp -r many before");
    let line = format!("krm fn render many --runtime grpc://{}", only.address);
    let ran = std::thread::scope(|scope| {
        let render = scope.spawn(|| sandbox.run(&line));
        only.wait_for("it has work", |it| it.log().matches("\"code\":\"OK\"").count() >= 10);
        only.stop("KILL");
        render.join().unwrap()
    });
    assert_eq!(ran.exit, 4, "{}", ran.stderr);
    assert!(ran.stderr.contains("error[remote-runtime-unreachable]"), "{}", ran.stderr);
    succeeds(&sandbox, "diff -r before many");
}
