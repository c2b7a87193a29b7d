//! Verifies an edited document: every requested change is there, and nothing else changed its meaning.
//!
//! The new text is parsed, and the old tree, the changes and the new tree are compared side by side. This deliberately shares no code with
//! lowering and rendering, so that a mistake there is refused here instead of being repeated.

use super::lower::CollectionChange;
use super::siblings::Siblings;
use super::{DocumentEdit, EditError, EditErrorKind, Insertion, SmallMap, kubernetes};
use crate::ScalarType;
use crate::document::DocumentRef;
use crate::fast_parser::ChangedRange;
use crate::file::File;
use crate::node::NodeKind;
use crate::node_ref::{NodeRef, Scalar};

/// Returns the new text of the document, parsed, if it means what the edit asks for, and if Kubernetes reads it like the old one.
///
/// `ranges` are those of the old text that changed, if they are known: then only these lines are parsed again. That the others are the same is
/// checked there.
pub(crate) fn read_back(
    document: DocumentRef<'_>,
    expected: &Expected<'_, '_>,
    text: String,
    ranges: Option<&[ChangedRange]>,
) -> Result<File, EditError> {
    let file = expected.read(document, text, ranges)?;
    let new = file.document(0).and_then(|new| kubernetes::without_hazards(document, new));
    match new.map(|text| expected.read(document, text, None)) {
        Some(Ok(changed)) => Ok(changed),
        Some(Err(_)) | None => Ok(file),
    }
}

/// What an edit asks for.
pub(crate) struct Expected<'e, 'c> {
    edit: &'e DocumentEdit<'e>,
    changes: &'c SmallMap<CollectionChange<'c>>,
    /// Whether scalars may be spelled as in JSON.
    json_scalars: bool,
    /// The nodes that change, sorted.
    touched: Vec<u32>,
}

impl<'e, 'c> Expected<'e, 'c> {
    pub(crate) fn new(
        edit: &'e DocumentEdit<'e>,
        changes: &'c SmallMap<CollectionChange<'c>>,
        json_scalars: bool,
    ) -> Self {
        let touched = edit.values.keys().chain(edit.keys.keys()).chain(changes.keys());
        let mut touched: Vec<u32> = touched.collect();
        touched.sort_unstable();
        Self { edit, changes, json_scalars, touched }
    }
}

impl Expected<'_, '_> {
    /// Parses the new text of the document and compares it with the old one.
    fn read(
        &self,
        document: DocumentRef<'_>,
        text: String,
        ranges: Option<&[ChangedRange]>,
    ) -> Result<File, EditError> {
        let whole = document.root().map_or(document.span(), |root| root.full_span());
        let refuse = |kind: EditErrorKind| Err(EditError::new(whole, kind));
        let file = match ranges {
            Some(ranges) => File::parse_changed(document, text, ranges),
            None => File::parse(text),
        };
        let Ok(file) = file else { return refuse(EditErrorKind::ResultTooLarge) };
        if let Some(error) = file.errors().next() {
            return refuse(EditErrorKind::InvalidResult { error: error.to_string().into() });
        }
        let is_one = file.documents().count() == 1;
        let new = file.document(0).filter(|_| is_one).and_then(|new| new.root());
        let (Some(old), Some(new)) = (document.root(), new) else {
            return refuse(EditErrorKind::NotOneDocument);
        };
        if let Err(node) = self.node(old, new) {
            let subject = format!("`{}`", node.path());
            return Err(EditError::at(node, EditErrorKind::ChangesMeaning { subject }));
        }
        Ok(file)
    }

    /// Compares an old node and its changes with the new node. The error is the old node that differs.
    fn node<'a>(&self, old: NodeRef<'a>, new: NodeRef<'_>) -> Result<(), NodeRef<'a>> {
        let holds = |ok: bool| if ok { Ok(()) } else { Err(old) };
        // Most of a document is as it was.
        let is_untouched = self.is_untouched(old);
        if is_untouched && old.is_collection() && old.is_written_as(new) {
            return Ok(());
        }
        if is_untouched {
            return self.unchanged(old, new);
        }
        if let Some(value) = self.edit.values.get(old.index) {
            let keeps_anchor =
                old.anchor().is_none() || value.node().is_some() || old.anchor() == new.anchor();
            let is_retagged = || match self.edit.retagged.contains(&old.index) {
                true => new.tag() == value.node().and_then(NodeRef::tag),
                false => true,
            };
            let is_meant = value.is_meant_by(new, self.json_scalars);
            return holds(is_meant && keeps_anchor && is_retagged());
        }
        if let Some(name) = self.edit.keys.get(old.index) {
            let is_named = new
                .as_scalar()
                .is_some_and(|key| key.is(name) && key.resolve() == ScalarType::String);
            return holds(is_named && old.anchor() == new.anchor());
        }
        self.unchanged(old, new)
    }

    /// Compares a node that is not changed itself.
    fn unchanged<'a>(&self, old: NodeRef<'a>, new: NodeRef<'_>) -> Result<(), NodeRef<'a>> {
        let holds = |ok: bool| if ok { Ok(()) } else { Err(old) };
        // Most nodes have neither anchor nor tag.
        if old.node().has_properties() || new.node().has_properties() {
            holds(old.anchor() == new.anchor() && old.tag() == new.tag())?;
        }
        if old.is_collection() {
            holds(old.kind() == new.kind())?;
            return self.children(old, new);
        }
        holds(match (old.as_scalar(), new.as_scalar()) {
            (Some(old), Some(new)) => {
                old.style() == new.style()
                    && (is_same_text(old, new)
                        || old.resolve() == new.resolve() && old.value() == new.value())
            }
            _ => {
                old.kind() == NodeKind::Alias
                    && new.kind() == NodeKind::Alias
                    && old.text() == new.text()
            }
        })
    }

    /// Whether no change is at a node or inside it.
    fn is_untouched(&self, old: NodeRef<'_>) -> bool {
        let first = self.touched.partition_point(|it| *it < old.index);
        self.touched.get(first).is_none_or(|it| *it >= old.subtree().end as u32)
    }

    fn children<'a>(&self, old: NodeRef<'a>, new: NodeRef<'_>) -> Result<(), NodeRef<'a>> {
        let mut siblings = Siblings::new(old, new);
        let Some(change) = self.changes.get(old.index) else {
            self.same_up_to(&mut siblings, old.subtree().end as u32)?;
            return siblings.ended();
        };
        if change.order.is_some() {
            return self.moved_children(old, new, change);
        }
        let width = siblings.width;
        let mut at = 0;
        let mut inserted = change.inserted.iter().peekable();
        let mut removed = change.removed.iter().peekable();
        loop {
            let next_insertion = inserted.peek().map_or(usize::MAX, |new| new.before);
            let next_removal = removed.peek().map_or(usize::MAX, |at| **at);
            let next = next_insertion.min(next_removal);
            let to = siblings.skip_old(next.saturating_sub(at).saturating_mul(width));
            self.same_up_to(&mut siblings, to)?;
            at = next;
            while let Some(insertion) = inserted.next_if(|new| new.before == next) {
                self.inserted(insertion, || siblings.next_new()).ok_or(old)?;
            }
            if removed.next_if(|at| **at == next).is_some() {
                siblings.old_at = siblings.skip_old(width);
                at += 1;
            }
            if inserted.peek().is_none() && removed.peek().is_none() {
                self.same_up_to(&mut siblings, old.subtree().end as u32)?;
                return siblings.ended();
            }
        }
    }

    /// Compares a new entry with the nodes that `found` returns. None if they differ.
    fn inserted<'n>(
        &self,
        insertion: &Insertion<'_>,
        mut found: impl FnMut() -> Option<NodeRef<'n>>,
    ) -> Option<()> {
        let key = insertion.key.iter().map(|key| (key, false));
        for (value, json) in key.chain([(&insertion.value, self.json_scalars)]) {
            found().filter(|node| value.is_meant_by(*node, json))?;
        }
        Some(())
    }

    /// Compares children up to the old one with the index `to`, none of which is inserted, removed or moved.
    fn same_up_to<'a>(&self, siblings: &mut Siblings<'a, '_>, to: u32) -> Result<(), NodeRef<'a>> {
        while siblings.old_at < to {
            // Most of a document is as it was: all children before the next one with a change are compared at once.
            let untouched = self.untouched_up_to(siblings, to);
            if siblings.is_same_run(untouched) {
                continue;
            }
            let child = siblings.old.document.node(siblings.old_at);
            let stop = untouched.max(child.subtree().end as u32);
            while siblings.old_at < stop {
                let child = siblings.old.document.node(siblings.old_at);
                let Some(node) = siblings.next_new() else { return Err(child) };
                self.node(child, node)?;
                siblings.old_at = child.subtree().end as u32;
            }
        }
        Ok(())
    }

    /// The index of the next old child at which or inside which is a change; `to` if that comes first.
    fn untouched_up_to(&self, siblings: &Siblings<'_, '_>, to: u32) -> u32 {
        let next = self.touched.partition_point(|it| *it < siblings.old_at);
        let Some(&touched) = self.touched.get(next).filter(|it| **it < to) else { return to };
        let nodes = &siblings.old.document.table().nodes;
        let mut child = touched;
        loop {
            let parent = crate::node::parent(nodes, child);
            if parent == siblings.old.index {
                return child;
            }
            child = parent;
        }
    }

    /// Compares the children of a collection whose entries are moved.
    fn moved_children<'a>(
        &self,
        old: NodeRef<'a>,
        new: NodeRef<'_>,
        change: &CollectionChange<'_>,
    ) -> Result<(), NodeRef<'a>> {
        let width = if old.kind() == NodeKind::Mapping { 2 } else { 1 };
        let mut found = new.children();
        let old_children: Vec<NodeRef<'a>> = old.children().collect();
        let count = old_children.len() / width;
        let mut kept = change.kept(count).into_iter();
        for at in 0..=count {
            for insertion in change.inserted_before(at) {
                self.inserted(insertion, || found.next()).ok_or(old)?;
            }
            if at == count || change.removed.contains(&at) {
                continue;
            }
            let entry = kept.next().unwrap_or(at);
            for child in &old_children[entry * width..(entry + 1) * width] {
                let Some(node) = found.next() else { return Err(*child) };
                self.node(*child, node)?;
            }
        }
        if found.next().is_some() { Err(old) } else { Ok(()) }
    }
}

/// Whether two scalars of the same style and tag have the same value because their text is the same. The value of a block scalar also depends
/// on its indentation, so it is decoded instead.
fn is_same_text(old: Scalar<'_>, new: Scalar<'_>) -> bool {
    !old.style().is_block() && old.raw_bytes() == new.raw_bytes()
}

#[cfg(test)]
mod tests;
