//! A server with results that others share, as a store that fails at most a few times.
//!
//! A cache only saves time, so a server that costs time is not asked any more: at once if there is no connection or no response, and after
//! a few responses that are wrong or slow. The command then runs as if there were no server, with one warning at its end.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use krm_core::Diagnostic;
use krm_oci::{ActionCache, ActionCacheError, Authorization, Digest, ServerUrl};
use krm_run::{CacheKey, ResultStore};

use super::{CacheKind, Credentials, ServerAddress};

/// Wrong or slow responses after which a server is not asked any more.
const MAX_FAILURES: usize = 3;

/// A server that needs longer to say that it does not have a result is slower than many functions.
const SLOW: Duration = Duration::from_secs(1);

/// A server, until it fails.
#[derive(Debug)]
pub(crate) struct SharedServer {
    cache: ActionCache,
    downloads: Direction,
    uploads: Direction,
    /// Why requests fail.
    failure: OnceLock<String>,
}

/// What a server is used for, and how often that failed.
#[derive(Debug, Default)]
struct Direction {
    failures: AtomicUsize,
    is_off: AtomicBool,
}

impl Direction {
    fn is_off(&self) -> bool {
        self.is_off.load(Ordering::Relaxed)
    }

    fn turn_off(&self) {
        self.is_off.store(true, Ordering::Relaxed);
    }

    /// Counts a failure, and returns whether it was the last one.
    fn count_failure(&self) -> bool {
        let is_last = self.failures.fetch_add(1, Ordering::Relaxed) + 1 >= MAX_FAILURES;
        if is_last {
            self.turn_off();
        }
        is_last
    }
}

pub(super) fn open(
    address: &ServerAddress,
    credentials: Option<Credentials>,
) -> Result<SharedServer, Diagnostic> {
    let ServerAddress { url, source } = address;
    let url = ServerUrl::parse(url).map_err(|reason| {
        Diagnostic::error(CacheKind::InvalidServer { source, reason: reason.to_owned() })
    })?;
    let authorization = match credentials {
        None => None,
        Some(Credentials::Password { user, password }) => {
            Some(Authorization::basic(&user, &password))
        }
        Some(Credentials::Token(token)) => {
            Some(Authorization::bearer(&token).ok_or_else(|| {
                let reason =
                    "KRM_CACHE_TOKEN contains a space or another character that is not allowed";
                Diagnostic::error(CacheKind::InvalidCredentials { reason: reason.to_owned() })
            })?)
        }
    };
    Ok(SharedServer {
        cache: ActionCache::new(url, authorization),
        downloads: Direction::default(),
        uploads: Direction::default(),
        failure: OnceLock::new(),
    })
}

impl SharedServer {
    /// Why the server was not used, or not any more.
    pub(crate) fn failure(&self) -> Option<CacheKind> {
        let reason = self.failure.get()?.clone();
        Some(CacheKind::SharedCacheFailed { server: self.cache.server().to_string(), reason })
    }

    fn fail(&self, direction: &Direction, error: &ActionCacheError) {
        let _ = self.failure.set(error.to_string());
        match error {
            // Many may read who may not write.
            ActionCacheError::Denied { .. } => direction.turn_off(),
            error if error.is_lasting() => {
                self.downloads.turn_off();
                self.uploads.turn_off();
            }
            _ => {
                direction.count_failure();
            }
        }
    }

    /// Counts a late response, which does not justify a warning as long as it is an exception.
    fn count_late_response(&self) {
        if self.downloads.count_failure() {
            let _ = self.failure.set("responses take longer than a second".to_owned());
        }
    }
}

/// A key of the cache as the digest of an action.
fn action(key: &CacheKey) -> Option<Digest> {
    Digest::parse(&format!("sha256:{key}")).ok()
}

impl ResultStore for SharedServer {
    fn get(&self, key: &CacheKey) -> Option<Vec<u8>> {
        if self.downloads.is_off() {
            return None;
        }
        let start = Instant::now();
        match self.cache.get(&action(key)?) {
            Ok(None) if start.elapsed() > SLOW => {
                self.count_late_response();
                None
            }
            Ok(found) => found,
            Err(error) => {
                self.fail(&self.downloads, &error);
                None
            }
        }
    }

    fn put(&self, key: &CacheKey, entry: &[u8]) -> bool {
        let Some(action) = action(key).filter(|_| !self.uploads.is_off()) else { return false };
        match self.cache.put(&action, entry) {
            Ok(()) => true,
            // The function and this machine work with it all the same.
            Err(ActionCacheError::TooLarge) => false,
            Err(error) => {
                self.fail(&self.uploads, &error);
                false
            }
        }
    }

    /// The protocol has no way to remove an entry.
    fn discard(&self, _: &CacheKey) {
        let reason = "a result is damaged, or belongs to another function or input";
        self.fail(&self.downloads, &ActionCacheError::Invalid { reason });
    }
}
