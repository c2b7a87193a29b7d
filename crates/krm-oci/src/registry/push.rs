//! Uploads of blobs and manifests.

use ureq::http::Method;

use super::authorization::{Scope, is_below, percent};
use super::transport::Call;
use super::{Client, Endpoint};
use crate::manifest::{self, Manifest};
use crate::{Digest, OciKind, Reference};

impl Client {
    /// Uploads a blob unless the registry has it.
    ///
    /// # Errors
    /// If the registry refuses it.
    pub fn push_blob(&self, reference: &Reference, content: &[u8]) -> Result<(), OciKind> {
        let endpoint = self.origin(reference);
        let digest = Digest::of(content);
        let url = endpoint.url(&format!("blobs/{digest}"));
        let head = Call { method: Method::HEAD, ..Call::get(url) };
        match self.call(&endpoint, reference, Scope::Push, &head) {
            Ok(_) => return Ok(()),
            Err(OciKind::NotFound { .. }) => {}
            Err(error) => return Err(error),
        }
        let start = Call {
            method: Method::POST,
            body: Some(b""),
            ..Call::get(endpoint.url("blobs/uploads/"))
        };
        let started = self.call(&endpoint, reference, Scope::Push, &start)?;
        let location = started.headers().get("location").and_then(|it| it.to_str().ok());
        let location = self.upload_address(&endpoint, location.unwrap_or_default())?;
        let separator = if location.contains('?') { '&' } else { '?' };
        let url = format!("{location}{separator}digest={}", percent(&digest.to_string()));
        let put = Call { method: Method::PUT, body: Some(content), ..Call::get(url) };
        let put = put.header("content-type", "application/octet-stream");
        self.call(&endpoint, reference, Scope::Push, &put).map(|_| ())
    }

    /// Uploads a manifest, whose blobs are there already, and returns its digest. A reference with a tag moves the tag.
    ///
    /// # Errors
    /// If the registry refuses it, or stores something else.
    pub fn push_manifest(
        &self,
        reference: &Reference,
        manifest: &Manifest,
    ) -> Result<Digest, OciKind> {
        let endpoint = self.origin(reference);
        let bytes = manifest.to_bytes()?;
        let digest = Digest::of(&bytes);
        let version = reference.tag().map_or_else(|| digest.to_string(), str::to_owned);
        let url = endpoint.url(&format!("manifests/{version}"));
        let put = Call { method: Method::PUT, body: Some(&bytes), ..Call::get(url) };
        let media_type = manifest.media_type.as_deref().unwrap_or(manifest::MANIFEST);
        let put = put.header("content-type", media_type);
        let response = self.call(&endpoint, reference, Scope::Push, &put)?;
        let stored = response.headers().get("docker-content-digest");
        match stored.and_then(|it| Digest::parse(it.to_str().ok()?).ok()) {
            Some(stored) => digest.check(&stored).map(|()| digest),
            None => Ok(digest),
        }
    }

    /// Where an upload goes on. A registry may send a client elsewhere, but not away from TLS.
    fn upload_address(&self, endpoint: &Endpoint, location: &str) -> Result<String, OciKind> {
        let is_plain = endpoint.base.starts_with("http://");
        let is_valid = !location.contains(|c: char| c.is_control() || c == ' ');
        match location {
            path if is_valid && path.starts_with('/') && !path.starts_with("//") => {
                Ok(format!("{}{path}", endpoint.base))
            }
            url if is_valid && url.starts_with("https://") => Ok(url.to_owned()),
            url if is_valid && is_plain && is_below(url, &endpoint.base) => Ok(url.to_owned()),
            _ => Err(OciKind::InvalidResponse {
                registry: endpoint.registry.clone(),
                reason: "the address for the upload is missing or not allowed".to_owned(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uploads_do_not_leave_tls() {
        let client = Client::default();
        let reference = |text: &str| client.origin(&Reference::parse(text).unwrap());
        let address = |registry: &str, location: &str| {
            client.upload_address(&reference(registry), location).ok()
        };
        assert_eq!(address("a.io/b", "/v2/x?_state=1").unwrap(), "https://a.io/v2/x?_state=1");
        assert_eq!(address("a.io/b", "https://c.io/x").unwrap(), "https://c.io/x");
        assert!(address("localhost:1/b", "http://localhost:1/x").is_some());
        for location in ["", "x", "//evil/x", "http://a.io/x", "https://a.io/\r\nx"] {
            assert_eq!(address("a.io/b", location), None, "{location}");
        }
        assert_eq!(address("localhost:1/b", "http://evil/x"), None);
    }
}
