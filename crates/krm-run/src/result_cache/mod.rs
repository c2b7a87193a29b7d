//! The result cache: what a function returned for exactly the same input, so that it need not run again.
//!
//! A function is cached if everything that its result depends on is known ([`FunctionIdentity`]): the digest of an image, the bytes of a
//! module, arguments, variables, and the content of mounts. With the input and the limits this is the key of an entry. Failures are never
//! stored, and neither are results of commands, of images without a digest, or of functions with network or writable mounts.
//!
//! This crate decides what is cached and checks entries; where they are stored is up to the caller, who passes a [`ResultStore`].

mod cached_function;
mod directory_digest;
mod entry;
mod key;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

pub(crate) use cached_function::CachedFunction;
pub(crate) use directory_digest::directory_digest;
pub use entry::is_entry_of;
pub use key::{CacheKey, FunctionIdentity};

use entry::CachedResult;

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

    /// Stores an entry.
    fn put(&self, key: &CacheKey, entry: &[u8]);

    /// Removes an entry that is damaged or wrong.
    fn discard(&self, key: &CacheKey);
}

/// A store, and what it is used for.
#[derive(Clone, Debug)]
pub struct ResultCache {
    store: Arc<dyn ResultStore>,
    mode: CacheMode,
    counts: Arc<[AtomicUsize; 2]>,
}

impl ResultCache {
    /// A cache with this store.
    pub fn new(store: Arc<dyn ResultStore>, mode: CacheMode) -> Self {
        Self { store, mode, counts: Arc::default() }
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

    /// Like [`ResultCache::get`], and counts the result as found or missing.
    fn look_up(&self, key: &CacheKey) -> Option<CachedResult> {
        let result = self.get(key);
        self.counts[usize::from(result.is_none())].fetch_add(1, Ordering::Relaxed);
        result
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
