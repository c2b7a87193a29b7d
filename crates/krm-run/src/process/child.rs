//! One child process from start to exit: its pipes are served, and it is stopped at a limit or an interrupt.

use std::io;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::group::Group;
use super::streams::Streams;
use crate::{Execution, ExecutionEnd, Invocation, RunKind};

/// How often the interrupt is polled.
const TICK: Duration = Duration::from_millis(50);
/// The same where the system cannot wait for the exit of a child together with its pipes.
const SHORT_TICK: Duration = Duration::from_millis(5);
/// A process that writes nothing for this long may have finished its answer.
const PAUSE: Duration = Duration::from_millis(4);
/// How many pauses of one process are reported, because an observer parses the whole output each time.
const MAX_OBSERVATIONS: usize = 3;
/// Larger outputs are not observed: interrupts are not polled while the observer works.
const MAX_OBSERVED_BYTES: usize = 16 * 1024 * 1024;
/// The time between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_millis(500);

/// Runs a command until it exits or is stopped.
pub(crate) fn run(command: Command, invocation: &mut Invocation<'_>) -> io::Result<Execution> {
    match invocation.interrupt.is_interrupted() {
        true => Ok(Execution::not_started(RunKind::Interrupted)),
        false => RunningChild::start(command)?.finish(invocation),
    }
}

/// A process that runs and has received no input yet. Dropping it kills its process group.
#[derive(Debug)]
pub(crate) struct RunningChild {
    group: Group,
}

impl RunningChild {
    /// Starts a command with pipes as standard streams, as the leader of a new process group.
    pub(crate) fn start(mut command: Command) -> io::Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Ok(Self { group: Group::spawn(&mut command)? })
    }

    /// Writes the input and reads the output until the process exits. The time limit counts from here, so that a process
    /// may be started ahead of its input.
    pub(crate) fn finish(self, invocation: &mut Invocation<'_>) -> io::Result<Execution> {
        let (start, mut group) = (Instant::now(), self.group);
        let limits = invocation.limits;
        let finds_echo = invocation.is_echo.is_some();
        let mut streams = Streams::new(group.child(), invocation.input, finds_echo, &limits)?;
        let stopped = watch(&group, &mut streams, start, invocation)?;
        let end = group.reap()?;
        streams.drain();
        let too_large =
            streams.is_too_large().then_some(RunKind::OutputTooLarge { limit: limits.output });
        let stderr = std::mem::take(&mut streams.stderr_tail);
        let mut stdout = match &mut invocation.is_echo {
            Some(is_echo) if streams.is_echo() && too_large.is_none() => {
                **is_echo = true;
                Vec::new()
            }
            _ => streams.into_output(),
        };
        stdout.truncate(limits.output);
        Ok(Execution {
            stdout,
            stderr,
            duration: start.elapsed(),
            image: None,
            end: too_large.or(stopped).map_or(end, ExecutionEnd::Stopped),
        })
    }
}

/// Serves the pipes until the child exits. Returns why it was stopped, if it was.
fn watch(
    group: &Group,
    streams: &mut Streams<'_>,
    start: Instant,
    invocation: &mut Invocation<'_>,
) -> io::Result<Option<RunKind>> {
    let tick = if group.exit_fd().is_some() { TICK } else { SHORT_TICK };
    let mut stopping: Option<(RunKind, Instant)> = None;
    let mut observed = Observations { left: MAX_OBSERVATIONS, bytes: 0 };
    while !group.has_exited() {
        match &stopping {
            None => {
                let reason = reason_to_stop(streams, start, invocation);
                stopping = reason.map(|reason| (reason, Instant::now()));
                if stopping.is_some() {
                    group.terminate();
                }
            }
            Some((_, since)) if since.elapsed() >= GRACE => group.kill(),
            Some(_) => {}
        }
        let left = invocation.limits.time.saturating_sub(start.elapsed());
        let wait = if stopping.is_some() { tick } else { tick.min(left) };
        if stopping.is_none() && observed.is_due(streams) {
            match streams.wait(group.exit_fd(), wait.min(PAUSE))? {
                true => _ = streams.transfer(),
                false => observed.report(streams, invocation),
            }
            continue;
        }
        streams.wait(group.exit_fd(), wait)?;
        streams.transfer();
    }
    Ok(stopping.map(|(reason, _)| reason))
}

/// How much of the output the observer has received, and how often it may receive more.
struct Observations {
    left: usize,
    bytes: usize,
}

impl Observations {
    /// Whether there is new output of a process that has read all of its input. One that still reads has not answered yet.
    fn is_due(&self, streams: &Streams<'_>) -> bool {
        let written = streams.written().len();
        let is_new = (self.bytes + 1..=MAX_OBSERVED_BYTES).contains(&written);
        self.left > 0 && streams.is_input_written() && is_new
    }

    fn report(&mut self, streams: &Streams<'_>, invocation: &mut Invocation<'_>) {
        (self.left, self.bytes) = (self.left - 1, streams.written().len());
        if let Some(observer) = &mut invocation.observer {
            observer(streams.written());
        }
    }
}

fn reason_to_stop(
    streams: &Streams<'_>,
    start: Instant,
    invocation: &Invocation<'_>,
) -> Option<RunKind> {
    let limits = &invocation.limits;
    if streams.is_too_large() {
        Some(RunKind::OutputTooLarge { limit: limits.output })
    } else if invocation.interrupt.is_interrupted() {
        Some(RunKind::Interrupted)
    } else {
        (start.elapsed() >= limits.time).then_some(RunKind::Timeout { limit: limits.time })
    }
}
