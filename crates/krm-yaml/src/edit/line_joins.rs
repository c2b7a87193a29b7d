//! Joins of new and old text: line breaks next to removed lines, and spaces before comments.

use super::lower::EditContext;
use super::splice::Part;
use crate::span::{Span, is_blank, next_line};

/// Adds a space between new text and a comment that follows the old text directly, as in `"a"#comment`: after a plain scalar it would be no
/// comment.
pub(crate) fn separate_comments(context: &mut EditContext<'_>) {
    let bytes = context.text.as_bytes();
    let is_glued = |at: u32| {
        let at = at as usize;
        bytes.get(at) == Some(&b'#') && at.checked_sub(1).is_some_and(|at| !is_blank(bytes[at]))
    };
    for splice in &mut context.splices {
        // The start of the old text that follows a part.
        let mut next = Some(splice.span.end);
        for part in splice.parts.iter_mut().rev() {
            if let (Part::New(text), Some(next)) = (&mut *part, next)
                && text.ends_with(|c: char| !c.is_whitespace())
                && is_glued(next)
            {
                text.push(' ');
            }
            next = match part {
                Part::Keep(kept) => Some(kept.start),
                Part::New(_) => None,
            };
        }
    }
}

/// Moves insertions at the end of a removed line behind the removed lines.
///
/// New lines after an entry start with the line break that ends the entry. If the entry's last line is removed together with its line
/// break (because it is the last entry of a nested collection), the new lines must end with a line break instead.
pub(crate) fn keep_insertions(context: &mut EditContext<'_>) {
    let mut gone: Vec<Span> =
        context.splices.iter().filter(|it| it.is_removal()).map(|it| it.span).collect();
    if gone.is_empty() {
        return;
    }
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
