//! The interface of all runtimes: bytes on standard input, bytes on standard output.

use crate::{Execution, FunctionIdentity, Interrupt, Limits};

/// A KRM function that reads a ResourceList and writes one. Implemented by the runtimes: [`crate::Exec`],
/// [`crate::Container`] and [`crate::Wasi`].
pub trait Function: Send + Sync {
    /// The command, the image or the file, for messages.
    fn name(&self) -> &str;

    /// Starts what the next run needs, so that it is ready when the input is. Only a function without any access to
    /// the outside does this; errors are reported by [`Function::run`].
    fn start_ahead(&self, _limits: &Limits) {}

    /// Runs the function until it exits, reaches a limit or is interrupted. When this returns, the process group,
    /// container or module is gone.
    fn run(&self, invocation: &mut Invocation<'_>) -> Execution;

    /// Everything that the result depends on, apart from input and limits; none if that is not known, so that the result must not be
    /// cached.
    fn identity(&self) -> Option<FunctionIdentity> {
        None
    }

    /// Called when the output of the last run was read without an error.
    fn output_accepted(&self) {}
}

impl Function for Box<dyn Function> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn start_ahead(&self, limits: &Limits) {
        (**self).start_ahead(limits);
    }

    fn run(&self, invocation: &mut Invocation<'_>) -> Execution {
        (**self).run(invocation)
    }

    fn identity(&self) -> Option<FunctionIdentity> {
        (**self).identity()
    }

    fn output_accepted(&self) {
        (**self).output_accepted();
    }
}

/// One call of a function: its input, and how it is limited, interrupted and observed.
///
/// ```
/// use std::time::Duration;
/// use krm_run::{Invocation, Limits};
///
/// let limits = Limits { time: Duration::from_secs(10), ..Limits::default() };
/// let invocation = Invocation { limits, ..Invocation::new(b"kind: ResourceList\n") };
/// assert!(!invocation.interrupt.is_interrupted());
/// ```
pub struct Invocation<'a> {
    /// The bytes for standard input.
    pub input: &'a [u8],
    /// What the function may use.
    pub limits: Limits,
    /// Stops the function.
    pub interrupt: Interrupt,
    /// Receives the output that was written so far each time a process pauses before its end.
    ///
    /// An engine needs tens of milliseconds to remove a container after the function in it has answered. An observer can
    /// parse the answer meanwhile. A process that exits without a pause is not observed.
    pub observer: Option<&'a mut OutputObserver<'a>>,
    /// Set if the output of a process is its input. Then the output is not in [`Execution::stdout`]: a large package needs no memory for
    /// two copies of one text. Without this flag, or from another runtime, the output is always there.
    pub is_echo: Option<&'a mut bool>,
}

/// Receives everything that a function has written so far, from its first byte.
pub type OutputObserver<'a> = dyn FnMut(&[u8]) + 'a;

impl<'a> Invocation<'a> {
    /// A call with default limits that nobody interrupts or observes.
    pub fn new(input: &'a [u8]) -> Self {
        let (limits, interrupt) = (Limits::default(), Interrupt::new());
        Self { input, limits, interrupt, observer: None, is_echo: None }
    }
}

impl std::fmt::Debug for Invocation<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut debug = f.debug_struct("Invocation");
        debug
            .field("input", &self.input.len())
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
