//! HTTP requests to registries: TLS with the certificates of the system, time limits, and retries of what may be repeated.

use std::io::Read;
use std::sync::OnceLock;
use std::time::Duration;

use ureq::Agent;
use ureq::http::{Method, Request, Response};
use ureq::tls::TlsConfig;

use super::interruptible;
use crate::digest::shown;
use crate::{Control, OciKind, tls};

/// The longest time until a connection exists, and between two reads of a response.
const CONNECT: Duration = Duration::from_secs(20);
const IDLE: Duration = Duration::from_secs(60);
/// Pauses before a request is repeated.
const PAUSES: [Duration; 3] =
    [Duration::from_millis(200), Duration::from_secs(1), Duration::from_secs(3)];
/// The longest pause that a registry may ask for.
const MAX_RETRY_AFTER: u64 = 10;
/// Redirects that are followed.
const MAX_REDIRECTS: usize = 5;
/// Error messages of registries.
const MAX_ERROR: u64 = 64 << 10;

pub(super) use interruptible::Body;

/// A request. Only requests without a body are repeated.
#[derive(Clone, Debug)]
pub(super) struct Call<'a> {
    pub(super) method: Method,
    pub(super) url: String,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: Option<&'a [u8]>,
}

impl Call<'_> {
    pub(super) fn get(url: String) -> Self {
        Self { method: Method::GET, url, headers: Vec::new(), body: None }
    }

    #[must_use]
    pub(super) fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}

/// The connections of a client.
#[derive(Debug, Default)]
pub(super) struct Transport {
    /// Never leaves TLS, also after a redirect.
    secure: OnceLock<Agent>,
    plain: OnceLock<Agent>,
    control: Control,
}

impl Transport {
    /// Requests end soon after the control stops them.
    pub(super) fn new(control: Control) -> Self {
        Self { control, ..Self::default() }
    }

    /// Sends a request to a registry. Every status is a response, and redirects of requests without a body are followed.
    ///
    /// A registry redirects to a storage server, which must not see the credentials of the registry. They are sent to the same scheme,
    /// host and port only; the HTTP library would compare hosts alone.
    pub(super) fn send(&self, registry: &str, call: &Call<'_>) -> Result<Response<Body>, OciKind> {
        let mut call = call.clone();
        for _ in 0..=MAX_REDIRECTS {
            let response = self.send_to(registry, &call)?;
            let is_redirect = matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308);
            if !is_redirect || call.body.is_some() {
                return Ok(response);
            }
            let location = response.headers().get("location").and_then(|it| it.to_str().ok());
            let url =
                redirect_target(&call.url, location.unwrap_or_default()).ok_or_else(|| {
                    let reason =
                        "a redirect is invalid or leads to a server without TLS".to_owned();
                    OciKind::InvalidResponse { registry: registry.to_owned(), reason }
                })?;
            if origin(&url) != origin(&call.url) {
                call.headers.retain(|(name, _)| *name != "authorization");
            }
            call.url = url;
        }
        let reason = "too many redirects".to_owned();
        Err(OciKind::InvalidResponse { registry: registry.to_owned(), reason })
    }

    fn send_to(&self, registry: &str, call: &Call<'_>) -> Result<Response<Body>, OciKind> {
        let agent = match call.url.starts_with("http://") {
            true => self.plain.get_or_init(|| agent(false)),
            false => self.secure.get_or_init(|| agent(true)),
        };
        let mut repeated = 0;
        loop {
            let result = self.send_once(agent, call);
            self.control.check()?;
            let (wait, most) = match &result {
                Ok(response) if is_temporary(response.status().as_u16()) => {
                    (retry_after(response), PAUSES.len())
                }
                Ok(_) => (None, 0),
                Err(error) => (Some(Duration::ZERO), repetitions(error)),
            };
            let may_repeat = call.body.is_none() && repeated < most;
            match wait.zip(PAUSES.get(repeated)).filter(|_| may_repeat) {
                Some((wait, pause)) => interruptible::pause(&self.control, wait.max(*pause))?,
                None => return result.map_err(|error| explain(registry, &error)),
            }
            repeated += 1;
        }
    }

    fn send_once(&self, agent: &Agent, call: &Call<'_>) -> Result<Response<Body>, ureq::Error> {
        let mut request = Request::builder().method(call.method.clone()).uri(&call.url);
        for (name, value) in &call.headers {
            request = request.header(*name, value);
        }
        let response = match call.body {
            None => {
                let (agent, request) = (agent.clone(), request.body(())?);
                interruptible::run(&self.control, move || agent.run(request))??
            }
            Some(body) if !self.control.can_stop() => agent.run(request.body(body)?)?,
            Some(body) => {
                let (agent, request) = (agent.clone(), request.body(body.to_vec())?);
                interruptible::run(&self.control, move || agent.run(request))??
            }
        };
        let unlimited = |body: ureq::Body| body.into_with_config().limit(u64::MAX).reader();
        Ok(response.map(|body| Body::new(&self.control, unlimited(body))))
    }
}

fn agent(https_only: bool) -> Agent {
    let tls = if https_only { tls::with_system_certificates() } else { TlsConfig::default() };
    Agent::config_builder()
        .http_status_as_error(false)
        .https_only(https_only)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .timeout_resolve(Some(CONNECT))
        .timeout_connect(Some(CONNECT))
        .timeout_per_read(Some(IDLE))
        .timeout_per_write(Some(IDLE))
        .timeout_recv_response(Some(IDLE))
        .user_agent(concat!("krm/", env!("CARGO_PKG_VERSION")))
        .accept_encoding("identity")
        .tls_config(tls)
        .build()
        .new_agent()
}

/// Scheme, host and port of an address.
fn origin(url: &str) -> &str {
    let host = url.find("://").map_or(0, |at| at + 3);
    let end = url[host..].find(['/', '?', '#']).map_or(url.len(), |at| host + at);
    &url[..end]
}

/// Where a redirect leads; none if it is not an address, or leaves TLS.
fn redirect_target(from: &str, location: &str) -> Option<String> {
    let is_plain = from.starts_with("http://");
    let is_allowed =
        |url: &str| url.starts_with("https://") || is_plain && url.starts_with("http://");
    if location.contains(|c: char| c.is_control() || c == ' ') {
        return None;
    }
    match location {
        path if path.starts_with('/') && !path.starts_with("//") => {
            Some(format!("{}{path}", origin(from)))
        }
        url if is_allowed(url) => Some(url.to_owned()),
        _ => None,
    }
}

fn is_temporary(status: u16) -> bool {
    matches!(status, 429 | 500 | 502 | 503 | 504)
}

/// How often a request is repeated after an error.
fn repetitions(error: &ureq::Error) -> usize {
    use std::io::ErrorKind;
    let ureq::Error::Io(error) = error else { return 0 };
    match error.kind() {
        // There is no network, or no registry: an answer is not to be expected soon.
        ErrorKind::ConnectionRefused
        | ErrorKind::NetworkUnreachable
        | ErrorKind::HostUnreachable
        | ErrorKind::NetworkDown => 0,
        ErrorKind::ConnectionReset
        | ErrorKind::ConnectionAborted
        | ErrorKind::BrokenPipe
        | ErrorKind::UnexpectedEof
        | ErrorKind::TimedOut => PAUSES.len(),
        // Names that cannot be looked up have no kind of their own. Without a network that must not take seconds.
        _ => 1,
    }
}

/// How long the registry asks to wait; none if that is too long.
fn retry_after(response: &Response<Body>) -> Option<Duration> {
    let header = response.headers().get("retry-after").and_then(|it| it.to_str().ok());
    let seconds = header.map_or(0, |text| text.trim().parse().unwrap_or(0));
    (seconds <= MAX_RETRY_AFTER).then(|| Duration::from_secs(seconds))
}

/// An error without addresses, which may contain tokens.
fn explain(registry: &str, error: &ureq::Error) -> OciKind {
    // What the TLS library makes of a response in plain text; it has no type for that which could be matched.
    if let ureq::Error::Io(error) = error
        && error.kind() == std::io::ErrorKind::InvalidData
        && error.to_string().contains("InvalidContentType")
    {
        return OciKind::PlainHttp { registry: registry.to_owned() };
    }
    let reason = match error {
        ureq::Error::BadUri(_) => "invalid address".to_owned(),
        ureq::Error::HostNotFound => "host not found".to_owned(),
        ureq::Error::Timeout(_) => "timed out".to_owned(),
        ureq::Error::Io(error) => shown(&error.to_string()),
        other => shown(&other.to_string()),
    };
    OciKind::Unreachable { registry: registry.to_owned(), reason }
}

/// A response as bytes, up to a limit.
pub(super) fn read_body(
    registry: &str,
    response: Response<Body>,
    limit: u64,
) -> Result<Vec<u8>, OciKind> {
    let mut bytes = Vec::new();
    let mut body = response.into_body();
    let read = (&mut body).take(limit + 1).read_to_end(&mut bytes);
    body.check()?;
    read.map_err(|error| OciKind::Unreachable {
        registry: registry.to_owned(),
        reason: shown(&error.to_string()),
    })?;
    match bytes.len() as u64 > limit {
        true => Err(OciKind::TooLarge { what: "the response of a registry", limit }),
        false => Ok(bytes),
    }
}

/// The messages of a registry's error, with a colon before them. Spec: `{"errors": [{"code", "message"}]}`.
pub(super) fn error_text(registry: &str, response: Response<Body>) -> String {
    #[derive(serde::Deserialize)]
    struct Errors {
        errors: Vec<Message>,
    }
    #[derive(serde::Deserialize)]
    struct Message {
        #[serde(default)]
        code: String,
        #[serde(default)]
        message: String,
    }
    let bytes = read_body(registry, response, MAX_ERROR).unwrap_or_default();
    let Ok(parsed) = serde_json::from_slice::<Errors>(&bytes) else { return String::new() };
    let text =
        |it: &Message| if it.message.is_empty() { it.code.clone() } else { it.message.clone() };
    let texts: Vec<String> = parsed.errors.iter().map(text).filter(|it| !it.is_empty()).collect();
    if texts.is_empty() { String::new() } else { format!(": {}", shown(&texts.join("; "))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_repeated_where_an_answer_is_likely() {
        use std::io::{Error, ErrorKind};
        let repeated = |error: Error| repetitions(&ureq::Error::Io(error));
        assert_eq!(repeated(ErrorKind::ConnectionReset.into()), PAUSES.len());
        assert_eq!(repeated(ErrorKind::ConnectionRefused.into()), 0);
        assert_eq!(repeated(ErrorKind::NetworkUnreachable.into()), 0);
        // As the standard library reports a name that cannot be looked up.
        assert_eq!(repeated(Error::other("failed to lookup address information")), 1);
        assert_eq!(repetitions(&ureq::Error::HostNotFound), 0);
    }

    #[test]
    fn redirects_stay_within_tls() {
        let target = |from: &str, location: &str| redirect_target(from, location);
        assert_eq!(target("https://a.io/v2/x?y", "/z").unwrap(), "https://a.io/z");
        assert_eq!(target("https://a.io/v2/", "https://b.io/z").unwrap(), "https://b.io/z");
        assert_eq!(target("http://a.io:1/", "http://b.io/").unwrap(), "http://b.io/");
        for location in
            ["", "z", "//b.io/z", "http://a.io/z", "file:///etc/passwd", "https://b.io/\r\n"]
        {
            assert_eq!(target("https://a.io/v2/", location), None, "{location}");
        }
    }

    #[test]
    fn origin_is_scheme_host_and_port() {
        assert_eq!(origin("https://a.io:443/b?c"), "https://a.io:443");
        assert_eq!(origin("https://a.io?c"), "https://a.io");
        assert_ne!(origin("http://127.0.0.1:1/"), origin("http://127.0.0.1:2/"));
        assert_ne!(origin("https://a.io@evil/"), origin("https://a.io/"));
    }
}
