//! The numbers of WASI preview 1, and reading and writing them in a module's memory.

/// An error number of WASI; none is a success.
pub(super) type Errno = i32;

pub(super) const SUCCESS: Errno = 0;
pub(super) const BADF: Errno = 8;
pub(super) const FAULT: Errno = 21;
pub(super) const INVAL: Errno = 28;
pub(super) const NOSYS: Errno = 52;
pub(super) const SPIPE: Errno = 70;

/// The bytes of memory from `at` on; addresses are unsigned.
pub(super) fn slice(memory: &mut [u8], at: i32, len: usize) -> Result<&mut [u8], Errno> {
    let start = at as u32 as usize;
    let end = start.checked_add(len).ok_or(FAULT)?;
    memory.get_mut(start..end).ok_or(FAULT)
}

pub(super) fn put(memory: &mut [u8], at: i32, bytes: &[u8]) -> Result<(), Errno> {
    slice(memory, at, bytes.len())?.copy_from_slice(bytes);
    Ok(())
}

pub(super) fn put_u32(memory: &mut [u8], at: i32, value: usize) -> Result<(), Errno> {
    let value = u32::try_from(value).map_err(|_| FAULT)?;
    put(memory, at, &value.to_le_bytes())
}

pub(super) fn put_u64(memory: &mut [u8], at: i32, value: u64) -> Result<(), Errno> {
    put(memory, at, &value.to_le_bytes())
}

/// The bytes at an address, copied out.
pub(super) fn get<const N: usize>(memory: &mut [u8], at: i32) -> Result<[u8; N], Errno> {
    let mut bytes = [0; N];
    bytes.copy_from_slice(slice(memory, at, N)?);
    Ok(bytes)
}

pub(super) fn get_u32(memory: &mut [u8], at: i32) -> Result<u32, Errno> {
    get(memory, at).map(u32::from_le_bytes)
}

/// An address further on; one past the end of the address space is nobody's.
pub(super) fn further(at: i32, by: usize) -> Result<i32, Errno> {
    let by = u32::try_from(by).map_err(|_| FAULT)?;
    (at as u32).checked_add(by).map(|at| at as i32).ok_or(FAULT)
}

/// The buffers that a module reads into or writes from: address and length, at most so many.
///
/// Spec: fewer bytes than asked for may be moved, so a longer list is served in several calls.
pub(super) fn buffers(memory: &mut [u8], at: i32, count: i32) -> Result<Vec<(i32, usize)>, Errno> {
    const MOST: u32 = 1024;
    let count = (count as u32).min(MOST) as usize;
    let mut found = Vec::with_capacity(count);
    for number in 0..count {
        let entry = further(at, number * 8)?;
        let (start, len) = (get_u32(memory, entry)?, get_u32(memory, further(entry, 4)?)?);
        found.push((start as i32, len as usize));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_outside_the_memory_is_touched() {
        let mut memory = vec![0; 16];
        assert_eq!(put_u32(&mut memory, 12, 7), Ok(()));
        for at in [13, 16, -1, i32::MIN, i32::MAX] {
            assert_eq!(put_u32(&mut memory, at, 7), Err(FAULT), "{at}");
        }
        assert_eq!(slice(&mut memory, 1, usize::MAX).err(), Some(FAULT));
        assert_eq!(get_u32(&mut memory, 12), Ok(7));
    }

    #[test]
    fn a_list_of_buffers_at_the_end_of_memory_is_a_fault() {
        let mut memory = vec![0; 16];
        assert_eq!(buffers(&mut memory, 0, 2), Ok(vec![(0, 0), (0, 0)]));
        assert_eq!(buffers(&mut memory, 8, 2), Err(FAULT));
        assert_eq!(buffers(&mut memory, -4, 1), Err(FAULT));
    }
}
