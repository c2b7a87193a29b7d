//! SIGINT, SIGTERM and SIGHUP: functions are stopped and unfinished writes are rolled back before the signal ends krm.
//!
//! Handlers are installed only while there is something to clean up; at any other time a signal ends krm as it ends any program.

use krm_run::Interrupt;

/// The handle that signals set, so that functions are stopped before krm ends. A second signal ends krm at once.
pub(crate) fn on_signals() -> Interrupt {
    system::while_functions_run()
}

/// The signal that krm has received and is going to end with.
pub(crate) fn received() -> Option<&'static str> {
    system::received()
}

/// A part of the run that leaves files behind if it is killed: signals are noted, and end krm when the part is over.
pub(crate) struct UninterruptedSection {
    before: system::Mode,
}

impl UninterruptedSection {
    pub(crate) fn begin() -> Self {
        Self { before: system::defer() }
    }
}

impl Drop for UninterruptedSection {
    fn drop(&mut self) {
        system::restore(self.before);
    }
}

/// Ends krm with the signal that it has received, if any: shells report 130, 143 or 129, and stop their loops after Ctrl-C.
pub(crate) fn end_if_received() {
    system::end_if_received();
}

/// Forgets a signal that has been obeyed: a server that was asked to end has succeeded.
#[cfg(feature = "grpc")]
pub(crate) fn forget() {
    system::forget();
}

#[cfg(unix)]
mod system {
    use std::io;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use std::sync::{Arc, Mutex, OnceLock, PoisonError};

    use krm_run::Interrupt;
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::{SigId, flag, low_level};

    /// What a signal does.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) enum Mode {
        /// It ends krm.
        End,
        /// It stops functions; a second one ends krm.
        StopFunctions,
        /// It is noted.
        Defer,
    }

    /// The last signal; 0 for none.
    static RECEIVED: AtomicUsize = AtomicUsize::new(0);

    /// Whether the next signal ends krm at once.
    static ENDS_AT_ONCE: AtomicBool = AtomicBool::new(true);

    /// Handlers that make the second signal end krm at once, for as long as functions run.
    static SECOND_SIGNAL: Mutex<Vec<SigId>> = Mutex::new(Vec::new());

    pub(super) fn while_functions_run() -> Interrupt {
        let interrupt = handlers();
        let mut second = second_signal();
        if second.is_empty() {
            ENDS_AT_ONCE.store(received().is_some(), Ordering::SeqCst);
            let register = |signal: &i32| flag::register(*signal, &ENDS_AT_ONCE).ok();
            second.extend(signals().iter().filter_map(register));
        }
        interrupt
    }

    pub(super) fn received() -> Option<&'static str> {
        match RECEIVED.load(Ordering::SeqCst) {
            0 => None,
            signal => i32::try_from(signal).ok().and_then(low_level::signal_name),
        }
    }

    /// Notes signals from now on. Returns what they did before.
    pub(super) fn defer() -> Mode {
        handlers();
        let second: Vec<SigId> = second_signal().drain(..).collect();
        let stops_functions = !second.is_empty();
        for id in second {
            low_level::unregister(id);
        }
        match ENDS_AT_ONCE.swap(false, Ordering::SeqCst) {
            _ if stops_functions => Mode::StopFunctions,
            true => Mode::End,
            false => Mode::Defer,
        }
    }

    pub(super) fn restore(mode: Mode) {
        match mode {
            // krm ends anyway, and a second signal must not keep it from reporting why.
            _ if received().is_some() => {}
            Mode::End => ENDS_AT_ONCE.store(true, Ordering::SeqCst),
            Mode::StopFunctions => _ = while_functions_run(),
            Mode::Defer => {}
        }
    }

    pub(super) fn end_if_received() {
        let Ok(signal @ 1..) = i32::try_from(RECEIVED.load(Ordering::SeqCst)) else { return };
        if !is_init() {
            let _ = low_level::emulate_default_handler(signal);
        }
        low_level::exit(128 + signal);
    }

    #[cfg(feature = "grpc")]
    pub(super) fn forget() {
        RECEIVED.store(0, Ordering::SeqCst);
    }

    fn second_signal() -> std::sync::MutexGuard<'static, Vec<SigId>> {
        SECOND_SIGNAL.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Installs the handlers, once. Without them a signal ends krm, and the next run cleans up.
    fn handlers() -> Interrupt {
        static INSTALLED: OnceLock<Interrupt> = OnceLock::new();
        let install = || {
            let functions = Arc::new(AtomicBool::new(false));
            for signal in signals() {
                let _ = install(*signal, &functions);
            }
            Interrupt::from(functions)
        };
        INSTALLED.get_or_init(install).clone()
    }

    fn install(signal: i32, functions: &Arc<AtomicBool>) -> io::Result<()> {
        // Handlers run in the order of registration.
        match is_init() {
            true => flag::register_conditional_shutdown(signal, 128 + signal, &ENDS_AT_ONCE)?,
            false => flag::register_conditional_default(signal, &ENDS_AT_ONCE)?,
        };
        flag::register_usize(signal, &RECEIVED, signal.unsigned_abs() as usize)?;
        flag::register(signal, Arc::clone(functions))?;
        Ok(())
    }

    /// The default action of a signal does not end the first process of a container.
    fn is_init() -> bool {
        std::process::id() == 1
    }

    /// The signals that end krm. One that the parent process ignores, as `nohup` ignores SIGHUP, remains ignored.
    fn signals() -> &'static [i32] {
        static SIGNALS: OnceLock<Vec<i32>> = OnceLock::new();
        let find = || {
            let ignored = ignored_signals();
            let is_default = |signal: &i32| ignored >> (signal - 1) & 1 == 0;
            [SIGINT, SIGTERM, SIGHUP].into_iter().filter(is_default).collect()
        };
        SIGNALS.get_or_init(find)
    }

    /// The mask of ignored signals, where the system shows it.
    fn ignored_signals() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
    }
}

#[cfg(not(unix))]
mod system {
    use krm_run::Interrupt;

    /// A signal always ends krm.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) struct Mode;

    pub(super) fn while_functions_run() -> Interrupt {
        Interrupt::new()
    }

    pub(super) fn received() -> Option<&'static str> {
        None
    }

    pub(super) fn defer() -> Mode {
        Mode
    }

    pub(super) fn restore(_: Mode) {}

    #[cfg(feature = "grpc")]
    pub(super) fn forget() {}

    pub(super) fn end_if_received() {}
}
