//! Lines that are removed from the end of an entry that moves.

use super::lower::EditContext;
use super::splice::Splice;
use crate::span::{Span, before_break};

/// Removes the last lines of a moved entry with the line break before them.
///
/// Lines are removed with the line break after them. The break after the last line of an entry does not move with the entry, so the
/// removal would reach beyond the moved text. New lines after the removed ones move with the entry as well.
pub(crate) fn keep_within(context: &mut EditContext<'_>) {
    let moved: Vec<(Span, u32)> = context.splices.iter().flat_map(Splice::moved_entries).collect();
    if moved.is_empty() {
        return;
    }
    let text = context.text;
    let mut by_end: Vec<(u32, u32, u32)> =
        moved.into_iter().map(|(span, of)| (span.end, span.start, of)).collect();
    by_end.sort_unstable();
    let mut shortened: Vec<(u32, u32, u32)> = Vec::new();
    for splice in context.splices.iter_mut().filter(|it| it.is_removal()) {
        let Span { start, end } = splice.span;
        let last = before_break(text, end);
        let from = by_end.partition_point(|(moved_end, _, _)| *moved_end < last);
        let mut here = by_end[from..].iter().take_while(|(moved_end, _, _)| *moved_end < end);
        if let Some((_, _, of)) = here.find(|(_, moved_start, _)| *moved_start < start) {
            splice.span = Span::new(before_break(text, start), last);
            shortened.push((end, last, *of));
        }
    }
    shortened.sort_unstable();
    let eol = context.style.line_break;
    for splice in context.splices.iter_mut().filter(|it| it.span.is_empty()) {
        let at = shortened.partition_point(|(end, _, _)| *end < splice.span.start);
        let Some((end, last, of)) = shortened.get(at) else { continue };
        if *end == splice.span.start && splice.is_inside(*of) {
            splice.start_with_break(*last, eol);
        }
    }
}
