//! Splices: which bytes go, and what comes in their place.
//!
//! What comes may be new text, or other bytes of the source, which carry the
//! splices inside them along. So an entry that moves takes its own edits with it.

use crate::span::Span;

/// A piece of what comes in place of a span.
#[derive(Clone, Debug)]
pub(crate) enum Part {
    New(String),
    /// Bytes of the source, with the splices inside them applied.
    Keep(Span),
}

/// One replacement.
#[derive(Clone, Debug)]
pub(crate) struct Splice {
    pub(crate) span: Span,
    pub(crate) parts: Vec<Part>,
}

impl Splice {
    pub(crate) fn new(span: Span, text: impl Into<String>) -> Self {
        Self { span, parts: vec![Part::New(text.into())] }
    }

    pub(crate) fn insert(at: u32, text: impl Into<String>) -> Self {
        Self::new(Span::empty(at), text)
    }

    pub(crate) fn remove(span: Span) -> Self {
        Self { span, parts: Vec::new() }
    }
}

/// Two splices want the same bytes.
#[derive(Debug)]
pub(crate) struct Overlap {
    pub(crate) at: u32,
}

/// Applies splices to the part `range` of a text.
pub(crate) fn apply(text: &str, range: Span, mut splices: Vec<Splice>) -> Result<String, Overlap> {
    // Insertions come before a replacement that begins at the same byte; wide ones before narrow ones.
    splices.sort_by_key(|s| (s.span.start, !s.span.is_empty(), u32::MAX - s.span.end));
    let mut work = Work { text, used: vec![false; splices.len()], splices };
    let mut out = String::with_capacity(range.len() as usize + 64);
    work.render(range, None, &mut out)?;
    match work.used.iter().position(|used| !used) {
        None => Ok(out),
        Some(lost) => Err(Overlap { at: work.splices[lost].span.start }),
    }
}

struct Work<'a> {
    text: &'a str,
    splices: Vec<Splice>,
    used: Vec<bool>,
}

impl Work<'_> {
    fn render(&mut self, range: Span, inside: Option<usize>, out: &mut String) -> Result<(), Overlap> {
        let mut at = range.start;
        let first = self.splices.partition_point(|splice| splice.span.start < range.start);
        for index in first..self.splices.len() {
            let span = self.splices[index].span;
            if span.start > range.end {
                break;
            }
            // What is used already, reaches out, or stands inside one just rendered is not for here.
            if self.used[index] || Some(index) == inside || span.end > range.end || span.start < at {
                continue;
            }
            self.used[index] = true;
            out.push_str(&self.text[at as usize..span.start as usize]);
            for part in self.splices[index].parts.clone() {
                match part {
                    Part::New(text) => out.push_str(&text),
                    Part::Keep(keep) => self.render(keep, Some(index), out)?,
                }
            }
            at = span.end;
        }
        out.push_str(&self.text[at as usize..range.end as usize]);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moved_piece_takes_its_edits_along() {
        let text = "one two";
        let splices = vec![
            Splice { span: Span::new(0, 3), parts: vec![Part::Keep(Span::new(4, 7))] },
            Splice { span: Span::new(4, 7), parts: vec![Part::Keep(Span::new(0, 3))] },
            Splice::new(Span::new(5, 6), "W"),
            Splice::insert(7, "!"),
        ];
        assert_eq!(apply(text, Span::new(0, 7), splices).unwrap(), "tWo one!");
    }

    #[test]
    fn two_edits_of_the_same_bytes_are_an_error() {
        let splices = vec![Splice::new(Span::new(0, 4), "x"), Splice::new(Span::new(2, 6), "y")];
        assert!(apply("abcdef", Span::new(0, 6), splices).is_err());
        let splices = vec![Splice::remove(Span::new(0, 4)), Splice::insert(2, "y")];
        assert!(apply("abcdef", Span::new(0, 6), splices).is_err());
    }
}
