//! The indentation of comment lines: they move with the entry that they belong to.

use super::columns::{Column, Columns};
use super::lines::Lines;
use crate::layout::comment_line;
use crate::node::NodeKind;

/// The line below a block of comments.
#[derive(Default)]
struct Next {
    line: usize,
    /// The collection whose entry starts there.
    owner: Option<u32>,
    /// The deepest comment of the block.
    deepest: u32,
}

/// Sets the indentation of all comment lines outside of values.
pub(super) fn place(lines: &mut Lines<'_>, columns: &Columns<'_>) {
    let first = columns.all().first().map_or(0, |root| lines.line(root.node.start()));
    let mut next = Next::default();
    for line in (first..lines.lines.len()).rev() {
        let here = &lines.lines[line];
        if here.new.is_some() || comment_line(lines.text, here.start).is_none() {
            next = Next { line, owner: here.entry, deepest: 0 };
            continue;
        }
        next.deepest = next.deepest.max(lines.spaces(line));
        let new = above(lines, columns, line, &next).or_else(|| below(lines, columns, line));
        lines.lines[line].new = new;
    }
}

/// The indentation of a comment directly above an entry, which moves with the entry.
fn above(lines: &Lines<'_>, columns: &Columns<'_>, line: usize, next: &Next) -> Option<u32> {
    let owner = columns.get(next.owner?)?;
    let head = owner.entries.first().map(|entry| lines.line(entry.head));
    // A deeper comment ends the block that belongs to the entry.
    let is_own = head == Some(next.line) || next.deepest <= owner.old;
    is_own.then(|| owner.shifted(lines.spaces(line)))
}

/// The indentation of any other comment: it moves with the innermost collection above that is not deeper.
fn below(lines: &Lines<'_>, columns: &Columns<'_>, line: usize) -> Option<u32> {
    let depth = lines.spaces(line);
    let at = lines.lines[line].start;
    let before = columns.all().partition_point(|column| column.node.start() < at);
    let mut inner: Option<&Column<'_>> = None;
    let mut column = columns.all()[..before].last();
    while let Some(here) = column {
        let around = columns.around(here.node);
        let is_compact = around.is_some_and(|around| around.old == here.old);
        let is_over = here.node.kind() == NodeKind::Sequence && is_compact && here.old == depth;
        let contains = here.old <= depth && !is_over;
        if contains {
            return Some(beside(lines, here, inner, line));
        }
        inner = Some(here);
        column = around;
    }
    None
}

fn beside(lines: &Lines<'_>, here: &Column<'_>, inner: Option<&Column<'_>>, line: usize) -> u32 {
    let depth = lines.spaces(line);
    let shifted = here.shifted(depth);
    let goes_on = here.entries.last().is_some_and(|last| last.head > lines.lines[line].start);
    let is_list = here.node.kind() == NodeKind::Sequence;
    if depth == here.old && is_list && here.new < here.old && !goes_on {
        // After the last element of a sequence that moves to the left, it belongs to the sequence only if it is deeper.
        return here.new + 2;
    }
    match inner {
        Some(inner) if depth > here.old && inner.new <= shifted => {
            (inner.new.saturating_sub(1)).max(here.new + 1)
        }
        _ => shifted,
    }
}
