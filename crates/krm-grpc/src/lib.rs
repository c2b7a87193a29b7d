//! The gRPC protocol of Porch's function evaluator, as server and client.
//!
//! | type | role |
//! |---|---|
//! | [`Address`] | which servers: `grpc://HOST:PORT[,HOST:PORT…]` |
//! | [`Server`], [`ServerSettings`] | answers requests with an [`Evaluate`] of the caller |
//! | [`Evaluate`], [`Request`], [`Answer`] | one function: bytes in, bytes out |
//! | [`Client`], [`ClientSettings`] | sends requests to the least busy of several servers |
//!
//! All but addresses and errors is in the feature `transport`. The async runtime stays inside: the interface of both sides blocks.
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
