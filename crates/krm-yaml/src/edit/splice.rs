//! Splices: replacements of byte ranges.
//!
//! The replacement is new text, or another range of the source with the splices inside it applied. The latter is what allows an edit to
//! move an entry and to change it: computing the moved text first would apply inner edits twice or not at all.

use crate::fast_parser::ChangedRange;
use crate::span::{Span, foreign_breaks};

/// A piece of a replacement.
#[derive(Clone, Debug)]
pub(crate) enum Part {
    New(String),
    /// Bytes of the source, with the splices inside them applied.
    Keep(Span),
}

impl Part {
    /// Whether this is new text with a character that only YAML 1.1 takes for a line break.
    pub(crate) fn has_foreign_breaks(&self) -> bool {
        matches!(self, Self::New(text) if foreign_breaks(text) > 0)
    }
}

/// One replacement.
#[derive(Clone, Debug)]
pub(crate) struct Splice {
    pub(crate) span: Span,
    pub(crate) parts: Vec<Part>,
    /// Whether another entry moves here.
    is_move: bool,
    /// The collection whose entries this inserts, removes or reorders. If one of its own entries is moved, a splice at the edge of that entry
    /// is not moved with it.
    of: Option<u32>,
}

/// The owner of splices that concern the file as a whole, and are never moved.
pub(crate) const FILE: u32 = u32::MAX;

impl Splice {
    pub(crate) fn parts(span: Span, parts: Vec<Part>) -> Self {
        Self { span, parts, is_move: false, of: None }
    }

    /// Moves the bytes of `from` to `to`; both are entries of the collection `of`.
    pub(crate) fn moved(to: Span, from: Span, of: u32) -> Self {
        Self { span: to, parts: vec![Part::Keep(from)], is_move: true, of: Some(of) }
    }

    /// The entries of the collection `of` in a new order, with new text between them.
    pub(crate) fn rebuilt(span: Span, parts: Vec<Part>, of: u32) -> Self {
        Self { span, parts, is_move: true, of: Some(of) }
    }

    /// Sets the collection whose entries this changes.
    pub(crate) fn of(self, collection: u32) -> Self {
        Self { of: Some(collection), ..self }
    }

    pub(crate) fn new(span: Span, text: impl Into<String>) -> Self {
        Self::parts(span, vec![Part::New(text.into())])
    }

    /// The source of the bytes that move here.
    pub(crate) fn moved_from(&self) -> Option<Span> {
        match self.parts.as_slice() {
            [Part::Keep(from)] if self.is_move => Some(*from),
            _ => None,
        }
    }

    /// The entries that move here, each with its collection.
    pub(crate) fn moved_entries(&self) -> impl Iterator<Item = (Span, u32)> {
        let parts = self.parts.iter().filter(|_| self.is_move);
        parts.filter_map(|part| match part {
            Part::Keep(from) => Some((*from, self.of?)),
            Part::New(_) => None,
        })
    }

    /// Whether this changes a collection inside an entry of another one.
    pub(crate) fn is_inside(&self, collection: u32) -> bool {
        self.of.is_some_and(|of| of > collection && of != FILE)
    }

    /// Moves inserted lines to the end of a line: they begin with a line break instead of ending with one.
    pub(crate) fn start_with_break(&mut self, at: u32, eol: &str) {
        if let [Part::New(lines)] = self.parts.as_mut_slice()
            && let Some(rest) = lines.strip_suffix(eol)
        {
            *lines = format!("{eol}{rest}");
            self.span = Span::empty(at);
        }
    }

    /// Whether the new text begins with a comment.
    pub(crate) fn starts_with_comment(&self) -> bool {
        matches!(self.parts.first(), Some(Part::New(text)) if text.starts_with('#'))
    }

    /// Whether bytes are removed and none are added.
    pub(crate) fn is_removal(&self) -> bool {
        self.parts.is_empty() && !self.span.is_empty()
    }

    pub(crate) fn insert(at: u32, text: impl Into<String>) -> Self {
        Self::new(Span::empty(at), text)
    }

    pub(crate) fn remove(span: Span) -> Self {
        Self::parts(span, Vec::new())
    }
}

/// The ranges that splices change, in order. `None` if some move text, whose place in the result does not follow from theirs.
pub(crate) fn changed_ranges(splices: &[Splice]) -> Option<Vec<ChangedRange>> {
    let length = |part: &Part| match part {
        Part::New(text) => text.len() as u32,
        Part::Keep(span) => span.len(),
    };
    let range = |splice: &Splice| {
        let new_length = splice.parts.iter().map(length).fold(0, u32::wrapping_add);
        (!splice.is_move).then_some(ChangedRange { old: splice.span, new_length })
    };
    let mut ranges = splices.iter().map(range).collect::<Option<Vec<_>>>()?;
    ranges.sort_by_key(|it| (it.old.start, it.old.end));
    Some(ranges)
}

/// Two splices overlap.
#[derive(Debug)]
pub(crate) struct Overlap {
    pub(crate) at: u32,
}

/// Applies splices to a range of a text.
pub(crate) fn apply(text: &str, range: Span, mut splices: Vec<Splice>) -> Result<String, Overlap> {
    // Insertions come before replacements that start at the same byte, and wide replacements before narrow ones.
    splices.sort_by_key(|s| (s.span.start, !s.span.is_empty(), u32::MAX - s.span.end, !s.is_move));
    let carriers = carriers(&splices);
    let mut work = Work { text, used: vec![false; splices.len()], carriers, splices };
    let added = |part: &Part| if let Part::New(text) = part { text.len() } else { 0 };
    let added: usize = work.splices.iter().flat_map(|it| &it.parts).map(added).sum();
    let mut out = String::with_capacity(range.len() as usize + added);
    work.render(range, Scope::Whole, &mut out);
    match work.used.iter().position(|used| !used) {
        None => Ok(out),
        Some(lost) => Err(Overlap { at: work.splices[lost].span.start }),
    }
}

/// For each insertion at the edge of a moved entry: the collection whose entry it moves with.
fn carriers(splices: &[Splice]) -> Vec<Option<u32>> {
    let mut edges: Vec<(u32, u32)> = Vec::new();
    for splice in splices {
        for part in splice.parts.iter().filter(|_| splice.is_move) {
            if let (Part::Keep(from), Some(of)) = (part, splice.of) {
                edges.extend([(from.start, of), (from.end, of)]);
            }
        }
    }
    edges.sort_unstable();
    let carrier = |splice: &Splice| {
        let at = Some(splice.span.start).filter(|_| splice.span.is_empty())?;
        let first = edges.partition_point(|(edge, _)| *edge < at);
        let here = edges[first..].iter().take_while(|(edge, _)| *edge == at);
        let inside = |moving: &u32| splice.of.is_none_or(|of| of > *moving && of != FILE);
        here.map(|(_, moving)| *moving).filter(inside).max()
    };
    splices.iter().map(carrier).collect()
}

/// What is being written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// A document.
    Whole,
    /// A range that is kept in place, such as a comment. Insertions at its edges do not belong to it.
    Kept,
    /// An entry of this collection that is moved.
    Carried(u32),
}

struct Work<'a> {
    text: &'a str,
    splices: Vec<Splice>,
    used: Vec<bool>,
    carriers: Vec<Option<u32>>,
}

impl Work<'_> {
    /// Whether a splice inside `range` is applied there.
    fn belongs(&self, index: usize, range: Span, scope: Scope) -> bool {
        let splice = &self.splices[index];
        let span = splice.span;
        let is_edge =
            span == range || span == Span::empty(range.start) || span == Span::empty(range.end);
        if let Some(carrier) = self.carriers[index] {
            return scope == Scope::Carried(carrier) && is_edge;
        }
        match scope {
            Scope::Kept => !(is_edge && span.is_empty()),
            Scope::Carried(collection) if is_edge => {
                // Splices of an outer collection stay in place; those of an inner one move along.
                splice.of.is_none_or(|of| of > collection && of != FILE)
            }
            _ => true,
        }
    }

    fn render(&mut self, range: Span, scope: Scope, out: &mut String) {
        let mut at = range.start;
        let first = self.splices.partition_point(|splice| splice.span.start < range.start);
        for index in first..self.splices.len() {
            let Splice { span, of, is_move, .. } = self.splices[index];
            if span.start > range.end {
                break;
            }
            // Skip splices that are applied already, that reach beyond the range, or that are inside the previous one.
            let fits = !self.used[index] && span.end <= range.end && span.start >= at;
            if !fits || !self.belongs(index, range, scope) {
                continue;
            }
            self.used[index] = true;
            out.push_str(&self.text[at as usize..span.start as usize]);
            let inner = of.filter(|_| is_move).map_or(Scope::Kept, Scope::Carried);
            for part in std::mem::take(&mut self.splices[index].parts) {
                match part {
                    Part::New(text) => out.push_str(&text),
                    Part::Keep(keep) => self.render(keep, inner, out),
                }
            }
            at = span.end;
        }
        out.push_str(&self.text[at as usize..range.end as usize]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moved_range_includes_its_edits() {
        let text = "one two";
        let splices = vec![
            Splice::moved(Span::new(0, 3), Span::new(4, 7), 1),
            Splice::moved(Span::new(4, 7), Span::new(0, 3), 1),
            Splice::new(Span::new(5, 6), "W"),
            Splice::insert(7, "+"),
            Splice::insert(7, "!").of(1),
        ];
        assert_eq!(apply(text, Span::new(0, 7), splices).unwrap(), "tWo+ one!");
    }

    #[test]
    fn overlapping_splices_are_an_error() {
        let splices = vec![Splice::new(Span::new(0, 4), "x"), Splice::new(Span::new(2, 6), "y")];
        assert!(apply("abcdef", Span::new(0, 6), splices).is_err());
        let splices = vec![Splice::remove(Span::new(0, 4)), Splice::insert(2, "y")];
        assert!(apply("abcdef", Span::new(0, 6), splices).is_err());
    }
}
