//! The calls of WASI preview 1 that do something: streams, words, time, randomness, the end.

use std::time::{SystemTime, UNIX_EPOCH};

use wasmi::{Caller, Error, Extern};

use super::abi::{self, BADF, Errno, FAULT, INVAL, SPIPE, SUCCESS};
use super::state::{State, Stop};

/// Spec: a right is a bit; these are `fd_read` and `fd_write`.
const RIGHTS: [u64; 3] = [1 << 1, 1 << 6, 1 << 6];
/// One call fills at most this much, so that the clock is looked at.
const MOST_RANDOM: usize = 1 << 20;

type Ask<'a> = Caller<'a, State>;

/// Does a piece of work on the module's memory; what it could not do is an error number.
pub(super) fn with_memory(
    ask: &mut Ask<'_>,
    work: impl FnOnce(&mut [u8], &mut State) -> Result<(), Problem>,
) -> Result<Errno, Error> {
    ask.data().check().map_err(Error::host)?;
    let Some(Extern::Memory(memory)) = ask.get_export("memory") else { return Ok(FAULT) };
    let (memory, state) = memory.data_and_store_mut(ask);
    match work(memory, state) {
        Ok(()) => Ok(SUCCESS),
        Err(Problem::Errno(errno)) => Ok(errno),
        Err(Problem::Stop(stop)) => Err(Error::host(stop)),
    }
}

/// What the module is told, or why it ends here.
pub(super) enum Problem {
    Errno(Errno),
    Stop(Stop),
}

impl From<Errno> for Problem {
    fn from(errno: Errno) -> Self {
        Self::Errno(errno)
    }
}

impl From<Stop> for Problem {
    fn from(stop: Stop) -> Self {
        Self::Stop(stop)
    }
}

type Answer = Result<Errno, Error>;

pub(super) fn args_sizes_get(mut ask: Ask<'_>, count: i32, size: i32) -> Answer {
    with_memory(&mut ask, |memory, state| sizes(memory, &state.args, count, size))
}

pub(super) fn args_get(mut ask: Ask<'_>, list: i32, bytes: i32) -> Answer {
    with_memory(&mut ask, |memory, state| texts(memory, &state.args, list, bytes))
}

pub(super) fn environ_sizes_get(mut ask: Ask<'_>, count: i32, size: i32) -> Answer {
    with_memory(&mut ask, |memory, state| sizes(memory, &state.variables, count, size))
}

pub(super) fn environ_get(mut ask: Ask<'_>, list: i32, bytes: i32) -> Answer {
    with_memory(&mut ask, |memory, state| texts(memory, &state.variables, list, bytes))
}

fn sizes(memory: &mut [u8], texts: &[Vec<u8>], count: i32, size: i32) -> Result<(), Problem> {
    abi::put_u32(memory, count, texts.len())?;
    Ok(abi::put_u32(memory, size, texts.iter().map(Vec::len).sum())?)
}

fn texts(memory: &mut [u8], texts: &[Vec<u8>], list: i32, bytes: i32) -> Result<(), Problem> {
    let mut at = bytes;
    for (number, text) in texts.iter().enumerate() {
        abi::put_u32(memory, abi::further(list, number * 4)?, at as u32 as usize)?;
        abi::put(memory, at, text)?;
        at = abi::further(at, text.len())?;
    }
    Ok(())
}

pub(super) fn fd_read(mut ask: Ask<'_>, fd: i32, list: i32, count: i32, done: i32) -> Answer {
    with_memory(&mut ask, |memory, state| {
        if fd != 0 || !state.open[0] {
            return Err(BADF.into());
        }
        let mut total = 0;
        for (start, len) in abi::buffers(memory, list, count)? {
            let moved = state.read(abi::slice(memory, start, len)?);
            total += moved;
            if moved < len {
                break;
            }
        }
        Ok(abi::put_u32(memory, done, total)?)
    })
}

pub(super) fn fd_write(mut ask: Ask<'_>, fd: i32, list: i32, count: i32, done: i32) -> Answer {
    with_memory(&mut ask, |memory, state| {
        if !matches!(fd, 1 | 2) || !state.open[fd as usize] {
            return Err(BADF.into());
        }
        let mut total = 0;
        for (start, len) in abi::buffers(memory, list, count)? {
            state.write(fd, abi::slice(memory, start, len)?)?;
            total += len;
        }
        Ok(abi::put_u32(memory, done, total)?)
    })
}

pub(super) fn fd_close(mut ask: Ask<'_>, fd: i32) -> Answer {
    Ok(match open(ask.data_mut(), fd) {
        Ok(open) => {
            *open = false;
            SUCCESS
        }
        Err(errno) => errno,
    })
}

/// One of the standard streams, if it is open.
fn open(state: &mut State, fd: i32) -> Result<&mut bool, Errno> {
    let open = usize::try_from(fd).ok().and_then(|fd| state.open.get_mut(fd));
    open.filter(|open| **open).ok_or(BADF)
}

/// Streams have no flags that matter here: nothing waits, nothing is appended.
pub(super) fn fd_fdstat_set_flags(mut ask: Ask<'_>, fd: i32, _flags: i32) -> Answer {
    Ok(open(ask.data_mut(), fd).err().unwrap_or(SUCCESS))
}

pub(super) fn fd_fdstat_get(mut ask: Ask<'_>, fd: i32, stat: i32) -> Answer {
    with_memory(&mut ask, |memory, state| {
        open(state, fd)?;
        // Spec: type (unknown: a stream), flags, rights, rights of what is opened through it.
        let mut bytes = [0; 24];
        bytes[8..16].copy_from_slice(&RIGHTS[fd as usize].to_le_bytes());
        Ok(abi::put(memory, stat, &bytes)?)
    })
}

pub(super) fn fd_filestat_get(mut ask: Ask<'_>, fd: i32, stat: i32) -> Answer {
    with_memory(&mut ask, |memory, state| {
        open(state, fd)?;
        Ok(abi::put(memory, stat, &[0; 64])?)
    })
}

pub(super) fn fd_seek(mut ask: Ask<'_>, fd: i32, _by: i64, _from: i32, _to: i32) -> Answer {
    Ok(open(ask.data_mut(), fd).err().unwrap_or(SPIPE))
}

pub(super) fn fd_tell(mut ask: Ask<'_>, fd: i32, _at: i32) -> Answer {
    Ok(open(ask.data_mut(), fd).err().unwrap_or(SPIPE))
}

pub(super) fn clock_res_get(mut ask: Ask<'_>, _clock: i32, resolution: i32) -> Answer {
    with_memory(&mut ask, |memory, _| Ok(abi::put_u64(memory, resolution, 1_000)?))
}

pub(super) fn clock_time_get(mut ask: Ask<'_>, clock: i32, _precision: i64, time: i32) -> Answer {
    with_memory(&mut ask, |memory, state| {
        let now = now(state, clock as u32).ok_or(INVAL)?;
        Ok(abi::put_u64(memory, time, now)?)
    })
}

/// Spec: clock 0 is the time of day, 1 only goes on, 2 and 3 are what the processor did.
pub(super) fn now(state: &State, clock: u32) -> Option<u64> {
    let time = match clock {
        0 => SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default(),
        1..=3 => state.start.elapsed(),
        _ => return None,
    };
    Some(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
}

pub(super) fn random_get(mut ask: Ask<'_>, start: i32, len: i32) -> Answer {
    with_memory(&mut ask, |memory, state| {
        for chunk in abi::slice(memory, start, len as u32 as usize)?.chunks_mut(MOST_RANDOM) {
            state.check()?;
            getrandom::fill(chunk).map_err(|_| abi::NOSYS)?;
        }
        Ok(())
    })
}

pub(super) fn sched_yield(mut ask: Ask<'_>) -> Answer {
    with_memory(&mut ask, |_, _| Ok(()))
}

pub(super) fn proc_exit(_: Ask<'_>, code: i32) -> Result<(), Error> {
    Err(Error::host(Stop::Exit(code)))
}

/// Folders that are open from the start: there are none, and this is how a module learns it.
pub(super) fn no_folder(_: Ask<'_>, _fd: i32, _stat: i32) -> Errno {
    BADF
}

/// The same for their names.
pub(super) fn no_folder_name(_: Ask<'_>, _fd: i32, _name: i32, _len: i32) -> Errno {
    BADF
}
