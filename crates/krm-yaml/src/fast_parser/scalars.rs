//! The ends of scalars on one line.

use super::bytes::{Bytes, IN_BLOCK, IN_DOUBLE, IN_FLOW, IN_SINGLE, KINDS, NO_BEGIN};

impl Bytes<'_> {
    /// The end of a plain scalar, which a colon, a comment or a line break may follow.
    pub(super) fn plain(self, start: usize) -> Option<usize> {
        self.begins_plain(start)?;
        let mut at = start;
        loop {
            at = self.next(at, IN_BLOCK);
            match self.at(at) {
                b':' if !self.is_colon(at) => at += 1,
                b'#' if self.at(at - 1) != b' ' => at += 1,
                b'\n' | b'\r' | b':' | b'#' => break,
                0 if self.is_end(at) => break,
                _ => at = self.past_odd(at)?,
            }
        }
        Some(self.before_spaces(at))
    }

    /// The end of a plain scalar in a flow collection.
    pub(super) fn plain_in_flow(self, start: usize) -> Option<usize> {
        self.begins_plain(start)?;
        let mut at = start;
        loop {
            at = self.next(at, IN_FLOW);
            match self.at(at) {
                b':' if self.is_colon(at) => break,
                b':' if matches!(self.at(at + 1), b',' | b'[' | b']' | b'{' | b'}') => return None,
                b':' => at += 1,
                b'#' if self.at(at - 1) != b' ' => at += 1,
                b'\n' | b'\r' | b'#' | b',' | b'[' | b']' | b'{' | b'}' => break,
                _ => at = self.past_odd(at)?,
            }
        }
        Some(self.before_spaces(at))
    }

    fn begins_plain(self, at: usize) -> Option<()> {
        let byte = self.at(at);
        if KINDS[usize::from(byte)] & NO_BEGIN == 0 {
            return Some(());
        }
        match byte {
            // `-1` and `--flag`.
            b'-' => {
                let next = self.at(at + 1);
                (next.is_ascii_alphanumeric() || matches!(next, b'-' | b'.' | b'_')).then_some(())
            }
            0x80.. => self.past_odd(at).map(|_| ()),
            _ => None,
        }
    }

    fn before_spaces(self, mut at: usize) -> usize {
        while self.at(at - 1) == b' ' {
            at -= 1;
        }
        at
    }

    /// The end of a double-quoted scalar, after the closing quote.
    pub(super) fn double_quoted(self, start: usize) -> Option<usize> {
        let mut at = start + 1;
        loop {
            at = self.next(at, IN_DOUBLE);
            match self.at(at) {
                b'"' => return Some(at + 1),
                b'\\' => at = self.past_escape(at + 1)?,
                _ => at = self.past_odd(at)?,
            }
        }
    }

    /// Skips the escape sequence whose letter is at `at`.
    fn past_escape(self, at: usize) -> Option<usize> {
        match self.at(at) {
            b'n' | b't' | b'r' | b'"' | b'\\' | b'/' | b'0' | b'a' | b'b' | b'e' | b'f' | b'v'
            | b'_' | b'N' | b'L' | b'P' | b' ' => Some(at + 1),
            b'x' => self.past_digits(at + 1, 2),
            // Half of a surrogate pair is not a character. Checking for the other half is left to the complete parser.
            b'u' if !matches!(self.at(at + 1), b'd' | b'D') => self.past_digits(at + 1, 4),
            _ => None,
        }
    }

    fn past_digits(self, at: usize, count: usize) -> Option<usize> {
        (at..at + count).all(|at| self.at(at).is_ascii_hexdigit()).then_some(at + count)
    }

    /// The end of a single-quoted scalar, after the closing quote.
    pub(super) fn single_quoted(self, start: usize) -> Option<usize> {
        let mut at = start + 1;
        loop {
            at = self.next(at, IN_SINGLE);
            match (self.at(at), self.at(at + 1)) {
                (b'\'', b'\'') => at += 2,
                (b'\'', _) => return Some(at + 1),
                _ => at = self.past_odd(at)?,
            }
        }
    }
}
