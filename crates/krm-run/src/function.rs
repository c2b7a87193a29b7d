//! One function, whatever runs it: bytes go in, an outcome comes out.

use std::time::Duration;

use crate::{Failure, Image, Interrupt, Limits, Reason, Tail};

/// Something that transforms its input. The runtimes are the ways to be one: [`crate::Exec`], [`crate::Container`],
/// [`crate::Wasi`].
pub trait Function: Send + Sync {
    /// What people call it: the command, the image, the file.
    fn name(&self) -> &str;

    /// Starts ahead what the next run needs, so that it is ready when there is input. Only a function that can
    /// touch nothing does; and where one cannot be started, running it says so.
    fn start(&self, _limits: &Limits) {}

    /// Runs to the end, to a limit or to an interrupt. When it returns, the process group, container or
    /// module is gone.
    ///
    /// # Errors
    /// A [`Failure`] for everything but exit code 0 and a text on standard output.
    fn run(
        &self,
        input: &[u8],
        limits: &Limits,
        interrupt: &Interrupt,
    ) -> Result<Outcome, Failure> {
        self.run_heard(input, limits, interrupt, &mut |_| {})
    }

    /// The same with somebody who listens: what a process wrote so far is told when it falls silent before it ends. So
    /// its answer can be read while an engine clears away the container. One that ends without a pause is told nothing.
    ///
    /// # Errors
    /// Those of [`Function::run`].
    fn run_heard(
        &self,
        input: &[u8],
        limits: &Limits,
        interrupt: &Interrupt,
        listener: &mut Listener<'_>,
    ) -> Result<Outcome, Failure>;
}

/// Gets what a function wrote so far, from its first byte.
pub type Listener<'a> = dyn FnMut(&[u8]) + 'a;

/// What a function gave that ended well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Its standard output: UTF-8, and not empty.
    pub stdout: String,
    /// The end of its standard error.
    pub stderr: Tail,
    /// From start to end.
    pub time: Duration,
    /// The image that ran, for a container.
    pub image: Option<Image>,
}

/// How a function ended, before anybody judged it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Exit(i32),
    #[cfg_attr(not(unix), allow(dead_code, reason = "only processes get signals"))]
    Signal(i32),
    Stopped(Reason),
}

/// A function that ended: what it wrote, and how long it took.
#[derive(Clone, Debug)]
pub(crate) struct Ran {
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Tail,
    pub(crate) time: Duration,
    pub(crate) end: End,
}

impl Ran {
    /// An outcome for exit code 0 and a text, a failure for all else.
    pub(crate) fn judge(self, name: &str) -> Result<Outcome, Failure> {
        let reason = match &self.end {
            End::Exit(0) if self.stdout.iter().all(u8::is_ascii_whitespace) => Reason::Empty,
            End::Exit(0) => return self.into_outcome(name),
            End::Exit(code) => Reason::Exit(*code),
            End::Signal(number) => Reason::Signal(*number),
            End::Stopped(reason) => reason.clone(),
        };
        Err(self.into_failure(name, reason))
    }

    fn into_outcome(self, name: &str) -> Result<Outcome, Failure> {
        match String::from_utf8(self.stdout) {
            Ok(stdout) => Ok(Outcome { stdout, stderr: self.stderr, time: self.time, image: None }),
            Err(error) => {
                let reason = Reason::NotUtf8 { at: error.utf8_error().valid_up_to() };
                let ran = Self { stdout: error.into_bytes(), ..self };
                Err(ran.into_failure(name, reason))
            }
        }
    }

    pub(crate) fn into_failure(self, name: &str, reason: Reason) -> Failure {
        Failure::new(name, reason).saying(self.stdout, self.stderr, self.time)
    }
}
