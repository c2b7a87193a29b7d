//! The end of a long stream, in bounded memory.

use std::collections::VecDeque;

/// The maximum length of a quoted line: a stream can be one line of megabytes.
const MAX_LINE: usize = 500;

/// The last bytes of a stream, and the total number of bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tail {
    bytes: VecDeque<u8>,
    capacity: usize,
    total: u64,
}

impl Tail {
    /// Keeps the last `capacity` bytes.
    pub(crate) fn new(capacity: usize) -> Self {
        Self { bytes: VecDeque::new(), capacity, total: 0 }
    }

    /// A stream of which these bytes were kept.
    pub(crate) fn restore(bytes: &[u8], capacity: usize, total: u64) -> Self {
        Self { bytes: bytes.to_vec().into(), capacity, total }
    }

    /// The bytes that are kept.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.bytes.iter().copied().collect()
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let bytes = &bytes[bytes.len().saturating_sub(self.capacity)..];
        let over = (self.bytes.len() + bytes.len()).saturating_sub(self.capacity);
        self.bytes.drain(..over);
        self.bytes.extend(bytes);
    }

    /// The total number of bytes that were written.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Whether the beginning was dropped.
    pub fn is_truncated(&self) -> bool {
        self.total > self.bytes.len() as u64
    }

    /// The bytes that are kept, with invalid UTF-8 replaced.
    pub fn text(&self) -> String {
        let (front, back) = self.bytes.as_slices();
        String::from_utf8_lossy(&[front, back].concat()).into_owned()
    }

    /// The last lines, safe for a terminal: without escape sequences, and with control characters escaped.
    pub fn last_lines(&self, count: usize) -> Vec<String> {
        let text = self.text();
        let mut lines: Vec<&str> = text.lines().collect();
        if self.is_truncated() && lines.len() > 1 {
            // The first line is probably incomplete.
            lines.remove(0);
        }
        let written =
            lines.iter().map(|line| sanitize(line)).filter(|line| !line.trim().is_empty());
        let written: Vec<String> = written.collect();
        written[written.len().saturating_sub(count)..].to_vec()
    }
}

/// Removes escape sequences: the output of a function must not control the user's terminal.
fn sanitize(line: &str) -> String {
    let mut text = String::new();
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' if chars.next_if_eq(&'[').is_some() => {
                let _ = chars.find(|c| ('@'..='~').contains(c));
            }
            '\t' => text.push(' '),
            c if c.is_control() => text.extend(c.escape_default()),
            c => text.push(c),
        }
        if text.len() > MAX_LINE {
            return text + "…";
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tail(capacity: usize, parts: &[&str]) -> Tail {
        let mut tail = Tail::new(capacity);
        parts.iter().for_each(|part| tail.push(part.as_bytes()));
        tail
    }

    #[test]
    fn end_is_kept_and_all_bytes_are_counted() {
        let it = tail(5, &["abc", "def", "ghijklm"]);
        assert_eq!((it.text().as_str(), it.total(), it.is_truncated()), ("ijklm", 13, true));
        let it = tail(5, &["ab", "cde"]);
        assert_eq!((it.text().as_str(), it.is_truncated()), ("abcde", false));
        assert_eq!(tail(0, &["abc"]).text(), "");
    }

    #[test]
    fn incomplete_line_is_not_quoted() {
        assert_eq!(tail(9, &["first line\nlast\n"]).last_lines(5), ["last"]);
        assert_eq!(tail(4, &["one long line"]).last_lines(5), ["line"]);
    }

    #[test]
    fn blank_lines_are_skipped() {
        assert_eq!(tail(99, &["a\n\n \nb\nc\n\n"]).last_lines(2), ["b", "c"]);
    }

    #[test]
    fn escape_sequences_are_removed() {
        let it = tail(99, &["\u{1b}[31mred\u{1b}[0m\r\u{7}\tx\u{1b}]0;title"]);
        assert_eq!(it.last_lines(1), ["red\\r\\u{7} x\\u{1b}]0;title"]);
    }

    #[test]
    fn long_lines_are_truncated() {
        let it = tail(9000, &["x".repeat(9000).as_str()]);
        assert_eq!(it.last_lines(1)[0].chars().count(), MAX_LINE + 2);
    }
}
