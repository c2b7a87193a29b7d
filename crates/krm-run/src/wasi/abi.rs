//! The binary interface of WASI preview 1: error numbers, and bounds-checked access to the memory of a module.

/// A WASI error number; zero is success.
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

/// The address plus an offset; beyond the address space it is a fault.
pub(super) fn offset(at: i32, by: usize) -> Result<i32, Errno> {
    let by = u32::try_from(by).map_err(|_| FAULT)?;
    (at as u32).checked_add(by).map(|at| at as i32).ok_or(FAULT)
}

/// The buffers of a scattered read or write: address and length.
///
/// Spec: fewer bytes than requested may be transferred, so a longer list of buffers takes several calls.
pub(super) fn buffers(memory: &mut [u8], at: i32, count: i32) -> Result<Vec<(i32, usize)>, Errno> {
    const MAX_BUFFERS: u32 = 1024;
    let count = (count as u32).min(MAX_BUFFERS) as usize;
    let mut found = Vec::with_capacity(count);
    for number in 0..count {
        let entry = offset(at, number * 8)?;
        let (start, len) = (get_u32(memory, entry)?, get_u32(memory, offset(entry, 4)?)?);
        found.push((start as i32, len as usize));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_outside_the_memory_are_faults() {
        let mut memory = vec![0; 16];
        assert_eq!(put_u32(&mut memory, 12, 7), Ok(()));
        for at in [13, 16, -1, i32::MIN, i32::MAX] {
            assert_eq!(put_u32(&mut memory, at, 7), Err(FAULT), "{at}");
        }
        assert_eq!(slice(&mut memory, 1, usize::MAX).err(), Some(FAULT));
        assert_eq!(get_u32(&mut memory, 12), Ok(7));
    }

    #[test]
    fn buffer_list_beyond_the_memory_is_a_fault() {
        let mut memory = vec![0; 16];
        assert_eq!(buffers(&mut memory, 0, 2), Ok(vec![(0, 0), (0, 0)]));
        assert_eq!(buffers(&mut memory, 8, 2), Err(FAULT));
        assert_eq!(buffers(&mut memory, -4, 1), Err(FAULT));
    }
}
