//! Authentication: passwords and tokens, asked for only when the registry wants them.

use data_encoding::BASE64;
use ureq::http::{Method, Response};

use super::challenge::Challenge;
use super::credentials::Credential;
use super::transport::{Body, Call, read_body};
use super::{Client, Endpoint};
use crate::OciKind;

/// The response of a token server.
const MAX_TOKEN: u64 = 1 << 20;

/// What a request needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    Pull,
    Push,
}

impl Client {
    /// Sends a request, and once more with credentials if the registry asks for them.
    pub(super) fn send(
        &self,
        endpoint: &Endpoint,
        scope: Scope,
        call: &Call<'_>,
    ) -> Result<Response<Body>, OciKind> {
        // An address that the registry named may be on another host, which gets no credentials.
        let is_own = is_below(&call.url, &endpoint.base);
        let key = (endpoint.base.clone(), endpoint.repository.clone(), scope == Scope::Push);
        let known = self.authorizations.lock().ok().and_then(|it| it.get(&key).cloned());
        let response = match known.filter(|_| is_own) {
            Some(value) => {
                let call = call.clone().header("authorization", value);
                self.transport.send(&endpoint.registry, &call)?
            }
            None => self.transport.send(&endpoint.registry, call)?,
        };
        if response.status().as_u16() != 401 || !is_own {
            return Ok(response);
        }
        let headers = response.headers().get_all("www-authenticate");
        let challenge = Challenge::parse(headers.iter().filter_map(|it| it.to_str().ok()));
        let Some(value) = self.authorize(endpoint, scope, challenge)? else { return Ok(response) };
        let authorized = call.clone().header("authorization", value.clone());
        let response = self.transport.send(&endpoint.registry, &authorized)?;
        if response.status().as_u16() != 401
            && let Ok(mut known) = self.authorizations.lock()
        {
            known.insert(key, value);
        }
        Ok(response)
    }

    /// The header for a challenge; none if there is nothing to answer with.
    fn authorize(
        &self,
        endpoint: &Endpoint,
        scope: Scope,
        challenge: Option<Challenge>,
    ) -> Result<Option<String>, OciKind> {
        let find = || {
            let credentials = &self.settings.credentials;
            credentials.find(&endpoint.registry, &endpoint.repository, &self.settings.control)
        };
        match challenge {
            None => Ok(None),
            Some(Challenge::Basic) => Ok(match find()? {
                Some(Credential::Password { user, password }) => Some(basic(&user, &password)),
                _ => None,
            }),
            Some(Challenge::Bearer { realm, service, scope: named }) => {
                let own = endpoint_scope(endpoint, scope);
                // The registry may know better, for example where it renames repositories.
                let scope = named.filter(|_| scope == Scope::Pull).unwrap_or(own);
                let token = self.token(endpoint, &realm, service.as_deref(), &scope, find()?)?;
                Ok(token.map(|token| format!("Bearer {token}")))
            }
        }
    }

    /// Asks the token server that the registry names. Spec: docker's token authentication.
    fn token(
        &self,
        endpoint: &Endpoint,
        realm: &str,
        service: Option<&str>,
        scope: &str,
        credential: Option<Credential>,
    ) -> Result<Option<String>, OciKind> {
        let registry = &endpoint.registry;
        // Credentials leave TLS only if the registry has none itself.
        let is_allowed = realm.starts_with("https://")
            || (realm.starts_with("http://") && endpoint.base.starts_with("http://"));
        if !is_allowed || realm.contains(char::is_control) {
            let reason = "the token server does not use TLS".to_owned();
            return Err(OciKind::InvalidResponse { registry: registry.clone(), reason });
        }
        let response = match credential {
            Some(Credential::IdentityToken(token)) => {
                let form = [
                    ("grant_type", "refresh_token"),
                    ("refresh_token", &token),
                    ("client_id", "krm"),
                    ("service", service.unwrap_or_default()),
                    ("scope", scope),
                ];
                let body = query(&form);
                let call = Call {
                    method: Method::POST,
                    body: Some(body.as_bytes()),
                    ..Call::get(realm.to_owned())
                };
                let call = call.header("content-type", "application/x-www-form-urlencoded");
                self.transport.send(registry, &call)?
            }
            other => {
                let service = service.map(|service| ("service", service));
                let parameters: Vec<_> = service.into_iter().chain([("scope", scope)]).collect();
                let separator = if realm.contains('?') { '&' } else { '?' };
                let mut call = Call::get(format!("{realm}{separator}{}", query(&parameters)));
                if let Some(Credential::Password { user, password }) = other {
                    call = call.header("authorization", basic(&user, &password));
                }
                self.transport.send(registry, &call)?
            }
        };
        match response.status().as_u16() {
            200..=299 => {
                parse_token(registry, &read_body(registry, response, MAX_TOKEN)?).map(Some)
            }
            // The registry then says what is missing.
            _ => Ok(None),
        }
    }
}

fn endpoint_scope(endpoint: &Endpoint, scope: Scope) -> String {
    let actions = if scope == Scope::Push { "pull,push" } else { "pull" };
    format!("repository:{}:{actions}", endpoint.repository)
}

fn parse_token(registry: &str, bytes: &[u8]) -> Result<String, OciKind> {
    #[derive(serde::Deserialize)]
    struct Response {
        #[serde(default)]
        token: Option<String>,
        #[serde(default)]
        access_token: Option<String>,
    }
    let parsed: Option<Response> = serde_json::from_slice(bytes).ok();
    let token = parsed.and_then(|it| it.token.or(it.access_token));
    // A token becomes part of a header.
    let token = token.filter(|it| !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_graphic()));
    token.ok_or_else(|| OciKind::InvalidResponse {
        registry: registry.to_owned(),
        reason: "the token server returned no token".to_owned(),
    })
}

fn basic(user: &str, password: &str) -> String {
    format!("Basic {}", BASE64.encode(format!("{user}:{password}").as_bytes()))
}

/// Parameters of an address or a form.
fn query(parameters: &[(&str, &str)]) -> String {
    let encoded = parameters.iter().map(|(name, value)| format!("{name}={}", percent(value)));
    encoded.collect::<Vec<_>>().join("&")
}

/// Percent-encodes everything that is not unreserved. Spec: RFC 3986, section 2.3.
pub(super) fn percent(text: &str) -> String {
    use std::fmt::Write;
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                encoded.push(char::from(byte));
            }
            byte => write!(encoded, "%{byte:02X}").expect("a string takes all text"),
        }
    }
    encoded
}

/// Whether an address is on the server with this scheme and host.
pub(super) fn is_below(url: &str, base: &str) -> bool {
    url.strip_prefix(base).is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_encoded() {
        assert_eq!(query(&[("a", "b c&d"), ("e", "é/~")]), "a=b%20c%26d&e=%C3%A9%2F~");
    }

    #[test]
    fn other_hosts_get_no_credentials() {
        assert!(is_below("https://a.io/v2/", "https://a.io"));
        for url in ["https://a.io.evil/", "https://a.io@evil/", "https://a.io:1/", "http://a.io/"] {
            assert!(!is_below(url, "https://a.io"), "{url}");
        }
    }

    #[test]
    fn tokens_have_one_of_two_names() {
        assert_eq!(parse_token("a", b"{\"token\":\"x\"}").as_deref(), Ok("x"));
        assert_eq!(parse_token("a", b"{\"access_token\":\"y\"}").as_deref(), Ok("y"));
        for text in ["", "{}", "{\"token\":\"a\\r\\nX: y\"}", "{\"token\":\"\"}"] {
            assert!(parse_token("a", text.as_bytes()).is_err(), "{text}");
        }
    }
}
