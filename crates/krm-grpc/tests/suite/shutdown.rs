//! The end of a server, and what clients notice of it.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use krm_grpc::{CallError, Event, ServerSettings};

use crate::support::{TestServer, call, client, eventually, settings};

#[test]
fn accepted_requests_are_answered_before_the_server_ends() {
    let mut server = TestServer::start();
    let client = client(&[&server.address]);
    std::thread::scope(|scope| {
        let request = scope.spawn(|| call(&client, "sleep 500", b"x"));
        eventually("it runs", || server.functions.running.load(Ordering::SeqCst) == 1);
        server.ask_to_stop();
        assert_eq!(request.join().unwrap().unwrap().output, b"x");
    });
    server.join().unwrap();
    assert_eq!(server.codes(), ["OK"]);
    TcpStream::connect(&server.address).unwrap_err();
}

#[test]
fn requests_beyond_the_grace_period_are_cancelled() {
    let grace = Duration::from_millis(200);
    let mut server = TestServer::with(ServerSettings { grace, ..settings() });
    let client = client(&[&server.address]);
    let start = Instant::now();
    std::thread::scope(|scope| {
        let request = scope.spawn(|| call(&client, "sleep 30000", b"x"));
        eventually("it runs", || server.functions.running.load(Ordering::SeqCst) == 1);
        server.ask_to_stop();
        let error = request.join().unwrap().unwrap_err();
        assert!(matches!(error, CallError::Unreachable { .. }), "{error:?}");
    });
    server.join().unwrap();
    assert!(start.elapsed() < Duration::from_secs(10));
    assert_eq!(server.functions.cancelled.load(Ordering::SeqCst), 1);
    let events = server.events.lock().unwrap();
    assert!(events.iter().any(|it| matches!(it, Event::Cancelled { requests: 1 })), "{events:?}");
}

#[test]
fn requests_go_to_another_server_when_one_ends() {
    let (mut first, second) = (TestServer::start(), TestServer::start());
    let client = client(&[&first.address, &second.address]);
    let answered = std::thread::scope(|scope| {
        let work = |from: usize| {
            let client = &client;
            move || {
                let input = |at: usize| format!("{from} {at}").into_bytes();
                (0..40)
                    .map(|at| call(client, "sleep 5", &input(at)).unwrap().output == input(at))
                    .filter(|is_same| *is_same)
                    .count()
            }
        };
        let threads: Vec<_> = (0..6).map(|from| scope.spawn(work(from))).collect();
        eventually("both work", || {
            let calls = |server: &TestServer| server.functions.calls.load(Ordering::SeqCst);
            calls(&first) > 5 && calls(&second) > 5
        });
        first.join().unwrap();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum::<usize>()
    });
    assert_eq!(answered, 240);
}

/// Forwards one connection, and breaks it as soon as the server has seen a request.
fn breaking_proxy(server: String, has_request: impl Fn() -> bool + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        drop(listener);
        let mut upstream = TcpStream::connect(server).unwrap();
        let (mut from, mut to) = (client.try_clone().unwrap(), upstream.try_clone().unwrap());
        std::thread::spawn(move || std::io::copy(&mut from, &mut to));
        upstream.set_read_timeout(Some(Duration::from_millis(5))).unwrap();
        let mut buffer = [0; 4096];
        while !has_request() {
            if let Ok(count @ 1..) = upstream.read(&mut buffer) {
                client.write_all(&buffer[..count]).unwrap();
            }
        }
        client.shutdown(std::net::Shutdown::Both).unwrap();
    });
    address
}

#[test]
fn request_whose_connection_breaks_is_sent_to_another_server() {
    let (first, second) = (TestServer::start(), TestServer::start());
    let functions = std::sync::Arc::clone(&first.functions);
    let has_request = move || functions.running.load(Ordering::SeqCst) == 1;
    let proxy = breaking_proxy(first.address.clone(), has_request);
    // Requests start with the first server.
    let client = client(&[&proxy, &second.address]);
    let answer = call(&client, "sleep 300", b"abc").unwrap();
    assert_eq!(answer.output, b"abc");
    assert_eq!(first.functions.calls.load(Ordering::SeqCst), 1);
    assert_eq!(second.functions.calls.load(Ordering::SeqCst), 1);
    eventually("the lost function is stopped", || {
        first.functions.cancelled.load(Ordering::SeqCst) == 1
    });
}
