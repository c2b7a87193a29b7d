//! A client of caches that speak the HTTP protocol of bazel-remote: results below `/ac`, their contents below `/cas`.
//!
//! A cache only saves time, so this client has short time limits, follows no redirects, and repeats a request only if the server has closed
//! a connection that was kept open. Everything that arrives is checked: form, size and digest. The caller decides after which failures the
//! server is not asked any more.

mod action_result;
mod address;

use std::fmt;
use std::io::{ErrorKind, Read};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use ureq::http::{Method, Request, Response};
use ureq::{Agent, Body};

pub use self::address::{Authorization, ServerUrl};

use self::action_result::Blob;
use crate::digest::shown;
use crate::{Digest, tls};

/// The longest time until a connection exists, until a response begins, and between two reads of it.
const CONNECT: Duration = Duration::from_secs(2);
const RESPONSE: Duration = Duration::from_secs(3);
/// The longest time of a request with little content, and the rate that is expected for more of it, in bytes per second.
const REQUEST: Duration = Duration::from_secs(5);
const RATE: u64 = 1 << 20;
/// A request that fails earlier on a connection of an earlier request is sent once more.
const STALE_CONNECTION: Duration = Duration::from_secs(1);
/// What a server may send as result of an action.
const MAX_RESULT: u64 = 1 << 20;
/// The largest content.
const MAX_CONTENT: u64 = 256 << 20;

/// Why a cache could not be asked, or what is wrong with its response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ActionCacheError {
    /// There is no connection, or it ends early.
    Unreachable {
        /// What the system or the TLS library says.
        reason: String,
    },
    /// A time limit was exceeded.
    TimedOut,
    /// The credentials are missing or not sufficient.
    Denied {
        /// 401 or 403.
        status: u16,
    },
    /// The server reports an error, or redirects.
    Refused {
        /// The status of the response.
        status: u16,
    },
    /// The content is too large to be shared.
    TooLarge,
    /// The response is not what a cache returns.
    Invalid {
        /// What is wrong with it.
        reason: &'static str,
    },
}

impl ActionCacheError {
    /// Whether the next request probably fails, too, or takes as long.
    pub fn is_lasting(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::TimedOut | Self::Denied { .. })
    }
}

impl fmt::Display for ActionCacheError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable { reason } => f.write_str(reason),
            Self::TimedOut => f.write_str("timed out"),
            Self::Denied { status } => write!(f, "access is denied (status {status})"),
            Self::Refused { status: 300..=399 } => f.write_str("redirects are not followed"),
            Self::Refused { status } => write!(f, "the server responded with status {status}"),
            Self::TooLarge => f.write_str("the content is too large"),
            Self::Invalid { reason } => f.write_str(reason),
        }
    }
}

impl std::error::Error for ActionCacheError {}

/// A client of one cache. It can be shared by threads.
#[derive(Debug)]
pub struct ActionCache {
    server: ServerUrl,
    authorization: Option<Authorization>,
    agent: OnceLock<Agent>,
}

impl ActionCache {
    /// A client of this server. Nothing is sent yet.
    pub fn new(server: ServerUrl, authorization: Option<Authorization>) -> Self {
        Self { server, authorization, agent: OnceLock::new() }
    }

    /// The server.
    pub fn server(&self) -> &ServerUrl {
        &self.server
    }

    /// The content of a result, with the digest that the result says; none if the server does not have it.
    ///
    /// Whoever can write to the server decides what the content is, so the caller checks that it belongs to the key.
    ///
    /// # Errors
    /// If the server does not respond in time, or with something else.
    pub fn get(&self, key: &Digest) -> Result<Option<Vec<u8>>, ActionCacheError> {
        let start = Instant::now();
        let Some(response) = self.find(&format!("ac/{}", key.hex()), REQUEST)? else {
            return Ok(None);
        };
        let message = read(response, MAX_RESULT, start)?;
        let blob = Blob::from_action_result(&message);
        let blob = blob.ok_or(invalid("a result is not of the form that krm stores"))?;
        if blob.size > MAX_CONTENT {
            return Err(ActionCacheError::TooLarge);
        }
        // Servers remove contents before the results that refer to them.
        let path = format!("cas/{}", blob.digest.hex());
        let start = Instant::now();
        let Some(response) = self.find(&path, time_for(blob.size))? else { return Ok(None) };
        let content = read(response, blob.size, start)?;
        match content.len() as u64 == blob.size && Digest::of(&content) == blob.digest {
            true => Ok(Some(content)),
            false => Err(invalid("the content of a result has another digest or size")),
        }
    }

    /// Stores the content of a result: first the content, then the result that refers to it.
    ///
    /// # Errors
    /// If the server does not store it.
    pub fn put(&self, key: &Digest, content: &[u8]) -> Result<(), ActionCacheError> {
        let blob = Blob::of(content);
        if blob.size > MAX_CONTENT {
            return Err(ActionCacheError::TooLarge);
        }
        self.store(&format!("cas/{}", blob.digest.hex()), content)?;
        self.store(&format!("ac/{}", key.hex()), &blob.to_action_result())
    }

    fn find(&self, path: &str, time: Duration) -> Result<Option<Response<Body>>, ActionCacheError> {
        let response = self.send(&Method::GET, path, &[], time)?;
        match response.status().as_u16() {
            200 => Ok(Some(response)),
            404 => Ok(None),
            status => Err(refused(status)),
        }
    }

    fn store(&self, path: &str, content: &[u8]) -> Result<(), ActionCacheError> {
        let time = time_for(content.len() as u64);
        let response = self.send(&Method::PUT, path, content, time)?;
        match response.status().as_u16() {
            200..=299 => Ok(()),
            status => Err(refused(status)),
        }
    }

    /// Sends a request. Every status is a response.
    fn send(
        &self,
        method: &Method,
        path: &str,
        content: &[u8],
        time: Duration,
    ) -> Result<Response<Body>, ActionCacheError> {
        let agent = self.agent.get_or_init(|| agent(self.server.is_secure()));
        let start = Instant::now();
        let send = || {
            let address = format!("{}/{path}", self.server);
            let mut request = Request::builder().method(method.clone()).uri(address);
            if let Some(authorization) = &self.authorization {
                request = request.header("authorization", authorization.header());
            }
            match *method == Method::PUT {
                true => agent.run(limited(agent, request.body(content)?, time)),
                false => agent.run(limited(agent, request.body(())?, time)),
            }
        };
        let result = match send() {
            Err(ureq::Error::Io(error))
                if is_closed(error.kind()) && start.elapsed() < STALE_CONNECTION =>
            {
                send()
            }
            result => result,
        };
        result.map_err(|error| explain(&error))
    }
}

fn agent(is_secure: bool) -> Agent {
    let builder = Agent::config_builder()
        .http_status_as_error(false)
        .https_only(is_secure)
        // Not even to the same host: a cache has no reason to redirect, and credentials stay where they belong.
        .max_redirects(0)
        .max_redirects_will_error(false)
        .max_idle_connections_per_host(16)
        .max_idle_connections(16)
        .timeout_resolve(Some(CONNECT))
        .timeout_connect(Some(CONNECT))
        .timeout_recv_response(Some(RESPONSE))
        .timeout_per_read(Some(RESPONSE))
        .timeout_per_write(Some(RESPONSE))
        .user_agent(concat!("krm/", env!("CARGO_PKG_VERSION")))
        .accept_encoding("identity");
    match is_secure {
        true => builder.tls_config(tls::with_system_certificates()).build().new_agent(),
        false => builder.build().new_agent(),
    }
}

/// A request that ends after a time, including its response.
fn limited<S: ureq::AsSendBody>(agent: &Agent, request: Request<S>, time: Duration) -> Request<S> {
    agent.configure_request(request).timeout_global(Some(time)).build()
}

/// The longest time for content of this size.
fn time_for(size: u64) -> Duration {
    REQUEST + Duration::from_secs(size / RATE)
}

/// Reads a response that has at most `limit` bytes, whatever its headers say, and that arrives at the expected rate, whatever size a
/// result claims to have.
fn read(
    mut response: Response<Body>,
    limit: u64,
    start: Instant,
) -> Result<Vec<u8>, ActionCacheError> {
    let (mut bytes, mut buffer) = (Vec::new(), vec![0; 64 << 10]);
    let mut reader = response.body_mut().with_config().limit(u64::MAX).reader();
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return Ok(bytes),
            Ok(count) => bytes.extend_from_slice(&buffer[..count]),
            // A time limit is an error of the library inside of one of the system.
            Err(error) => {
                return Err(match explain(&error.into()) {
                    ActionCacheError::TimedOut => ActionCacheError::TimedOut,
                    // One response that ends early does not mean that the next one does.
                    _ => invalid("a response ends early"),
                });
            }
        }
        let received = bytes.len() as u64;
        if received > limit {
            return Err(invalid("a response is larger than expected"));
        }
        if start.elapsed() > time_for(received) {
            return Err(ActionCacheError::TimedOut);
        }
    }
}

fn invalid(reason: &'static str) -> ActionCacheError {
    ActionCacheError::Invalid { reason }
}

fn refused(status: u16) -> ActionCacheError {
    match status {
        401 | 403 => ActionCacheError::Denied { status },
        status => ActionCacheError::Refused { status },
    }
}

/// Whether an error means that the server closed a connection while it was not used.
fn is_closed(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::ConnectionReset
            | ErrorKind::ConnectionAborted
            | ErrorKind::BrokenPipe
            | ErrorKind::UnexpectedEof
    )
}

/// An error without the address.
fn explain(error: &ureq::Error) -> ActionCacheError {
    let reason = match error {
        ureq::Error::Timeout(_) => return ActionCacheError::TimedOut,
        ureq::Error::Io(error) if error.kind() == ErrorKind::TimedOut => {
            return ActionCacheError::TimedOut;
        }
        ureq::Error::BadUri(_) => "invalid address".to_owned(),
        ureq::Error::HostNotFound => "host not found".to_owned(),
        ureq::Error::Io(error) if error.kind() == ErrorKind::ConnectionRefused => {
            "connection refused".to_owned()
        }
        ureq::Error::Io(error) => shown(&error.to_string()),
        other => shown(&other.to_string()),
    };
    ActionCacheError::Unreachable { reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_that_the_next_request_would_repeat_are_lasting() {
        assert!(ActionCacheError::TimedOut.is_lasting() && refused(401).is_lasting());
        assert!(ActionCacheError::Unreachable { reason: String::new() }.is_lasting());
        assert!(!refused(500).is_lasting() && !invalid("x").is_lasting());
        assert_eq!(refused(307).to_string(), "redirects are not followed");
        assert_eq!(refused(403).to_string(), "access is denied (status 403)");
    }

    #[test]
    fn large_contents_have_more_time() {
        assert_eq!(time_for(0), REQUEST);
        assert_eq!(time_for(10 << 20), REQUEST + Duration::from_secs(10));
    }
}
