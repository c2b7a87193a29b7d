//! Results that several machines share: looked up after those of this machine, and stored only if the user asks for that.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use krm_yaml::{File, NodeRef};

use super::entry::CachedResult;
use super::key::CallIdentity;
use super::{CacheKey, ResultCache, ResultStore, program};

/// What results of a shared store are used for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SharedMode {
    /// They are used.
    #[default]
    Read,
    /// They are used, and new ones are stored: for machines whose results others may trust.
    Write,
}

/// How many results were found in the shared store, were not, were stored, and were not stored because they contain Secrets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SharedCounts {
    /// Found.
    pub found: usize,
    /// Not found.
    pub missing: usize,
    /// Stored.
    pub stored: usize,
    /// Not stored, because they contain Secrets.
    pub secret: usize,
}

/// What the shared store gets of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sharing {
    /// Nothing, because it has the result or is only read.
    Nothing,
    /// Nothing, because the output contains Secrets: everybody who can read the store would see them.
    Secret,
    /// The result.
    Result,
}

/// A store that machines share.
pub(super) struct SharedResults {
    store: Arc<dyn ResultStore>,
    mode: SharedMode,
    /// When the command started, for the identity of its program.
    started: SystemTime,
    program: OnceLock<Option<[u8; 32]>>,
    counts: [AtomicUsize; 4],
}

impl SharedResults {
    pub(super) fn new(store: Arc<dyn ResultStore>, mode: SharedMode) -> Self {
        let (program, counts) = (OnceLock::new(), Default::default());
        Self { store, mode, started: SystemTime::now(), program, counts }
    }

    pub(super) fn counts(&self) -> SharedCounts {
        let [found, missing, stored, secret] =
            self.counts.each_ref().map(|it| it.load(Ordering::Relaxed));
        SharedCounts { found, missing, stored, secret }
    }

    fn count(&self, at: usize) {
        self.counts[at].fetch_add(1, Ordering::Relaxed);
    }

    /// The key of a call; none if nobody knows which build of krm this is.
    fn key(&self, call: &CallIdentity, local: &ResultCache) -> Option<CacheKey> {
        let program = self.program.get_or_init(|| program::digest(local, self.started));
        Some(call.shared_key(program.as_ref()?))
    }

    /// Looks up a result. An entry of another key, or a damaged one, is reported to the store.
    pub(super) fn get(&self, call: &CallIdentity, local: &ResultCache) -> Option<CachedResult> {
        let key = self.key(call, local)?;
        let result = self.store.get(&key).and_then(|bytes| {
            let result = CachedResult::decode(&key, &bytes);
            if result.is_none() {
                self.store.discard(&key);
            }
            result
        });
        self.count(usize::from(result.is_none()));
        result
    }

    /// What the store may get of a result with this output.
    pub(super) fn sharing(&self, output: &[u8]) -> Sharing {
        match self.mode {
            SharedMode::Read => Sharing::Nothing,
            SharedMode::Write if has_secrets(output) => Sharing::Secret,
            SharedMode::Write => Sharing::Result,
        }
    }

    /// Stores a result if it may be shared.
    pub(super) fn put(
        &self,
        call: &CallIdentity,
        result: &CachedResult,
        sharing: Sharing,
        local: &ResultCache,
    ) {
        match sharing {
            Sharing::Nothing => {}
            Sharing::Secret => self.count(3),
            Sharing::Result => {
                let stored = self
                    .key(call, local)
                    .is_some_and(|key| self.store.put(&key, &result.encode(&key)));
                if stored {
                    self.count(2);
                }
            }
        }
    }
}

impl fmt::Debug for SharedResults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedResults")
            .field("store", &self.store)
            .field("mode", &self.mode)
            .finish()
    }
}

/// Whether an output contains a Secret, as an item, in a List or as the functionConfig, or cannot be read. A reference to a Secret that has
/// an `apiVersion` counts, too: it has the form of a Secret.
fn has_secrets(output: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(output) else { return true };
    if !text.contains("Secret") {
        return false;
    }
    let Ok(file) = File::parse(text.to_owned()) else { return true };
    let is_secret = |node: NodeRef<'_>| {
        node.as_mapping().is_some_and(|it| {
            let kind = it.get("kind").and_then(|kind| kind.resolve().as_str());
            kind.is_some_and(|kind| kind == "Secret") && it.get("apiVersion").is_some()
        })
    };
    let has_errors = file.errors().next().is_some();
    let mut roots = file.documents().filter_map(|document| document.root());
    has_errors || roots.any(|root| root.descendants().any(is_secret))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_with_a_secret_is_not_shared() {
        let list = |rest: &str| format!("apiVersion: v1\nkind: ResourceList\n{rest}");
        for text in [
            list("items:\n- apiVersion: v1\n  kind: Secret\n  metadata: {name: a}\n"),
            list("items: []\nfunctionConfig:\n  apiVersion: v1\n  kind: Secret\n"),
            list("items:\n- apiVersion: v1\n  kind: List\n  items:\n  - {apiVersion: v1, kind: Secret, metadata: {name: a}}\n"),
            list("items: [\n# Secret"),
            "{\"apiVersion\": \"v1\", \"kind\": \"ResourceList\", \"items\": [{\"apiVersion\": \"v1\", \"kind\": \"Secret\"}]}".to_owned(),
        ] {
            assert!(has_secrets(text.as_bytes()), "{text}");
        }
        for text in [
            list("items:\n- apiVersion: v1\n  kind: SecretStore\n"),
            list("items:\n- apiVersion: x/v1\n  kind: Issuer\n  ref: {kind: Secret, name: a}\n"),
            list("items: []\n"),
        ] {
            assert!(!has_secrets(text.as_bytes()), "{text}");
        }
        assert!(has_secrets(b"\xff"));
    }
}
