//! A client of registries. Spec: OCI distribution specification 1.1, and docker's token authentication.
//!
//! Everything that arrives is checked: manifests and blobs against their digests, sizes against limits, and addresses against what a
//! registry may send a client to.

mod authorization;
mod challenge;
mod credentials;
mod download;
mod helper;
mod interruptible;
mod push;
mod transport;

use std::collections::BTreeMap;
use std::sync::Mutex;

use ureq::http::{Method, Response};

pub use credentials::Credentials;

use self::authorization::Scope;
use self::transport::{Body, Call, Transport, error_text, read_body};
use crate::manifest::{self, AnyManifest, Descriptor};
use crate::{Control, Digest, ImageLimits, OciKind, Reference};

/// How a client finds and asks registries.
#[derive(Clone, Debug, Default)]
pub struct ClientSettings {
    /// Where credentials come from.
    pub credentials: Credentials,
    /// Registries without TLS. Those on this machine need not be listed.
    pub insecure: Vec<String>,
    /// Mirrors by registry, `HOST[/PREFIX]`: asked before the registry, for reading only.
    pub mirrors: BTreeMap<String, Vec<String>>,
    /// The limits of images.
    pub limits: ImageLimits,
    /// Stops and observes transfers.
    pub control: Control,
}

/// A client of any number of registries. It can be shared by threads.
#[derive(Debug, Default)]
pub struct Client {
    settings: ClientSettings,
    transport: Transport,
    /// What was sent last as `Authorization`, by host, repository and access.
    authorizations: Mutex<BTreeMap<(String, String, bool), String>>,
}

/// A manifest or an index as the registry has it.
#[derive(Clone, Debug)]
pub struct FetchedManifest {
    /// The digest of the bytes.
    pub digest: Digest,
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The content.
    pub manifest: AnyManifest,
}

/// A server that is asked for a repository.
#[derive(Clone, Debug)]
struct Endpoint {
    /// The name for messages and credentials.
    registry: String,
    /// The name of the repository there.
    repository: String,
    /// Scheme and host.
    base: String,
}

impl Endpoint {
    fn url(&self, rest: &str) -> String {
        format!("{}/v2/{}/{rest}", self.base, self.repository)
    }
}

impl Client {
    /// A client with these settings. Nothing is sent yet.
    pub fn new(settings: ClientSettings) -> Self {
        let transport = Transport::new(settings.control.clone());
        Self { settings, transport, ..Self::default() }
    }

    /// The settings.
    pub fn settings(&self) -> &ClientSettings {
        &self.settings
    }

    /// The manifest of a reference. That of a digest is verified.
    ///
    /// # Errors
    /// If no server has it, or its content is invalid.
    pub fn manifest(&self, reference: &Reference) -> Result<FetchedManifest, OciKind> {
        self.first_endpoint(reference, |endpoint| {
            let url = endpoint.url(&format!("manifests/{}", reference.version()));
            let call = Call::get(url).header("accept", manifest::ACCEPTED);
            let response = self.call(endpoint, reference, Scope::Pull, &call)?;
            let bytes = read_body(&endpoint.registry, response, self.settings.limits.manifest)?;
            let digest = Digest::of(&bytes);
            if let Some(expected) = reference.digest() {
                expected.check(&digest)?;
            }
            Ok(FetchedManifest { manifest: AnyManifest::parse(&bytes)?, digest, bytes })
        })
    }

    /// The digest that a tag has now, without its content where the registry allows that.
    ///
    /// # Errors
    /// If no server has the tag.
    pub fn resolve(&self, reference: &Reference) -> Result<Digest, OciKind> {
        if let Some(digest) = reference.digest() {
            return Ok(digest.clone());
        }
        let found = self.first_endpoint(reference, |endpoint| {
            let url = endpoint.url(&format!("manifests/{}", reference.version()));
            let call = Call { method: Method::HEAD, ..Call::get(url) };
            let call = call.header("accept", manifest::ACCEPTED);
            let response = self.call(endpoint, reference, Scope::Pull, &call)?;
            let header = response.headers().get("docker-content-digest");
            Ok(header.and_then(|it| Digest::parse(it.to_str().ok()?).ok()))
        })?;
        found.map_or_else(|| Ok(self.manifest(reference)?.digest), Ok)
    }

    /// A small blob, verified.
    ///
    /// # Errors
    /// If no server has it, it is larger than the limit, or its content is wrong.
    pub fn blob(
        &self,
        reference: &Reference,
        descriptor: &Descriptor,
        limit: u64,
    ) -> Result<Vec<u8>, OciKind> {
        let digest = descriptor.digest()?;
        if descriptor.size > limit {
            return Err(OciKind::TooLarge { what: "a blob", limit });
        }
        self.first_endpoint(reference, |endpoint| {
            let call = Call::get(endpoint.url(&format!("blobs/{digest}")));
            let response = self.call(endpoint, reference, Scope::Pull, &call)?;
            let bytes = read_body(&endpoint.registry, response, descriptor.size)?;
            digest.check(&Digest::of(&bytes))?;
            Ok(bytes)
        })
    }

    /// The tags of a repository, in the order of the registry.
    ///
    /// # Errors
    /// If the registry does not list them.
    pub fn tags(&self, reference: &Reference) -> Result<Vec<String>, OciKind> {
        #[derive(serde::Deserialize)]
        struct Tags {
            #[serde(default)]
            tags: Option<Vec<String>>,
        }
        let endpoint = self.origin(reference);
        let call = Call::get(endpoint.url("tags/list"));
        let response = self.call(&endpoint, reference, Scope::Pull, &call)?;
        let bytes = read_body(&endpoint.registry, response, self.settings.limits.manifest)?;
        let parsed: Tags = serde_json::from_slice(&bytes).map_err(|error| {
            let reason = crate::digest::shown(&error.to_string());
            OciKind::InvalidResponse { registry: endpoint.registry.clone(), reason }
        })?;
        Ok(parsed.tags.unwrap_or_default())
    }

    /// Asks the mirrors and then the registry. The error is that of the registry.
    fn first_endpoint<T>(
        &self,
        reference: &Reference,
        ask: impl Fn(&Endpoint) -> Result<T, OciKind>,
    ) -> Result<T, OciKind> {
        let mirrors = self.settings.mirrors.get(reference.registry());
        for mirror in mirrors.into_iter().flatten() {
            self.settings.control.check()?;
            if let Ok(found) = ask(&self.mirror(mirror, reference)) {
                return Ok(found);
            }
        }
        self.settings.control.check()?;
        ask(&self.origin(reference))
    }

    fn origin(&self, reference: &Reference) -> Endpoint {
        // Compat: the API of Docker Hub has another host than its name.
        let host = match reference.registry() {
            "docker.io" => "registry-1.docker.io",
            other => other,
        };
        Endpoint {
            registry: reference.registry().to_owned(),
            repository: reference.repository().to_owned(),
            base: format!("{}://{host}", self.scheme(host)),
        }
    }

    fn mirror(&self, mirror: &str, reference: &Reference) -> Endpoint {
        let (host, prefix) = mirror.split_once('/').unwrap_or((mirror, ""));
        let repository = match prefix.trim_end_matches('/') {
            "" => reference.repository().to_owned(),
            prefix => format!("{prefix}/{}", reference.repository()),
        };
        let base = format!("{}://{host}", self.scheme(host));
        Endpoint { registry: host.to_owned(), repository, base }
    }

    /// Registries on this machine and those that the user listed have no TLS.
    fn scheme(&self, host: &str) -> &'static str {
        let is_listed = self.settings.insecure.iter().any(|it| it == host);
        if is_listed || is_loopback(host) { "http" } else { "https" }
    }

    /// Sends a request, authenticated if the registry asks for that. Errors of the registry are errors here.
    fn call(
        &self,
        endpoint: &Endpoint,
        reference: &Reference,
        scope: Scope,
        call: &Call<'_>,
    ) -> Result<Response<Body>, OciKind> {
        let response = self.send(endpoint, scope, call)?;
        let status = response.status().as_u16();
        let registry = endpoint.registry.clone();
        match status {
            200..=299 => Ok(response),
            401 | 403 => Err(OciKind::Unauthorized { reference: reference.to_string(), registry }),
            404 => Err(OciKind::NotFound { reference: reference.to_string() }),
            _ => {
                let reason = error_text(&registry, response);
                Err(OciKind::Refused { registry, status: status.into(), reason })
            }
        }
    }
}

/// Whether a host, perhaps with a port, is this machine.
fn is_loopback(host: &str) -> bool {
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    let address = name.parse::<std::net::Ipv4Addr>();
    name == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_and_listed_registries_have_no_tls() {
        let settings =
            ClientSettings { insecure: vec!["a.io:80".to_owned()], ..Default::default() };
        let client = Client::new(settings);
        for (reference, base) in [
            ("localhost:5000/x", "http://localhost:5000"),
            ("127.0.0.1:5000/x", "http://127.0.0.1:5000"),
            ("127.0.0.1.io/x", "https://127.0.0.1.io"),
            ("a.io:80/x", "http://a.io:80"),
            ("a.io/x", "https://a.io"),
            ("alpine", "https://registry-1.docker.io"),
        ] {
            let reference = Reference::parse(reference).unwrap();
            assert_eq!(client.origin(&reference).base, base);
        }
    }

    #[test]
    fn mirrors_may_have_a_prefix() {
        let reference = Reference::parse("alpine").unwrap();
        let endpoint = Client::default().mirror("mirror.io/hub/", &reference);
        assert_eq!(endpoint.url("tags/list"), "https://mirror.io/v2/hub/library/alpine/tags/list");
    }
}
