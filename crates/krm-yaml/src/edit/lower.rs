//! Turns the changes of one document into its new text: lower to splices, apply, verify.
//!
//! Changes are collected symbolically and lowered together, because they depend on each other: two keys inserted at one position, the
//! last entry removed, a key removed from a sequence that is also reordered. Lowering them one by one would need a parse between
//! any two of them, and would move comments that only fit after all of them.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::splice::{Part, Splice, apply as splice, changed_ranges};
use super::verify::Expected;
use super::{
    CollectionEdit, CommentEdit, CommentTarget, DocumentEdit, EditError, EditErrorKind,
    EmptyParents, EntryPositions, Insertion, SmallMap, anchors, block, comments, end_of_file, flow,
    json_numbers, line_joins, moved_lines, plain_swap, replace, verify,
};
use crate::document::DocumentRef;
use crate::fast_parser::ChangedRange;
use crate::file::File;
use crate::flow_style::FlowStyle;
use crate::layout::{self, EntryLayout};
use crate::node::CollectionStyle;
use crate::node_ref::NodeRef;
use crate::span::{Span, foreign_breaks};
use crate::style::{DocumentStyle, EntryStyle};

use super::render::Renderer;

/// The state that all lowering functions share.
pub(crate) struct EditContext<'a> {
    pub(crate) document: DocumentRef<'a>,
    pub(crate) text: &'a str,
    pub(crate) style: DocumentStyle<'a>,
    layouts: SmallMap<Rc<CollectionLayout<'a>>>,
    pub(crate) splices: Vec<Splice>,
    /// The nodes whose tags are replaced together with their values.
    pub(crate) retagged: &'a BTreeSet<u32>,
    /// New line comments (or `None` to remove them) of values that are replaced by the same edit.
    pub(crate) beside: SmallMap<Option<String>>,
}

/// The entries of a collection and their style.
pub(crate) struct CollectionLayout<'a> {
    pub(crate) entries: Vec<EntryLayout<'a>>,
    pub(crate) style: EntryStyle,
    pub(crate) brackets: FlowStyle,
}

impl<'a> EditContext<'a> {
    /// A renderer for new text next to a node, in the style of its neighbours.
    pub(crate) fn renderer(&self, node: NodeRef<'_>) -> Renderer<'_> {
        self.renderer_at(node.index)
    }

    pub(crate) fn renderer_at(&self, near: u32) -> Renderer<'_> {
        Renderer::new(&self.style, near)
    }

    /// The entries of a collection, computed once for all changes in it.
    pub(crate) fn layout(&mut self, collection: NodeRef<'a>) -> Rc<CollectionLayout<'a>> {
        let json = self.style.json;
        let layout = self.layouts.get_or_insert_with(collection.index, || {
            let entries = layout::entries(collection);
            let style = EntryStyle::of(&entries);
            Rc::new(CollectionLayout { entries, style, brackets: FlowStyle::of(collection, json) })
        });
        Rc::clone(layout)
    }

    /// Lowers line comments that were not written together with a new value.
    fn comments(&mut self, comments: &[&CommentEdit<'a>]) -> Result<(), EditError> {
        for comment in comments {
            let is_waiting = match comment.target {
                CommentTarget::Of(node, _) => self.beside.contains(node.index),
                CommentTarget::Existing(_) => true,
            };
            if is_waiting {
                comments::lower(self, comment)?;
            }
        }
        Ok(())
    }

    /// The entry of a key, a value or an element.
    pub(crate) fn entry_of(&mut self, node: NodeRef<'a>) -> Option<EntryLayout<'a>> {
        let parent = node.parent()?;
        if parent.is_block() && !self.layouts.contains(parent.index) {
            // The entries beside it do not matter.
            return layout::entry(node.value_of_key().unwrap_or(node));
        }
        let entries = &self.layout(parent).entries;
        let at = entries.partition_point(|entry| entry.value.index < node.index);
        entries.get(at).copied()
    }
}

/// The new text of a document.
pub(crate) enum EditedDocument {
    /// Not parsed, because `plain_swap` proves what it means, and the ranges of the old text that changed.
    Text(String, Vec<ChangedRange>),
    /// Parsed and compared with the expectation.
    Parsed(File),
}

impl EditedDocument {
    pub(crate) fn into_text(self) -> String {
        match self {
            Self::Text(text, _) => text,
            Self::Parsed(file) => file.into_text(),
        }
    }
}

/// Applies the changes of a document.
pub(crate) fn apply<'a>(
    document: DocumentRef<'a>,
    edit: &DocumentEdit<'a>,
    allow_shared: bool,
    json: bool,
) -> Result<EditedDocument, EditError> {
    let Lowered { splices, collections, json_scalars } = lower(document, edit, allow_shared, json)?;
    let is_certain = plain_swap::is_certain(document, edit, &splices);
    let ranges = changed_ranges(&splices);
    let may_add_breaks = splices.iter().flat_map(|it| &it.parts).any(Part::has_foreign_breaks);
    let text = splice(document.file.text(), document.span(), splices).map_err(|overlap| {
        let kind = EditErrorKind::conflict("two changes touch the same text");
        EditError::new(Span::empty(overlap.at), kind)
    })?;
    if may_add_breaks && foreign_breaks(&text) > foreign_breaks(document.text()) {
        let span = document.root().map_or(document.span(), |root| root.full_span());
        return Err(EditError::new(span, EditErrorKind::ForeignLineBreak));
    }
    if !is_certain || File::is_too_large(&text) {
        let expected = Expected::new(edit, &collections, json_scalars);
        let file = verify::read_back(document, &expected, text, ranges.as_deref())?;
        return Ok(EditedDocument::Parsed(file));
    }
    debug_assert_eq!(
        verify::read_back(
            document,
            &Expected::new(edit, &collections, json_scalars),
            text.clone(),
            None
        )
        .map(File::into_text)
        .as_ref(),
        Ok(&text),
        "what is certain is read back the same"
    );
    Ok(EditedDocument::Text(text, ranges.unwrap_or_default()))
}

/// Whether the changes of a document succeed and need no verification.
pub(crate) fn is_certain<'a>(
    document: DocumentRef<'a>,
    edit: &DocumentEdit<'a>,
    allow_shared: bool,
    json: bool,
) -> bool {
    lower(document, edit, allow_shared, json)
        .is_ok_and(|lowered| plain_swap::is_certain(document, edit, &lowered.splices))
}

/// The changes of one document as splices, and the changes of its collections.
struct Lowered<'e> {
    splices: Vec<Splice>,
    collections: SmallMap<CollectionChange<'e>>,
    /// Whether scalars were written as JSON spells them.
    json_scalars: bool,
}

fn lower<'a, 'e>(
    document: DocumentRef<'a>,
    edit: &'e DocumentEdit<'a>,
    allow_shared: bool,
    json: bool,
) -> Result<Lowered<'e>, EditError> {
    let mut style = DocumentStyle::of(document);
    style.json |= json;
    style.json_scalars |= json;
    let mut context = EditContext {
        document,
        text: document.file.text(),
        style,
        layouts: SmallMap::default(),
        splices: Vec::new(),
        retagged: &edit.retagged,
        beside: SmallMap::default(),
    };
    let mut positions = EntryPositions::default();
    let collections = cascade(document, edit, &mut positions);
    anchors::check(document, edit, &collections, allow_shared)?;
    if json {
        json_numbers::refuse_unrepresentable(document, edit)?;
    }
    refuse_lost_edits(document, edit, &collections, &mut positions)?;
    // Splices at the same offset are applied in the order in which they are pushed. So a value comes before what is inserted after it,
    // inner collections come before outer ones, and the line comment of an entry comes before new entries, its head comment after them.
    let (above, beside): (Vec<_>, Vec<_>) =
        edit.comments.iter().partition(|comment| comment.is_above());
    let empties =
        |(index, change): &(u32, &CollectionChange<'_>)| change.empties(document.node(*index));
    let (emptied, changed): (Vec<_>, Vec<_>) = collections.iter().rev().partition(empties);
    for comment in &beside {
        if let CommentTarget::Of(node, _) = comment.target {
            context.beside.insert(node.index, comment.text.clone());
        }
    }
    for (index, value) in edit.values.iter() {
        replace::lower(&mut context, document.node(index), value)?;
    }
    for (index, change) in emptied {
        collection(&mut context, document.node(index), change)?;
    }
    let fills = |node: NodeRef<'_>| collections.contains(node.index) && count(node) == 0;
    let (filled, beside): (Vec<_>, Vec<_>) = beside
        .into_iter()
        .partition(|comment| matches!(comment.target, CommentTarget::Of(node, _) if fills(node)));
    context.comments(&beside)?;
    for (index, change) in changed {
        collection(&mut context, document.node(index), change)?;
    }
    context.comments(&filled)?;
    for (index, name) in edit.keys.iter() {
        replace::rename(&mut context, document.node(index), name);
    }
    for comment in above {
        comments::lower(&mut context, comment)?;
    }
    end_of_file::mend(&mut context);
    moved_lines::keep_within(&mut context);
    line_joins::keep_insertions(&mut context);
    line_joins::separate_comments(&mut context);
    Ok(Lowered { splices: context.splices, collections, json_scalars: context.style.json_scalars })
}

fn collection<'a>(
    context: &mut EditContext<'a>,
    node: NodeRef<'a>,
    change: &CollectionChange<'_>,
) -> Result<(), EditError> {
    match node.collection_style() {
        CollectionStyle::Block => block::lower(context, node, change),
        _ => flow::lower(context, node, change)?,
    }
    Ok(())
}

/// The changes of all collections. A collection that becomes empty is removed from its parent if the edit asks for that.
fn cascade<'e>(
    document: DocumentRef<'_>,
    edit: &'e DocumentEdit<'_>,
    positions: &mut EntryPositions,
) -> SmallMap<CollectionChange<'e>> {
    let changes = edit.collections.iter();
    let mut changes: SmallMap<CollectionChange<'e>> =
        changes.map(|(index, collection)| (index, CollectionChange::of(collection))).collect();
    let may_empty = |change: &CollectionChange<'_>| {
        change.empty_parents == EmptyParents::Remove && change.inserted.is_empty()
    };
    if !changes.iter().any(|(_, change)| may_empty(change)) {
        return changes;
    }
    // The last one first: what is inside of a collection comes after it.
    let mut queue: BTreeSet<u32> = changes.keys().collect();
    while let Some(index) = queue.pop_last() {
        let node = document.node(index);
        let is_removed = changes.get(index).is_some_and(|change| {
            change.empty_parents == EmptyParents::Remove && change.empties(node)
        });
        let Some(parent) = node.parent().filter(|_| is_removed) else { continue };
        let at = positions.entry(parent, node);
        changes.remove(index);
        let above = changes.get_or_default(parent.index);
        above.removed.insert(at);
        above.empty_parents = EmptyParents::Remove;
        // The parent may be empty now. Its own changes must be known first, so it is visited again.
        queue.insert(parent.index);
    }
    changes
}

fn count(node: NodeRef<'_>) -> usize {
    let children = node.children().count();
    if node.kind() == crate::NodeKind::Mapping { children / 2 } else { children }
}

/// The changes of one collection.
#[derive(Debug, Default)]
pub(crate) struct CollectionChange<'e> {
    pub(crate) removed: BTreeSet<usize>,
    pub(crate) inserted: Vec<&'e Insertion<'e>>,
    pub(crate) order: Option<&'e [usize]>,
    pub(crate) empty_parents: EmptyParents,
}

impl<'e> CollectionChange<'e> {
    fn of(edit: &'e CollectionEdit<'e>) -> Self {
        let mut inserted: Vec<&'e Insertion<'e>> = edit.inserted.iter().collect();
        inserted.sort_by_key(|new| (new.before, new.adjacent));
        Self {
            removed: edit.removed.clone(),
            inserted,
            order: edit.order.as_deref(),
            empty_parents: edit.empty_parents,
        }
    }

    /// Whether all entries are removed and none is inserted.
    fn empties(&self, node: NodeRef<'_>) -> bool {
        self.inserted.is_empty() && self.removed.len() == count(node)
    }

    /// The old entries that are kept, in their new order.
    pub(crate) fn kept(&self, count: usize) -> Vec<usize> {
        let all: Vec<usize> = self.order.map_or_else(|| (0..count).collect(), <[usize]>::to_vec);
        all.into_iter().filter(|at| !self.removed.contains(at)).collect()
    }

    /// The new entries before the old entry `at`.
    pub(crate) fn inserted_before(&self, at: usize) -> impl Iterator<Item = &'e Insertion<'e>> {
        let from = self.inserted.partition_point(|new| new.before < at);
        self.inserted[from..].iter().copied().take_while(move |new| new.before == at)
    }
}

/// Refuses a change inside a value that the same edit removes or replaces, because it would be lost silently.
fn refuse_lost_edits(
    document: DocumentRef<'_>,
    edit: &DocumentEdit<'_>,
    changes: &SmallMap<CollectionChange<'_>>,
    positions: &mut EntryPositions,
) -> Result<(), EditError> {
    let touched = changes.keys().chain(edit.values.keys()).chain(edit.keys.keys());
    for index in touched {
        let mut node = document.node(index);
        let lost = |node: NodeRef<'_>| {
            let conflict = "a change would be lost because its parent is replaced or removed";
            Err(EditError::at(node, EditErrorKind::conflict(conflict)))
        };
        if changes.contains(index) && edit.values.contains(index) {
            return lost(node);
        }
        while let Some(parent) = node.parent() {
            let removed = changes.get(parent.index).is_some_and(|change| {
                !change.removed.is_empty()
                    && change.removed.contains(&positions.entry(parent, node))
            });
            if removed || edit.values.contains(parent.index) {
                return lost(document.node(index));
            }
            node = parent;
        }
    }
    Ok(())
}
