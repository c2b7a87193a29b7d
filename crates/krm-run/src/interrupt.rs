//! A handle that stops running functions, from another thread or a signal handler.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Stops every function that was started with it, and all that are started later. Copies are the same handle.
///
/// It is one flag that running functions look at several times a second, so a signal handler may set it.
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
    /// A handle that stops nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Stops what runs. It returns at once; the functions end with [`crate::Reason::Interrupted`].
    pub fn interrupt(&self) {
        self.flag.store(true, Ordering::SeqCst);
    }

    /// Whether somebody wants an end.
    pub fn is_interrupted(&self) -> bool {
        self.flag.load(Ordering::SeqCst)
    }
}

/// The flag itself, for those who set flags on signals.
impl From<Arc<AtomicBool>> for Interrupt {
    fn from(flag: Arc<AtomicBool>) -> Self {
        Self { flag }
    }
}
