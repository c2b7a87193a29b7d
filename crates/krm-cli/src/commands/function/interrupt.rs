//! Ctrl-C and SIGTERM end what runs before they end krm.

use krm_run::Interrupt;

/// The handle that a signal sets. A second signal ends krm at once.
#[cfg(unix)]
pub(crate) fn on_signals() -> Interrupt {
    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::flag;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;
    let set = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // The one that is registered first is called first: it ends krm if the flag is set already.
        let again = flag::register_conditional_default(signal, Arc::clone(&set));
        // Without a handler the signal does what it always does, and functions end with their pipes.
        let _ = again.and_then(|_| flag::register(signal, Arc::clone(&set)));
    }
    Interrupt::from(set)
}

#[cfg(not(unix))]
pub(crate) fn on_signals() -> Interrupt {
    Interrupt::new()
}
