//! From the changes of one document to its new text: lower, splice, read back.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::splice::{Splice, apply as splice};
use super::{
    CollectionEdit, DocumentEdit, EditError, EditErrorKind, EmptyParents, Insertion, Note,
    NoteTarget, Positions, block, check, ending, flow, json_words, meeting, notes, plain_swap,
    replace, sharing,
};
use crate::brackets::BracketManners;
use crate::document::DocumentRef;
use crate::file::File;
use crate::layout::{self, EntryLayout};
use crate::manners::{EntryManners, Manners};
use crate::node::CollectionStyle;
use crate::span::Span;
use crate::view::NodeRef;

use super::render::Renderer;

/// What the lowering of every kind of change needs to know.
pub(crate) struct Ground<'a> {
    pub(crate) document: DocumentRef<'a>,
    pub(crate) text: &'a str,
    pub(crate) manners: Manners<'a>,
    listings: BTreeMap<u32, Rc<Listing<'a>>>,
    pub(crate) splices: Vec<Splice>,
    /// The comments, or none, that are to stand beside values which are written anew.
    pub(crate) beside: BTreeMap<u32, Option<String>>,
}

/// The entries of a collection and how they are written.
pub(crate) struct Listing<'a> {
    pub(crate) entries: Vec<EntryLayout<'a>>,
    pub(crate) manners: EntryManners,
    pub(crate) brackets: BracketManners,
}

impl<'a> Ground<'a> {
    /// Renders in the manners of the neighbourhood of a node.
    pub(crate) fn renderer(&self, node: NodeRef<'_>) -> Renderer<'_> {
        self.renderer_at(node.index)
    }

    pub(crate) fn renderer_at(&self, near: u32) -> Renderer<'_> {
        Renderer::new(&self.manners, near)
    }

    /// The entries of a collection; looked up once for all changes in it.
    pub(crate) fn listing(&mut self, collection: NodeRef<'a>) -> Rc<Listing<'a>> {
        let json = self.manners.json;
        let listing = self.listings.entry(collection.index).or_insert_with(|| {
            let entries = layout::entries(collection);
            let manners = EntryManners::of(&entries);
            Rc::new(Listing { entries, manners, brackets: BracketManners::of(collection, json) })
        });
        Rc::clone(listing)
    }

    /// Lowers the comments beside nodes that were not written anew with their values.
    fn notes(&mut self, notes: &[&Note<'a>]) -> Result<(), EditError> {
        for note in notes {
            let is_waiting = match note.target {
                NoteTarget::Of(node, _) => self.beside.contains_key(&node.index),
                NoteTarget::This(_) => true,
            };
            if is_waiting {
                notes::lower(self, note)?;
            }
        }
        Ok(())
    }

    /// The entry that a key, a value or an item belongs to.
    pub(crate) fn entry_of(&mut self, node: NodeRef<'a>) -> Option<EntryLayout<'a>> {
        let parent = node.parent()?;
        let entries = &self.listing(parent).entries;
        let at = entries.partition_point(|entry| entry.value.index < node.index);
        entries.get(at).copied()
    }
}

/// Makes the changes of one document: its new text, read back unless what it means is certain.
pub(crate) fn apply<'a>(
    document: DocumentRef<'a>,
    edit: &DocumentEdit<'a>,
    allow_shared: bool,
    json: bool,
) -> Result<String, EditError> {
    let Lowered { splices, collections, json_words } = lower(document, edit, allow_shared, json)?;
    let is_certain = plain_swap::is_certain(document, edit, &splices);
    let text = splice(document.file.text(), document.span(), splices).map_err(|overlap| {
        let kind = EditErrorKind::conflict("two changes touch the same text");
        EditError::new(Span::empty(overlap.at), kind)
    })?;
    if !is_certain || File::is_too_large(&text) {
        return check::read_back(document, edit, &collections, json_words, text);
    }
    debug_assert_eq!(
        check::read_back(document, edit, &collections, json_words, text.clone()).as_ref(),
        Ok(&text),
        "what is certain is read back the same"
    );
    Ok(text)
}

/// Whether the changes of one document can be made, and what it means then is certain without reading it back.
pub(crate) fn is_certain<'a>(
    document: DocumentRef<'a>,
    edit: &DocumentEdit<'a>,
    allow_shared: bool,
    json: bool,
) -> bool {
    lower(document, edit, allow_shared, json)
        .is_ok_and(|lowered| plain_swap::is_certain(document, edit, &lowered.splices))
}

/// The changes of one document as splices, and what becomes of its collections.
struct Lowered<'e> {
    splices: Vec<Splice>,
    collections: BTreeMap<u32, Change<'e>>,
    /// Whether values were spelled as JSON spells them.
    json_words: bool,
}

fn lower<'a, 'e>(
    document: DocumentRef<'a>,
    edit: &'e DocumentEdit<'a>,
    allow_shared: bool,
    json: bool,
) -> Result<Lowered<'e>, EditError> {
    let mut manners = Manners::of(document);
    manners.json |= json;
    manners.json_words |= json;
    let mut ground = Ground {
        document,
        text: document.file.text(),
        manners,
        listings: BTreeMap::new(),
        splices: Vec::new(),
        beside: BTreeMap::new(),
    };
    let mut positions = Positions::default();
    let collections = cascade(document, edit, &mut positions);
    sharing::check(document, edit, &collections, allow_shared)?;
    if json {
        json_words::refuse_unsaid(document, edit)?;
    }
    refuse_lost_edits(document, edit, &collections, &mut positions)?;
    // At one place a value comes before what is inserted behind it, and the inner before the outer. The comment beside an
    // entry comes before new entries, the one above it behind them.
    let (above, beside): (Vec<_>, Vec<_>) = edit.notes.iter().partition(|note| note.is_above());
    let empties = |(index, change): &(&u32, &Change<'_>)| change.empties(document.node(**index));
    let (emptied, changed): (Vec<_>, Vec<_>) = collections.iter().rev().partition(empties);
    for note in &beside {
        if let NoteTarget::Of(node, _) = note.target {
            ground.beside.insert(node.index, note.text.clone());
        }
    }
    for (&index, value) in &edit.values {
        replace::lower(&mut ground, document.node(index), value)?;
    }
    for (&index, change) in emptied {
        collection(&mut ground, document.node(index), change)?;
    }
    let fills = |node: NodeRef<'_>| collections.contains_key(&node.index) && count(node) == 0;
    let (filled, beside): (Vec<_>, Vec<_>) = beside
        .into_iter()
        .partition(|note| matches!(note.target, NoteTarget::Of(node, _) if fills(node)));
    ground.notes(&beside)?;
    for (&index, change) in changed {
        collection(&mut ground, document.node(index), change)?;
    }
    ground.notes(&filled)?;
    for (&index, name) in &edit.keys {
        replace::rename(&mut ground, document.node(index), name);
    }
    for note in above {
        notes::lower(&mut ground, note)?;
    }
    ending::mend(&mut ground);
    meeting::keep_insertions(&mut ground);
    Ok(Lowered { splices: ground.splices, collections, json_words: ground.manners.json_words })
}

fn collection<'a>(
    ground: &mut Ground<'a>,
    node: NodeRef<'a>,
    change: &Change<'_>,
) -> Result<(), EditError> {
    match node.collection_style() {
        CollectionStyle::Block => block::lower(ground, node, change),
        _ => flow::lower(ground, node, change)?,
    }
    Ok(())
}

/// The changes of the collections, with removals carried upward where a collection becomes empty.
fn cascade<'e>(
    document: DocumentRef<'_>,
    edit: &'e DocumentEdit<'_>,
    positions: &mut Positions,
) -> BTreeMap<u32, Change<'e>> {
    let mut changes: BTreeMap<u32, Change<'e>> = edit
        .collections
        .iter()
        .map(|(&index, collection)| (index, Change::of(collection)))
        .collect();
    let mut queue: Vec<u32> = changes.keys().copied().collect();
    while let Some(index) = queue.pop() {
        let node = document.node(index);
        let change = &changes[&index];
        let empties = change.empties(node);
        let (Some(parent), true) =
            (node.parent(), empties && change.when_empty == EmptyParents::Remove)
        else {
            continue;
        };
        let at = positions.entry(parent, node);
        changes.remove(&index);
        let above = changes.entry(parent.index).or_default();
        above.removed.insert(at);
        above.when_empty = EmptyParents::Remove;
        // The parent may be empty now; its own changes come first, so look at it again.
        queue.retain(|&other| other != parent.index);
        queue.push(parent.index);
        queue.sort_unstable();
    }
    changes
}

fn count(node: NodeRef<'_>) -> usize {
    let children = node.children().count();
    if node.kind() == crate::NodeKind::Mapping { children / 2 } else { children }
}

/// The changes of one collection.
#[derive(Debug, Default)]
pub(crate) struct Change<'e> {
    pub(crate) removed: std::collections::BTreeSet<usize>,
    pub(crate) inserted: Vec<&'e Insertion<'e>>,
    pub(crate) order: Option<&'e [usize]>,
    pub(crate) when_empty: EmptyParents,
}

impl<'e> Change<'e> {
    fn of(edit: &'e CollectionEdit<'e>) -> Self {
        let mut inserted: Vec<&'e Insertion<'e>> = edit.inserted.iter().collect();
        inserted.sort_by_key(|new| (new.before, new.hugs));
        Self {
            removed: edit.removed.clone(),
            inserted,
            order: edit.order.as_deref(),
            when_empty: edit.when_empty,
        }
    }

    /// Whether all entries go and none comes.
    fn empties(&self, node: NodeRef<'_>) -> bool {
        self.inserted.is_empty() && self.removed.len() == count(node)
    }

    /// The old entries that stay, in their new order.
    pub(crate) fn kept(&self, count: usize) -> Vec<usize> {
        let all: Vec<usize> = self.order.map_or_else(|| (0..count).collect(), <[usize]>::to_vec);
        all.into_iter().filter(|at| !self.removed.contains(at)).collect()
    }

    /// What is inserted before the old entry `at`.
    pub(crate) fn inserted_before(&self, at: usize) -> impl Iterator<Item = &'e Insertion<'e>> {
        let from = self.inserted.partition_point(|new| new.before < at);
        self.inserted[from..].iter().copied().take_while(move |new| new.before == at)
    }
}

/// A change inside something that is removed or replaced would be lost: that is an error.
fn refuse_lost_edits(
    document: DocumentRef<'_>,
    edit: &DocumentEdit<'_>,
    changes: &BTreeMap<u32, Change<'_>>,
    positions: &mut Positions,
) -> Result<(), EditError> {
    let touched = changes.keys().chain(edit.values.keys()).chain(edit.keys.keys());
    for &index in touched {
        let mut node = document.node(index);
        let lost = |node: NodeRef<'_>| {
            let conflict = "a change would be lost because its parent is replaced or removed";
            Err(EditError::at(node, EditErrorKind::conflict(conflict)))
        };
        if changes.contains_key(&index) && edit.values.contains_key(&index) {
            return lost(node);
        }
        while let Some(parent) = node.parent() {
            let removed = changes
                .get(&parent.index)
                .is_some_and(|change| change.removed.contains(&positions.entry(parent, node)));
            if removed || edit.values.contains_key(&parent.index) {
                return lost(document.node(index));
            }
            node = parent;
        }
    }
    Ok(())
}
