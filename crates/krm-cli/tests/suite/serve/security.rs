//! What a request cannot reach.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use krm_grpc::{Address, CallError, Client, ClientSettings, Evaluated, TlsFiles};

use super::sandbox;
use super::server::Server;

fn call(server: &Server, image: &str, config: &str) -> Result<Evaluated, CallError> {
    let address = Address::parse(&format!("grpc://{}", server.address)).unwrap().unwrap();
    let settings = ClientSettings { address, tls: TlsFiles::default(), max_message: 64 << 20 };
    let list = format!(
        "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {{name: a}}\nfunctionConfig:\n{config}"
    );
    let (time, cancelled) = (Duration::from_secs(60), AtomicBool::new(false));
    Client::new(settings).unwrap().evaluate(image, list.as_bytes(), time, &cancelled)
}

#[test]
fn files_and_programs_of_the_server_are_out_of_reach() {
    let sandbox = sandbox();
    sandbox.write("schemas/secret.json", b"{\"secret\": true}");
    let server = Server::start(&sandbox, &[]);
    let path = sandbox.path().display();
    // A chart needs a program and files, and documents are files of a package.
    for (image, config) in [
        (
            "render-helm-chart:v0.2.2",
            format!(
                "  apiVersion: fn.kpt.dev/v1alpha1\n  kind: RenderHelmChart\n  metadata: {{name: x}}\n  helmGlobals: {{chartHome: {path}}}\n  helmCharts:\n  - chartArgs: {{name: schemas}}\n"
            ),
        ),
        (
            "generate-kpt-pkg-docs:unstable",
            format!(
                "  apiVersion: v1\n  kind: ConfigMap\n  metadata: {{name: x}}\n  data: {{readme-path: {path}/README.md}}\n"
            ),
        ),
        (
            "kubeval:v0.3.0",
            format!(
                "  apiVersion: v1\n  kind: ConfigMap\n  metadata: {{name: x}}\n  data: {{schema_location: file://{path}/schemas}}\n"
            ),
        ),
    ] {
        let before = sandbox.files();
        match call(&server, image, &config) {
            Ok(answer) => {
                let output = String::from_utf8(answer.output).unwrap();
                assert!(!output.contains("secret"), "{output}");
            }
            Err(CallError::NotFound { .. } | CallError::Status { .. }) => {}
            Err(error) => panic!("{image}: {error:?}"),
        }
        assert_eq!(sandbox.files(), before, "{image}");
    }
    for image in ["/bin/sh", "./check.star", "../x", "file:///etc/passwd", "check.star", ""] {
        let refused = call(&server, image, "  data: {}\n").unwrap_err();
        assert!(matches!(refused, CallError::NotFound { .. }), "{image}: {refused:?}");
    }
}

#[test]
fn images_run_only_if_their_prefix_is_allowed() {
    let sandbox = sandbox();
    let flags = ["--allow-image", "example.invalid/ours", "--image-pull-policy", "Never"];
    let server = Server::start(&sandbox, &flags);
    for image in
        ["example.invalid/theirs/fn:v1", "example.invalid/ours-2/fn:v1", "docker.io/library/sh"]
    {
        let refused = call(&server, image, "  data: {}\n").unwrap_err();
        assert!(matches!(refused, CallError::NotFound { .. }), "{image}: {refused:?}");
    }
    // It is allowed, and not here.
    let missing = call(&server, "example.invalid/ours/fn:v1", "  data: {}\n").unwrap_err();
    assert!(!matches!(missing, CallError::NotFound { .. }), "{missing:?}");
}

#[test]
fn scripts_have_limits_of_memory_and_time() {
    let sandbox = sandbox();
    let server = Server::start(&sandbox, &["--memory", "128m", "--timeout", "2s"]);
    let script = |source: &str| {
        format!(
            "  apiVersion: fn.kpt.dev/v1alpha1\n  kind: StarlarkRun\n  metadata: {{name: x}}\n  source: |\n    {source}\n"
        )
    };
    let memory = call(
        &server,
        "starlark:v0.5",
        &script("x = ['a' * 1000000 + str(i) for i in range(100000)]"),
    );
    let failed = !matches!(&memory, Ok(answer) if answer.exit_code == 0);
    assert!(failed, "{memory:?}");
    let endless = call(
        &server,
        "starlark:v0.5",
        &script("x = [i * j for i in range(1000000) for j in range(1000000)]"),
    );
    let failed = !matches!(&endless, Ok(answer) if answer.exit_code == 0);
    assert!(failed, "{endless:?}");
    // It still answers.
    assert_eq!(call(&server, "no-op", "  data: {}\n").unwrap().exit_code, 0);
}

#[test]
fn log_lines_cannot_be_forged() {
    let sandbox = sandbox();
    let server = Server::start(&sandbox, &[]);
    let image = "x\n{\"level\":\"info\",\"event\":\"forged\"}\u{1b}[2J";
    call(&server, image, "  data: {}\n").unwrap_err();
    assert_eq!(server.codes("NOT_FOUND"), 1);
    assert_eq!(server.events(), ["listening", "request"], "{}", server.log());
    assert!(!server.log().contains('\u{1b}'));
}

#[test]
fn servers_do_not_forward_to_servers() {
    let sandbox = sandbox();
    let ran = sandbox.run("krm serve --address 127.0.0.1:0 --runtime grpc://127.0.0.1:1");
    assert_eq!(ran.exit, 2);
    assert!(ran.stderr.contains("a server cannot use other servers"), "{}", ran.stderr);
}

/// Without a pause the server would try to accept all the time.
#[cfg(target_os = "linux")]
#[test]
fn server_without_free_files_waits_and_then_goes_on() {
    let sandbox = sandbox();
    let mut server = Server::start_limited(&sandbox, 40);
    let connect = || std::net::TcpStream::connect(&server.address).unwrap();
    let connections: Vec<_> = (0..60).map(|_| connect()).collect();
    std::thread::sleep(Duration::from_secs(2));
    let ticks = server.processor_ticks();
    assert!(ticks < 20, "{ticks} hundredths of a second");
    drop(connections);
    server.wait_for("it answers", |server| {
        call(server, "no-op", "  data: {}\n").is_ok_and(|it| it.exit_code == 0)
    });
}
