//! Servers that are dead, slow or wrong: the right result, one warning, and no time lost.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::{PACKAGES, cache_lines, shops};
use crate::sandbox::{Output, Sandbox};

/// What is wrong with the responses to GET, by the name of the test case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lie {
    /// Nothing: what was stored is returned.
    None,
    /// Content that is different, cut off, or larger than the result says.
    WrongBytes,
    Truncated,
    Shorter,
    Endless,
    /// A result of another call, or none.
    SwappedResults,
    Garbage,
    Html,
    /// A response that never begins, never ends, or comes late.
    Silent,
    Dripping,
    Late,
    /// Statuses.
    Error,
    Denied,
    Redirect,
    /// Not HTTP.
    NoHttp,
    Closed,
}

/// A server that stores what is uploaded and then lies about it. It ends with the process of the tests.
struct Server {
    address: String,
    lie: Arc<Mutex<Lie>>,
    requests: Arc<Mutex<Vec<String>>>,
}

type Stored = Arc<Mutex<BTreeMap<String, Vec<u8>>>>;

impl Server {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (lie, requests) = (Arc::new(Mutex::new(Lie::None)), Arc::default());
        let server = Self { address, lie: Arc::clone(&lie), requests: Arc::clone(&requests) };
        let stored = Stored::default();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (lie, stored) = (Arc::clone(&lie), Arc::clone(&stored));
                let requests = Arc::clone(&requests);
                std::thread::spawn(move || {
                    let lie = *lie.lock().unwrap();
                    // A client that hangs up is not an error.
                    let _ = serve(stream, lie, &stored, &requests);
                });
            }
        });
        server
    }

    fn lies(&self, lie: Lie) {
        *self.lie.lock().unwrap() = lie;
        self.requests.lock().unwrap().clear();
    }

    fn requests(&self) -> usize {
        self.requests.lock().unwrap().len()
    }
}

/// One request per connection.
fn serve(
    mut stream: TcpStream,
    lie: Lie,
    stored: &Stored,
    requests: &Mutex<Vec<String>>,
) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let (mut line, mut length) = (String::new(), 0);
    reader.read_line(&mut line)?;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header)?;
        match header.trim_end().to_ascii_lowercase().split_once(": ") {
            Some(("content-length", value)) => length = value.parse().unwrap_or(0),
            Some(_) => {}
            None => break,
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    requests.lock().unwrap().push(line.clone());
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let is_content = path.starts_with("/cas/");
    let is_upload = line.starts_with("PUT ");
    if is_upload && lie == Lie::None {
        stored.lock().unwrap().insert(path, body);
        return respond(&mut stream, "200 OK", "", b"");
    }
    let mut found = stored.lock().unwrap().get(&path).cloned();
    if lie == Lie::SwappedResults && !is_content {
        let entries = stored.lock().unwrap();
        let results = entries.iter().filter(|(it, _)| it.starts_with("/ac/") && **it != path);
        found = results.map(|(_, result)| result.clone()).next();
    }
    if is_upload {
        found = Some(Vec::new());
    }
    let Some(mut content) = found else {
        return respond(&mut stream, "404 Not Found", "", b"");
    };
    match lie {
        Lie::WrongBytes if is_content => content.make_ascii_uppercase(),
        Lie::Truncated if is_content => {
            write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", content.len())?;
            return stream.write_all(&content[..content.len() / 2]);
        }
        Lie::Shorter if is_content => content.truncate(content.len() / 2),
        Lie::Endless if is_content => {
            write!(stream, "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")?;
            loop {
                write!(stream, "{:x}\r\n", content.len())?;
                stream.write_all(&content)?;
                stream.write_all(b"\r\n")?;
            }
        }
        Lie::Garbage if !is_content => content = vec![0xff; 500],
        Lie::Html => content = b"<html>log in first</html>".to_vec(),
        Lie::Silent => std::thread::sleep(Duration::from_secs(600)),
        Lie::Dripping => {
            write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", content.len())?;
            for byte in content {
                stream.write_all(&[byte])?;
                std::thread::sleep(Duration::from_millis(500));
            }
            return Ok(());
        }
        Lie::Late if !is_content && !is_upload => {
            std::thread::sleep(Duration::from_millis(1500));
            return respond(&mut stream, "404 Not Found", "", b"");
        }
        Lie::Error => return respond(&mut stream, "500 Internal Server Error", "", b"oops"),
        Lie::Denied => return respond(&mut stream, "403 Forbidden", "", b""),
        Lie::Redirect => {
            return respond(&mut stream, "302 Found", "location: http://127.0.0.1:1/\r\n", b"");
        }
        Lie::NoHttp => return stream.write_all(b"SSH-2.0-OpenSSH_9.2\r\n\r\n"),
        Lie::Closed => return Ok(()),
        _ => {}
    }
    respond(&mut stream, "200 OK", "", &content)
}

fn respond(stream: &mut TcpStream, status: &str, header: &str, body: &[u8]) -> std::io::Result<()> {
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\nconnection: close\r\n{header}content-length: {length}\r\n\r\n"
    )?;
    stream.write_all(body)
}

/// Renders all packages on a machine with an empty cache.
fn render(sandbox: &Sandbox, address: &str, flags: &str) -> (Output, Duration) {
    let machine = tempfile::tempdir_in(sandbox.path()).unwrap();
    let cache = machine.path().display();
    let line = format!(
        "export KRM_CACHE_DIR={cache} KRM_CACHE_TOKEN=hunter2; krm fn render shops --diff -v --cache-server http://{address} {flags}"
    );
    let start = Instant::now();
    (sandbox.run(&line), start.elapsed())
}

fn warnings(ran: &Output) -> usize {
    assert!(!ran.stderr.contains("hunter2"), "{}", ran.stderr);
    ran.stderr.matches("warning[").count()
}

/// How many requests can be under way when the first one fails.
fn requests_under_way() -> usize {
    1 + std::thread::available_parallelism().map_or(1, usize::from)
}

#[test]
fn lying_server_costs_one_warning_and_no_wrong_result() {
    let Some(sandbox) = shops() else { return };
    let server = Server::start();
    let (honest, _) = render(&sandbox, &server.address, "--cache-upload");
    assert_eq!((honest.exit, warnings(&honest)), (0, 0), "{}", honest.stderr);
    let (shared, _) = render(&sandbox, &server.address, "");
    assert_eq!(
        cache_lines(&shared.stderr)[1],
        format!("shared cache: {PACKAGES} results found, 0 not found"),
        "the server is right before it lies"
    );
    let lies = [
        (Lie::WrongBytes, "the content of a result has another digest or size"),
        (Lie::Truncated, "a response ends early"),
        (Lie::Shorter, "the content of a result has another digest or size"),
        (Lie::Endless, "a response is larger than expected"),
        (Lie::SwappedResults, "a result is damaged, or belongs to another function or input"),
        (Lie::Garbage, "a result is not of the form that krm stores"),
        (Lie::Html, "a result is not of the form that krm stores"),
        (Lie::Silent, "timed out"),
        (Lie::Dripping, "timed out"),
        (Lie::Late, "responses take longer than a second"),
        (Lie::Error, "the server responded with status 500"),
        (Lie::Denied, "access is denied (status 403)"),
        (Lie::Redirect, "redirects are not followed"),
        (Lie::NoHttp, ""),
        (Lie::Closed, ""),
    ];
    for (lie, reason) in lies {
        server.lies(lie);
        let (ran, time) = render(&sandbox, &server.address, "--cache-upload");
        assert_eq!((&ran.stdout, ran.exit), (&honest.stdout, 0), "{lie:?}: {}", ran.stderr);
        let message = format!("cannot use the shared cache `http://{}`: {reason}", server.address);
        assert!(ran.stderr.contains(&message), "{lie:?}: {}", ran.stderr);
        assert_eq!(warnings(&ran), 1, "{lie:?}: {}", ran.stderr);
        assert!(time < Duration::from_secs(60), "{lie:?}: {time:?}");
        // Three downloads fail, and those under way; a server that denies only downloads gets all uploads. Each is two requests.
        let most = 2 * (3 + requests_under_way()) + 2 * PACKAGES;
        assert!(server.requests() <= most, "{lie:?}: {} requests", server.requests());
    }
}

#[test]
fn server_that_cannot_be_reached_costs_one_warning() {
    let Some(sandbox) = shops() else { return };
    let without = sandbox.run("krm fn render shops --diff --cache off");
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let name = "cache.invalid".to_owned();
    for (address, reason) in [(closed.to_string(), "connection refused"), (name, "")] {
        for flags in ["", "--cache-upload", "--cache verify"] {
            let (ran, time) = render(&sandbox, &address, flags);
            assert_eq!((&ran.stdout, ran.exit), (&without.stdout, 0), "{}", ran.stderr);
            let message = format!(
                "warning[shared-cache-failed]: cannot use the shared cache `http://{address}`: {reason}"
            );
            assert!(ran.stderr.contains(&message), "{}", ran.stderr);
            assert_eq!(warnings(&ran), 1, "{}", ran.stderr);
            assert!(time < Duration::from_secs(60), "{time:?}");
        }
    }
    let (quiet, _) = render(&sandbox, &closed.to_string(), "--cache off");
    assert_eq!((&quiet.stdout, warnings(&quiet)), (&without.stdout, 0), "nobody was asked");
}

#[test]
fn server_that_fails_is_not_asked_again() {
    let Some(sandbox) = shops() else { return };
    let server = Server::start();
    render(&sandbox, &server.address, "--cache-upload");
    server.lies(Lie::Silent);
    let (ran, _) = render(&sandbox, &server.address, "");
    assert_eq!(warnings(&ran), 1, "{}", ran.stderr);
    assert!(server.requests() <= requests_under_way(), "{} requests", server.requests());
}
