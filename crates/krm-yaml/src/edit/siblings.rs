//! The children of a collection before and after an edit.

use crate::node::NodeKind;
use crate::node_ref::NodeRef;

/// The children of an old collection and of the new one, from left to right.
pub(super) struct Siblings<'a, 'n> {
    pub(super) old: NodeRef<'a>,
    new: NodeRef<'n>,
    /// The indices of the next children, and those after the last ones.
    pub(super) old_at: u32,
    old_end: u32,
    new_at: u32,
    new_end: u32,
    /// The number of children of an entry.
    pub(super) width: usize,
}

impl<'a, 'n> Siblings<'a, 'n> {
    pub(super) fn new(old: NodeRef<'a>, new: NodeRef<'n>) -> Self {
        Self {
            old,
            new,
            old_at: old.index + 1,
            old_end: old.subtree().end as u32,
            new_at: new.index + 1,
            new_end: new.subtree().end as u32,
            width: if old.kind() == NodeKind::Mapping { 2 } else { 1 },
        }
    }

    /// The index after this many old children, or after the last one.
    pub(super) fn skip_old(&self, count: usize) -> u32 {
        let mut at = self.old_at;
        for _ in 0..count {
            if at >= self.old_end {
                break;
            }
            at = self.old.document.node(at).subtree().end as u32;
        }
        at
    }

    pub(super) fn next_new(&mut self) -> Option<NodeRef<'n>> {
        let node = (self.new_at < self.new_end).then(|| self.new.document.node(self.new_at))?;
        self.new_at = node.subtree().end as u32;
        Some(node)
    }

    /// Moves past the old children up to the index `to` if they are written the same in the new collection.
    pub(super) fn is_same_run(&mut self, to: u32) -> bool {
        let run = self.old_at..to;
        let is_same = !run.is_empty() && self.old.has_same_children(run, self.new, self.new_at);
        if is_same {
            self.new_at += to - self.old_at;
            self.old_at = to;
        }
        is_same
    }

    /// Checks that the new collection has no other children.
    pub(super) fn ended(&self) -> Result<(), NodeRef<'a>> {
        if self.new_at < self.new_end { Err(self.old) } else { Ok(()) }
    }
}
