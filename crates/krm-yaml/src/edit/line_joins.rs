//! Insertions next to removed lines: both need the same line break, and only one of them may have it.

use super::lower::EditContext;
use super::splice::Part;
use crate::span::{Span, next_line};

/// Moves insertions at the end of a removed line behind the removed lines.
///
/// New lines after an entry start with the line break that ends the entry. If the entry's last line is removed together with its line
/// break (because it is the last entry of a nested collection), the new lines must end with a line break instead.
pub(crate) fn keep_insertions(context: &mut EditContext<'_>) {
    let mut gone: Vec<Span> =
        context.splices.iter().filter(|it| it.is_removal()).map(|it| it.span).collect();
    gone.sort_unstable();
    let (text, eol) = (context.text, context.style.line_break);
    for splice in &mut context.splices {
        let at = splice.span.start;
        let covering = gone.partition_point(|span| span.start <= at).checked_sub(1);
        let inside = covering.map(|covering| gone[covering]).filter(|span| at < span.end);
        let Some(span) =
            inside.filter(|span| splice.span.is_empty() && span.end == next_line(text, at))
        else {
            continue;
        };
        if let [Part::New(lines)] = splice.parts.as_mut_slice()
            && let Some(rest) = lines.strip_prefix(eol)
        {
            *lines = format!("{rest}{eol}");
            splice.span = Span::empty(span.end);
        }
    }
}
