//! Tar archives from strangers: entries are read one after the other, with limits, and nothing is interpreted twice.
//!
//! The `tar` crate parses the header blocks. Its own iterator is not used, because it reads long names and extended headers of any size
//! into memory, and splits extended headers at line breaks, which values may contain.

mod compression;
mod files;
mod pax;

pub(crate) use compression::{Compression, decompress};
pub use files::{PackageFile, SkippedEntry, pack, unpack_files};

use std::io::Read;

use tar::{EntryType, Header};

use crate::digest::shown;
use crate::{ArchiveLimits, OciKind};

const BLOCK: usize = 512;
/// Long names and extended headers; more than any real one, and small enough to be held.
const MAX_EXTENSION: u64 = 1 << 20;

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EntryKind {
    File,
    Directory,
    Symlink,
    HardLink,
    /// Devices and pipes.
    Special,
}

/// One entry; its data is read from the archive.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// The path: relative, without `.` and `..`. Empty for the root directory.
    pub(crate) path: Vec<Box<[u8]>>,
    pub(crate) kind: EntryKind,
    /// The target of a link as it is written.
    pub(crate) link: Vec<u8>,
    /// Permission bits only.
    pub(crate) mode: u32,
    /// Seconds since 1970.
    pub(crate) modified: u64,
}

impl Entry {
    /// The path as text, for messages.
    pub(crate) fn name(&self) -> String {
        display(&self.path)
    }

    pub(crate) fn invalid(&self, reason: &str) -> OciKind {
        OciKind::InvalidLayer { entry: self.name(), reason: reason.to_owned() }
    }
}

pub(crate) fn display(path: &[Box<[u8]>]) -> String {
    shown(&String::from_utf8_lossy(&path.join(&b'/')))
}

/// Reads an archive. After an error it must not be used again.
pub(crate) struct Archive<R> {
    source: R,
    limits: ArchiveLimits,
    /// Bytes and entries so far, over all archives that share the limits.
    used: Used,
    /// Data of the current entry that was not read, and the padding after it.
    data: u64,
    padding: u64,
}

/// What archives have used of their limits.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Used {
    pub(crate) bytes: u64,
    pub(crate) entries: u64,
}

impl<R: Read> Archive<R> {
    pub(crate) fn new(source: R, limits: ArchiveLimits, used: Used) -> Self {
        Self { source, limits, used, data: 0, padding: 0 }
    }

    /// The next entry, or none at the end of the archive.
    pub(crate) fn next(&mut self) -> Result<Option<Entry>, OciKind> {
        let (mut extended, mut long_name, mut long_link) = (pax::Extended::default(), None, None);
        loop {
            self.skip_data()?;
            let Some(block) = self.header()? else { return Ok(None) };
            let header = Header::from_byte_slice(&block);
            self.begin(header)?;
            match header.entry_type() {
                EntryType::XHeader => extended = pax::parse(&self.extension()?)?,
                // Records for all entries are comments in practice, such as the commit of `git archive`.
                EntryType::XGlobalHeader => {}
                EntryType::GNULongName => long_name = Some(without_end(self.extension()?)),
                EntryType::GNULongLink => long_link = Some(without_end(self.extension()?)),
                // A volume label.
                kind if kind.as_byte() == b'V' => {}
                _ => {
                    let path = extended.path.or(long_name);
                    let path = path.unwrap_or_else(|| header.path_bytes().into_owned());
                    let link = extended
                        .link
                        .or(long_link)
                        .or_else(|| header.link_name_bytes().map(std::borrow::Cow::into_owned));
                    let is_directory = path.ends_with(b"/");
                    let path = self.path(&path)?;
                    if extended.size.is_some_and(|size| size != self.data) || extended.is_sparse {
                        return Err(invalid(&display(&path), "sparse or oversized entry"));
                    }
                    let mut entry = self.entry(header, path, link.unwrap_or_default())?;
                    // Compat: the first archives had no type for directories.
                    if is_directory && entry.kind == EntryKind::File {
                        entry.kind = EntryKind::Directory;
                    }
                    return Ok(Some(entry));
                }
            }
        }
    }

    fn entry(
        &mut self,
        header: &Header,
        path: Vec<Box<[u8]>>,
        link: Vec<u8>,
    ) -> Result<Entry, OciKind> {
        let kind = match header.entry_type() {
            EntryType::Regular | EntryType::Continuous => EntryKind::File,
            EntryType::Directory => EntryKind::Directory,
            EntryType::Symlink => EntryKind::Symlink,
            EntryType::Link => EntryKind::HardLink,
            EntryType::Char | EntryType::Block | EntryType::Fifo => EntryKind::Special,
            _ => return Err(invalid(&display(&path), "unknown type of entry")),
        };
        let mode = header.mode().map_err(|error| malformed(&error))? & 0o777;
        // A time before 1970 or after the end of the field is not worth an error.
        let modified = header.mtime().unwrap_or_default();
        let entry = Entry { path, kind, link, mode, modified };
        let needs_link = matches!(kind, EntryKind::Symlink | EntryKind::HardLink);
        if needs_link
            && (entry.link.is_empty()
                || entry.link.len() > self.limits.path
                || entry.link.contains(&0))
        {
            return Err(entry.invalid("invalid link target"));
        }
        Ok(entry)
    }

    /// Reads data of the current entry. Zero is the end of the data.
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> Result<usize, OciKind> {
        let wanted = usize::try_from(self.data).unwrap_or(usize::MAX).min(buffer.len());
        if wanted == 0 {
            return Ok(0);
        }
        let count = self.read_source(&mut buffer[..wanted])?;
        if count == 0 {
            return Err(truncated());
        }
        self.data -= count as u64;
        Ok(count)
    }

    /// Reads the rest, so that digests cover all bytes, and returns the source and what was used of the limits.
    pub(crate) fn finish(mut self) -> Result<(R, Used), OciKind> {
        let mut buffer = [0; 16 * BLOCK];
        while self.read_source(&mut buffer)? > 0 {}
        Ok((self.source, self.used))
    }

    /// A relative path as a list of names.
    fn path(&self, text: &[u8]) -> Result<Vec<Box<[u8]>>, OciKind> {
        components(text, &self.limits)
    }

    /// The next header block; none at the end. Archives end with two zero blocks, or just end.
    fn header(&mut self) -> Result<Option<[u8; BLOCK]>, OciKind> {
        let Some(block) = self.block()? else { return Ok(None) };
        let is_zero = |block: &[u8; BLOCK]| block.iter().all(|byte| *byte == 0);
        if is_zero(&block) {
            // Some readers go on after a single zero block, so an entry there would be visible to them only.
            return match self.block()? {
                Some(next) if !is_zero(&next) => Err(invalid("", "data after the end")),
                _ => Ok(None),
            };
        }
        let stored = Header::from_byte_slice(&block).cksum().map_err(|error| malformed(&error))?;
        if stored != checksum(&block) {
            return Err(invalid("", "wrong checksum of a header"));
        }
        Ok(Some(block))
    }

    fn block(&mut self) -> Result<Option<[u8; BLOCK]>, OciKind> {
        let mut block = [0; BLOCK];
        let mut filled = 0;
        while filled < BLOCK {
            match self.read_source(&mut block[filled..])? {
                0 if filled == 0 => return Ok(None),
                0 => return Err(truncated()),
                count => filled += count,
            }
        }
        Ok(Some(block))
    }

    fn begin(&mut self, header: &Header) -> Result<(), OciKind> {
        self.used.entries += 1;
        if self.used.entries > self.limits.entries {
            let limit = self.limits.entries;
            return Err(OciKind::TooLarge { what: "the number of entries of an archive", limit });
        }
        // Links and directories have no data, whatever the size field says. Compat: POSIX for links, all readers for directories.
        let has_data = !matches!(
            header.entry_type(),
            EntryType::Link
                | EntryType::Symlink
                | EntryType::Directory
                | EntryType::Char
                | EntryType::Block
                | EntryType::Fifo
        );
        let size = header.entry_size().map_err(|error| malformed(&error))?;
        self.data = if has_data { size } else { 0 };
        self.padding = (BLOCK as u64 - self.data % BLOCK as u64) % BLOCK as u64;
        Ok(())
    }

    /// The data of a header entry.
    fn extension(&mut self) -> Result<Vec<u8>, OciKind> {
        if self.data > MAX_EXTENSION {
            return Err(OciKind::TooLarge { what: "an extended header", limit: MAX_EXTENSION });
        }
        let mut data = vec![0; usize::try_from(self.data).unwrap_or_default()];
        let mut filled = 0;
        while filled < data.len() {
            filled += self.read(&mut data[filled..])?;
        }
        Ok(data)
    }

    fn skip_data(&mut self) -> Result<(), OciKind> {
        let mut buffer = [0; 16 * BLOCK];
        while self.read(&mut buffer)? > 0 {}
        self.data = std::mem::take(&mut self.padding);
        while self.data > 0 {
            self.read(&mut buffer)?;
        }
        Ok(())
    }

    fn read_source(&mut self, buffer: &mut [u8]) -> Result<usize, OciKind> {
        loop {
            match self.source.read(buffer) {
                Ok(count) => {
                    self.used.bytes = self.used.bytes.saturating_add(count as u64);
                    if self.used.bytes > self.limits.bytes {
                        let limit = self.limits.bytes;
                        return Err(OciKind::TooLarge { what: "an unpacked archive", limit });
                    }
                    return Ok(count);
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(malformed(&error)),
            }
        }
    }
}

/// Splits a path into names. Leading slashes are dropped, as by every reader of layers.
pub(crate) fn components(text: &[u8], limits: &ArchiveLimits) -> Result<Vec<Box<[u8]>>, OciKind> {
    let refused = |reason| Err(invalid(&shown(&String::from_utf8_lossy(text)), reason));
    if text.len() > limits.path {
        return refused("the path is too long");
    }
    let mut names: Vec<Box<[u8]>> = Vec::new();
    for name in text.split(|byte| *byte == b'/') {
        match name {
            b"" | b"." => {}
            b".." => return refused("the path contains `..`"),
            name if name.contains(&0) => return refused("the path contains a zero byte"),
            name if name.len() > 255 => return refused("a name of the path is too long"),
            name => names.push(name.into()),
        }
    }
    match names.len() > limits.depth {
        true => refused("the path has too many directories"),
        false => Ok(names),
    }
}

/// The sum of all bytes, with spaces for the checksum itself.
fn checksum(block: &[u8; BLOCK]) -> u32 {
    let bytes = block.iter().enumerate();
    bytes.map(|(at, byte)| if (148..156).contains(&at) { 32 } else { u32::from(*byte) }).sum()
}

fn without_end(mut name: Vec<u8>) -> Vec<u8> {
    let end = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
    name.truncate(end);
    name
}

fn invalid(entry: &str, reason: &str) -> OciKind {
    let entry = if entry.is_empty() { "." } else { entry };
    OciKind::InvalidLayer { entry: entry.to_owned(), reason: reason.to_owned() }
}

fn truncated() -> OciKind {
    invalid("", "the archive ends too early")
}

fn malformed(error: &std::io::Error) -> OciKind {
    invalid("", &format!("the archive is malformed: {}", shown(&error.to_string())))
}

#[cfg(test)]
pub(crate) mod tests;
