//! One request: the attempts, and what a status means.

use std::collections::BTreeSet;
use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::uri::PathAndQuery;
use tokio::time::{sleep, timeout_at};
use tonic::client::Grpc;
use tonic::metadata::MetadataValue;
use tonic::{Code, Request, Response, Status, TimeoutExpired};
use tonic_prost::ProstCodec;

use super::pool::{Pool, Server};
use super::{CallError, Evaluated};
use crate::messages::{
    ACCEPTS_FAILED_OUTPUT, EXIT_CODE, EvaluateFunctionRequest, EvaluateFunctionResponse, METHOD,
    RETRY_AFTER,
};
use crate::server::chain;

/// How often a request is sent at least, and how often to each server if there are many.
const ATTEMPTS: usize = 4;
/// How often a request is sent that a busy server refuses.
const BUSY_ATTEMPTS: usize = 50;
/// The pause before the second attempt; it doubles with each.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

pub(super) struct Call {
    pub(super) pool: Arc<Pool>,
    pub(super) image: String,
    pub(super) input: Bytes,
    pub(super) deadline: Instant,
    pub(super) max_message: usize,
}

/// What to do about a request without an answer.
#[derive(Debug, PartialEq, Eq)]
enum Failed {
    /// Send it again, elsewhere if possible: nothing has answered it.
    Unreachable(String),
    /// Send it again after a pause: the server has refused it, and says that it is busy.
    Busy(Duration),
    /// Give up.
    Final(CallError),
}

impl Call {
    pub(super) async fn run(self) -> Result<Evaluated, CallError> {
        let attempts = ATTEMPTS.max(self.pool.count() + 1);
        let (mut failures, mut refusals) = (0, 0);
        let mut tried = BTreeSet::new();
        loop {
            let busy = self.pool.pick(&tried);
            let server = busy.server();
            let sent = timeout_at(self.deadline.into(), self.send(server)).await;
            let pause = match sent.unwrap_or(Err(Failed::Final(CallError::TooLate))) {
                Ok(evaluated) => return Ok(evaluated),
                Err(Failed::Final(error)) => return Err(error),
                Err(Failed::Unreachable(reason)) => {
                    busy.avoid();
                    tried.insert(server.address);
                    failures += 1;
                    if failures >= attempts {
                        let reason = format!("{}: {reason}", server.address);
                        return Err(CallError::Unreachable { reason });
                    }
                    // Another server is tried at once.
                    let is_other = tried.len() < self.pool.count();
                    if is_other { Duration::ZERO } else { pause(failures) }
                }
                Err(Failed::Busy(pause)) => {
                    refusals += 1;
                    if refusals >= BUSY_ATTEMPTS {
                        let reason = format!("{}: too many requests are waiting", server.address);
                        return Err(CallError::Unreachable { reason });
                    }
                    pause
                }
            };
            drop(busy);
            if tried.len() >= self.pool.count() {
                tried.clear();
            }
            if timeout_at(self.deadline.into(), sleep(pause)).await.is_err() {
                return Err(CallError::TooLate);
            }
        }
    }

    async fn send(&self, server: &Server) -> Result<Evaluated, Failed> {
        let mut grpc = Grpc::new(server.channel.clone())
            .max_decoding_message_size(self.max_message)
            .max_encoding_message_size(self.max_message);
        grpc.ready().await.map_err(|error| Failed::Unreachable(chain(&error)))?;
        let mut request = Request::new(EvaluateFunctionRequest {
            resource_list: self.input.clone(),
            image: self.image.clone(),
            tag: String::new(),
        });
        request.set_timeout(self.deadline.saturating_duration_since(Instant::now()));
        let (name, value) = ACCEPTS_FAILED_OUTPUT;
        request.metadata_mut().insert(name, MetadataValue::from_static(value));
        let codec = ProstCodec::<EvaluateFunctionRequest, EvaluateFunctionResponse>::default();
        match grpc.unary(request, PathAndQuery::from_static(METHOD), codec).await {
            Ok(response) => evaluated(response),
            Err(status) => Err(failure(&status)),
        }
    }
}

fn evaluated(response: Response<EvaluateFunctionResponse>) -> Result<Evaluated, Failed> {
    let exit_code = match response.metadata().get(EXIT_CODE).map(MetadataValue::to_str) {
        None => 0,
        Some(Ok(code)) => code.parse().unwrap_or(1),
        Some(Err(_)) => 1,
    };
    let message = response.into_inner();
    Ok(Evaluated { output: message.resource_list.into(), log: message.log.into(), exit_code })
}

fn failure(status: &Status) -> Failed {
    let message = || status.message().to_owned();
    let is_from = |of: fn(&(dyn Error + 'static)) -> bool| causes(status).any(of);
    let pushback = status.metadata().get(RETRY_AFTER).and_then(|it| it.to_str().ok());
    match (status.code(), pushback.and_then(|it| it.parse().ok())) {
        _ if is_from(|it| it.is::<TimeoutExpired>()) => Failed::Final(CallError::TooLate),
        (Code::DeadlineExceeded, _) => Failed::Final(CallError::TooLate),
        // A status that the server sent has no cause. Everything else happened on the way to it or back.
        (Code::Unavailable, _) => Failed::Unreachable(reason(status)),
        _ if status.source().is_some() => Failed::Unreachable(reason(status)),
        (Code::ResourceExhausted, Some(ms)) => {
            Failed::Busy(Duration::from_millis(ms).min(LONGEST_PAUSE))
        }
        (Code::NotFound, _) => Failed::Final(CallError::NotFound { message: message() }),
        (code, _) => {
            Failed::Final(CallError::Status { code: format!("{code:?}"), message: message() })
        }
    }
}

fn causes(status: &Status) -> impl Iterator<Item = &(dyn Error + 'static)> {
    std::iter::successors(status.source(), |error: &&(dyn Error + 'static)| (*error).source())
}

/// The message with the causes, of which the first ones only name layers.
fn reason(status: &Status) -> String {
    let last = causes(status).last().map(ToString::to_string);
    last.unwrap_or_else(|| status.message().to_owned())
}

fn pause(failures: usize) -> Duration {
    let factor = 1 << failures.saturating_sub(1).min(10);
    (FIRST_PAUSE * factor).min(LONGEST_PAUSE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_requests_that_nothing_answered_are_sent_again() {
        let retried = Status::unavailable("the server is stopping");
        assert!(matches!(failure(&retried), Failed::Unreachable(_)));
        let lost = Status::from_error("connection reset".into());
        assert!(matches!(failure(&lost), Failed::Unreachable(_)));
        for (status, expected) in [
            (Status::deadline_exceeded("late"), CallError::TooLate),
            (Status::not_found("x"), CallError::NotFound { message: "x".to_owned() }),
            (
                Status::internal("failed"),
                CallError::Status { code: "Internal".to_owned(), message: "failed".to_owned() },
            ),
            (
                Status::resource_exhausted("too large"),
                CallError::Status {
                    code: "ResourceExhausted".to_owned(),
                    message: "too large".to_owned(),
                },
            ),
        ] {
            assert_eq!(failure(&status), Failed::Final(expected));
        }
        let mut busy = Status::resource_exhausted("too many");
        busy.metadata_mut().insert(RETRY_AFTER, MetadataValue::from(200_u64));
        assert_eq!(failure(&busy), Failed::Busy(Duration::from_millis(200)));
    }

    #[test]
    fn pauses_double_up_to_a_limit() {
        assert_eq!(pause(1), FIRST_PAUSE);
        assert_eq!(pause(2), FIRST_PAUSE * 2);
        assert_eq!(pause(100), LONGEST_PAUSE);
    }
}
