//! Concurrency, the queue, time and size.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use krm_grpc::{CallError, ServerSettings};

use crate::support::{TestServer, call, call_within, client, eventually, settings};

#[test]
fn no_more_functions_run_than_allowed_and_all_are_answered() {
    let server = TestServer::with(ServerSettings { concurrency: 2, ..settings() });
    let client = client(&[&server.address]);
    std::thread::scope(|scope| {
        for _ in 0..12 {
            scope.spawn(|| call(&client, "sleep 30", b"x").unwrap());
        }
    });
    assert_eq!(server.functions.calls.load(Ordering::SeqCst), 12);
    assert_eq!(server.functions.most.load(Ordering::SeqCst), 2);
}

#[test]
fn client_waits_for_a_server_whose_queue_is_full() {
    let server = TestServer::with(ServerSettings { concurrency: 1, queue: 1, ..settings() });
    // One client knows how many requests a server takes, and waits by itself.
    std::thread::scope(|scope| {
        for _ in 0..6 {
            let address = &server.address;
            scope.spawn(move || call(&client(&[address]), "sleep 100", b"x").unwrap());
        }
    });
    let refused = server.codes().iter().filter(|code| **code == "RESOURCE_EXHAUSTED").count();
    assert!(refused >= 1, "{:?}", server.codes());
    assert_eq!(server.functions.calls.load(Ordering::SeqCst), 6, "no request ran twice");
}

#[test]
fn late_functions_are_stopped_and_not_run_again() {
    let server = TestServer::start();
    let client = client(&[&server.address]);
    let start = Instant::now();
    let late = call_within(&client, "sleep 20000", b"x", Duration::from_millis(300)).unwrap_err();
    assert_eq!(late, CallError::TooLate);
    assert!(start.elapsed() < Duration::from_secs(5));
    eventually("the function is stopped", || {
        server.functions.cancelled.load(Ordering::SeqCst) == 1
    });
    assert_eq!(server.functions.calls.load(Ordering::SeqCst), 1);
    let strict = ServerSettings { max_time: Duration::from_millis(200), ..settings() };
    let server = TestServer::with(strict);
    let client = crate::support::client(&[&server.address]);
    assert_eq!(call(&client, "sleep 20000", b"x").unwrap_err(), CallError::TooLate);
    assert_eq!(server.codes(), ["DEADLINE_EXCEEDED"]);
}

#[test]
fn time_in_the_queue_counts() {
    let server = TestServer::with(ServerSettings { concurrency: 1, ..settings() });
    let client = client(&[&server.address]);
    std::thread::scope(|scope| {
        scope.spawn(|| call(&client, "sleep 1000", b"x").unwrap());
        eventually("the first one runs", || server.functions.running.load(Ordering::SeqCst) == 1);
        let late = call_within(&client, "reverse", b"x", Duration::from_millis(200)).unwrap_err();
        assert_eq!(late, CallError::TooLate);
    });
    assert_eq!(server.functions.calls.load(Ordering::SeqCst), 1);
}

#[test]
fn cancelled_requests_stop_their_function() {
    let server = TestServer::start();
    let client = client(&[&server.address]);
    let cancelled = AtomicBool::new(false);
    std::thread::scope(|scope| {
        const TIME: Duration = Duration::from_secs(60);
        let request = scope.spawn(|| client.evaluate("sleep 20000", b"x", TIME, &cancelled));
        eventually("it runs", || server.functions.running.load(Ordering::SeqCst) == 1);
        cancelled.store(true, Ordering::SeqCst);
        assert_eq!(request.join().unwrap(), Err(CallError::Cancelled));
    });
    eventually("it is stopped", || server.functions.cancelled.load(Ordering::SeqCst) == 1);
    eventually("it is recorded", || server.codes() == ["CANCELLED"]);
}

#[test]
fn messages_that_are_too_large_are_refused() {
    let server = TestServer::with(ServerSettings { max_message: 1000, ..settings() });
    let client = client(&[&server.address]);
    let refused = call(&client, "reverse", &[b'a'; 2000]).unwrap_err();
    assert!(
        matches!(refused, CallError::Status { ref code, .. } if code == "OutOfRange"),
        "{refused:?}"
    );
    let refused = call(&client, "reverse", &[b'a'; 960]).unwrap_err();
    let CallError::Status { code, message } = refused else { panic!("{refused:?}") };
    assert_eq!(code, "ResourceExhausted");
    assert_eq!(message, "the output is larger than the limit of 1000 bytes");
    assert_eq!(server.functions.calls.load(Ordering::SeqCst), 1);
}
