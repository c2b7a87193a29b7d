//! Caches of results that answer wrongly, slowly or not at all.

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use krm_oci::{ActionCache, ActionCacheError, Authorization, Digest, ServerUrl};

use crate::fake_registry::{FakeRegistry, Request, Response};

const CONTENT: &[u8] = b"what a function returned";

fn key() -> Digest {
    Digest::of(b"the key")
}

fn client(host: &str) -> ActionCache {
    let authorization = Authorization::basic("me", "secret");
    ActionCache::new(
        ServerUrl::parse(&format!("http://{host}/team/")).unwrap(),
        Some(authorization),
    )
}

/// What krm stores below `/ac` for the content, as a server receives it.
fn action_result() -> Vec<u8> {
    let server = FakeRegistry::start(|_| Response::of(200, ""));
    client(&server.host).put(&key(), CONTENT).unwrap();
    server.requests().pop().unwrap().body
}

/// Asks a server that has the result, and this content for it.
fn get_from(
    content: impl Fn() -> Response + Send + Sync + 'static,
) -> Result<Option<Vec<u8>>, ActionCacheError> {
    let result = action_result();
    let server = FakeRegistry::start(move |request| match request.path.contains("/ac/") {
        true => Response::of(200, result.clone()),
        false => content(),
    });
    client(&server.host).get(&key())
}

fn invalid(reason: &'static str) -> Result<Option<Vec<u8>>, ActionCacheError> {
    Err(ActionCacheError::Invalid { reason })
}

#[test]
fn content_is_stored_before_the_result_that_refers_to_it() {
    let server = FakeRegistry::start(|_| Response::of(200, ""));
    client(&server.host).put(&key(), CONTENT).unwrap();
    let requests = server.requests();
    let sent: Vec<(&str, &str)> =
        requests.iter().map(|it| (it.method.as_str(), it.path.as_str())).collect();
    let digests = [Digest::of(CONTENT), key()];
    let [content, key] = digests.each_ref().map(Digest::hex);
    let paths = [format!("/team/cas/{content}"), format!("/team/ac/{key}")];
    assert_eq!(sent, [("PUT", paths[0].as_str()), ("PUT", paths[1].as_str())]);
    assert_eq!(requests[0].body, CONTENT);
    assert!(requests.iter().all(|it| it.header("authorization") == Some("Basic bWU6c2VjcmV0")));
}

#[test]
fn failed_upload_of_the_content_stores_no_result() {
    let server = FakeRegistry::start(|_| Response::of(507, ""));
    let failed = client(&server.host).put(&key(), CONTENT);
    assert_eq!(failed, Err(ActionCacheError::Refused { status: 507 }));
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn content_is_returned_if_digest_and_size_are_right() {
    assert_eq!(get_from(|| Response::of(200, CONTENT)), Ok(Some(CONTENT.to_vec())));
    assert_eq!(get_from(|| Response::of(404, CONTENT)), Ok(None), "the server removed it");
    let wrong = invalid("the content of a result has another digest or size");
    assert_eq!(get_from(|| Response::of(200, CONTENT.to_ascii_uppercase())), wrong);
    assert_eq!(get_from(|| Response::of(200, &CONTENT[1..])), wrong);
    let large = invalid("a response is larger than expected");
    assert_eq!(get_from(|| Response::of(200, CONTENT.repeat(1 << 20))), large);
    let cut = || Response { cut: Some(3), ..Response::of(200, CONTENT) };
    assert_eq!(get_from(cut), invalid("a response ends early"));
    let refused = |status| Err(ActionCacheError::Refused { status });
    assert_eq!(get_from(|| Response::of(500, "")), refused(500));
    assert_eq!(get_from(|| Response::of(206, CONTENT)), refused(206));
}

#[test]
fn result_of_another_form_is_invalid() {
    let many = || Response::of(200, vec![b'x'; (1 << 20) + 1]);
    type Answer = fn() -> Response;
    let answers: [(Answer, &str); 4] = [
        (|| Response::of(200, ""), "a result is not of the form that krm stores"),
        (|| Response::of(200, "<html>"), "a result is not of the form that krm stores"),
        // A file of 300 MB.
        (
            || {
                let mut result = action_result();
                result.pop();
                result[1] += 4;
                result[15] += 4;
                Response::of(200, [&result[..], &[0x80, 0x8c, 0x8d, 0x8f, 0x01]].concat())
            },
            "the content is too large",
        ),
        (many, "a response is larger than expected"),
    ];
    for (answer, reason) in answers {
        let server = FakeRegistry::start(move |_| answer());
        let failed = client(&server.host).get(&key()).unwrap_err();
        assert_eq!(failed.to_string(), reason);
    }
}

#[test]
fn redirects_are_not_followed() {
    let other = FakeRegistry::start(|_| Response::of(200, ""));
    let address = format!("http://{}/", other.host);
    let server =
        FakeRegistry::start(move |_| Response::of(307, "").header("location", address.clone()));
    let client = client(&server.host);
    let refused = ActionCacheError::Refused { status: 307 };
    assert_eq!(client.get(&key()), Err(refused.clone()));
    assert_eq!(client.put(&key(), CONTENT), Err(refused));
    assert!(other.requests().is_empty());
}

#[test]
fn missing_credentials_are_denied() {
    let is_allowed = |request: &Request| request.header("authorization") == Some("Bearer token");
    let server = FakeRegistry::start(move |request| {
        Response::of(if is_allowed(request) { 404 } else { 401 }, "")
    });
    let url = ServerUrl::parse(&format!("http://{}", server.host)).unwrap();
    let get = |authorization| ActionCache::new(url.clone(), authorization).get(&key());
    assert_eq!(get(None), Err(ActionCacheError::Denied { status: 401 }));
    assert_eq!(get(Authorization::bearer("token")), Ok(None));
}

#[test]
fn server_that_does_not_respond_costs_seconds() {
    // The system accepts the connection, and nobody reads from it.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let start = Instant::now();
    let failed = client(&silent.local_addr().unwrap().to_string()).get(&key());
    assert_eq!(failed, Err(ActionCacheError::TimedOut));
    assert!(start.elapsed() < Duration::from_secs(6), "{:?}", start.elapsed());
    drop(silent);
    let start = Instant::now();
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let failed = client(&closed.to_string()).get(&key()).unwrap_err();
    assert_eq!(failed.to_string(), "connection refused");
    assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
}

#[test]
fn endless_response_is_cut_off() {
    use std::io::Write;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let host = listener.local_addr().unwrap().to_string();
    let bytes = Arc::new(AtomicUsize::new(0));
    let sent = Arc::clone(&bytes);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
            let chunk = [&b"10000\r\n"[..], &[b'x'; 0x10000], b"\r\n"].concat();
            let _ = stream.write_all(head);
            while stream.write_all(&chunk).is_ok() {
                sent.fetch_add(chunk.len(), Ordering::Relaxed);
            }
        }
    });
    let failed = client(&host).get(&key()).unwrap_err();
    assert_eq!(failed.to_string(), "a response is larger than expected");
    assert!(bytes.load(Ordering::Relaxed) < 64 << 20);
}

#[test]
fn response_that_drips_is_cut_off() {
    use std::io::Write;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let host = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n");
            while stream.write_all(b"x").is_ok() {
                std::thread::sleep(Duration::from_millis(500));
            }
        }
    });
    let start = Instant::now();
    assert_eq!(client(&host).get(&key()), Err(ActionCacheError::TimedOut));
    assert!(start.elapsed() < Duration::from_secs(8), "{:?}", start.elapsed());
}

#[test]
fn large_size_gives_a_response_that_drips_no_more_time() {
    use std::io::{Read, Write};
    // A file of 200 MB, which may take more than three minutes.
    let mut result = action_result();
    result.pop();
    result[1] += 3;
    result[15] += 3;
    result.extend_from_slice(&[0x80, 0x80, 0x80, 0x64]);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let host = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut request = [0; 4096];
            let count = stream.read(&mut request).unwrap_or_default();
            let head = |length: usize| {
                format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n")
            };
            if String::from_utf8_lossy(&request[..count]).contains("/ac/") {
                let _ = stream.write_all(&[head(result.len()).as_bytes(), &result].concat());
                continue;
            }
            let _ = stream.write_all(head(200 << 20).as_bytes());
            while stream.write_all(b"x").is_ok() {
                std::thread::sleep(Duration::from_millis(500));
            }
        }
    });
    let start = Instant::now();
    assert_eq!(client(&host).get(&key()), Err(ActionCacheError::TimedOut));
    assert!(start.elapsed() < Duration::from_secs(8), "{:?}", start.elapsed());
}
