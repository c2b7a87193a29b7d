//! Authentication, mirrors and errors of a registry.

use std::collections::BTreeMap;
use std::path::Path;

use krm_oci::{Client, ClientSettings, Credentials, Digest, OciKind, PackageFile, Reference};

use crate::fake_registry::{FakeRegistry, Request, Response};

const MANIFEST: &str =
    r#"{"schemaVersion":2,"config":{"mediaType":"c","digest":"sha256:0","size":2},"layers":[]}"#;
/// `me:secret`
const BASIC: &str = "Basic bWU6c2VjcmV0";

fn reference(host: &str) -> Reference {
    Reference::parse(&format!("{host}/team/shop:v1")).unwrap()
}

/// A client with the configuration of docker in a directory.
fn client_with(directory: &Path, config: &str) -> Client {
    std::fs::write(directory.join("config.json"), config).unwrap();
    let environment = [("DOCKER_CONFIG".into(), directory.into())];
    let credentials = Credentials::from_environment(environment);
    Client::new(ClientSettings { credentials, ..ClientSettings::default() })
}

#[test]
fn password_is_sent_only_after_the_registry_asks() {
    let registry = FakeRegistry::start(|request| match request.header("authorization") {
        Some(BASIC) => Response::of(200, MANIFEST),
        _ => Response::of(401, "").header("www-authenticate", "Basic realm=\"x\""),
    });
    let directory = tempfile::tempdir().unwrap();
    let config = format!(r#"{{"auths":{{"{}":{{"auth":"bWU6c2VjcmV0"}}}}}}"#, registry.host);
    let client = client_with(directory.path(), &config);
    let found = client.manifest(&reference(&registry.host)).unwrap();
    assert_eq!(found.digest, Digest::of(MANIFEST.as_bytes()));
    client.manifest(&reference(&registry.host)).unwrap();
    let sent: Vec<bool> =
        registry.requests().iter().map(|it| it.header("authorization").is_some()).collect();
    assert_eq!(sent, [false, true, true]);
}

#[test]
fn token_is_fetched_with_the_password_and_used_for_the_repository() {
    let token_server = FakeRegistry::start(|request: &Request| {
        assert_eq!(request.header("authorization"), Some(BASIC));
        assert_eq!(request.path, "/token?service=s&scope=repository%3Ateam%2Fshop%3Apull");
        Response::of(200, r#"{"token":"abc","expires_in":300}"#)
    });
    let challenge = format!(
        r#"Bearer realm="http://{}/token",service="s",scope="repository:team/shop:pull""#,
        token_server.host
    );
    let registry = FakeRegistry::start(move |request| match request.header("authorization") {
        Some("Bearer abc") => Response::of(200, MANIFEST),
        _ => Response::of(401, "").header("www-authenticate", &*challenge),
    });
    let directory = tempfile::tempdir().unwrap();
    let config =
        format!(r#"{{"auths":{{"{}":{{"username":"me","password":"secret"}}}}}}"#, registry.host);
    let client = client_with(directory.path(), &config);
    client.manifest(&reference(&registry.host)).unwrap();
    client.manifest(&reference(&registry.host)).unwrap();
    assert_eq!(token_server.requests().len(), 1, "the token is used again");
    let is_password = |it: &Request| it.header("authorization") == Some(BASIC);
    assert!(
        !registry.requests().iter().any(is_password),
        "only the token server gets the password"
    );
}

#[test]
fn identity_token_is_exchanged() {
    let token_server = FakeRegistry::start(|request: &Request| {
        let body = String::from_utf8(request.body.clone()).unwrap();
        assert!(
            body.starts_with("grant_type=refresh_token&refresh_token=id&client_id=krm"),
            "{body}"
        );
        Response::of(200, r#"{"access_token":"abc"}"#)
    });
    let challenge = format!("Bearer realm=\"http://{}/token\"", token_server.host);
    let registry = FakeRegistry::start(move |request| match request.header("authorization") {
        Some("Bearer abc") => Response::of(200, MANIFEST),
        _ => Response::of(401, "").header("www-authenticate", &*challenge),
    });
    let directory = tempfile::tempdir().unwrap();
    let config = format!(r#"{{"auths":{{"{}":{{"identitytoken":"id"}}}}}}"#, registry.host);
    client_with(directory.path(), &config).manifest(&reference(&registry.host)).unwrap();
}

#[test]
fn missing_credentials_are_an_error_that_names_the_registry() {
    let registry = FakeRegistry::start(|_| {
        Response::of(401, "").header("www-authenticate", "Basic realm=\"x\"")
    });
    let error = Client::default().manifest(&reference(&registry.host)).unwrap_err();
    assert!(
        matches!(&error, OciKind::Unauthorized { registry: host, .. } if *host == registry.host)
    );
}

#[test]
fn redirect_to_another_host_gets_no_credentials() {
    let content = b"content".to_vec();
    let stored = content.clone();
    let storage = FakeRegistry::start(move |_| Response::of(200, stored.clone()));
    let target = format!("http://{}/blob", storage.host);
    let registry = FakeRegistry::start(move |request| match request.header("authorization") {
        Some(BASIC) => Response::of(307, "").header("location", &*target),
        _ => Response::of(401, "").header("www-authenticate", "Basic realm=\"x\""),
    });
    let directory = tempfile::tempdir().unwrap();
    let config = format!(r#"{{"auths":{{"{}":{{"auth":"bWU6c2VjcmV0"}}}}}}"#, registry.host);
    let client = client_with(directory.path(), &config);
    let descriptor = krm_oci::Descriptor::of("x", &content);
    let reference = reference(&registry.host);
    assert_eq!(client.blob(&reference, &descriptor, 100).unwrap(), content);
    assert_eq!(storage.requests()[0].header("authorization"), None);
}

#[test]
fn mirrors_are_asked_first_and_the_registry_after_them() {
    let mirror = FakeRegistry::start(|request| match request.path.contains("/hub/team/shop/") {
        true => Response::of(200, MANIFEST),
        false => Response::of(404, ""),
    });
    let registry = FakeRegistry::start(|_| Response::of(200, MANIFEST));
    let ask = |mirrors: &[String]| {
        let mirrors = BTreeMap::from([(registry.host.clone(), mirrors.to_vec())]);
        let client = Client::new(ClientSettings { mirrors, ..ClientSettings::default() });
        client.manifest(&reference(&registry.host)).unwrap();
        registry.requests().len()
    };
    assert_eq!(ask(&[format!("{}/hub", mirror.host)]), 0);
    assert_eq!(ask(&[mirror.host, "127.0.0.1:1".to_owned()]), 1);
}

#[test]
fn errors_of_the_registry_are_reported_in_its_words() {
    let body = r#"{"errors":[{"code":"DENIED","message":"quota exceeded"}]}"#;
    let registry = FakeRegistry::start(move |_| Response::of(418, body));
    let error = Client::default().manifest(&reference(&registry.host)).unwrap_err();
    let host = &registry.host;
    let expected = format!("the registry `{host}` responded with status 418: quota exceeded");
    assert_eq!(error.to_string(), expected);
    let missing = FakeRegistry::start(|_| Response::of(404, "<html>"));
    let error = Client::default().manifest(&reference(&missing.host)).unwrap_err();
    assert!(matches!(error, OciKind::NotFound { .. }), "{error}");
    let error = Client::default().manifest(&reference("127.0.0.1:1")).unwrap_err();
    assert!(matches!(error, OciKind::Unreachable { .. }), "{error}");
}

#[test]
fn temporary_errors_are_tried_again() {
    let count = std::sync::atomic::AtomicUsize::new(0);
    let registry = FakeRegistry::start(move |_| {
        match count.fetch_add(1, std::sync::atomic::Ordering::SeqCst) {
            0 => Response::of(503, ""),
            _ => Response::of(200, MANIFEST),
        }
    });
    Client::default().manifest(&reference(&registry.host)).unwrap();
}

#[test]
fn manifest_with_another_digest_is_refused() {
    let registry = FakeRegistry::start(|_| Response::of(200, MANIFEST));
    let asked = reference(&registry.host).with_digest(&Digest::of(b"other"));
    let error = Client::default().manifest(&asked).unwrap_err();
    assert!(matches!(error, OciKind::DigestMismatch { .. }), "{error}");
    let large = FakeRegistry::start(|_| Response::of(200, vec![b' '; 5 << 20]));
    let error = Client::default().manifest(&reference(&large.host)).unwrap_err();
    assert!(matches!(error, OciKind::TooLarge { .. }), "{error}");
}

#[test]
fn push_asks_for_a_token_that_allows_it() {
    let token_server = FakeRegistry::start(|request: &Request| {
        assert!(request.path.ends_with("scope=repository%3Ateam%2Fshop%3Apull%2Cpush"));
        Response::of(200, r#"{"token":"abc"}"#)
    });
    let challenge = format!("Bearer realm=\"http://{}/token\"", token_server.host);
    let registry = FakeRegistry::start(move |request| {
        if request.header("authorization") != Some("Bearer abc") {
            return Response::of(401, "").header("www-authenticate", &*challenge);
        }
        match request.method.as_str() {
            "HEAD" => Response::of(404, ""),
            "POST" => Response::of(202, "").header("location", "/upload?state=1"),
            _ => Response::of(201, ""),
        }
    });
    let file = PackageFile { path: "Kptfile".into(), data: b"x".to_vec(), executable: false };
    let pushed =
        Client::default().push_package(&reference(&registry.host), &[file], &BTreeMap::new());
    let digest = pushed.unwrap();
    let requests = registry.requests();
    let puts: Vec<&Request> = requests.iter().filter(|it| it.method == "PUT").collect();
    assert_eq!(puts.len(), 3);
    for put in &puts[..2] {
        let expected = format!("/upload?state=1&digest=sha256%3A{}", Digest::of(&put.body).hex());
        assert_eq!(put.path, expected);
    }
    assert_eq!(puts[2].path, "/v2/team/shop/manifests/v1");
    assert_eq!(Digest::of(&puts[2].body), digest);
}
