//! A build without an HTTP client: there are no servers.

use krm_core::Diagnostic;
use krm_run::{CacheKey, ResultStore};

use super::{CacheKind, Credentials, ServerAddress};

/// A server, which this build cannot have.
#[derive(Debug)]
pub(crate) enum SharedServer {}

pub(super) fn open(
    address: &ServerAddress,
    _: Option<Credentials>,
) -> Result<SharedServer, Diagnostic> {
    let source = address.source;
    Err(Diagnostic::error(CacheKind::ServerNotBuiltIn { source }))
}

impl SharedServer {
    pub(crate) fn failure(&self) -> Option<CacheKind> {
        match *self {}
    }
}

impl ResultStore for SharedServer {
    fn get(&self, _: &CacheKey) -> Option<Vec<u8>> {
        match *self {}
    }

    fn put(&self, _: &CacheKey, _: &[u8]) -> bool {
        match *self {}
    }

    fn discard(&self, _: &CacheKey) {
        match *self {}
    }
}
