//! The end of a long stream: what a function said last, in bounded memory.

use std::collections::VecDeque;

/// A line that is shown to people is cut here: a stream can be one line of megabytes.
const MOST_OF_A_LINE: usize = 500;

/// The last bytes of a stream, and how many there were.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tail {
    bytes: VecDeque<u8>,
    most: usize,
    total: u64,
}

impl Tail {
    /// Keeps the last `most` bytes.
    pub(crate) fn new(most: usize) -> Self {
        Self { bytes: VecDeque::new(), most, total: 0 }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let bytes = &bytes[bytes.len().saturating_sub(self.most)..];
        let over = (self.bytes.len() + bytes.len()).saturating_sub(self.most);
        self.bytes.drain(..over);
        self.bytes.extend(bytes);
    }

    /// How many bytes there were in all.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Whether the beginning is not here any more.
    pub fn is_cut(&self) -> bool {
        self.total > self.bytes.len() as u64
    }

    /// What is kept, as it was written; bytes that are no UTF-8 are replaced.
    pub fn text(&self) -> String {
        let (front, back) = self.bytes.as_slices();
        String::from_utf8_lossy(&[front, back].concat()).into_owned()
    }

    /// The last lines, fit for a terminal: without colours, and with control characters made visible.
    pub fn last_lines(&self, most: usize) -> Vec<String> {
        let text = self.text();
        let mut lines: Vec<&str> = text.lines().collect();
        if self.is_cut() && lines.len() > 1 {
            // The first line kept is probably half a line.
            lines.remove(0);
        }
        let written = lines.iter().map(|line| shown(line)).filter(|line| !line.trim().is_empty());
        let written: Vec<String> = written.collect();
        written[written.len().saturating_sub(most)..].to_vec()
    }
}

/// A line without escape sequences: a function's words must not move the reader's cursor.
fn shown(line: &str) -> String {
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
        if text.len() > MOST_OF_A_LINE {
            return text + "…";
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tail(most: usize, parts: &[&str]) -> Tail {
        let mut tail = Tail::new(most);
        parts.iter().for_each(|part| tail.push(part.as_bytes()));
        tail
    }

    #[test]
    fn the_end_is_kept_and_everything_is_counted() {
        let it = tail(5, &["abc", "def", "ghijklm"]);
        assert_eq!((it.text().as_str(), it.total(), it.is_cut()), ("ijklm", 13, true));
        let it = tail(5, &["ab", "cde"]);
        assert_eq!((it.text().as_str(), it.is_cut()), ("abcde", false));
        assert_eq!(tail(0, &["abc"]).text(), "");
    }

    #[test]
    fn half_a_line_is_not_shown() {
        assert_eq!(tail(9, &["first line\nlast\n"]).last_lines(5), ["last"]);
        assert_eq!(tail(4, &["one long line"]).last_lines(5), ["line"]);
    }

    #[test]
    fn empty_lines_do_not_count() {
        assert_eq!(tail(99, &["a\n\n \nb\nc\n\n"]).last_lines(2), ["b", "c"]);
    }

    #[test]
    fn a_terminal_is_not_touched() {
        let it = tail(99, &["\u{1b}[31mred\u{1b}[0m\r\u{7}\tx\u{1b}]0;title"]);
        assert_eq!(it.last_lines(1), ["red\\r\\u{7} x\\u{1b}]0;title"]);
    }

    #[test]
    fn a_huge_line_is_cut() {
        let it = tail(9000, &["x".repeat(9000).as_str()]);
        assert_eq!(it.last_lines(1)[0].chars().count(), MOST_OF_A_LINE + 2);
    }
}
