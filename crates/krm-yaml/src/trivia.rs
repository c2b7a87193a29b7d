//! Trivia: comments, line breaks, indicators and properties between the nodes.
//!
//! Trivia is not stored. A gap is the text between two leaves; reading it again is cheap, because gaps are short and read only on request.

use crate::span::{Span, is_blank, is_break, line_end};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trivia {
    /// From `#` to the end of the line.
    Comment,
    /// One line break.
    Break,
    /// `-`, `?`, `:`, `,`, a bracket, or the header of a block scalar.
    Indicator(u8),
    /// An anchor or a tag.
    Property,
    /// `---` or `...`.
    Marker,
    /// A directive.
    Directive,
}

/// Iterates over the trivia of one gap. Spaces are skipped.
pub(crate) struct Gap<'a> {
    text: &'a str,
    at: u32,
    end: u32,
}

impl<'a> Gap<'a> {
    pub(crate) fn new(text: &'a str, span: Span) -> Self {
        Self { text, at: span.start, end: span.end.max(span.start) }
    }

    /// The gap that starts at `at` and may extend to the end of the text.
    pub(crate) fn from(text: &'a str, at: u32) -> Self {
        Self::new(text, Span::new(at, text.len() as u32))
    }

    /// The span of the first indicator of `wanted`. Only whitespace, comments, properties, markers and the indicators of `pass` may precede it.
    pub(crate) fn find(self, wanted: &[u8], pass: &[u8]) -> Option<Span> {
        for (trivia, span) in self {
            match trivia {
                Trivia::Indicator(byte) if wanted.contains(&byte) => return Some(span),
                Trivia::Indicator(byte) if !pass.contains(&byte) => return None,
                _ => {}
            }
        }
        None
    }

    fn is_at_line_start(&self) -> bool {
        // A byte-order mark is not part of the line.
        let before = self.text[..self.at as usize].trim_end_matches('\u{feff}');
        before.as_bytes().last().is_none_or(|&byte| is_break(byte))
    }

    fn is_marker(&self) -> bool {
        let rest = &self.text.as_bytes()[self.at as usize..];
        // Compat: Kubernetes accepts a comment directly after `---`.
        (rest.starts_with(b"---") || rest.starts_with(b"..."))
            && rest.get(3).is_none_or(|&b| is_blank(b) || is_break(b) || b == b'#')
            && self.is_at_line_start()
    }

    fn property_end(&self) -> u32 {
        let rest = &self.text.as_bytes()[self.at as usize..self.end as usize];
        let verbatim = rest.starts_with(b"!<");
        let length = rest.iter().position(|&b| match b {
            b'>' if verbatim => true,
            b',' | b'[' | b']' | b'{' | b'}' => !verbatim,
            _ => is_blank(b) || is_break(b),
        });
        let end = self.at + length.unwrap_or(rest.len()) as u32;
        if verbatim && rest.get((end - self.at) as usize) == Some(&b'>') { end + 1 } else { end }
    }
}

impl Iterator for Gap<'_> {
    type Item = (Trivia, Span);

    fn next(&mut self) -> Option<Self::Item> {
        let bytes = self.text.as_bytes();
        loop {
            if self.at >= self.end {
                return None;
            }
            match bytes[self.at as usize] {
                byte if is_blank(byte) => self.at += 1,
                // Any document may start with a byte-order mark.
                0xef if self.text[self.at as usize..].starts_with('\u{feff}') => self.at += 3,
                _ => break,
            }
        }
        let start = self.at;
        let byte = bytes[start as usize];
        let (trivia, end) = match byte {
            b'\r' if bytes.get(start as usize + 1) == Some(&b'\n') => (Trivia::Break, start + 2),
            b'\r' | b'\n' => (Trivia::Break, start + 1),
            b'#' => (Trivia::Comment, line_end(self.text, start)),
            b'%' if self.is_at_line_start() => (Trivia::Directive, line_end(self.text, start)),
            b'-' | b'.' if self.is_marker() => (Trivia::Marker, start + 3),
            b'&' | b'!' => (Trivia::Property, self.property_end()),
            _ => {
                let width = self.text[start as usize..].chars().next().map_or(1, char::len_utf8);
                (Trivia::Indicator(byte), start + width as u32)
            }
        };
        self.at = end.min(self.end).max(start + 1);
        Some((trivia, Span::new(start, self.at)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_trivia_is_found() {
        let text = "%YAML 1.2\r\n--- &a !<x,y>\n  - ? # comment\n";
        let read: Vec<_> = Gap::from(text, 0).map(|(kind, span)| (kind, span.of(text))).collect();
        assert_eq!(
            read,
            [
                (Trivia::Directive, "%YAML 1.2"),
                (Trivia::Break, "\r\n"),
                (Trivia::Marker, "---"),
                (Trivia::Property, "&a"),
                (Trivia::Property, "!<x,y>"),
                (Trivia::Break, "\n"),
                (Trivia::Indicator(b'-'), "-"),
                (Trivia::Indicator(b'?'), "?"),
                (Trivia::Comment, "# comment"),
                (Trivia::Break, "\n"),
            ]
        );
    }

    #[test]
    fn directives_and_markers_follow_a_byte_order_mark() {
        let text = "\u{feff}%YAML 1.2\n\u{feff}---\n";
        let read: Vec<_> = Gap::from(text, 0).map(|(kind, _)| kind).collect();
        assert_eq!(read, [Trivia::Directive, Trivia::Break, Trivia::Marker, Trivia::Break]);
    }

    #[test]
    fn indicators_in_comments_are_skipped() {
        let text = "key: # not this |\n  |\n text";
        assert_eq!(Gap::from(text, 3).find(b"|>", b":"), Some(Span::new(20, 21)));
        assert_eq!(Gap::from("a, b: c", 1).find(b":", b""), None);
    }
}
