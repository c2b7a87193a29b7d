//! The bytes of a text, and queries about them.

use crate::span::{is_blank, is_break};

/// The classes of each byte, as bits.
pub(super) const KINDS: [u8; 256] = kinds();

/// May end a plain scalar: line breaks, tabs, `:`, `#`, control characters and non-ASCII.
pub(super) const IN_BLOCK: u8 = 1;
/// The same in flow collections, where `,[]{}` end a plain scalar, too.
pub(super) const IN_FLOW: u8 = 2;
/// May end or invalidate a line of a comment or block scalar: line breaks, control characters and non-ASCII.
pub(super) const IN_LINE: u8 = 4;
/// The same in double quotes, with `"` and `\`.
pub(super) const IN_DOUBLE: u8 = 8;
/// The same in single quotes, with `'`.
pub(super) const IN_SINGLE: u8 = 16;
/// Cannot start a plain scalar, or not always.
pub(super) const NO_BEGIN: u8 = 32;

const fn kinds() -> [u8; 256] {
    let mut kinds = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        kinds[byte] = kind(byte as u8);
        byte += 1;
    }
    kinds
}

const fn kind(byte: u8) -> u8 {
    match byte {
        b'\t' => IN_BLOCK | IN_FLOW | NO_BEGIN,
        // Line breaks, control characters and non-ASCII.
        0..=0x1f | 0x7f.. => IN_BLOCK | IN_FLOW | IN_LINE | IN_DOUBLE | IN_SINGLE | NO_BEGIN,
        b':' | b'#' => IN_BLOCK | IN_FLOW | NO_BEGIN,
        b',' | b'[' | b']' | b'{' | b'}' => IN_FLOW | NO_BEGIN,
        b'"' => IN_DOUBLE | NO_BEGIN,
        b'\\' => IN_DOUBLE,
        b'\'' => IN_SINGLE | NO_BEGIN,
        b' ' | b'-' | b'?' | b'&' | b'*' | b'!' | b'|' | b'>' | b'%' | b'@' | b'`' => NO_BEGIN,
        _ => 0,
    }
}

#[derive(Clone, Copy)]
pub(super) struct Bytes<'t> {
    bytes: &'t [u8],
}

impl<'t> Bytes<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { bytes: text.as_bytes() }
    }

    pub(super) fn all(self) -> &'t [u8] {
        self.bytes
    }

    /// The byte at an offset; zero at the end of the text.
    #[inline]
    pub(super) fn at(self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(0)
    }

    pub(super) fn is_end(self, at: usize) -> bool {
        at >= self.bytes.len()
    }

    #[inline]
    pub(super) fn past_spaces(self, mut at: usize) -> usize {
        while self.at(at) == b' ' {
            at += 1;
        }
        at
    }

    /// The offset of the next byte that has the class `place`.
    #[inline]
    pub(super) fn next(self, at: usize, place: u8) -> usize {
        let rest = self.bytes.get(at..).unwrap_or_default();
        let found = rest.iter().position(|&byte| KINDS[usize::from(byte)] & place != 0);
        found.map_or(self.bytes.len(), |found| at + found)
    }

    /// Skips a line break; `None` for a carriage return alone.
    pub(super) fn past_break(self, at: usize) -> Option<usize> {
        match (self.at(at), self.at(at + 1)) {
            (b'\n', _) => Some(at + 1),
            (b'\r', b'\n') => Some(at + 2),
            _ => None,
        }
    }

    /// The end of a line: its line break or the end of the text.
    pub(super) fn line_end(self, mut at: usize) -> Option<usize> {
        loop {
            at = self.next(at, IN_LINE);
            match self.at(at) {
                b'\n' => return Some(at),
                b'\r' => return self.past_break(at).map(|_| at),
                0 => return self.is_end(at).then_some(at),
                _ => at = self.past_odd(at)?,
            }
        }
    }

    /// The start of the line after a comment.
    pub(super) fn past_comment(self, at: usize) -> Option<usize> {
        let end = self.line_end(at)?;
        if self.is_end(end) { Some(end) } else { self.past_break(end) }
    }

    /// Skips a non-ASCII character; `None` if the parser may refuse it.
    pub(super) fn past_odd(self, at: usize) -> Option<usize> {
        let rest = self.bytes.get(at..)?;
        match *rest {
            // Control characters, including the line breaks of YAML 1.1.
            [0xc2, 0x80..=0x9f, ..] => None,
            // Byte-order mark and noncharacters.
            [0xef, 0xbb, 0xbf, ..] | [0xef, 0xbf, 0xbe | 0xbf, ..] => None,
            [0xc2..=0xdf, ..] => Some(at + 2),
            [0xe0..=0xef, ..] => Some(at + 3),
            [0xf0..=0xf4, ..] => Some(at + 4),
            _ => None,
        }
    }

    /// Whether the rest of a line is empty or a comment.
    pub(super) fn ends_line(self, at: usize) -> bool {
        matches!(self.at(at), b'\n' | b'\r' | b'#') || self.is_end(at)
    }

    fn is_blank_or_end(self, at: usize) -> bool {
        self.bytes.get(at).is_none_or(|&byte| is_blank(byte) || is_break(byte))
    }

    /// Whether `---` or `...` is at the start of a line.
    pub(super) fn is_marker(self, at: usize) -> bool {
        let rest = self.bytes.get(at..).unwrap_or_default();
        (rest.starts_with(b"---") || rest.starts_with(b"...")) && self.is_blank_or_end(at + 3)
    }

    #[inline]
    pub(super) fn is_dash(self, at: usize) -> bool {
        self.at(at) == b'-' && self.is_blank_or_end(at + 1)
    }

    #[inline]
    pub(super) fn is_colon(self, at: usize) -> bool {
        self.at(at) == b':' && self.is_blank_or_end(at + 1)
    }
}
