//! Byte ranges of a text, and lines.

use std::ops::Range;

/// A half-open range of bytes in one source text.
///
/// Offsets have 32 bits, so a text is at most 4 GiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The range from `start` to `end`.
    pub const fn new(start: u32, end: u32) -> Self {
        Self { start, end }
    }

    /// The empty range at `at`.
    pub const fn empty(at: u32) -> Self {
        Self { start: at, end: at }
    }

    /// Number of bytes.
    pub const fn len(self) -> u32 {
        self.end - self.start
    }

    /// Whether the range is empty.
    pub const fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// Whether the range contains `other`.
    pub const fn contains(self, other: Span) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// The same range for slicing.
    pub const fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// The text that the range covers.
    pub fn of(self, text: &str) -> &str {
        &text[self.range()]
    }
}

/// Whether two long texts are equal. Compares 32 bytes at once, because `memcmp` of static binaries compares one byte after the other.
pub(crate) fn is_same_text(one: &[u8], other: &[u8]) -> bool {
    let ((chunks, rest), (other_chunks, other_rest)) =
        (one.as_chunks::<32>(), other.as_chunks::<32>());
    one.len() == other.len()
        && chunks.iter().zip(other_chunks).all(|(one, other)| one == other)
        && rest == other_rest
}

/// A position in a text: line and column from one, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// Line, from one.
    pub line: u32,
    /// Column in characters, from one.
    pub column: u32,
}

/// Whether a byte ends a line; a carriage return alone does, too.
pub(crate) const fn is_break(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// Whether a byte is a space or a tab.
pub(crate) const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// The start of the line of `at`.
pub(crate) fn line_start(text: &str, at: u32) -> u32 {
    let before = &text.as_bytes()[..at as usize];
    let start = before.iter().rposition(|&b| is_break(b)).map_or(0, |i| i + 1);
    // A byte-order mark is not part of the line.
    if before[start..].starts_with(BYTE_ORDER_MARK) { start as u32 + 3 } else { start as u32 }
}

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// The end of the line of `at`: its line break, or the end of the text.
pub(crate) fn line_end(text: &str, at: u32) -> u32 {
    let after = &text.as_bytes()[at as usize..];
    at + after.iter().position(|&b| is_break(b)).unwrap_or(after.len()) as u32
}

/// The offset after the line break at `at`; `at` if there is none.
pub(crate) fn after_break(text: &str, at: u32) -> u32 {
    let rest = &text.as_bytes()[at as usize..];
    match rest {
        [b'\r', b'\n', ..] => at + 2,
        [b'\r' | b'\n', ..] => at + 1,
        _ => at,
    }
}

/// The offset before the line break that ends at `at`; `at` if there is none.
pub(crate) fn before_break(text: &str, at: u32) -> u32 {
    let before = &text.as_bytes()[..at as usize];
    match before {
        [.., b'\r', b'\n'] => at - 2,
        [.., b'\r' | b'\n'] => at - 1,
        _ => at,
    }
}

/// The start of the next line, or the end of the text.
pub(crate) fn next_line(text: &str, at: u32) -> u32 {
    after_break(text, line_end(text, at))
}

/// The column of `at` in characters, from zero, without a byte-order mark.
pub(crate) fn column(text: &str, at: u32) -> u32 {
    text[line_start(text, at) as usize..at as usize].chars().count() as u32
}

/// Whether only whitespace (and a byte-order mark) precedes `at` on its line.
///
/// Searches backward from `at` instead of from the start of the line, because a line can have megabytes.
pub(crate) fn is_first_on_line(text: &str, at: u32) -> bool {
    let before = &text.as_bytes()[..skip_blanks_back(text, at, 0) as usize];
    before.last().is_none_or(|&byte| is_break(byte)) || before.ends_with(BYTE_ORDER_MARK)
}

/// Skips spaces and tabs forward, up to `stop`.
pub(crate) fn skip_blanks(text: &str, at: u32, stop: u32) -> u32 {
    let bytes = &text.as_bytes()[at as usize..stop as usize];
    at + bytes.iter().position(|&b| !is_blank(b)).unwrap_or(bytes.len()) as u32
}

/// Skips trailing spaces and tabs; `at` if something follows them on the line.
pub(crate) fn past_blanks(text: &str, at: u32) -> u32 {
    let end = skip_blanks(text, at, text.len() as u32);
    if end as usize == text.len() || is_break(text.as_bytes()[end as usize]) { end } else { at }
}

/// Skips spaces and tabs backward, down to `stop`.
pub(crate) fn skip_blanks_back(text: &str, at: u32, stop: u32) -> u32 {
    let bytes = &text.as_bytes()[stop as usize..at as usize];
    at - bytes.iter().rev().position(|&b| !is_blank(b)).unwrap_or(bytes.len()) as u32
}

/// The number of characters that end a line in YAML 1.1, but not in YAML 1.2: U+0085, U+2028 and U+2029.
pub(crate) fn foreign_breaks(text: &str) -> usize {
    if text.is_ascii() {
        return 0;
    }
    text.matches(['\u{85}', '\u{2028}', '\u{2029}']).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_any_length_are_compared() {
        let text: Vec<u8> = (0..100).collect();
        for length in 0..text.len() {
            assert!(is_same_text(&text[..length], &text[..length]));
            assert!(!is_same_text(&text[..length], &text[..length + 1]));
            for at in 0..length {
                let mut other = text[..length].to_vec();
                other[at] += 1;
                assert!(!is_same_text(&text[..length], &other), "{length}, {at}");
            }
        }
    }

    #[test]
    fn lines_end_at_every_kind_of_line_break() {
        let text = "ab\r\ncd\ref\ngh";
        assert_eq!([line_start(text, 5), line_end(text, 5), next_line(text, 5)], [4, 6, 7]);
        assert_eq!([line_start(text, 1), next_line(text, 1), before_break(text, 4)], [0, 4, 2]);
        assert_eq!([line_start(text, 11), line_end(text, 11), next_line(text, 11)], [10, 12, 12]);
    }

    #[test]
    fn columns_count_characters_without_byte_order_mark() {
        assert_eq!(column("\u{feff}a: b", 6), 3);
        assert_eq!(column("é: b", 4), 3);
        assert!(is_first_on_line("\u{feff}a", 3));
    }
}
