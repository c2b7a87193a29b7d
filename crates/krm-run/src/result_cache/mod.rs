//! The result cache: what a function returned for exactly the same input, so that it need not run again.
//!
//! A function is cached if everything that its result depends on is known ([`FunctionIdentity`]): the digest of an image, the bytes of a
//! module, arguments, variables, and the content of mounts. With the input and the limits this is the key of an entry. Failures are never
//! stored, and neither are results of commands, of images without a digest, or of functions with network or writable mounts.
//!
//! This crate decides what is cached and checks entries; where they are stored is up to the caller, who passes a [`ResultStore`], and
//! perhaps a second one that several machines share ([`ResultCache::with_shared`]).

mod cached_function;
mod directory_digest;
mod entry;
mod key;
mod program;
mod shared;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

pub(crate) use cached_function::CachedFunction;
pub(crate) use directory_digest::directory_digest;
pub use entry::is_entry_of;
pub use key::{CacheKey, FunctionIdentity};
pub use shared::{SharedCounts, SharedMode};

use entry::CachedResult;
use key::CallIdentity;
use shared::{SharedResults, Sharing};

/// What the cache is used for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CacheMode {
    /// Results are used, and nothing is stored.
    Read,
    /// Results are used and stored.
    #[default]
    Write,
    /// Functions run even if there is a result, and another result is an error.
    Verify,
}

/// Where entries are stored. An entry that cannot be read or stored is never an error: the function just runs.
pub trait ResultStore: fmt::Debug + Send + Sync {
    /// The bytes of an entry, as they were stored.
    fn get(&self, key: &CacheKey) -> Option<Vec<u8>>;

    /// Stores an entry, and returns whether that succeeded.
    fn put(&self, key: &CacheKey, entry: &[u8]) -> bool;

    /// Removes an entry that is damaged or wrong.
    fn discard(&self, key: &CacheKey);
}

/// A store, and what it is used for.
#[derive(Clone, Debug)]
pub struct ResultCache {
    store: Arc<dyn ResultStore>,
    shared: Option<Arc<SharedResults>>,
    mode: CacheMode,
    counts: Arc<[AtomicUsize; 2]>,
}

/// What the stores have for a call.
#[derive(Debug, Default)]
struct Known {
    local: Option<CachedResult>,
    shared: Option<CachedResult>,
}

impl ResultCache {
    /// A cache with this store.
    pub fn new(store: Arc<dyn ResultStore>, mode: CacheMode) -> Self {
        Self { store, shared: None, mode, counts: Arc::default() }
    }

    /// The cache with a second store, which machines share. It is asked for what the first one does not have.
    ///
    /// What it returns is checked like any entry, but it decides what functions return: only those who may write to the packages may
    /// write to it.
    #[must_use]
    pub fn with_shared(self, store: Arc<dyn ResultStore>, mode: SharedMode) -> Self {
        Self { shared: Some(Arc::new(SharedResults::new(store, mode))), ..self }
    }

    /// What was found in the shared store and stored there; none without such a store.
    pub fn shared_counts(&self) -> Option<SharedCounts> {
        self.shared.as_ref().map(|it| it.counts())
    }

    /// How many results were found, and how many were not.
    pub fn counts(&self) -> (usize, usize) {
        let [found, missing] = &*self.counts;
        (found.load(Ordering::Relaxed), missing.load(Ordering::Relaxed))
    }

    fn get(&self, key: &CacheKey) -> Option<CachedResult> {
        let bytes = self.store.get(key)?;
        let result = CachedResult::decode(key, &bytes);
        if result.is_none() {
            self.store.discard(key);
        }
        result
    }

    /// Looks up a call, and counts it as found or missing.
    fn look_up(&self, call: &CallIdentity) -> Known {
        let mut known = Known { local: self.get(&call.key()), shared: None };
        // What is verified is compared with both.
        if let Some(shared) = &self.shared
            && (known.local.is_none() || self.mode == CacheMode::Verify)
        {
            known.shared = shared.get(call, self);
        }
        let is_missing = known.local.is_none() && known.shared.is_none();
        self.counts[usize::from(is_missing)].fetch_add(1, Ordering::Relaxed);
        known
    }

    /// What the shared store may get of a result with this output.
    fn sharing(&self, output: &[u8]) -> Sharing {
        let is_written = self.mode != CacheMode::Read;
        let shared = self.shared.as_ref().filter(|_| is_written);
        shared.map_or(Sharing::Nothing, |it| it.sharing(output))
    }

    /// Stores the result of a call where it is not known yet.
    fn add(&self, call: &CallIdentity, result: &CachedResult, sharing: Sharing) {
        self.put(&call.key(), result);
        if let Some(shared) = &self.shared {
            shared.put(call, result, sharing, self);
        }
    }

    fn put(&self, key: &CacheKey, result: &CachedResult) {
        if self.mode != CacheMode::Read {
            self.store.put(key, &result.encode(key));
        }
    }

    /// Whether a module was read without an error before. Such a module is only compiled if its result is not in the cache.
    pub(crate) fn is_known_module(&self, digest: &[u8; 32]) -> bool {
        self.get(&known_module(digest)).is_some()
    }

    /// Records that a module can be read.
    pub(crate) fn add_known_module(&self, digest: &[u8; 32]) {
        self.put(&known_module(digest), &CachedResult::default());
    }
}

fn known_module(digest: &[u8; 32]) -> CacheKey {
    FunctionIdentity::new("known module").field("module", digest).key()
}

/// The SHA-256 digest of some bytes.
pub(crate) fn bytes_digest(bytes: &[u8]) -> [u8; 32] {
    use sha2::{Digest, Sha256};
    Sha256::digest(bytes).into()
}

#[cfg(test)]
mod tests;
