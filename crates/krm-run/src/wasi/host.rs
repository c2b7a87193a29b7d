//! The WASI preview 1 calls that are implemented: streams, arguments, environment, clocks, random bytes and exit.
//!
//! Pointers of a module are not trusted: every access to its memory is bounds-checked, and an error is returned to the
//! module as an error number.

use std::time::{SystemTime, UNIX_EPOCH};

use wasmi::{Caller, Error, Extern};

use super::abi::{self, BADF, Errno, FAULT, INVAL, SPIPE, SUCCESS};
use super::state::{State, Stop};

/// Spec: a right is a bit; these are `fd_read` and `fd_write`.
const RIGHTS: [u64; 3] = [1 << 1, 1 << 6, 1 << 6];
/// Random bytes between two checks of the clock.
const RANDOM_CHUNK: usize = 1 << 20;

type Call<'a> = Caller<'a, State>;

/// Runs `work` on the memory of the module. An error number is the result of the call; a [`Stop`] ends the module.
pub(super) fn with_memory(
    call: &mut Call<'_>,
    work: impl FnOnce(&mut [u8], &mut State) -> Result<(), Problem>,
) -> Result<Errno, Error> {
    call.data().check().map_err(Error::host)?;
    let Some(Extern::Memory(memory)) = call.get_export("memory") else { return Ok(FAULT) };
    let (memory, state) = memory.data_and_store_mut(call);
    match work(memory, state) {
        Ok(()) => Ok(SUCCESS),
        Err(Problem::Errno(errno)) => Ok(errno),
        Err(Problem::Stop(stop)) => Err(Error::host(stop)),
    }
}

/// Why a call fails: an error number for the module, or the end of the module.
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

type CallResult = Result<Errno, Error>;

pub(super) fn args_sizes_get(mut call: Call<'_>, count: i32, size: i32) -> CallResult {
    with_memory(&mut call, |memory, state| sizes(memory, &state.args, count, size))
}

pub(super) fn args_get(mut call: Call<'_>, list: i32, bytes: i32) -> CallResult {
    with_memory(&mut call, |memory, state| strings(memory, &state.args, list, bytes))
}

pub(super) fn environ_sizes_get(mut call: Call<'_>, count: i32, size: i32) -> CallResult {
    with_memory(&mut call, |memory, state| sizes(memory, &state.variables, count, size))
}

pub(super) fn environ_get(mut call: Call<'_>, list: i32, bytes: i32) -> CallResult {
    with_memory(&mut call, |memory, state| strings(memory, &state.variables, list, bytes))
}

fn sizes(memory: &mut [u8], strings: &[Vec<u8>], count: i32, size: i32) -> Result<(), Problem> {
    abi::put_u32(memory, count, strings.len())?;
    Ok(abi::put_u32(memory, size, strings.iter().map(Vec::len).sum())?)
}

fn strings(memory: &mut [u8], strings: &[Vec<u8>], list: i32, bytes: i32) -> Result<(), Problem> {
    let mut at = bytes;
    for (number, string) in strings.iter().enumerate() {
        abi::put_u32(memory, abi::offset(list, number * 4)?, at as u32 as usize)?;
        abi::put(memory, at, string)?;
        at = abi::offset(at, string.len())?;
    }
    Ok(())
}

pub(super) fn fd_read(mut call: Call<'_>, fd: i32, list: i32, count: i32, done: i32) -> CallResult {
    with_memory(&mut call, |memory, state| {
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

pub(super) fn fd_write(
    mut call: Call<'_>,
    fd: i32,
    list: i32,
    count: i32,
    done: i32,
) -> CallResult {
    with_memory(&mut call, |memory, state| {
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

pub(super) fn fd_close(mut call: Call<'_>, fd: i32) -> CallResult {
    Ok(match open(call.data_mut(), fd) {
        Ok(open) => {
            *open = false;
            SUCCESS
        }
        Err(errno) => errno,
    })
}

/// The open flag of a standard stream, if it is open.
fn open(state: &mut State, fd: i32) -> Result<&mut bool, Errno> {
    let open = usize::try_from(fd).ok().and_then(|fd| state.open.get_mut(fd));
    open.filter(|open| **open).ok_or(BADF)
}

/// Flags such as non-blocking and append do not matter for in-memory streams.
pub(super) fn fd_fdstat_set_flags(mut call: Call<'_>, fd: i32, _flags: i32) -> CallResult {
    Ok(open(call.data_mut(), fd).err().unwrap_or(SUCCESS))
}

pub(super) fn fd_fdstat_get(mut call: Call<'_>, fd: i32, stat: i32) -> CallResult {
    with_memory(&mut call, |memory, state| {
        open(state, fd)?;
        // Spec: file type (0: unknown), flags, rights, inherited rights.
        let mut bytes = [0; 24];
        bytes[8..16].copy_from_slice(&RIGHTS[fd as usize].to_le_bytes());
        Ok(abi::put(memory, stat, &bytes)?)
    })
}

pub(super) fn fd_filestat_get(mut call: Call<'_>, fd: i32, stat: i32) -> CallResult {
    with_memory(&mut call, |memory, state| {
        open(state, fd)?;
        Ok(abi::put(memory, stat, &[0; 64])?)
    })
}

pub(super) fn fd_seek(mut call: Call<'_>, fd: i32, _by: i64, _from: i32, _to: i32) -> CallResult {
    Ok(open(call.data_mut(), fd).err().unwrap_or(SPIPE))
}

pub(super) fn fd_tell(mut call: Call<'_>, fd: i32, _at: i32) -> CallResult {
    Ok(open(call.data_mut(), fd).err().unwrap_or(SPIPE))
}

pub(super) fn clock_res_get(mut call: Call<'_>, _clock: i32, resolution: i32) -> CallResult {
    with_memory(&mut call, |memory, _| Ok(abi::put_u64(memory, resolution, 1_000)?))
}

pub(super) fn clock_time_get(
    mut call: Call<'_>,
    clock: i32,
    _precision: i64,
    time: i32,
) -> CallResult {
    with_memory(&mut call, |memory, state| {
        let now = now(state, clock as u32).ok_or(INVAL)?;
        Ok(abi::put_u64(memory, time, now)?)
    })
}

/// Spec: clock 0 is the wall clock, 1 is monotonic, 2 and 3 are CPU times.
pub(super) fn now(state: &State, clock: u32) -> Option<u64> {
    let time = match clock {
        0 => SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default(),
        1..=3 => state.start.elapsed(),
        _ => return None,
    };
    Some(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
}

pub(super) fn random_get(mut call: Call<'_>, start: i32, len: i32) -> CallResult {
    with_memory(&mut call, |memory, state| {
        for chunk in abi::slice(memory, start, len as u32 as usize)?.chunks_mut(RANDOM_CHUNK) {
            state.check()?;
            getrandom::fill(chunk).map_err(|_| abi::NOSYS)?;
        }
        Ok(())
    })
}

pub(super) fn sched_yield(mut call: Call<'_>) -> CallResult {
    with_memory(&mut call, |_, _| Ok(()))
}

pub(super) fn proc_exit(_: Call<'_>, code: i32) -> Result<(), Error> {
    Err(Error::host(Stop::Exit(code)))
}

/// There are no preopened directories; modules enumerate them until they receive `BADF`.
pub(super) fn no_preopened_directory(_: Call<'_>, _fd: i32, _stat: i32) -> Errno {
    BADF
}

/// The same for the names of preopened directories.
pub(super) fn no_preopened_name(_: Call<'_>, _fd: i32, _name: i32, _len: i32) -> Errno {
    BADF
}
