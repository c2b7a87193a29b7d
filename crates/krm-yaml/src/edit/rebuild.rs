//! Writes all entries of a flow collection again, if an edit combines several kinds of changes in it.

use super::Insertion;
use super::flow::{Work, beside, inserted_texts};
use super::lower::EditContext;
use super::splice::{Part, Splice};
use crate::layout::EntryLayout;
use crate::span::{
    Span, before_break, is_first_on_line, line_end, line_start, next_line, skip_blanks,
    skip_blanks_back,
};
use crate::style::indentation;

/// One piece of the new collection.
enum Slot {
    Old(usize),
    New(String),
    /// Comments behind an old entry that belong to none. They stay at their position among the entries.
    Comments(usize, Vec<Span>),
}

impl Slot {
    fn is_entry(&self) -> bool {
        !matches!(self, Self::Comments(..))
    }
}

impl<'a> Work<'a, '_> {
    /// Whether one edit inserts and removes entries, or removes and reorders them. Then their commas depend on each other, and independent
    /// splices would leave one too many or too few.
    pub(super) fn is_mixed(&self) -> bool {
        let kinds = [
            !self.change.removed.is_empty(),
            !self.change.inserted.is_empty(),
            self.change.order.is_some(),
        ];
        kinds.into_iter().filter(|kind| *kind).count() > 1
    }

    /// Writes the entries again, each with its own text, and the comments between them that belong to none.
    pub(super) fn rebuild(&self, context: &mut EditContext<'a>) {
        let text = context.text;
        let last = &self.entries[self.entries.len() - 1];
        let list = self.slots(context);
        let mut span = Span::new(self.entries[0].start, last.tail);
        let mut parts = Vec::new();
        if !self.entries[0].own_line
            && let Some(line) = line_of_comment(context, self.entries, list.first())
        {
            span.start = skip_blanks_back(text, span.start, self.node.start());
            parts.push(Part::New(line));
        }
        let mut at = 0;
        while let Some(slot) = list.get(at) {
            at += 1;
            match slot {
                Slot::New(text) => parts.push(Part::New(text.clone())),
                Slot::Comments(_, comments) => {
                    parts.extend(self.comment_lines(context, comments, list.get(at)));
                    continue;
                }
                Slot::Old(index) => {
                    let entry = &self.entries[*index];
                    parts.push(Part::Keep(Span::new(entry.start, entry.end)));
                    if let Some((rest, count)) = self.kept_gap(text, *index, &list[at..]) {
                        parts.push(Part::Keep(Span::new(entry.end, rest)));
                        at += count;
                        continue;
                    }
                }
            }
            parts.extend(self.between(context, slot, &list[at..]));
        }
        context.splices.push(Splice::rebuilt(span, parts, self.node.index));
    }

    /// The new entries, and the comments that belong to none.
    fn slots(&self, context: &EditContext<'a>) -> Vec<Slot> {
        let count = self.entries.len();
        let mut list: Vec<Slot> = Vec::new();
        let mut kept = self.change.kept(count).into_iter();
        for at in 0..=count {
            let new: Vec<&Insertion<'_>> = self.change.inserted_before(at).collect();
            list.extend(
                inserted_texts(context, self.node, &new, self.layout).into_iter().map(Slot::New),
            );
            if at == count {
                break;
            }
            if !self.change.removed.contains(&at) {
                list.extend(kept.next().map(Slot::Old));
            }
            let comments = self.comments_after(context.text, at);
            if !comments.is_empty() {
                list.push(Slot::Comments(at, comments));
            }
        }
        list
    }

    /// The end of the gap behind an old entry, and the number of slots in it, if it is kept as it is: entries that stay next to each
    /// other keep everything between them.
    fn kept_gap(&self, text: &str, index: usize, behind: &[Slot]) -> Option<(u32, usize)> {
        let (count, next) = match behind {
            [Slot::Comments(at, _), rest @ ..] if *at == index => (1, rest.first()),
            // An entry that moved has left its comments behind.
            _ if !self.comments_after(text, index).is_empty() => return None,
            rest => (0, rest.first()),
        };
        match next {
            Some(Slot::Old(next)) if *next == index + 1 => Some((self.entries[*next].start, count)),
            None if index == self.entries.len() - 1 => Some((self.entries[index].tail, count)),
            _ => None,
        }
    }

    /// What follows an entry: its comma, its comment, a space or a line break.
    fn between(&self, context: &EditContext<'a>, slot: &Slot, behind: &[Slot]) -> Vec<Part> {
        let text = context.text;
        let last = &self.entries[self.entries.len() - 1];
        let comment = match slot {
            Slot::Old(index) => {
                Some(beside(text, &self.entries[*index])).filter(|span| !span.is_empty())
            }
            _ => None,
        };
        let mut parts = Vec::new();
        if behind.iter().any(Slot::is_entry) || last.comma.is_some() {
            parts.push(Part::New(",".to_owned()));
        }
        parts.extend(comment.map(Part::Keep));
        let next = behind.first();
        let starts_line = matches!(next, Some(Slot::New(text)) if text.starts_with(['\n', '\r']));
        let is_open = next.is_some() || line_end(text, last.tail) != last.tail;
        if let Some(line) = line_of_comment(context, self.entries, next) {
            parts.push(Part::New(line));
        } else if comment.is_some() && is_open && !starts_line {
            let like = self.entries.iter().find(|entry| entry.own_line).unwrap_or(&self.entries[0]);
            let indent = indentation(text, like.head);
            parts.push(Part::New(format!("{}{indent}", context.style.line_break)));
        } else if next.is_some() && !starts_line {
            parts.push(Part::New(self.glue(context)[1..].to_owned()));
        }
        parts
    }

    /// Comments that belong to no entry, each on a line of its own, and the start of the line behind them. Blank lines around them stay,
    /// because a comment directly above an entry would belong to it.
    fn comment_lines(
        &self,
        context: &EditContext<'a>,
        comments: &[Span],
        next: Option<&Slot>,
    ) -> Vec<Part> {
        let (text, eol) = (context.text, context.style.line_break);
        let mut parts = Vec::new();
        for (at, comment) in comments.iter().enumerate() {
            if at > 0 {
                parts.push(Part::New(line_before(context, *comment)));
            }
            parts.push(Part::Keep(*comment));
        }
        let last = &self.entries[self.entries.len() - 1];
        let Some(comment) = comments.last() else { return parts };
        let below = next_line(text, comment.end);
        if next.is_some()
            && line_end(text, below) == skip_blanks(text, below, line_end(text, below))
        {
            parts.push(Part::New(eol.to_owned()));
        }
        let starts_line = matches!(next, Some(Slot::New(text)) if text.starts_with(['\n', '\r']));
        if let Some(line) = line_of_comment(context, self.entries, next) {
            parts.push(Part::New(line));
        } else if !starts_line && (next.is_some() || line_end(text, last.tail) != last.tail) {
            let like = self.entries.iter().find(|entry| entry.own_line);
            let indent = indentation(text, like.map_or(comment.start, |entry| entry.head));
            parts.push(Part::New(format!("{eol}{indent}")));
        }
        parts
    }
}

/// The line break and indentation before comments, or before an entry with a head comment.
fn line_of_comment(
    context: &EditContext<'_>,
    entries: &[EntryLayout<'_>],
    slot: Option<&Slot>,
) -> Option<String> {
    match slot? {
        Slot::Comments(_, comments) => Some(line_before(context, *comments.first()?)),
        Slot::Old(index) => {
            let entry = &entries[*index];
            let indent = indentation(context.text, entry.start);
            (entry.start < entry.head).then(|| format!("{}{indent}", context.style.line_break))
        }
        Slot::New(_) => None,
    }
}

/// The line break and indentation before a comment, with the blank line above it if it has one.
fn line_before(context: &EditContext<'_>, comment: Span) -> String {
    let (text, eol) = (context.text, context.style.line_break);
    let line = line_start(text, comment.start);
    let above = before_break(text, line);
    let is_below_blank =
        above < line && is_first_on_line(text, above) && is_first_on_line(text, comment.start);
    let blank = if is_below_blank { eol } else { "" };
    format!("{eol}{blank}{}", indentation(text, comment.start))
}

#[cfg(test)]
mod tests {
    use crate::{Edit, EmptyParents, File};

    /// Swaps the first two elements of a sequence and removes the last one.
    fn turned(text: &str) -> String {
        let file = File::parse(text.to_owned()).unwrap();
        let list = file.document(0).unwrap().root().unwrap();
        let mut edit = Edit::new(&file);
        edit.remove(list.children().last().unwrap(), EmptyParents::Keep).unwrap();
        edit.reorder(
            list,
            (0..list.children().count()).map(|at| at ^ usize::from(at < 2)).collect(),
        )
        .unwrap();
        edit.apply().unwrap()
    }

    #[test]
    fn head_comment_starts_a_line() {
        assert_eq!(turned("[\n  # of a\n  a, b, c\n]\n"), "[\n  b,\n  # of a\n  a\n]\n");
        assert_eq!(turned("[ a,\n  # of b\n  b, c ]\n"), "[\n  # of b\n  b, a ]\n");
    }

    #[test]
    fn comments_of_no_entry_stay_between_the_entries() {
        let free = "[\n  a,\n  # free\n\n  b, c\n]\n";
        assert_eq!(turned(free), "[\n  b,\n  # free\n\n  a\n]\n");
        assert_eq!(turned("[\n  a\n  # n\n  , b, c ]\n"), "[\n  b,\n  # n\n  a ]\n");
        assert_eq!(turned("[ a, b\n  # n\n  , # m\n  c\n]\n"), "[ b, a\n  # n\n  # m\n]\n");
    }
}
