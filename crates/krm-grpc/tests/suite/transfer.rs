//! What arrives at the other side.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;

use krm_grpc::{CallError, Identity, TlsFiles};

use crate::support::{TestServer, call, client, client_with, settings};

#[test]
fn output_log_and_exit_code_arrive() {
    let server = TestServer::start();
    let client = client(&[&server.address]);
    let answer = call(&client, "reverse", b"abc").unwrap();
    assert_eq!((&*answer.output, &*answer.log, answer.exit_code), (&b"cba"[..], &b"log"[..], 0));
    let answer = call(&client, "fail", b"abc").unwrap();
    assert_eq!((&*answer.output, answer.exit_code), (&b"results"[..], 3));
    let missing = call(&client, "other", b"").unwrap_err();
    assert_eq!(missing, CallError::NotFound { message: "no function other".to_owned() });
    let panicked = call(&client, "panic", b"").unwrap_err();
    assert!(matches!(panicked, CallError::Status { code, .. } if code == "Internal"));
    assert_eq!(server.codes(), ["OK", "INTERNAL", "NOT_FOUND", "INTERNAL"]);
}

#[test]
fn messages_beyond_the_size_of_porch_arrive() {
    let server = TestServer::start();
    let client = client(&[&server.address]);
    let input: Vec<u8> = (0..20 << 20).map(|at: u32| (at % 251) as u8).collect();
    let answer = call(&client, "reverse", &input).unwrap();
    assert!(answer.output.iter().rev().eq(&input));
}

#[test]
fn metrics_are_served_over_http() {
    let server = TestServer::start();
    call(&client(&[&server.address]), "reverse", b"abc").unwrap();
    let get = |path: &str| {
        let mut stream = TcpStream::connect(&server.metrics_address).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    };
    let metrics = get("/metrics");
    assert!(metrics.starts_with("HTTP/1.1 200 OK\r\n"), "{metrics}");
    assert!(
        metrics.contains("krm_serve_requests_total{runtime=\"test\",code=\"OK\"} 1\n"),
        "{metrics}"
    );
    assert!(get("/").starts_with("HTTP/1.1 404 "));
}

#[test]
fn unknown_servers_are_unreachable() {
    // A port that was free a moment ago.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let error = call(&client(&[&format!("127.0.0.1:{port}")]), "reverse", b"").unwrap_err();
    let CallError::Unreachable { reason } = error else { panic!("{error:?}") };
    assert!(reason.contains("refused"), "{reason}");
    let unknown = call(&client(&["does-not-exist.invalid:1"]), "reverse", b"").unwrap_err();
    assert!(matches!(unknown, CallError::Unreachable { .. }), "{unknown:?}");
}

#[test]
fn certificates_are_checked_on_both_sides() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str| directory.path().join(name);
    let openssl = |args: &str| {
        let words =
            args.split(' ').map(|word| word.replace("DIR", directory.path().to_str().unwrap()));
        let done = Command::new("openssl").args(words).output();
        done.is_ok_and(|it| it.status.success())
    };
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
    let made = openssl(&format!(
        "req -x509 {key} -keyout DIR/ca.key -out DIR/ca.pem -days 2 -subj /CN=ca"
    ));
    if !made {
        assert!(std::env::var_os("KRM_REQUIRE_OPENSSL").is_none(), "openssl failed");
        eprintln!("skipped: openssl is not installed");
        return;
    }
    for name in ["server", "client"] {
        assert!(openssl(&format!(
            "req {key} -x509 -CA DIR/ca.pem -CAkey DIR/ca.key -keyout DIR/{name}.key -out DIR/{name}.pem -days 2 \
             -subj /CN={name} -addext subjectAltName=DNS:localhost -addext basicConstraints=critical,CA:FALSE"
        )));
    }
    let identity = |name: &str| {
        Some(Identity {
            certificate: file(&format!("{name}.pem")),
            key: file(&format!("{name}.key")),
        })
    };
    let authorities = Some(file("ca.pem"));
    let server = TestServer::with(krm_grpc::ServerSettings {
        tls: TlsFiles { identity: identity("server"), authorities: authorities.clone() },
        ..settings()
    });
    let port = server.address.rsplit_once(':').unwrap().1;
    let address = format!("grpcs://localhost:{port}");
    let trusted = TlsFiles { identity: identity("client"), authorities: authorities.clone() };
    assert_eq!(
        call(&client_with(&address, trusted.clone()), "reverse", b"ab").unwrap().output,
        b"ba"
    );
    for (tls, address) in [
        (TlsFiles { identity: None, authorities }, address.clone()),
        (TlsFiles { identity: identity("client"), authorities: None }, address),
        (trusted, format!("grpcs://127.0.0.1:{port}")),
        (TlsFiles::default(), format!("grpc://127.0.0.1:{port}")),
    ] {
        let refused = call(&client_with(&address, tls), "reverse", b"ab").unwrap_err();
        assert!(matches!(refused, CallError::Unreachable { .. }), "{refused:?}");
    }
    assert_eq!(server.codes(), ["OK"]);
}
