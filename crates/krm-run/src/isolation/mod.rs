//! Interpreters in a process of their own, with limits of the operating system and without access to anything.
//!
//! The interpreters of scripts and policies cannot bound what a single operation allocates, and recursion of a policy ends the
//! process. So the `krm` program starts itself again for them ([`serve()`]), hands over a request and reads the response. What goes
//! wrong there is an error here, and the package is unchanged.
//!
//! ```text
//! Interpreted ─► krm-catalog: request ─► ProcessInterpreter ─► child: limits, seccomp ─► evaluate ─┐
//!                             response ◄─────────────────────────────────────────────────────────┘
//! ```

mod confine;
mod process_interpreter;
mod serve;
mod thread_interpreter;

pub use process_interpreter::ProcessInterpreter;
pub use serve::serve;
pub(crate) use thread_interpreter::{ThreadInterpreter, wait};

use krm_catalog::interpreter::{LANGUAGES, Language};

/// The first argument of a process that only evaluates a request; see [`serve()`].
pub const INTERPRETER_ARGUMENT: &str = "__interpret";

/// Both processes must agree on requests and responses. They can differ where the program was replaced while it ran.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// How the child ends if it cannot respond.
mod exit {
    /// The interpreter panicked; the message is on standard error.
    pub(super) const PANIC: u8 = 70;
    /// The interpreter ran out of memory.
    pub(super) const MEMORY: u8 = 71;
    /// The arguments or the request are invalid.
    pub(super) const PROTOCOL: u8 = 72;
}

/// All interpreted languages.
fn languages() -> impl Iterator<Item = &'static Language> {
    #[cfg(feature = "cel")]
    let cel = Some(&crate::condition::LANGUAGE);
    #[cfg(not(feature = "cel"))]
    let cel = None;
    LANGUAGES.iter().chain(cel)
}
