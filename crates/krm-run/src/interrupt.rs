//! A handle that stops running functions, from another thread or a signal handler.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Stops every function that was started with it, and all that are started later. Clones share the flag.
///
/// It is one atomic flag that runtimes poll several times a second, so a signal handler may set it.
///
/// ```
/// use krm_run::Interrupt;
///
/// let interrupt = Interrupt::new();
/// let copy = interrupt.clone();
/// copy.interrupt();
/// assert!(interrupt.is_interrupted());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Interrupt {
    flag: Arc<AtomicBool>,
}

impl Interrupt {
    /// A handle that is not set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Stops all functions without waiting for them; they end with [`crate::RunKind::Interrupted`].
    pub fn interrupt(&self) {
        self.flag.store(true, Ordering::SeqCst);
    }

    /// The flag itself, for work that is not done by a function.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.flag)
    }

    /// Whether the handle is set.
    pub fn is_interrupted(&self) -> bool {
        self.flag.load(Ordering::SeqCst)
    }
}

/// A handle for a flag that a signal handler sets.
impl From<Arc<AtomicBool>> for Interrupt {
    fn from(flag: Arc<AtomicBool>) -> Self {
        Self { flag }
    }
}
