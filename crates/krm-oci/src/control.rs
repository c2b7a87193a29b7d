//! What the caller of a long transfer sees and decides: progress, and whether to stop.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::{Digest, OciKind};

/// How far a transfer is.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// The blob.
    pub digest: &'a Digest,
    /// Bytes that arrived.
    pub done: u64,
    /// Bytes in all.
    pub total: u64,
}

type Observer = Arc<dyn Fn(Progress<'_>) + Send + Sync>;

/// Stops transfers and observes them. Clones share the flag and the observer.
#[derive(Clone, Default)]
pub struct Control {
    stop: Option<Arc<AtomicBool>>,
    observer: Option<Observer>,
}

impl Control {
    /// Transfers end within a tenth of a second after the flag is set, also if a server does not answer. Threads that wait for it
    /// are left behind, and end with their time limits.
    #[must_use]
    pub fn stopped_by(self, flag: Arc<AtomicBool>) -> Self {
        Self { stop: Some(flag), ..self }
    }

    /// Calls the observer while bytes arrive, from several threads.
    #[must_use]
    pub fn observed_by(self, observer: impl Fn(Progress<'_>) + Send + Sync + 'static) -> Self {
        Self { observer: Some(Arc::new(observer)), ..self }
    }

    pub(crate) fn report(&self, progress: Progress<'_>) {
        if let Some(observer) = &self.observer {
            observer(progress);
        }
    }

    /// Whether a flag can stop transfers.
    pub(crate) fn can_stop(&self) -> bool {
        self.stop.is_some()
    }

    pub(crate) fn check(&self) -> Result<(), OciKind> {
        match &self.stop {
            Some(flag) if flag.load(Ordering::SeqCst) => Err(OciKind::Interrupted),
            _ => Ok(()),
        }
    }
}

impl fmt::Debug for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Control").field("stop", &self.stop).finish_non_exhaustive()
    }
}
