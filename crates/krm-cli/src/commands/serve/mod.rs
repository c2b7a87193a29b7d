//! `krm serve`: evaluates functions for others, over the protocol of Porch's function evaluator.

#[cfg(feature = "grpc")]
#[path = "server.rs"]
mod backend;
#[cfg(not(feature = "grpc"))]
#[path = "unsupported.rs"]
mod backend;
#[cfg(feature = "grpc")]
mod evaluator;
#[cfg(feature = "grpc")]
mod log;

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use krm_run::Pull;

use super::function::limits::{self, LimitFlags};
use crate::CommandResult;
use crate::console::Console;

const EXAMPLES: &str = "\
Examples:
  krm serve
  krm serve --address 0.0.0.0:9445 --metrics-address 0.0.0.0:9090 --tls-cert tls.crt --tls-key tls.key
  krm serve --allow-image ghcr.io/example/ --function example.com/annotate=annotate.star
  krm fn render shop --runtime grpc://127.0.0.1:9445";

/// Evaluate functions for others, as Porch's function-runner does.
///
/// Listens for requests of Porch's function evaluator protocol (gRPC) and answers them with built-in functions, with scripts and Wasm
/// modules that you name, and with images that you allow. Requests reach no file, no network and no variable of this machine. SIGTERM
/// and SIGINT end the server when the requests that it has accepted are answered. Logs are lines of JSON on standard error.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[cfg_attr(
    not(feature = "grpc"),
    allow(dead_code, reason = "a build without gRPC only reports that")
)]
pub(crate) struct Args {
    /// Address to listen on; without TLS, everybody who reaches it can use the server
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:9445")]
    address: String,

    /// Address for metrics in the format of Prometheus, at /metrics [default: no metrics]
    #[arg(long, value_name = "HOST:PORT")]
    metrics_address: Option<String>,

    /// Certificate of the server, in the PEM format
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,

    /// Private key of the certificate
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,

    /// Authorities that issue the certificates of clients; others are refused
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_client_ca: Option<PathBuf>,

    /// Run images whose names begin with this; may be repeated [default: built-in functions only]
    #[arg(long, value_name = "PREFIX")]
    allow_image: Vec<String>,

    /// Answer requests for an image with a Starlark script (.star) or a Wasm module (.wasm); may be repeated
    #[arg(long, value_name = "IMAGE=FILE", value_parser = function)]
    function: Vec<(String, String)>,

    /// Refuse tags that are not known releases of a built-in function, instead of a warning in the log of the function
    #[arg(long)]
    strict_tags: bool,

    /// Runtime of images: auto, krm, bubblewrap, docker, podman or nerdctl [default: $KRM_FN_RUNTIME, or auto: the first that works]
    #[arg(long, value_name = "RUNTIME")]
    runtime: Option<String>,

    /// When to pull images: Always, IfNotPresent or Never
    #[arg(long, value_name = "POLICY", default_value = "IfNotPresent", hide_default_value = true)]
    image_pull_policy: Pull,

    /// Number of functions that run at the same time [default: number of processors]
    #[arg(long, value_name = "N")]
    max_running: Option<NonZeroUsize>,

    /// Number of requests that wait; others are refused with RESOURCE_EXHAUSTED
    #[arg(long, value_name = "N", default_value = "1000")]
    max_queued: usize,

    /// Largest request and response: 6m, 1g
    #[arg(long, value_name = "SIZE", value_parser = limits::size, default_value = "256m")]
    max_message: u64,

    /// How long accepted requests may go on after a signal: 30s, 5m
    #[arg(long, value_name = "TIME", value_parser = limits::time, default_value = "30s")]
    grace: Duration,

    #[command(flatten)]
    limits: LimitFlags,
}

pub(crate) fn run(args: &Args, console: &mut Console) -> CommandResult {
    backend::run(args, console)
}

/// `IMAGE=FILE`.
fn function(text: &str) -> Result<(String, String), String> {
    let (image, file) = text.split_once('=').ok_or("expected IMAGE=FILE")?;
    let is_known = file.ends_with(".star") || file.ends_with(".wasm");
    match is_known && !image.is_empty() {
        true => Ok((image.to_owned(), file.to_owned())),
        false => Err("expected IMAGE=FILE with a file that ends with .star or .wasm".to_owned()),
    }
}
