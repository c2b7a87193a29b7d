//! The server: settings from flags, and the way from a signal to its end.

use std::path::PathBuf;
use std::sync::Arc;
use std::thread::available_parallelism;

use krm_core::Diagnostic;
use krm_grpc::{Event, GrpcKind, Identity, Server, ServerSettings, TlsFiles};
use krm_run::Limits;

use super::Args;
use super::evaluator::Evaluator;
use super::log::Log;
use crate::console::Console;
use crate::{CommandResult, Exit, Failure, interrupt};

pub(super) fn run(args: &Args, console: &mut Console) -> CommandResult {
    let limits = args.limits.limits();
    let evaluator = Arc::new(Evaluator::new(args, limits)?);
    let server = Server::bind(settings(args, &limits)).map_err(failure)?;
    let log = Log::new(console.is_quiet());
    let text = |address: Option<std::net::SocketAddr>| {
        address.map(|address| address.to_string()).unwrap_or_default()
    };
    let tls = match (&args.tls_cert, &args.tls_client_ca) {
        (None, _) => "off",
        (Some(_), None) => "on",
        (Some(_), Some(_)) => "mutual",
    };
    let address = text(server.address());
    let metrics = text(server.metrics_address());
    // The flag of signals: the first one ends the server, the second one ends krm.
    let stop = interrupt::on_signals().flag();
    log.listening(&address, &metrics, tls);
    let events = log.clone();
    let observer: Arc<dyn Fn(&Event) + Send + Sync> = Arc::new(move |event| events.event(event));
    server.run(evaluator, &observer, &stop).map_err(failure)?;
    log.stopped();
    // It was asked to end, and did.
    interrupt::forget();
    Ok(Exit::Success)
}

fn settings(args: &Args, limits: &Limits) -> ServerSettings {
    let processors = available_parallelism().map_or(1, usize::from);
    let identity = |certificate: &PathBuf| {
        let key = args.tls_key.clone().unwrap_or_else(|| certificate.clone());
        Identity { certificate: certificate.clone(), key }
    };
    ServerSettings {
        address: args.address.clone(),
        metrics_address: args.metrics_address.clone(),
        tls: TlsFiles {
            identity: args.tls_cert.as_ref().map(identity),
            authorities: args.tls_client_ca.clone(),
        },
        concurrency: args.max_running.map_or(processors, usize::from),
        queue: args.max_queued,
        max_message: usize::try_from(args.max_message).unwrap_or(usize::MAX),
        max_time: limits.time,
        grace: args.grace,
    }
}

fn failure(kind: GrpcKind) -> Failure {
    Failure::Diagnostics(Exit::Input, vec![Diagnostic::error(kind)])
}
