//! A server with one function, `upper`, and a client that sends it standard input:
//!
//! ```sh
//! echo hello | cargo run -p krm-grpc --features transport --example evaluate
//! ```

use std::error::Error;
use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use krm_grpc::{
    Address, Answer, Client, ClientSettings, Evaluate, Event, Refusal, Request, Server,
    ServerSettings, TlsFiles,
};

const MAX_MESSAGE: usize = 6 << 20;

/// The functions of the server.
struct Functions;

impl Evaluate for Functions {
    fn evaluate(&self, request: &Request) -> Answer {
        let output = match request.image.as_str() {
            "upper" => Ok(request.input.to_ascii_uppercase()),
            name => Err(Refusal::NotFound { message: format!("no function `{name}`") }),
        };
        Answer { runtime: "example", log: Vec::new(), output }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let server = Server::bind(ServerSettings {
        address: "127.0.0.1:0".to_owned(), // port 0 selects a free one
        metrics_address: None,
        tls: TlsFiles::default(),
        concurrency: 2,
        queue: 100,
        max_message: MAX_MESSAGE,
        max_time: Duration::from_secs(60),
        grace: Duration::from_secs(5),
    })?;
    let address = server.address().ok_or("the server does not listen")?;
    let observer: Arc<dyn Fn(&Event) + Send + Sync> = Arc::new(|_| ());
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    let running = std::thread::spawn(move || server.run(Arc::new(Functions), &observer, &flag));

    let address = Address::parse(&format!("grpc://{address}")).ok_or("not an address")??;
    let client = Client::new(ClientSettings {
        address,
        tls: TlsFiles::default(),
        max_message: MAX_MESSAGE,
    })?;
    let mut input = Vec::new();
    std::io::stdin().read_to_end(&mut input)?;
    let not_cancelled = AtomicBool::new(false);
    let answer = client
        .evaluate("upper", &input, Duration::from_secs(10), &not_cancelled)
        .map_err(|error| format!("{error:?}"))?;
    std::io::stdout().write_all(&answer.output)?;

    stop.store(true, Ordering::SeqCst);
    running.join().map_err(|_| "the server panicked")??;
    Ok(())
}
