//! One process from start to end: fed and listened to, and stopped when it takes too much.

use std::io;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::group::Group;
use super::streams::Streams;
use crate::function::{End, Ran};
use crate::{Interrupt, Limits, Listener, Reason};

/// How often an interrupt is looked for.
const TICK: Duration = Duration::from_millis(50);
/// The same where the end of a child cannot be waited for.
const SHORT_TICK: Duration = Duration::from_millis(5);
/// A process that writes nothing for so long may be at its end.
const PAUSE: Duration = Duration::from_millis(4);
/// How many pauses of one process are told, as who listens reads all of it each time.
const PAUSES: usize = 3;
/// How much is told: while somebody listens, nobody looks for interrupts.
const MOST_TOLD: usize = 16 * 1024 * 1024;
/// What a process gets to end by itself once it was asked to.
const GRACE: Duration = Duration::from_millis(500);

/// Runs a command to its end.
pub(crate) fn run(
    command: Command,
    input: &[u8],
    limits: &Limits,
    interrupt: &Interrupt,
    listener: &mut Listener<'_>,
) -> io::Result<Ran> {
    match interrupt.is_interrupted() {
        true => Ok(never_started(limits)),
        false => Started::new(command)?.serve(input, limits, interrupt, listener),
    }
}

/// A process that runs and got no input yet. Dropped, it is gone with all that it started.
#[derive(Debug)]
pub(crate) struct Started {
    group: Group,
}

impl Started {
    /// Starts a command. Its standard streams are pipes, and it leads a process group.
    pub(crate) fn new(mut command: Command) -> io::Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Ok(Self { group: Group::spawn(&mut command)? })
    }

    /// Gives it its input and serves it to its end. Its time counts from here.
    pub(crate) fn serve(
        self,
        input: &[u8],
        limits: &Limits,
        interrupt: &Interrupt,
        listener: &mut Listener<'_>,
    ) -> io::Result<Ran> {
        let (start, mut group) = (Instant::now(), self.group);
        let mut streams = Streams::new(group.child(), input, limits)?;
        let stopped = watch(&group, &mut streams, start, limits, interrupt, listener)?;
        let end = group.reap()?;
        streams.drain();
        let over = streams.is_over().then_some(Reason::TooMuchOutput(limits.output));
        let mut stdout = streams.output;
        stdout.truncate(limits.output);
        Ok(Ran {
            stdout,
            stderr: streams.tail,
            time: start.elapsed(),
            end: over.or(stopped).map_or(end, End::Stopped),
        })
    }
}

fn never_started(limits: &Limits) -> Ran {
    Ran {
        stdout: Vec::new(),
        stderr: crate::Tail::new(limits.stderr),
        time: Duration::ZERO,
        end: End::Stopped(Reason::Interrupted),
    }
}

/// Serves the pipes until the child ended, and says why it was stopped if it was.
fn watch(
    group: &Group,
    streams: &mut Streams<'_>,
    start: Instant,
    limits: &Limits,
    interrupt: &Interrupt,
    listener: &mut Listener<'_>,
) -> io::Result<Option<Reason>> {
    let tick = if group.exit().is_some() { TICK } else { SHORT_TICK };
    let mut stopping: Option<(Reason, Instant)> = None;
    let mut pauses = Pauses { left: PAUSES, told: 0 };
    while !group.has_ended() {
        match &stopping {
            None => {
                let reason = reason_to_stop(streams, start, limits, interrupt);
                stopping = reason.map(|reason| (reason, Instant::now()));
                if stopping.is_some() {
                    group.ask();
                }
            }
            Some((_, since)) if since.elapsed() >= GRACE => group.kill(),
            Some(_) => {}
        }
        let left = limits.time.saturating_sub(start.elapsed());
        let wait = if stopping.is_some() { tick } else { tick.min(left) };
        if stopping.is_none() && pauses.is_next(streams) {
            match streams.wait(group.exit(), wait.min(PAUSE))? {
                true => _ = streams.serve(),
                false => pauses.tell(streams, listener),
            }
            continue;
        }
        streams.wait(group.exit(), wait)?;
        streams.serve();
    }
    Ok(stopping.map(|(reason, _)| reason))
}

/// What a listener was told, and how often it may be told more.
struct Pauses {
    left: usize,
    told: usize,
}

impl Pauses {
    /// Whether the listener knows less than there is, of a process that wants nothing more.
    fn is_next(&self, streams: &Streams<'_>) -> bool {
        let written = streams.output.len();
        self.left > 0 && streams.is_fed() && (self.told + 1..=MOST_TOLD).contains(&written)
    }

    fn tell(&mut self, streams: &Streams<'_>, listener: &mut Listener<'_>) {
        (self.left, self.told) = (self.left - 1, streams.output.len());
        listener(&streams.output);
    }
}

fn reason_to_stop(
    streams: &Streams<'_>,
    start: Instant,
    limits: &Limits,
    interrupt: &Interrupt,
) -> Option<Reason> {
    if streams.is_over() {
        Some(Reason::TooMuchOutput(limits.output))
    } else if interrupt.is_interrupted() {
        Some(Reason::Interrupted)
    } else {
        (start.elapsed() >= limits.time).then_some(Reason::Timeout(limits.time))
    }
}
