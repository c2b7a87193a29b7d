//! The old and the new column of every block collection.

use super::{Indentation, SequenceIndent};
use crate::layout::{self, EntryLayout};
use crate::node::NodeKind;
use crate::node_ref::NodeRef;
use crate::span::{column, is_first_on_line};
use crate::style::DocumentStyle;

/// A block collection with its old and its new column.
pub(super) struct Column<'a> {
    pub(super) node: NodeRef<'a>,
    pub(super) entries: Vec<EntryLayout<'a>>,
    pub(super) old: u32,
    pub(super) new: u32,
}

impl Column<'_> {
    /// Shifts another column by the same distance.
    pub(super) fn shifted(&self, column: u32) -> u32 {
        (column + self.new).saturating_sub(self.old)
    }
}

/// The block collections of a document, in order.
pub(super) struct Columns<'a> {
    all: Vec<Column<'a>>,
}

impl<'a> Columns<'a> {
    pub(super) fn of(root: NodeRef<'a>, how: Indentation) -> Self {
        let style = DocumentStyle::of(root.document());
        let mut columns = Self { all: Vec::new() };
        for node in root.descendants().filter(|node| node.is_block()) {
            let entries = layout::entries(node);
            let head = entries.first().map_or(node.start(), |entry| entry.head);
            let old = column(node.source(), head);
            let new = match columns.around(node) {
                None => old,
                Some(around) => {
                    let is_own = is_first_on_line(node.source(), head);
                    let deeper = old.saturating_sub(around.old);
                    around.new
                        + if is_own { distance(node, around, deeper, how, &style) } else { deeper }
                }
            };
            columns.all.push(Column { node, entries, old, new });
        }
        columns
    }

    pub(super) fn all(&self) -> &[Column<'a>] {
        &self.all
    }

    /// The innermost block collection around a node, not the node itself.
    pub(super) fn around(&self, node: NodeRef<'_>) -> Option<&Column<'a>> {
        let mut parent = node.parent();
        while let Some(at) = parent {
            if at.is_block() {
                return self.get(at.index);
            }
            parent = at.parent();
        }
        None
    }

    /// The block collection of this index.
    pub(super) fn get(&self, index: u32) -> Option<&Column<'a>> {
        let at = self.all.binary_search_by_key(&index, |column| column.node.index);
        at.ok().map(|at| &self.all[at])
    }
}

/// The indentation of a collection relative to the one around it.
fn distance(
    node: NodeRef<'_>,
    around: &Column<'_>,
    old: u32,
    how: Indentation,
    style: &DocumentStyle<'_>,
) -> u32 {
    let entry = around.entries.binary_search_by_key(&node.index, |entry| entry.value.index);
    let is_announced = entry.is_ok_and(|at| is_announced(&around.entries[at]));
    if around.node.kind() != NodeKind::Mapping || node.node().is_key() || is_announced {
        return old;
    }
    if node.kind() == NodeKind::Mapping {
        return how.mapping.unwrap_or(old);
    }
    match how.sequence {
        Some(SequenceIndent::Compact) => 0,
        Some(SequenceIndent::Wide) if old > 0 => how.mapping.unwrap_or(old),
        Some(SequenceIndent::Wide) => how.mapping.unwrap_or_else(|| style.indent(node.index)),
        None if old > 0 => how.mapping.unwrap_or(old),
        None => 0,
    }
}

/// Whether a key is explicit (`? key`).
pub(super) fn is_announced(entry: &EntryLayout<'_>) -> bool {
    entry.key.is_some_and(|key| {
        key.source().as_bytes()[entry.head as usize] == b'?' && key.start() > entry.head
    })
}
