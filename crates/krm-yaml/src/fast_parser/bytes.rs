//! The bytes of a text, and what a reader asks of them.

use crate::span::{is_blank, is_break};

/// What a byte can be, as bits.
pub(super) const KINDS: [u8; 256] = kinds();

/// Ends a plain scalar, or is to be looked at: breaks, tabs, `:`, `#`, and all that is odd.
pub(super) const IN_BLOCK: u8 = 1;
/// The same inside of brackets, where `,[]{}` end one, too.
pub(super) const IN_FLOW: u8 = 2;
/// To be looked at within a comment or a `|` text: breaks, and all that is odd.
pub(super) const IN_LINE: u8 = 4;
/// The same within double quotes, with `"` and `\`.
pub(super) const IN_DOUBLE: u8 = 8;
/// The same within single quotes, with `'`.
pub(super) const IN_SINGLE: u8 = 16;
/// Cannot begin a plain scalar, or not always.
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
        // Line breaks, control characters, and what is not ASCII.
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

    /// The byte at a place, and zero behind the end.
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

    /// The first byte from `at` on that is to be looked at in this place.
    #[inline]
    pub(super) fn next(self, at: usize, place: u8) -> usize {
        let rest = self.bytes.get(at..).unwrap_or_default();
        let found = rest.iter().position(|&byte| KINDS[usize::from(byte)] & place != 0);
        found.map_or(self.bytes.len(), |found| at + found)
    }

    /// Past a line break; a carriage return alone is not certain.
    pub(super) fn past_break(self, at: usize) -> Option<usize> {
        match (self.at(at), self.at(at + 1)) {
            (b'\n', _) => Some(at + 1),
            (b'\r', b'\n') => Some(at + 2),
            _ => None,
        }
    }

    /// Where a line ends, at its break or at the end of the text.
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

    /// The line after a comment.
    pub(super) fn past_comment(self, at: usize) -> Option<usize> {
        let end = self.line_end(at)?;
        if self.is_end(end) { Some(end) } else { self.past_break(end) }
    }

    /// Past a character that is not ASCII; none where the front end may refuse it.
    pub(super) fn past_odd(self, at: usize) -> Option<usize> {
        let rest = self.bytes.get(at..)?;
        match *rest {
            // Control characters, a line break of old among them.
            [0xc2, 0x80..=0x9f, ..] => None,
            // A byte-order mark, and what is no character.
            [0xef, 0xbb, 0xbf, ..] | [0xef, 0xbf, 0xbe | 0xbf, ..] => None,
            [0xc2..=0xdf, ..] => Some(at + 2),
            [0xe0..=0xef, ..] => Some(at + 3),
            [0xf0..=0xf4, ..] => Some(at + 4),
            _ => None,
        }
    }

    /// Whether a line has nothing more than a comment from here on.
    pub(super) fn ends_line(self, at: usize) -> bool {
        matches!(self.at(at), b'\n' | b'\r' | b'#') || self.is_end(at)
    }

    fn is_blank_or_end(self, at: usize) -> bool {
        self.bytes.get(at).is_none_or(|&byte| is_blank(byte) || is_break(byte))
    }

    /// Whether `---` or `...` stands at the begin of a line.
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
