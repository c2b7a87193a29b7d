//! Writes all entries of a flow collection again, if an edit combines several kinds of changes in it.

use super::Insertion;
use super::flow::{Work, beside, inserted_texts};
use super::lower::EditContext;
use super::splice::{Part, Splice};
use crate::span::{Span, line_end, skip_blanks_back};
use crate::style::indentation;

/// One entry of the new collection.
enum Slot {
    Old(usize),
    New(String),
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

    /// Writes the entries again, each with its own text. Returns false if a comment between them belongs to none of them, because it would be
    /// lost.
    pub(super) fn rebuild(&self, context: &mut EditContext<'a>) -> bool {
        let text = context.text;
        let count = self.entries.len();
        let last = &self.entries[count - 1];
        let between = self.entries.iter().zip(&self.entries[1..]);
        let owns_all =
            between.clone().all(|(a, b)| !Span::new(a.tail, b.start).of(text).contains('#'));
        if !owns_all {
            return false;
        }
        let mut list: Vec<Slot> = Vec::new();
        let mut kept = self.change.kept(count).into_iter();
        for at in 0..=count {
            let new: Vec<&Insertion<'_>> = self.change.inserted_before(at).collect();
            list.extend(
                inserted_texts(context, self.node, &new, self.layout).into_iter().map(Slot::New),
            );
            if at < count && !self.change.removed.contains(&at) {
                list.extend(kept.next().map(Slot::Old));
            }
        }
        let mut span = Span::new(self.entries[0].start, last.tail);
        let mut parts = Vec::new();
        if let Some(line) = self.line_of_comment(context, list.first())
            && !self.entries[0].own_line
        {
            span.start = skip_blanks_back(text, span.start, self.node.start());
            parts.push(Part::New(line));
        }
        for (at, slot) in list.iter().enumerate() {
            let next = list.get(at + 1);
            match slot {
                Slot::New(text) => parts.push(Part::New(text.clone())),
                Slot::Old(index) => {
                    let entry = &self.entries[*index];
                    parts.push(Part::Keep(Span::new(entry.start, entry.end)));
                    // Entries that stay next to each other keep everything between them.
                    let rest = match next {
                        Some(Slot::Old(next)) if *next == index + 1 => {
                            Some(self.entries[*next].start)
                        }
                        None if *index == count - 1 => Some(entry.tail),
                        _ => None,
                    };
                    if let Some(rest) = rest {
                        parts.push(Part::Keep(Span::new(entry.end, rest)));
                        continue;
                    }
                }
            }
            parts.extend(self.between(context, slot, next));
        }
        context.splices.push(Splice::rebuilt(span, parts, self.node.index));
        true
    }

    /// What follows an entry: its comma, its comment, a space or a line break.
    fn between(&self, context: &EditContext<'a>, slot: &Slot, next: Option<&Slot>) -> Vec<Part> {
        let text = context.text;
        let last = &self.entries[self.entries.len() - 1];
        let comment = match slot {
            Slot::Old(index) => {
                Some(beside(text, &self.entries[*index])).filter(|span| !span.is_empty())
            }
            Slot::New(_) => None,
        };
        let mut parts = Vec::new();
        if next.is_some() || last.comma.is_some() {
            parts.push(Part::New(",".to_owned()));
        }
        parts.extend(comment.map(Part::Keep));
        let starts_line = matches!(next, Some(Slot::New(text)) if text.starts_with(['\n', '\r']));
        let is_open = next.is_some() || line_end(text, last.tail) != last.tail;
        if let Some(line) = self.line_of_comment(context, next) {
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

    /// The line break and indentation before an entry with a head comment.
    fn line_of_comment(&self, context: &EditContext<'a>, slot: Option<&Slot>) -> Option<String> {
        let Some(Slot::Old(index)) = slot else { return None };
        let entry = &self.entries[*index];
        let indent = indentation(context.text, entry.start);
        (entry.start < entry.head).then(|| format!("{}{indent}", context.style.line_break))
    }
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
}
