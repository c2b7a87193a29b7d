//! The server: listens, answers, and ends without losing a request that it has accepted.

mod admission;
mod connections;
mod deadline;
mod method;
mod metrics;
mod metrics_endpoint;
mod router;
mod running;

use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;
use tonic::transport::server::TcpIncoming;
use tonic_health::ServingStatus;

use crate::{Evaluate, GrpcKind, SERVICE, TlsFiles};
use admission::Admission;
use connections::Connections;
use method::Method;
use metrics::Metrics;
use router::Router;
use running::Running;

/// How often the flag is read that stops the server.
const TICK: Duration = Duration::from_millis(50);
/// How long functions that were stopped may need to end, and connections to send what is left.
const LAST_MOMENT: Duration = Duration::from_secs(2);
/// The stack of functions, which are written for that of the main thread of a program.
const STACK: usize = 8 << 20;
/// Headers of a request: gRPC has few.
const MAX_HEADERS: u32 = 16 << 10;
/// Connections are asked for a sign of life after this time, so that those of clients that vanished are closed.
const KEEP_ALIVE: Duration = Duration::from_secs(60);

/// How a server listens, and what it accepts.
#[derive(Clone, Debug)]
pub struct ServerSettings {
    /// `HOST:PORT`; port 0 selects a free one.
    pub address: String,
    /// `HOST:PORT` for metrics; none for no metrics.
    pub metrics_address: Option<String>,
    /// Certificates; none for no TLS.
    pub tls: TlsFiles,
    /// How many functions run at the same time.
    pub concurrency: usize,
    /// How many requests wait for that. Others are refused.
    pub queue: usize,
    /// The largest request and response, in bytes.
    pub max_message: usize,
    /// The longest time of a request, with the time in the queue.
    pub max_time: Duration,
    /// How long requests may go on after the server was asked to stop.
    pub grace: Duration,
}

/// Something that happened, for a log. It has nothing of the content of resources.
#[derive(Clone, Debug)]
pub enum Event {
    /// A request ended.
    Finished(Finished),
    /// The server accepts no more requests.
    Stopping {
        /// The number of requests that it waits for.
        requests: usize,
    },
    /// Requests took longer than the grace period and were cancelled.
    Cancelled {
        /// Their number.
        requests: usize,
    },
}

/// A request that ended.
#[derive(Clone, Debug)]
pub struct Finished {
    /// The address of the client.
    pub peer: Option<SocketAddr>,
    /// The image, from the network; empty for a request that was not read.
    pub image: String,
    /// What answered: see [`crate::Answer::runtime`].
    pub runtime: &'static str,
    /// The status, as gRPC names it: `OK`, `NOT_FOUND`.
    pub code: &'static str,
    /// The time in the queue.
    pub queued: Duration,
    /// The time from the first byte to the response.
    pub duration: Duration,
    /// The size of the ResourceList of the request.
    pub input: usize,
    /// The size of the ResourceList of the response.
    pub output: usize,
}

/// Receives events, on any thread.
pub(crate) type Observer = dyn Fn(&Event) + Send + Sync;

/// A server that listens already.
#[derive(Debug)]
pub struct Server {
    settings: ServerSettings,
    runtime: Runtime,
    listener: TcpListener,
    metrics_listener: Option<TcpListener>,
    builder: tonic::transport::Server,
}

impl Server {
    /// Listens, and reads certificates. No request is answered yet.
    ///
    /// # Errors
    /// If an address cannot be used, or a certificate cannot be read.
    pub fn bind(settings: ServerSettings) -> Result<Self, GrpcKind> {
        let mut builder = tonic::transport::Server::builder()
            .http2_max_header_list_size(MAX_HEADERS)
            .http2_keepalive_interval(Some(KEEP_ALIVE))
            .initial_stream_window_size(1 << 20)
            .initial_connection_window_size(4 << 20)
            .max_concurrent_streams(u32::try_from(settings.concurrency + settings.queue).ok());
        if let Some(config) = settings.tls.server()? {
            builder = builder.tls_config(config).map_err(|error| GrpcKind::InvalidTls {
                file: settings.tls.name(),
                reason: chain(&error),
            })?;
        }
        let runtime = Builder::new_multi_thread()
            .enable_all()
            .worker_threads(2)
            .max_blocking_threads(settings.concurrency.max(1))
            .thread_stack_size(STACK)
            .thread_name("serve")
            .build()
            .map_err(|error| failed(&error))?;
        let listener = listen(&settings.address)?;
        let metrics_listener = settings.metrics_address.as_deref().map(listen).transpose()?;
        Ok(Self { settings, runtime, listener, metrics_listener, builder })
    }

    /// The address that it listens on.
    pub fn address(&self) -> Option<SocketAddr> {
        self.listener.local_addr().ok()
    }

    /// The address of its metrics.
    pub fn metrics_address(&self) -> Option<SocketAddr> {
        self.metrics_listener.as_ref()?.local_addr().ok()
    }

    /// Answers requests until the flag is set and all requests are answered or cancelled.
    ///
    /// # Errors
    /// If the server cannot go on.
    pub fn run(
        self,
        evaluate: Arc<dyn Evaluate>,
        observer: &Arc<Observer>,
        stop: &Arc<AtomicBool>,
    ) -> Result<(), GrpcKind> {
        let Self { settings, runtime, listener, metrics_listener, builder } = self;
        let serve = async {
            let admission = Arc::new(Admission::new(settings.concurrency, settings.queue));
            let metrics = Arc::new(Metrics::default());
            let running = Arc::new(Running::default());
            if let Some(listener) = metrics_listener {
                let (metrics, admission) = (Arc::clone(&metrics), Arc::clone(&admission));
                let listener =
                    tokio::net::TcpListener::from_std(listener).map_err(|error| failed(&error))?;
                tokio::spawn(metrics_endpoint::serve(listener, metrics, admission));
            }
            let method = Method {
                evaluate,
                observer: Arc::clone(observer),
                admission: Arc::clone(&admission),
                metrics,
                running: Arc::clone(&running),
                max_message: settings.max_message,
                max_time: settings.max_time,
            };
            let (health, health_service) = tonic_health::server::health_reporter();
            health.set_service_status(SERVICE, ServingStatus::Serving).await;
            let incoming = TcpIncoming::from(
                tokio::net::TcpListener::from_std(listener).map_err(|error| failed(&error))?,
            );
            let incoming = Connections::new(incoming.with_nodelay(Some(true)));
            let (stop_accepting, mut stopped) = watch::channel(false);
            let signal = async move {
                let _ = stopped.wait_for(|it| *it).await;
            };
            let router = Router::new(Arc::new(method), health_service);
            let serving = builder.serve_with_incoming_shutdown(router, incoming, signal);
            let mut serving = tokio::spawn(serving);
            tokio::select! {
                ended = &mut serving => return match ended {
                    Ok(Ok(())) => Err(GrpcKind::ServerFailed { reason: "it ended by itself".to_owned() }),
                    Ok(Err(error)) => Err(GrpcKind::ServerFailed { reason: chain(&error) }),
                    Err(error) => Err(GrpcKind::ServerFailed { reason: error.to_string() }),
                },
                () = is_set(stop) => {}
            }
            health.set_service_status("", ServingStatus::NotServing).await;
            health.set_service_status(SERVICE, ServingStatus::NotServing).await;
            admission.close();
            observer(&Event::Stopping { requests: running.requests() });
            let _ = stop_accepting.send(true);
            if !ends_within(settings.grace, || running.is_empty()).await {
                observer(&Event::Cancelled { requests: running.requests() });
                running.cancel();
                ends_within(LAST_MOMENT, || running.is_empty()).await;
            }
            // Clients that watch the health never close their connections.
            if tokio::time::timeout(LAST_MOMENT / 4, &mut serving).await.is_err() {
                serving.abort();
            }
            Ok(())
        };
        let result = runtime.block_on(serve);
        runtime.shutdown_background();
        result
    }
}

fn failed(error: &std::io::Error) -> GrpcKind {
    GrpcKind::ServerFailed { reason: error.to_string() }
}

fn listen(address: &str) -> Result<TcpListener, GrpcKind> {
    let cannot = |reason: String| GrpcKind::CannotListen { address: address.to_owned(), reason };
    let addresses: Vec<SocketAddr> =
        address.to_socket_addrs().map_err(|error| cannot(error.to_string()))?.collect();
    let listener = TcpListener::bind(&*addresses).map_err(|error| cannot(error.to_string()))?;
    listener.set_nonblocking(true).map_err(|error| cannot(error.to_string()))?;
    Ok(listener)
}

async fn is_set(flag: &AtomicBool) {
    while !flag.load(Ordering::SeqCst) {
        tokio::time::sleep(TICK).await;
    }
}

async fn ends_within(time: Duration, is_done: impl Fn() -> bool) -> bool {
    let start = Instant::now();
    while !is_done() {
        if start.elapsed() >= time {
            return false;
        }
        tokio::time::sleep(TICK.min(time)).await;
    }
    true
}

/// An error with its causes, which the errors of tonic leave out.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let next = error.to_string();
        if !text.ends_with(&next) {
            text = format!("{text}: {next}");
        }
        cause = error.source();
    }
    text
}
