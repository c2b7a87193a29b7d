//! Ctrl-C and SIGTERM stop functions before they end krm.

use std::sync::OnceLock;

use krm_run::Interrupt;

/// The handle that SIGINT and SIGTERM set, from the first call on. A second signal ends krm at once.
pub(crate) fn on_signals() -> Interrupt {
    // Signal handlers are global to the process, and so is the flag that they set.
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
        // Handlers run in the order of registration: the first one ends krm if the flag is set already.
        let again = flag::register_conditional_default(signal, Arc::clone(&set));
        // Without a handler the signal ends krm, and functions end when their pipes are closed.
        let _ = again.and_then(|_| flag::register(signal, Arc::clone(&set)));
    }
    Interrupt::from(set)
}

#[cfg(not(unix))]
fn registered() -> Interrupt {
    Interrupt::new()
}
