//! Lowers inserted, removed and reordered entries of a flow collection.

use super::lower::{CollectionChange, CollectionLayout, EditContext};
use super::splice::Splice;
use super::{EditError, EditErrorKind, Insertion, first_entry};
use crate::comment;
use crate::layout::{EntryLayout, flow_comment_beside};
use crate::node::CollectionStyle;
use crate::node_ref::NodeRef;
use crate::span::{
    Span, is_first_on_line, line_end, line_start, next_line, past_blanks, skip_blanks,
    skip_blanks_back,
};
use crate::style::indentation;
use crate::trivia::{Gap, Trivia};
use crate::value::Value;

pub(crate) fn lower<'a>(
    context: &mut EditContext<'a>,
    node: NodeRef<'a>,
    change: &CollectionChange<'_>,
) -> Result<(), EditError> {
    let layout = context.layout(node);
    let entries = &layout.entries;
    if entries.is_empty() {
        first_entries(context, node, change);
        return Ok(());
    }
    let kept: Vec<usize> = (0..entries.len()).filter(|at| !change.removed.contains(at)).collect();
    let work = Work { node, change, layout: &layout, entries, kept };
    if node.collection_style() == CollectionStyle::Pair {
        work.add_braces(context);
        return Ok(());
    }
    if work.is_mixed() && !work.kept.is_empty() || work.removes_around_comments(context.text) {
        work.rebuild(context);
        return Ok(());
    }
    if work.kept.is_empty() {
        work.empty_or_replace_all(context);
        return Ok(());
    }
    if let Some(entry) = work.entry_with_misplaced_comment(context.text) {
        let node = entry.key.unwrap_or(entry.value);
        return Err(EditError::at(node, EditErrorKind::CommentMoves));
    }
    work.reorder(context);
    work.remove(context);
    work.insert(context);
    Ok(())
}

/// Inserts the first entries of an empty collection.
fn first_entries<'a>(
    context: &mut EditContext<'a>,
    node: NodeRef<'a>,
    change: &CollectionChange<'_>,
) {
    if change.inserted.is_empty() {
        return;
    }
    let in_block =
        node.parent().is_none_or(|parent| parent.collection_style() == CollectionStyle::Block);
    let inner = Span::new(node.start() + 1, node.end() - 1);
    let has_comment = inner.of(context.text).contains('#');
    if in_block && !context.style.json && !has_comment {
        first_entry::in_block(context, node, &change.inserted);
        return;
    }
    if context.style.json && node.parent().is_some_and(|parent| is_over_lines(context.text, parent))
    {
        first_entry::over_lines(context, node, &change.inserted);
        return;
    }
    let layout = context.layout(node);
    let texts = inserted_texts(context, node, &change.inserted, &layout);
    let text = join(&texts, layout.brackets.comma());
    if has_comment {
        context.splices.push(Splice::insert(inner.start, text));
    } else {
        context.splices.push(Splice::new(inner, text));
    }
}

pub(super) fn inserted_texts<'a>(
    context: &EditContext<'a>,
    node: NodeRef<'a>,
    inserted: &[&Insertion<'_>],
    layout: &CollectionLayout<'a>,
) -> Vec<String> {
    let renderer = context.renderer(node).within(layout);
    let like = layout.style.key_style;
    let over_lines = layout.style.over_lines && context.style.json;
    let first = layout.entries.first().filter(|_| over_lines);
    let indent = first.map_or("", |entry| indentation(context.text, entry.head));
    let text = |value: &Value<'_>| {
        if over_lines { renderer.flow_lines(value, indent) } else { renderer.flow_element(value) }
    };
    let entry = |new: &&Insertion<'_>| match &new.key {
        Some(key) => layout.brackets.entry(&renderer.key(key, true, like), &text(&new.value)),
        None => text(&new.value),
    };
    inserted
        .iter()
        .map(|new| format!("{}{}", lines_above(context, node, &new.value), entry(new)))
        .collect()
}

/// The comments of a node that is copied into a flow collection, on lines of their own before it.
///
/// A flow collection on one line has no room for comments, so lines are added to it.
pub(crate) fn lines_above<'a>(
    context: &EditContext<'a>,
    collection: NodeRef<'a>,
    value: &Value<'_>,
) -> String {
    let Some(node) = value.node() else { return String::new() };
    if context.style.json {
        return String::new();
    }
    let comments = comment::texts_with(node);
    if comments.is_empty() {
        return String::new();
    }
    let line = indentation(context.text, collection.start()).len();
    let indent = " ".repeat(line + context.style.indent(collection.index) as usize);
    let eol = context.style.line_break;
    let lines: String = comments.iter().map(|comment| format!("{eol}{indent}{comment}")).collect();
    format!("{lines}{eol}{indent}")
}

/// The comments of a node that replaces an entry's value, on lines of their own before the entry.
///
/// If the entry has a line to itself, the head comments are set like any other comment.
pub(super) fn comments_of<'a>(
    context: &EditContext<'a>,
    entry: &EntryLayout<'a>,
    value: &Value<'_>,
) -> String {
    let (Some(node), Some(collection)) = (value.node(), entry.value.parent()) else {
        return String::new();
    };
    if !entry.own_line || context.style.json {
        return lines_above(context, collection, value);
    }
    let above = comment::above(node).len();
    let indent = indentation(context.text, entry.head);
    let line = |comment: &str| format!("{comment}{}{indent}", context.style.line_break);
    comment::texts_with(node).into_iter().skip(above).map(line).collect()
}

/// Joins entries with a separator; an entry that starts with a line break needs no space before it.
fn join(texts: &[String], glue: &str) -> String {
    let mut out = String::new();
    for (at, text) in texts.iter().enumerate() {
        if at > 0 {
            out.push_str(before(text, glue));
        }
        out.push_str(text);
    }
    out
}

/// The separator before a text, without its trailing space if the text starts with a line break.
fn before<'g>(text: &str, glue: &'g str) -> &'g str {
    if text.starts_with(['\n', '\r']) { glue.trim_end() } else { glue }
}

/// Whether the entries of a flow collection are on lines of their own.
pub(crate) fn is_over_lines(text: &str, collection: NodeRef<'_>) -> bool {
    let first = collection.children().next();
    first.is_some_and(|child| is_first_on_line(text, child.full_span().start))
}

pub(super) struct Work<'a, 'w> {
    pub(super) node: NodeRef<'a>,
    pub(super) change: &'w CollectionChange<'w>,
    pub(super) layout: &'w CollectionLayout<'a>,
    pub(super) entries: &'w [EntryLayout<'a>],
    kept: Vec<usize>,
}

impl<'a> Work<'a, '_> {
    /// Whether the entries are on lines of their own.
    fn over_lines(&self) -> bool {
        self.layout.style.over_lines
    }

    fn closer(&self) -> u32 {
        self.node.end() - 1
    }

    fn empty_or_replace_all(&self, context: &mut EditContext<'a>) {
        let texts = inserted_texts(context, self.node, &self.change.inserted, self.layout);
        let first = &self.entries[0];
        let last = &self.entries[self.entries.len() - 1];
        let inner = Span::new(self.node.start() + 1, self.closer());
        let outside = [Span::new(inner.start, first.start), Span::new(last.tail, inner.end)];
        let owns_all = outside.iter().all(|span| !span.of(context.text).contains('#'));
        if texts.is_empty() && owns_all {
            context.splices.push(Splice::remove(inner));
            return;
        }
        let glue = self.glue(context);
        let trailing = last.comma.map_or(last.end, |comma| comma + 1);
        let mut text = join(&texts, &glue);
        if last.comma.is_some() && !texts.is_empty() {
            text.push(',');
        }
        context.splices.push(Splice::new(Span::new(first.start, trailing.max(last.tail)), text));
    }

    /// Adds braces to an implicit pair, as in `[a: b]`, that does not have exactly one entry any more.
    fn add_braces(&self, context: &mut EditContext<'a>) {
        let entry = &self.entries[0];
        let core = Span::new(entry.start, entry.end);
        let comma = self.layout.brackets.comma();
        let new = |at: usize| -> Vec<&Insertion<'_>> { self.change.inserted_before(at).collect() };
        let [first, last] =
            [0, 1].map(|at| inserted_texts(context, self.node, &new(at), self.layout));
        if self.kept.is_empty() {
            let all: Vec<String> = first.into_iter().chain(last).collect();
            context.splices.push(Splice::new(core, format!("{{{}}}", join(&all, comma))));
            return;
        }
        let ahead: String = first.iter().map(|text| format!("{text}{comma}")).collect();
        let behind: String = last.iter().map(|text| format!("{comma}{text}")).collect();
        let own = self.node.index;
        context.splices.push(Splice::insert(core.start, format!("{{{ahead}")).of(own));
        context.splices.push(Splice::insert(core.end, format!("{behind}}}")).of(own));
    }

    /// An entry whose comment would end up at another entry: a head comment must start a line, and a line comment must end one.
    fn entry_with_misplaced_comment(&self, text: &str) -> Option<&EntryLayout<'a>> {
        let order = self.change.kept(self.entries.len());
        let moved = self.kept.iter().zip(order).filter(|(slot, entry)| **slot != *entry);
        let mut moved = moved.map(|(slot, entry)| (&self.entries[*slot], &self.entries[entry]));
        let ends_line = |entry: &EntryLayout<'_>| {
            let at = beside(text, entry).end;
            let end = line_end(text, at);
            skip_blanks(text, at, end) == end
        };
        let found = moved.find(|(slot, entry)| {
            let above = entry.start < entry.head && !slot.own_line;
            above || !beside(text, entry).is_empty() && !ends_line(slot)
        });
        found.map(|(_, entry)| entry)
    }

    fn reorder(&self, context: &mut EditContext<'a>) {
        for (&slot, entry) in self.kept.iter().zip(self.change.kept(self.entries.len())) {
            if slot == entry {
                continue;
            }
            let (slot, entry) = (&self.entries[slot], &self.entries[entry]);
            let core = |e: &EntryLayout<'_>| Span::new(e.start, e.end);
            context.splices.push(Splice::moved(core(slot), core(entry), self.node.index));
            let line_rest = |entry| {
                let span = beside(context.text, entry);
                Span::new(span.start, past_blanks(context.text, span.end))
            };
            let (old, new) = (line_rest(slot), line_rest(entry));
            if !old.is_empty() || !new.is_empty() {
                context.splices.push(Splice::moved(old, new, self.node.index));
            }
        }
    }

    fn remove(&self, context: &mut EditContext<'a>) {
        for &at in &self.change.removed {
            context.splices.push(Splice::remove(self.removal(context.text, at)));
        }
        // The comma after the last entry that is kept separated it from the removed ones.
        let last_kept = *self.kept.last().unwrap_or(&0);
        if let (Some(comma), None) =
            (self.entries[last_kept].comma, self.entries[self.entries.len() - 1].comma)
        {
            context.splices.push(Splice::remove(Span::new(comma, comma + 1)));
        }
    }

    /// The bytes of a removed entry, with its comma.
    fn removal(&self, text: &str, at: usize) -> Span {
        let entry = &self.entries[at];
        let last_kept = *self.kept.last().unwrap_or(&0);
        if self.is_own(text, at) {
            return Span::new(line_start(text, entry.start), next_line(text, entry.tail));
        }
        if let Some(next) = self.entries.get(at + 1).filter(|_| at < last_kept) {
            return Span::new(entry.start, next.start);
        }
        // After the last entry that is kept, the spaces before it are removed, too.
        let from = skip_blanks_back(text, entry.start, self.node.start());
        Span::new(from, entry.tail)
    }

    /// The comments behind an entry that belong to none, up to the next entry or the last comma.
    pub(super) fn comments_after(&self, text: &str, at: usize) -> Vec<Span> {
        let entry = &self.entries[at];
        let end = self.entries.get(at + 1).map_or(entry.tail, |next| next.start);
        let gap = Span::new(entry.end, end);
        if !gap.of(text).contains('#') {
            return Vec::new();
        }
        let own = beside(text, entry);
        let comments = Gap::new(text, gap).filter(|(trivia, _)| *trivia == Trivia::Comment);
        comments.map(|(_, span)| span).filter(|span| !own.contains(*span)).collect()
    }

    /// Whether comments that belong to no entry are between the bytes that would be removed with entries. They stay.
    fn removes_around_comments(&self, text: &str) -> bool {
        let has_any = |at: usize, span: Span| {
            self.comments_after(text, at).iter().any(|comment| comment.start < span.end)
        };
        if self.kept.is_empty() {
            let all = Span::new(self.node.start(), self.closer());
            return (0..self.entries.len()).any(|at| has_any(at, all));
        }
        self.change.removed.iter().any(|&at| has_any(at, self.removal(text, at)))
    }

    /// Whether an entry is removed with its whole line, including the comma.
    fn is_own(&self, text: &str, at: usize) -> bool {
        let entry = &self.entries[at];
        entry.own_line
            && self.entries.get(at + 1).is_none_or(|next| next.own_line)
            && line_start(text, entry.start) > line_start(text, self.node.start())
            && line_end(text, entry.tail) < self.closer()
    }

    fn insert(&self, context: &mut EditContext<'a>) {
        for at in 0..=self.entries.len() {
            let new: Vec<&Insertion<'_>> = self.change.inserted_before(at).collect();
            if new.is_empty() {
                continue;
            }
            let texts = inserted_texts(context, self.node, &new, self.layout);
            if at == self.entries.len() {
                self.insert_last(context, &texts);
            } else {
                self.insert_before(context, &self.entries[at], &texts);
            }
        }
    }

    /// The separator between two entries.
    pub(super) fn glue(&self, context: &EditContext<'a>) -> String {
        if self.over_lines() {
            let indent = indentation(context.text, self.entries[0].head);
            return format!(",{}{indent}", context.style.line_break);
        }
        self.layout.brackets.comma().to_owned()
    }

    fn insert_before(
        &self,
        context: &mut EditContext<'a>,
        entry: &EntryLayout<'a>,
        texts: &[String],
    ) {
        let glue = self.glue(context);
        context.splices.push(Splice::insert(entry.start, format!("{}{glue}", join(texts, &glue))));
    }

    fn insert_last(&self, context: &mut EditContext<'a>, texts: &[String]) {
        let glue = self.glue(context);
        let last = &self.entries[self.entries.len() - 1];
        let text = join(texts, &glue);
        let glue = before(&text, &glue);
        let (_, space) = glue.split_at(1);
        let comment = !beside(context.text, last).is_empty();
        if comment && !self.over_lines() {
            // The comment stays beside its entry, so the new entries go to a line of their own.
            let indent = indentation(context.text, self.closer());
            let line = format!("{}{indent}{}", context.style.line_break, text.trim_start());
            if last.comma.is_none() {
                context.splices.push(Splice::insert(last.end, ","));
            }
            let comma = if last.comma.is_some() { "," } else { "" };
            context.splices.push(Splice::insert(last.tail, format!("{line}{comma}")));
            return;
        }
        if !self.over_lines() {
            let splice = match last.comma {
                Some(comma) => Splice::insert(comma + 1, format!("{space}{text},")),
                None => Splice::insert(last.end, format!("{glue}{text}")),
            };
            context.splices.push(splice);
            return;
        }
        match last.comma {
            None if comment => {
                context.splices.push(Splice::insert(last.end, ","));
                context.splices.push(Splice::insert(last.tail, format!("{space}{text}")));
            }
            None => context.splices.push(Splice::insert(last.end, format!("{glue}{text}"))),
            Some(_) => context.splices.push(Splice::insert(last.tail, format!("{space}{text},"))),
        }
    }
}

/// The line comment of an entry with the spaces before it; an empty span where it would be if there is none.
pub(super) fn beside(text: &str, entry: &EntryLayout<'_>) -> Span {
    let comment = flow_comment_beside(text, entry.end, entry.comma);
    let at = entry.comma.filter(|comma| skip_blanks(text, entry.end, *comma) == *comma);
    Span::new(at.map_or(entry.end, |comma| comma + 1), comment.end)
}
