//! The gRPC protocol of Porch's function evaluator, as server and client.
//!
//! | type | role |
//! |---|---|
//! | [`Address`] | which servers: `grpc://HOST:PORT[,HOST:PORT…]` |
//! | [`Server`], [`ServerSettings`] | answers requests with an [`Evaluate`] of the caller |
//! | [`Evaluate`], [`Request`], [`Answer`] | one function: bytes in, bytes out |
//! | [`Client`], [`ClientSettings`] | sends requests to the least busy of several servers |
//!
//! Everything but addresses and errors is in the feature `transport`. The async runtime stays inside: the interface of both sides blocks.
//!
//! # Serve a function
//!
//! A [`Server`] listens as soon as it is bound, and answers until a flag is set. What it answers is up to the caller:
//!
//! ```
//! # #[cfg(feature = "transport")] {
//! use std::sync::Arc;
//! use std::sync::atomic::{AtomicBool, Ordering};
//! use std::time::Duration;
//!
//! use krm_grpc::{
//!     Address, Answer, Client, ClientSettings, Evaluate, Event, Refusal, Request, Server, ServerSettings, TlsFiles,
//! };
//!
//! struct Functions;
//!
//! impl Evaluate for Functions {
//!     fn evaluate(&self, request: &Request) -> Answer {
//!         let output = match request.image.as_str() {
//!             "upper" => Ok(request.input.to_ascii_uppercase()),
//!             name => Err(Refusal::NotFound { message: format!("no function `{name}`") }),
//!         };
//!         Answer { runtime: "example", log: Vec::new(), output }
//!     }
//! }
//!
//! let server = Server::bind(ServerSettings {
//!     address: "127.0.0.1:0".to_owned(), // port 0 selects a free one
//!     metrics_address: None,
//!     tls: TlsFiles::default(),
//!     concurrency: 2,
//!     queue: 100,
//!     max_message: 6 << 20,
//!     max_time: Duration::from_secs(60),
//!     grace: Duration::from_secs(5),
//! })?;
//! let address = format!("grpc://{}", server.address().expect("it listens"));
//! let log: Arc<dyn Fn(&Event) + Send + Sync> = Arc::new(|event| println!("{event:?}"));
//! let stop = Arc::new(AtomicBool::new(false));
//! let flag = Arc::clone(&stop);
//! let running = std::thread::spawn(move || server.run(Arc::new(Functions), &log, &flag));
//!
//! // A client, usually in another program. Several servers are separated by commas.
//! let client = Client::new(ClientSettings {
//!     address: Address::parse(&address).expect("it has a scheme")?,
//!     tls: TlsFiles::default(),
//!     max_message: 6 << 20,
//! })?;
//! let cancelled = AtomicBool::new(false);
//! let answer = client.evaluate("upper", b"hello", Duration::from_secs(10), &cancelled);
//! assert_eq!(answer.expect("the function succeeds").output, b"HELLO");
//! assert!(client.evaluate("lower", b"hello", Duration::from_secs(10), &cancelled).is_err());
//!
//! stop.store(true, Ordering::SeqCst);
//! running.join().expect("the server does not panic")?;
//! # }
//! # Ok::<(), krm_grpc::GrpcKind>(())
//! ```
//!
//! # The protocol
//!
//! The wire format is that of Porch. A function that fails is a status `Internal` whose message has its results, because that is all that
//! Porch's clients read. A client that sends the metadata `krm-failed-output: accept` gets the output of a failed function as a
//! response instead, with its exit code in the metadata `krm-exit-code`. Other servers ignore the first and other clients never see the second.

mod address;
#[cfg(feature = "transport")]
mod client;
#[cfg(feature = "transport")]
mod evaluate;
mod kinds;
#[cfg(feature = "transport")]
mod messages;
#[cfg(feature = "transport")]
mod server;
#[cfg(feature = "transport")]
mod tls;

pub use address::Address;
pub use kinds::GrpcKind;
#[cfg(feature = "transport")]
pub use {
    client::{CallError, Client, ClientSettings, Evaluated},
    evaluate::{Answer, Evaluate, Refusal, Request},
    server::{Event, Finished, Server, ServerSettings},
    tls::{Identity, TlsFiles},
};

/// The name of the service, for health checks.
pub const SERVICE: &str = "evaluator.FunctionEvaluator";

/// The kinds that this crate declares, with their explanations.
pub const EXPLANATIONS: &[krm_core::diagnostics::explain::Area] =
    &[krm_core::diagnostics::explain::Area {
        title: "Remote evaluation",
        ids: &[GrpcKind::IDS],
        text: include_str!("../explain/grpc.md"),
    }];

#[cfg(test)]
mod tests {
    use krm_core::diagnostics::explain::Area;

    #[test]
    fn every_kind_is_explained_with_an_example() {
        let gaps: Vec<String> = super::EXPLANATIONS.iter().flat_map(Area::gaps).collect();
        assert!(gaps.is_empty(), "{gaps:#?}");
    }
}
