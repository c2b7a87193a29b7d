//! Ctrl-C and SIGTERM end what runs before they end krm.

use std::sync::OnceLock;

use krm_run::Interrupt;

/// The handle that a signal sets, from the first call on. A second signal ends krm at once.
pub(crate) fn on_signals() -> Interrupt {
    // Signals are the process's, and so is what they set.
    static HANDLE: OnceLock<Interrupt> = OnceLock::new();
    HANDLE.get_or_init(registered).clone()
}

#[cfg(unix)]
fn registered() -> Interrupt {
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
fn registered() -> Interrupt {
    Interrupt::new()
}
