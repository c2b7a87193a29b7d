//! The method `EvaluateFunction`: admission, deadline, evaluation on a blocking thread, and the status that the client sees.

use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::time::{sleep_until, timeout_at};
use tonic::body::Body;
use tonic::metadata::MetadataValue;
use tonic::server::{Grpc, UnaryService};
use tonic::transport::server::{TcpConnectInfo, TlsConnectInfo};
use tonic::{Code, Status};
use tonic_prost::ProstCodec;

use super::admission::{Admission, NotAdmitted, Permit};
use super::metrics::Metrics;
use super::running::Running;
use super::{Event, Finished, Observer, deadline};
use crate::messages::{
    ACCEPTS_FAILED_OUTPUT, EXIT_CODE, EvaluateFunctionRequest, EvaluateFunctionResponse,
    RETRY_AFTER, TIMEOUT,
};
use crate::{Answer, Evaluate, Refusal, Request};

/// The time in which a request must arrive once it is admitted: until then it keeps others from running.
const ARRIVAL: Duration = Duration::from_secs(30);
/// When a client may try again that was refused because of a full queue.
const RETRY_AFTER_MS: u64 = 200;
/// The longest message of a status, as it is encoded. Proxies and other clients refuse headers of more than 16 KiB.
const MAX_STATUS: usize = 12 << 10;

/// Everything that a request needs.
pub(super) struct Method {
    pub(super) evaluate: Arc<dyn Evaluate>,
    pub(super) observer: Arc<Observer>,
    pub(super) admission: Arc<Admission>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) running: Arc<Running>,
    pub(super) max_message: usize,
    pub(super) max_time: Duration,
}

impl Method {
    pub(super) async fn answer(
        self: Arc<Self>,
        request: http::Request<Body>,
    ) -> http::Response<Body> {
        let start = Instant::now();
        let _running = self.running.add_request();
        let mut record = Record::new(&self, start, peer(&request));
        let header = request.headers().get(TIMEOUT).map(http::HeaderValue::as_bytes);
        let deadline = start + deadline::time(header, self.max_time);
        let admitted = timeout_at(deadline.into(), self.admission.admit()).await;
        record.finished.queued = start.elapsed();
        let permit = match admitted {
            Ok(Ok(permit)) => permit,
            Ok(Err(reason)) => return record.refuse(not_admitted(reason)),
            Err(_) => return record.refuse(too_late()),
        };
        let accepts_output = request.headers().get(ACCEPTS_FAILED_OUTPUT.0);
        let call = Call {
            method: Arc::clone(&self),
            permit: Some(permit),
            deadline,
            accepts_failed_output: accepts_output.is_some_and(|it| it == ACCEPTS_FAILED_OUTPUT.1),
            has_arrived: Arc::new(AtomicBool::new(false)),
            record: Arc::clone(&record.shared),
        };
        let has_arrived = Arc::clone(&call.has_arrived);
        let codec = ProstCodec::<EvaluateFunctionResponse, EvaluateFunctionRequest>::default();
        let mut grpc = Grpc::new(codec)
            .max_decoding_message_size(self.max_message)
            .max_encoding_message_size(self.max_message);
        let response = grpc.unary(call, request);
        tokio::pin!(response);
        let arrival = deadline.min(Instant::now() + ARRIVAL);
        let response = tokio::select! {
            response = &mut response => response,
            () = sleep_until(arrival.into()) => match has_arrived.load(Ordering::SeqCst) {
                true => response.await,
                false => return record.refuse(too_late()),
            },
        };
        record.end(code_of(&response));
        response
    }
}

/// The status of a response for logs and metrics. A failed function is the same for all clients, although those that accept its output
/// get a response instead of a status.
fn code_of(response: &http::Response<Body>) -> Code {
    match Status::from_header_map(response.headers()) {
        Some(status) => status.code(),
        None if response.headers().contains_key(EXIT_CODE) => Code::Internal,
        None => Code::Ok,
    }
}

fn peer(request: &http::Request<Body>) -> Option<SocketAddr> {
    let extensions = request.extensions();
    let plain = extensions.get::<TcpConnectInfo>().and_then(TcpConnectInfo::remote_addr);
    let tls = || extensions.get::<TlsConnectInfo<TcpConnectInfo>>()?.get_ref().remote_addr();
    plain.or_else(tls)
}

/// One request, once its body may be read.
struct Call {
    method: Arc<Method>,
    permit: Option<Permit>,
    deadline: Instant,
    accepts_failed_output: bool,
    has_arrived: Arc<AtomicBool>,
    record: Arc<std::sync::Mutex<Facts>>,
}

impl UnaryService<EvaluateFunctionRequest> for Call {
    type Response = EvaluateFunctionResponse;
    type Future = Pin<
        Box<dyn Future<Output = Result<tonic::Response<EvaluateFunctionResponse>, Status>> + Send>,
    >;

    fn call(&mut self, request: tonic::Request<EvaluateFunctionRequest>) -> Self::Future {
        self.has_arrived.store(true, Ordering::SeqCst);
        let message = request.into_inner();
        let facts = Arc::clone(&self.record);
        set(&facts, |facts| {
            facts.input = message.resource_list.len();
            facts.image.clone_from(&message.image);
        });
        let (method, permit, deadline) =
            (Arc::clone(&self.method), self.permit.take(), self.deadline);
        let accepts_failed_output = self.accepts_failed_output;
        Box::pin(async move {
            let cancelled = Arc::new(AtomicBool::new(false));
            // Set when this future is dropped, because the client has gone, and when it ends.
            let _cancel = CancelOnDrop(Arc::clone(&cancelled));
            let (image, tag, input) = (message.image, message.tag, message.resource_list);
            let function = method.running.add_function(&cancelled);
            let request = Request { image, tag, input, cancelled, deadline };
            let evaluate = Arc::clone(&method.evaluate);
            let work = tokio::task::spawn_blocking(move || {
                // Until the function has really ended, it counts.
                let _counted = (permit, function);
                let answer = evaluate.evaluate(&request);
                (answer, request.is_cancelled())
            });
            let answer = match timeout_at(deadline.into(), work).await {
                Ok(Ok((answer, false))) => answer,
                // The server ends.
                Ok(Ok((_, true))) => return Err(Status::unavailable("the server is stopping")),
                // The panic hook has reported it.
                Ok(Err(_)) => {
                    return Err(Status::internal("the server has a bug: the evaluation panicked"));
                }
                Err(_) => return Err(too_late()),
            };
            let output = answer.output.as_ref().map_or(0, Vec::len);
            set(&facts, |facts| (facts.runtime, facts.output) = (answer.runtime, output));
            respond(answer, accepts_failed_output, method.max_message)
        })
    }
}

struct CancelOnDrop(Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// The response, or the status of a failure.
fn respond(
    answer: Answer,
    accepts_failed_output: bool,
    max_message: usize,
) -> Result<tonic::Response<EvaluateFunctionResponse>, Status> {
    let (output, exit_code) = match answer.output {
        Ok(output) => (output, 0),
        Err(Refusal::Failed { exit_code, output, .. }) if accepts_failed_output => {
            (output, exit_code)
        }
        Err(Refusal::Failed { message, .. } | Refusal::Stopped { message }) => {
            return Err(Status::internal(shortened(&message)));
        }
        Err(Refusal::NotFound { message }) => return Err(Status::not_found(shortened(&message))),
        Err(Refusal::TooLate) => return Err(too_late()),
        Err(Refusal::Cancelled) => return Err(Status::cancelled("the request was cancelled")),
    };
    // With room for the frame and the tags of the message.
    if output.len() + answer.log.len() + 64 > max_message {
        let message = format!("the output is larger than the limit of {max_message} bytes");
        return Err(Status::resource_exhausted(message));
    }
    let (resource_list, log) = (output.into(), answer.log.into());
    let mut response = tonic::Response::new(EvaluateFunctionResponse { resource_list, log });
    if exit_code != 0 {
        response.metadata_mut().insert(EXIT_CODE, MetadataValue::from(exit_code));
    }
    Ok(response)
}

fn too_late() -> Status {
    Status::deadline_exceeded("the request took longer than its time limit")
}

fn not_admitted(reason: NotAdmitted) -> Status {
    match reason {
        NotAdmitted::Closed => Status::unavailable("the server is stopping"),
        NotAdmitted::QueueFull => {
            let mut status = Status::resource_exhausted("too many requests are waiting");
            status.metadata_mut().insert(RETRY_AFTER, MetadataValue::from(RETRY_AFTER_MS));
            status
        }
    }
}

/// The beginning of a message that fits into a header.
fn shortened(message: &str) -> String {
    let mut size = 0;
    for (at, c) in message.char_indices() {
        // Spec: other characters are percent-encoded, byte by byte.
        size += if matches!(c, ' '..='~') && c != '%' { 1 } else { 3 * c.len_utf8() };
        if size > MAX_STATUS {
            return format!("{}… ({} bytes in all)", &message[..at], message.len());
        }
    }
    message.to_owned()
}

/// What is known about a request when it ends.
#[derive(Debug)]
struct Facts {
    image: String,
    runtime: &'static str,
    input: usize,
    output: usize,
}

fn set(facts: &std::sync::Mutex<Facts>, change: impl FnOnce(&mut Facts)) {
    change(&mut facts.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
}

/// Reports a request when it ends, in whatever way: a client that goes away drops the future.
struct Record {
    observer: Arc<Observer>,
    metrics: Arc<Metrics>,
    start: Instant,
    code: Code,
    finished: Finished,
    shared: Arc<std::sync::Mutex<Facts>>,
}

impl Record {
    fn new(method: &Method, start: Instant, peer: Option<SocketAddr>) -> Self {
        let facts = Facts { image: String::new(), runtime: "none", input: 0, output: 0 };
        Self {
            observer: Arc::clone(&method.observer),
            metrics: Arc::clone(&method.metrics),
            start,
            code: Code::Cancelled,
            finished: Finished {
                peer,
                image: String::new(),
                runtime: "none",
                code: "",
                queued: Duration::ZERO,
                duration: Duration::ZERO,
                input: 0,
                output: 0,
            },
            shared: Arc::new(std::sync::Mutex::new(facts)),
        }
    }

    fn end(&mut self, code: Code) {
        self.code = code;
    }

    fn refuse(mut self, status: Status) -> http::Response<Body> {
        self.end(status.code());
        status.into_http()
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        let finished = &mut self.finished;
        set(&self.shared, |facts| {
            finished.image = std::mem::take(&mut facts.image);
            (finished.runtime, finished.input) = (facts.runtime, facts.input);
            finished.output = facts.output;
        });
        finished.duration = self.start.elapsed();
        finished.code = code_name(self.code);
        self.metrics.record(finished);
        (self.observer)(&Event::Finished(finished.clone()));
    }
}

/// The name of a status in the specification.
fn code_name(code: Code) -> &'static str {
    match code {
        Code::Ok => "OK",
        Code::Cancelled => "CANCELLED",
        Code::Unknown => "UNKNOWN",
        Code::InvalidArgument => "INVALID_ARGUMENT",
        Code::DeadlineExceeded => "DEADLINE_EXCEEDED",
        Code::NotFound => "NOT_FOUND",
        Code::AlreadyExists => "ALREADY_EXISTS",
        Code::PermissionDenied => "PERMISSION_DENIED",
        Code::ResourceExhausted => "RESOURCE_EXHAUSTED",
        Code::FailedPrecondition => "FAILED_PRECONDITION",
        Code::Aborted => "ABORTED",
        Code::OutOfRange => "OUT_OF_RANGE",
        Code::Unimplemented => "UNIMPLEMENTED",
        Code::Internal => "INTERNAL",
        Code::Unavailable => "UNAVAILABLE",
        Code::DataLoss => "DATA_LOSS",
        Code::Unauthenticated => "UNAUTHENTICATED",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_messages_are_shortened_by_their_encoded_size() {
        assert_eq!(shortened("short"), "short");
        let ascii = shortened(&"a".repeat(MAX_STATUS + 1));
        assert!(ascii.starts_with(&"a".repeat(MAX_STATUS)) && ascii.ends_with("bytes in all)"));
        let wide = shortened(&"ä".repeat(MAX_STATUS));
        assert_eq!(wide.chars().filter(|c| *c == 'ä').count(), MAX_STATUS / 6);
    }
}
