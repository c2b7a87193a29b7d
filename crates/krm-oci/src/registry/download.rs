//! Downloads of blobs into the store, which continue where an earlier attempt ended.

use std::io::Read;
use std::time::Duration;

use ureq::http::Response;

use super::authorization::Scope;
use super::transport::{Body, Call};
use super::{Client, Endpoint};
use crate::control::Progress;
use crate::manifest::Descriptor;
use crate::store::{PartialBlob, Store};
use crate::{OciKind, Reference};

/// Attempts in a row in which no byte arrived.
const MAX_FAILURES: usize = 4;
/// Attempts in all: a server that ends every response after a few bytes must not keep a client forever.
const MAX_ATTEMPTS: usize = 200;

/// What a response has, compared with what was asked for.
enum Attempt {
    Done,
    /// The connection ended early.
    Broken(String),
}

impl Client {
    /// Downloads a blob unless the store has it.
    ///
    /// # Errors
    /// If no server has it, the connection breaks again and again, or the content is wrong.
    pub fn download(
        &self,
        reference: &Reference,
        descriptor: &Descriptor,
        store: &Store,
    ) -> Result<(), OciKind> {
        let Some(mut partial) = store.partial(descriptor, &self.settings.control)? else {
            return Ok(());
        };
        let was_resumed = partial.length() > 0;
        let result = self.first_endpoint_mut(reference, &mut partial, descriptor);
        match result {
            // What an earlier process left may be damaged; that is not the server's fault.
            Err(OciKind::DigestMismatch { .. }) if was_resumed => {
                self.first_endpoint_mut(reference, &mut partial, descriptor)
            }
            result => result,
        }
    }

    fn first_endpoint_mut(
        &self,
        reference: &Reference,
        partial: &mut PartialBlob,
        descriptor: &Descriptor,
    ) -> Result<(), OciKind> {
        let partial = std::sync::Mutex::new(partial);
        self.first_endpoint(reference, |endpoint| {
            let mut partial = partial.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            self.download_from(endpoint, reference, descriptor, &mut partial)
        })
    }

    fn download_from(
        &self,
        endpoint: &Endpoint,
        reference: &Reference,
        descriptor: &Descriptor,
        partial: &mut PartialBlob,
    ) -> Result<(), OciKind> {
        let digest = descriptor.digest()?;
        let mut failures = 0;
        for _ in 0..MAX_ATTEMPTS {
            if partial.is_complete() {
                return partial.complete();
            }
            self.settings.control.check()?;
            let before = partial.length();
            let mut call = Call::get(endpoint.url(&format!("blobs/{digest}")));
            if before > 0 {
                call = call.header("range", format!("bytes={before}-"));
            }
            let reason = match self.call(endpoint, reference, Scope::Pull, &call) {
                Ok(response) => match self.receive(response, descriptor, partial)? {
                    Attempt::Done => continue,
                    Attempt::Broken(reason) => reason,
                },
                // What is there is more than the server has.
                Err(OciKind::Refused { status: 416, .. }) if before > 0 => {
                    partial.restart()?;
                    continue;
                }
                Err(error) => return Err(error),
            };
            failures = if partial.length() > before { 0 } else { failures + 1 };
            if failures >= MAX_FAILURES {
                let registry = endpoint.registry.clone();
                return Err(OciKind::Unreachable { registry, reason });
            }
            let pause = Duration::from_millis(100 << failures);
            super::interruptible::pause(&self.settings.control, pause)?;
        }
        let reason = "the connection breaks again and again".to_owned();
        Err(OciKind::Unreachable { registry: endpoint.registry.clone(), reason })
    }

    /// Appends a response to what is there.
    fn receive(
        &self,
        mut response: Response<Body>,
        descriptor: &Descriptor,
        partial: &mut PartialBlob,
    ) -> Result<Attempt, OciKind> {
        let digest = descriptor.digest()?;
        // Anything but the range that was asked for is the whole blob.
        if partial.length() > 0 && !is_range_from(&response, partial.length()) {
            partial.restart()?;
        }
        let reader = response.body_mut();
        let mut buffer = vec![0; 128 << 10];
        loop {
            self.settings.control.check()?;
            match reader.read(&mut buffer) {
                Ok(0) if partial.is_complete() => return Ok(Attempt::Done),
                Ok(0) => return Ok(Attempt::Broken("the response ends early".to_owned())),
                Ok(count) => partial.append(&buffer[..count])?,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => {
                    return Ok(Attempt::Broken(crate::digest::shown(&error.to_string())));
                }
            }
            let (done, total) = (partial.length(), descriptor.size);
            self.settings.control.report(Progress { digest: &digest, done, total });
        }
    }
}

/// Whether the response is the rest of the blob from this byte on.
fn is_range_from(response: &Response<Body>, start: u64) -> bool {
    let range = response.headers().get("content-range").and_then(|it| it.to_str().ok());
    let prefix = format!("bytes {start}-");
    response.status().as_u16() == 206 && range.is_some_and(|it| it.starts_with(&prefix))
}
