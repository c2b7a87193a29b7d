//! Lowers inserted, removed and reordered entries of a block collection.
//!
//! Entries of a block collection own whole lines, so they are inserted and removed line by line. The exception is a collection that
//! starts on the line of its dash (`- a: 1`): its first entry shares the line with the indicator.

use super::lower::{CollectionChange, CollectionLayout, EditContext};
use super::render::Renderer;
use super::splice::Splice;
use super::{Adjacent, Insertion, end_of_file};
use crate::layout::{self, EntryLayout};
use crate::node::NodeKind;
use crate::node_ref::NodeRef;
use crate::span::{Span, before_break, column, line_end, line_start, next_line, skip_blanks_back};
use crate::style::EntryStyle;

pub(crate) fn lower<'a>(
    context: &mut EditContext<'a>,
    node: NodeRef<'a>,
    change: &CollectionChange<'_>,
) {
    if appends_to_mapping(node, change) {
        append_lines(context, node, change);
        return;
    }
    let layout = context.layout(node);
    let entries = &layout.entries;
    let Some(first) = entries.first() else { return };
    let work =
        Work { node, change, layout: &layout, entries, depth: column(context.text, first.head) };
    if change.removed.len() == entries.len() && change.inserted.is_empty() {
        work.leave_empty(context);
        return;
    }
    work.reorder(context);
    let done = if first.own_line { 0 } else { work.beside_indicator(context) };
    work.remove_lines(context, done);
    work.insert_lines(context);
}

/// Whether all changes are new entries after the last one of a mapping, as most changes of functions are.
fn appends_to_mapping(node: NodeRef<'_>, change: &CollectionChange<'_>) -> bool {
    if node.kind() != NodeKind::Mapping || !change.removed.is_empty() || change.order.is_some() {
        return false;
    }
    let count = node.children().count() / 2;
    let is_last = |new: &&Insertion<'_>| new.adjacent == Adjacent::Previous && new.before == count;
    count > 0 && !change.inserted.is_empty() && change.inserted.iter().all(is_last)
}

/// Inserts the lines of new entries after the last one of a mapping. Needs the layout of that one only.
fn append_lines<'a>(
    context: &mut EditContext<'a>,
    node: NodeRef<'a>,
    change: &CollectionChange<'_>,
) {
    let (text, eol) = (context.text, context.style.line_break);
    let Some(last) = node.children().last().and_then(layout::entry) else { return };
    let depth = column(text, layout::first_head(node).unwrap_or(last.head));
    let near = node.node().subtree_end(node.index);
    let style = EntryStyle::of_keys(node.children().step_by(2));
    let renderer = context.renderer_at(near).before(text, last.tail);
    let mut lines = String::new();
    for new in &change.inserted {
        for line in renderer.entry(new.key.as_ref(), &new.value, depth, style.key_style) {
            lines.push_str(eol);
            lines.push_str(&line);
        }
    }
    if !lines.is_empty() {
        let at = line_end(text, last.tail);
        context.splices.push(Splice::insert(at, lines).of(node.index));
    }
}

struct Work<'a, 'w> {
    node: NodeRef<'a>,
    change: &'w CollectionChange<'w>,
    layout: &'w CollectionLayout<'a>,
    entries: &'w [EntryLayout<'a>],
    /// The column of the entries.
    depth: u32,
}

impl<'a> Work<'a, '_> {
    /// The lines of new entries before the old entry `at` that are adjacent to it, or to the entry before it.
    fn new_lines(&self, context: &EditContext<'a>, at: usize, adjacent: Adjacent) -> Vec<String> {
        if !self.change.inserted_before(at).any(|new| new.adjacent == adjacent) {
            return Vec::new();
        }
        let like = self.layout.style.key_style;
        let renderer = self.renderer(context, at);
        self.change
            .inserted_before(at)
            .filter(|new| new.adjacent == adjacent)
            .flat_map(|new| renderer.entry(new.key.as_ref(), &new.value, self.depth, like))
            .collect()
    }

    /// Removes all entries: writes `{}` or `[]` after the key. Comments that belong to no entry are kept.
    fn leave_empty(&self, context: &mut EditContext<'a>) {
        let brackets = if self.node.kind() == NodeKind::Mapping { "{}" } else { "[]" };
        let first = &self.entries[0];
        let has_line = first.own_line && self.node.parent().is_some();
        if has_line {
            let floor = crate::layout::value_floor(self.node);
            context.splices.push(Splice::insert(floor, format!(" {brackets}")));
            self.remove_lines(context, 0);
        } else {
            let span =
                if first.own_line { Span::new(first.start, first.tail) } else { first.extent() };
            context.splices.push(Splice::new(span, brackets));
            self.remove_lines(context, 1);
        }
    }

    /// The old entries that are not removed.
    fn kept(&self) -> impl Iterator<Item = usize> {
        (0..self.entries.len()).filter(|at| !self.change.removed.contains(at))
    }

    fn reorder(&self, context: &mut EditContext<'a>) {
        if self.change.order.is_none() {
            return;
        }
        for (slot, entry) in self.kept().zip(self.change.kept(self.entries.len())) {
            if slot != entry {
                let (to, from) = (self.entries[slot].extent(), self.entries[entry].extent());
                context.splices.push(Splice::moved(to, from, self.node.index));
            }
        }
    }

    /// Lowers changes before the second entry of a collection whose first entry is on the line of a dash.
    /// Returns how many entries are dealt with.
    fn beside_indicator(&self, context: &mut EditContext<'a>) -> usize {
        let first = &self.entries[0];
        let eol = context.style.line_break;
        let indent = " ".repeat(self.depth as usize);
        let new = self.new_lines(context, 0, Adjacent::Next);
        let text = new.join(eol);
        let text = text.strip_prefix(&indent).unwrap_or(&text);
        if !self.change.removed.contains(&0) {
            if !new.is_empty() {
                let splice = Splice::insert(first.head, format!("{text}{eol}{indent}"));
                context.splices.push(splice.of(self.node.index));
            }
            return 0;
        }
        if !new.is_empty() {
            context.splices.push(Splice::new(first.extent(), text));
            return 1;
        }
        let Some(next) = self.kept().next() else {
            // All old entries are removed; the new ones, which are inserted after them, move up to the dash.
            context.splices.push(Splice::remove(first.extent()));
            return 1;
        };
        if self.is_close(context.text, next) {
            context.splices.push(Splice::remove(Span::new(first.start, self.entries[next].start)));
            return next;
        }
        let from =
            skip_blanks_back(context.text, first.start, line_start(context.text, first.start));
        context.splices.push(Splice::remove(Span::new(from, first.tail)));
        1
    }

    /// Whether only line breaks separate the entries up to `next`, so that `next` can move up to the dash.
    fn is_close(&self, text: &str, next: usize) -> bool {
        let target = &self.entries[next];
        let inserted = (1..=next).any(|at| self.change.inserted_before(at).next().is_some());
        target.start == target.head
            && !inserted
            && self.entries[..next].iter().zip(&self.entries[1..=next]).all(|(a, b)| {
                let gap = &text[a.tail as usize..b.start as usize];
                !gap.contains('#') && next_line(text, a.tail) == line_start(text, b.start)
            })
    }

    /// Removes the lines of the removed entries, starting with the entry `from`.
    fn remove_lines(&self, context: &mut EditContext<'a>, from: usize) {
        let text = context.text;
        let removed =
            self.change.removed.iter().filter(|&&at| at >= from).map(|&at| &self.entries[at]);
        let mut spans: Vec<Span> = Vec::new();
        for entry in removed {
            let span = Span::new(line_start(text, entry.start), next_line(text, entry.tail));
            match spans.last_mut() {
                Some(last) if last.end == span.start => last.end = span.end,
                _ => spans.push(span),
            }
        }
        for mut span in spans {
            // A file that ends without a line break still does after its last line is removed.
            let at_end =
                span.end as usize == text.len() && before_break(text, span.end) == span.end;
            if at_end && !end_of_file::needs_break(context.document, before_break(text, span.start))
            {
                span.start = before_break(text, span.start);
            }
            context.splices.push(Splice::remove(span));
        }
    }

    fn renderer<'g>(&self, context: &'g EditContext<'a>, at: usize) -> Renderer<'g> {
        let near = match self.entries.get(at) {
            Some(entry) => entry.value.index,
            None => self.node.node().subtree_end(self.node.index),
        };
        let renderer = context.renderer_at(near).within(self.layout);
        match self.entries[..at].last() {
            Some(previous) => renderer.before(context.text, previous.tail),
            None => renderer,
        }
    }

    fn insert_lines(&self, context: &mut EditContext<'a>) {
        let text = context.text;
        let eol = context.style.line_break;
        // They are sorted by the entries that they come before, and by the neighbour that they are next to.
        let is_together = |one: &&Insertion<'_>, new: &&Insertion<'_>| {
            one.before == new.before && one.adjacent == new.adjacent
        };
        for together in self.change.inserted.chunk_by(is_together) {
            let (at, adjacent) = (together[0].before, together[0].adjacent);
            let entry = self.entries.get(at);
            if adjacent == Adjacent::Next && !entry.is_some_and(|entry| entry.own_line) {
                continue;
            }
            let lines = self.new_lines(context, at, adjacent).join(eol);
            if lines.is_empty() {
                continue;
            }
            let splice = match entry.filter(|_| adjacent == Adjacent::Next) {
                Some(entry) => {
                    let at = line_start(text, entry.start);
                    Splice::insert(at, format!("{lines}{eol}")).of(self.node.index)
                }
                None => self.after(context, at, &lines),
            };
            context.splices.push(splice);
        }
    }

    /// Inserts lines directly after the entry before `at`.
    fn after(&self, context: &EditContext<'a>, at: usize, lines: &str) -> Splice {
        let text = context.text;
        let eol = context.style.line_break;
        let all_gone = self.change.removed.len() == self.entries.len();
        if all_gone && !self.entries[0].own_line {
            let indent = " ".repeat(self.depth as usize);
            return Splice::insert(
                self.entries[0].start,
                lines.strip_prefix(&indent).unwrap_or(lines),
            );
        }
        let previous = at.saturating_sub(1);
        let end = line_end(text, self.entries[previous].tail);
        if self.change.removed.contains(&previous) && end as usize != text.len() {
            return Splice::insert(next_line(text, end), format!("{lines}{eol}"))
                .of(self.node.index);
        }
        Splice::insert(end, format!("{eol}{lines}")).of(self.node.index)
    }
}
