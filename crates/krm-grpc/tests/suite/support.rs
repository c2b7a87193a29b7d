//! A server for tests, whose functions are named by what they do.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use krm_grpc::{
    Address, Answer, CallError, Client, ClientSettings, Evaluate, Evaluated, Event, GrpcKind,
    Refusal, Request, Server, ServerSettings, TlsFiles,
};

/// Functions: `reverse`, `fail`, `missing`, `panic`, `sleep MS`.
#[derive(Debug, Default)]
pub(crate) struct Functions {
    pub(crate) running: AtomicUsize,
    pub(crate) most: AtomicUsize,
    pub(crate) calls: AtomicUsize,
    pub(crate) cancelled: AtomicUsize,
}

impl Evaluate for Functions {
    fn evaluate(&self, request: &Request) -> Answer {
        self.calls.fetch_add(1, Ordering::SeqCst);
        let running = self.running.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(running, Ordering::SeqCst);
        let output = self.output(request);
        self.running.fetch_sub(1, Ordering::SeqCst);
        Answer { runtime: "test", log: b"log".to_vec(), output }
    }
}

impl Functions {
    fn output(&self, request: &Request) -> Result<Vec<u8>, Refusal> {
        let (name, argument) = request.image.split_once(' ').unwrap_or((&request.image, "0"));
        match name {
            "reverse" => Ok(request.input.iter().rev().copied().collect()),
            "fail" => Err(Refusal::Failed {
                exit_code: 3,
                output: b"results".to_vec(),
                message: "it failed: results".to_owned(),
            }),
            "panic" => panic!("on purpose"),
            "sleep" => {
                let until = Instant::now() + Duration::from_millis(argument.parse().unwrap());
                while Instant::now() < until {
                    if request.cancelled().load(Ordering::SeqCst) {
                        self.cancelled.fetch_add(1, Ordering::SeqCst);
                        return Err(Refusal::Cancelled);
                    }
                    std::thread::sleep(Duration::from_millis(2));
                }
                Ok(request.input.to_vec())
            }
            _ => Err(Refusal::NotFound { message: format!("no function {name}") }),
        }
    }
}

pub(crate) struct TestServer {
    pub(crate) address: String,
    pub(crate) metrics_address: String,
    pub(crate) functions: Arc<Functions>,
    pub(crate) events: Arc<Mutex<Vec<Event>>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<(), GrpcKind>>>,
}

pub(crate) fn settings() -> ServerSettings {
    ServerSettings {
        address: "127.0.0.1:0".to_owned(),
        metrics_address: Some("127.0.0.1:0".to_owned()),
        tls: TlsFiles::default(),
        concurrency: 4,
        queue: 100,
        max_message: 64 << 20,
        max_time: Duration::from_secs(60),
        grace: Duration::from_secs(10),
    }
}

impl TestServer {
    pub(crate) fn start() -> Self {
        Self::with(settings())
    }

    pub(crate) fn with(settings: ServerSettings) -> Self {
        let server = Server::bind(settings).unwrap();
        let address = server.address().unwrap().to_string();
        let metrics_address = server.metrics_address().unwrap().to_string();
        let (functions, stop) = (Arc::new(Functions::default()), Arc::new(AtomicBool::new(false)));
        let events: Arc<Mutex<Vec<Event>>> = Arc::default();
        let (evaluate, flag, seen) =
            (Arc::clone(&functions), Arc::clone(&stop), Arc::clone(&events));
        let observer = move |event: &Event| seen.lock().unwrap().push(event.clone());
        let observer: Arc<dyn Fn(&Event) + Send + Sync> = Arc::new(observer);
        let thread = std::thread::spawn(move || server.run(evaluate, &observer, &flag));
        Self { address, metrics_address, functions, events, stop, thread: Some(thread) }
    }

    pub(crate) fn ask_to_stop(&self) {
        self.stop.store(true, Ordering::SeqCst);
    }

    pub(crate) fn join(&mut self) -> Result<(), GrpcKind> {
        self.ask_to_stop();
        self.thread.take().unwrap().join().unwrap()
    }

    /// The status of each request so far.
    pub(crate) fn codes(&self) -> Vec<&'static str> {
        let events = self.events.lock().unwrap();
        let code = |event: &Event| match event {
            Event::Finished(finished) => Some(finished.code),
            _ => None,
        };
        events.iter().filter_map(code).collect()
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.ask_to_stop();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

pub(crate) fn client(addresses: &[&str]) -> Client {
    client_with(&format!("grpc://{}", addresses.join(",")), TlsFiles::default())
}

pub(crate) fn client_with(address: &str, tls: TlsFiles) -> Client {
    let address = Address::parse(address).unwrap().unwrap();
    Client::new(ClientSettings { address, tls, max_message: 64 << 20 }).unwrap()
}

pub(crate) fn call(client: &Client, image: &str, input: &[u8]) -> Result<Evaluated, CallError> {
    call_within(client, image, input, Duration::from_secs(30))
}

pub(crate) fn call_within(
    client: &Client,
    image: &str,
    input: &[u8],
    time: Duration,
) -> Result<Evaluated, CallError> {
    client.evaluate(image, input, time, &AtomicBool::new(false))
}

/// Waits for something that another thread does.
pub(crate) fn eventually(what: &str, is_true: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_true() {
        assert!(start.elapsed() < Duration::from_secs(20), "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
