//! `--runtime grpc://HOST:PORT`: images are evaluated by servers that speak the protocol of Porch's function evaluator.

use std::sync::Arc;

use krm_core::Diagnostic;
use krm_grpc::Address;
use krm_run::RemoteEvaluator;

use crate::Failure;

/// The variable for the runtime of images, which also names servers.
pub(crate) const RUNTIME_VARIABLE: &str = "KRM_FN_RUNTIME";

/// The servers that evaluate images; none if they run on this machine. Only the command line and the environment name servers, because
/// they receive the resources of packages.
pub(super) fn evaluator(
    runtime: Option<&str>,
) -> Result<Option<Arc<dyn RemoteEvaluator>>, Failure> {
    let variable = std::env::var(RUNTIME_VARIABLE).unwrap_or_default();
    match Address::parse(runtime.unwrap_or(&variable)) {
        None => Ok(None),
        Some(Err(kind)) => Err(Failure::usage(Diagnostic::error(kind))),
        Some(Ok(address)) => backend::evaluator(address).map(Some),
    }
}

#[cfg(not(feature = "grpc"))]
mod backend {
    use super::*;

    pub(super) fn evaluator(address: Address) -> Result<Arc<dyn RemoteEvaluator>, Failure> {
        drop(address);
        Err(Failure::usage(Diagnostic::error(krm_grpc::GrpcKind::NotBuiltIn)))
    }
}

#[cfg(feature = "grpc")]
mod backend {
    use std::env;
    use std::path::PathBuf;
    use std::time::{Duration, Instant};

    use krm_grpc::{CallError, Client, ClientSettings, Identity, TlsFiles};
    use krm_run::{Invocation, RemoteAnswer, RunKind};

    use super::*;

    /// Variables with files for TLS.
    const AUTHORITIES_VARIABLE: &str = "KRM_GRPC_CA";
    const CERTIFICATE_VARIABLE: &str = "KRM_GRPC_CERT";
    const KEY_VARIABLE: &str = "KRM_GRPC_KEY";
    /// Requests at the same time, for each server that the user names.
    const CONCURRENCY: usize = 16;
    /// The largest message: lists and results are in memory anyway.
    const MAX_MESSAGE: usize = 1 << 30;
    /// The difference between the limits of both sides.
    const MARGIN: Duration = Duration::from_millis(100);

    pub(super) fn evaluator(address: Address) -> Result<Arc<dyn RemoteEvaluator>, Failure> {
        let file = |name: &str| env::var_os(name).filter(|it| !it.is_empty()).map(PathBuf::from);
        let certificate = file(CERTIFICATE_VARIABLE);
        let identity = certificate.map(|certificate| {
            // A file may have both.
            let key = file(KEY_VARIABLE).unwrap_or_else(|| certificate.clone());
            Identity { certificate, key }
        });
        let tls = TlsFiles { identity, authorities: file(AUTHORITIES_VARIABLE) };
        let client = Client::new(ClientSettings { address, tls, max_message: MAX_MESSAGE });
        Ok(Arc::new(Servers {
            client: client.map_err(|it| Failure::usage(Diagnostic::error(it)))?,
        }))
    }

    #[derive(Debug)]
    struct Servers {
        client: Client,
    }

    impl RemoteEvaluator for Servers {
        fn evaluate(
            &self,
            image: &str,
            invocation: &Invocation<'_>,
        ) -> Result<RemoteAnswer, RunKind> {
            let (limit, cancelled) = (invocation.limits.time, invocation.interrupt.flag());
            let start = Instant::now();
            match self.client.evaluate(image, invocation.input, limit, &cancelled) {
                Ok(it) => {
                    Ok(RemoteAnswer { output: it.output, log: it.log, exit_code: it.exit_code })
                }
                // Compat: Porch reports a function that failed like this, with everything that is known about it in the message.
                Err(CallError::Status { code, message }) if code == "Internal" => {
                    Ok(RemoteAnswer { output: Vec::new(), log: message.into(), exit_code: 1 })
                }
                Err(CallError::Status { code, message }) => {
                    Err(RunKind::RemoteFailed { code, message })
                }
                Err(CallError::NotFound { message }) => Err(RunKind::RemoteNotFound { message }),
                Err(CallError::Unreachable { reason }) => {
                    Err(RunKind::RemoteUnreachable { reason })
                }
                // Both sides measure the limit of the user, and the server a little less.
                Err(CallError::TooLate) if start.elapsed() + MARGIN < limit => {
                    let message = "the request took longer than the server allows".to_owned();
                    Err(RunKind::RemoteFailed { code: "DeadlineExceeded".to_owned(), message })
                }
                Err(CallError::TooLate) => Err(RunKind::Timeout { limit }),
                Err(CallError::Cancelled) => Err(RunKind::Interrupted),
            }
        }

        fn concurrency(&self) -> usize {
            CONCURRENCY * self.client.address().hosts().len()
        }
    }
}
