//! The client: blocks, and sends each request to the least busy of several servers.

mod call;
mod pool;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::runtime::{Builder, Runtime};

use crate::{Address, GrpcKind, TlsFiles};
use call::Call;
use pool::Pool;

/// How often the flag is read that cancels a request.
const TICK: Duration = Duration::from_millis(20);

/// Which servers a client uses, and how.
#[derive(Clone, Debug)]
pub struct ClientSettings {
    /// The servers. All addresses of a name are used.
    pub address: Address,
    /// Certificates; only used if the address asks for TLS.
    pub tls: TlsFiles,
    /// The largest request and response, in bytes.
    pub max_message: usize,
}

/// A client of servers that answer the same requests. Its requests may be made from many threads.
#[derive(Debug)]
pub struct Client {
    settings: ClientSettings,
    tls: Option<tonic::transport::ClientTlsConfig>,
    runtime: Option<Runtime>,
    /// Connected with the first request: many commands turn out to have none.
    pool: OnceLock<Result<Arc<Pool>, String>>,
}

/// The answer of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evaluated {
    /// The output of the function.
    pub output: Vec<u8>,
    /// Its standard error.
    pub log: Vec<u8>,
    /// Its exit code; 0 if it succeeded.
    pub exit_code: i32,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallError {
    /// No server could be reached, or each of them broke the connection.
    Unreachable {
        /// The last reason.
        reason: String,
    },
    /// The server does not have the function.
    NotFound {
        /// The message of the server.
        message: String,
    },
    /// The server reported another status, such as that of a function that failed.
    Status {
        /// The name of the status.
        code: String,
        /// The message of the server.
        message: String,
    },
    /// The time was over.
    TooLate,
    /// The caller cancelled the request.
    Cancelled,
}

impl Client {
    /// A client that is not connected yet.
    ///
    /// # Errors
    /// If a certificate cannot be read.
    pub fn new(settings: ClientSettings) -> Result<Self, GrpcKind> {
        let tls = settings.address.uses_tls().then(|| settings.tls.client()).transpose()?;
        let runtime = Builder::new_multi_thread()
            .enable_all()
            .worker_threads(2)
            .thread_name("grpc")
            .build()
            .map_err(|error| GrpcKind::ServerFailed { reason: error.to_string() })?;
        Ok(Self { settings, tls, runtime: Some(runtime), pool: OnceLock::new() })
    }

    /// The servers that the user named.
    pub fn address(&self) -> &Address {
        &self.settings.address
    }

    /// Evaluates a function and waits for the answer.
    ///
    /// A request that no server has answered, because the connection failed or the server is about to end, is sent again, a few times:
    /// functions change nothing but their output. A function that ran too long is not.
    ///
    /// # Errors
    /// Why there is no answer.
    pub fn evaluate(
        &self,
        image: &str,
        input: &[u8],
        time: Duration,
        cancelled: &AtomicBool,
    ) -> Result<Evaluated, CallError> {
        let unreachable = |reason: String| CallError::Unreachable { reason };
        let runtime =
            self.runtime.as_ref().ok_or_else(|| unreachable("the client has ended".to_owned()))?;
        // Channels are made inside of the runtime.
        let connect = || {
            let _inside = runtime.enter();
            Pool::new(&self.settings, self.tls.as_ref()).map(Arc::new)
        };
        let pool = Arc::clone(
            self.pool.get_or_init(connect).as_ref().map_err(|it| unreachable(it.clone()))?,
        );
        let call = Call {
            pool,
            image: image.to_owned(),
            input: Bytes::copy_from_slice(input),
            deadline: Instant::now() + time,
            max_message: self.settings.max_message,
        };
        let (sender, receiver) = mpsc::channel();
        let task = runtime.spawn(async move {
            // The receiver is gone if the request was cancelled.
            let _ = sender.send(call.run().await);
        });
        loop {
            match receiver.recv_timeout(TICK) {
                Ok(answer) => return answer,
                Err(RecvTimeoutError::Timeout) if cancelled.load(Ordering::SeqCst) => {
                    task.abort();
                    return Err(CallError::Cancelled);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(unreachable("the request ended without an answer".to_owned()));
                }
            }
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // Requests have ended or were cancelled; connections need no goodbye.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
