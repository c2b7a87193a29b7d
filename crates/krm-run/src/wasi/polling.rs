//! `poll_oneoff`: waits for a clock, or for a stream, which is always ready.

use std::thread;
use std::time::Duration;

use wasmi::{Caller, Error};

use super::abi::{self, Errno, INVAL};
use super::host::{Problem, now, with_memory};
use super::state::State;

/// The maximum number of subscriptions of a call.
const MAX_SUBSCRIPTIONS: u32 = 1024;
/// How often the interrupt is polled.
const TICK: Duration = Duration::from_millis(50);
/// Spec: the sizes of a subscription and an event.
const SUBSCRIPTION: usize = 48;
const EVENT: usize = 32;

enum Wait {
    /// Until a clock reaches this time.
    Clock { clock: u32, until: u64 },
    /// A stream, which is always ready.
    Stream,
}

struct Subscription {
    user: [u8; 8],
    tag: u8,
    wait: Wait,
}

pub(super) fn poll_oneoff(
    mut call: Caller<'_, State>,
    list: i32,
    events: i32,
    count: i32,
    event_count: i32,
) -> Result<Errno, Error> {
    with_memory(&mut call, |memory, state| {
        let count = count as u32;
        if count == 0 || count > MAX_SUBSCRIPTIONS {
            return Err(INVAL.into());
        }
        let mut subscriptions = Vec::with_capacity(count as usize);
        for number in 0..count as usize {
            subscriptions.push(read(memory, state, abi::offset(list, number * SUBSCRIPTION)?)?);
        }
        let ready = wait(state, &subscriptions)?;
        for (number, subscription) in ready.iter().enumerate() {
            write(memory, abi::offset(events, number * EVENT)?, subscription)?;
        }
        Ok(abi::put_u32(memory, event_count, ready.len())?)
    })
}

/// Spec: user data, tag, then a clock (id, timeout, precision, flags) or a stream.
fn read(memory: &mut [u8], state: &State, at: i32) -> Result<Subscription, Problem> {
    let [tag] = abi::get::<1>(memory, abi::offset(at, 8)?)?;
    let wait = match tag {
        0 => {
            let clock = abi::get_u32(memory, abi::offset(at, 16)?)?;
            let time = u64::from_le_bytes(abi::get(memory, abi::offset(at, 24)?)?);
            let flags = u16::from_le_bytes(abi::get(memory, abi::offset(at, 40)?)?);
            let now = now(state, clock).ok_or(INVAL)?;
            let until = if flags & 1 == 1 { time } else { now.saturating_add(time) };
            Wait::Clock { clock, until }
        }
        1 | 2 => Wait::Stream,
        _ => return Err(INVAL.into()),
    };
    Ok(Subscription { user: abi::get(memory, at)?, tag, wait })
}

/// Sleeps until a subscription is ready, in ticks so that it can be interrupted.
fn wait<'a>(
    state: &State,
    subscriptions: &'a [Subscription],
) -> Result<Vec<&'a Subscription>, Problem> {
    loop {
        let left = |subscription: &Subscription| match subscription.wait {
            Wait::Stream => 0,
            Wait::Clock { clock, until } => {
                until.saturating_sub(now(state, clock).unwrap_or(until))
            }
        };
        let ready: Vec<&Subscription> = subscriptions.iter().filter(|it| left(it) == 0).collect();
        if !ready.is_empty() {
            return Ok(ready);
        }
        let shortest = subscriptions.iter().map(left).min().unwrap_or_default();
        thread::sleep(Duration::from_nanos(shortest).min(TICK));
        state.check()?;
    }
}

/// Spec: user data, error number, tag, and for a stream the number of bytes that are ready.
fn write(memory: &mut [u8], at: i32, subscription: &Subscription) -> Result<(), Problem> {
    let mut event = [0; EVENT];
    event[..8].copy_from_slice(&subscription.user);
    event[10] = subscription.tag;
    if matches!(subscription.wait, Wait::Stream) {
        event[16] = 1;
    }
    Ok(abi::put(memory, at, &event)?)
}
