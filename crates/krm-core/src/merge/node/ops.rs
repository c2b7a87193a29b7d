//! The changes that a merge asks for, collected before they become an edit.

use std::collections::BTreeMap;

use krm_yaml::{
    Comment, CommentPosition, DocumentCopy, Edit, EditError, EmptyParents, NodeRef, Value,
};

/// What is written somewhere.
#[derive(Clone, Debug)]
pub(super) enum Fill<'a> {
    /// A value.
    Value(Value<'a>),
    /// A node of another document as it stands there, without some of its entries.
    Part { node: NodeRef<'a>, without: Vec<NodeRef<'a>>, note: Option<String> },
}

/// One change.
#[derive(Debug)]
pub(super) enum Op<'a> {
    Set(NodeRef<'a>, Fill<'a>),
    /// A new key behind the entry at `after`, or first.
    Entry {
        mapping: NodeRef<'a>,
        after: Option<usize>,
        key: Value<'a>,
        fill: Fill<'a>,
    },
    /// A new item before the one at `before`.
    Item {
        list: NodeRef<'a>,
        before: usize,
        fill: Fill<'a>,
    },
    Remove(NodeRef<'a>),
    Reorder(NodeRef<'a>, Vec<usize>),
    /// The comment above or beside an entry; none: it goes.
    Note(NodeRef<'a>, CommentPosition, Option<String>),
    /// A comment that is there.
    Replace(Comment<'a>, usize, Option<String>),
}

/// Makes the edit of the changes.
pub(super) fn perform<'a>(ops: Vec<Op<'a>>, edit: &mut Edit<'a>) -> Result<(), EditError> {
    let pruned = prune(&ops)?;
    let value = |fill: Fill<'a>| match fill {
        Fill::Value(value) => value,
        Fill::Part { node, without, note } if without.is_empty() && note.is_none() => {
            Value::Node(node)
        }
        Fill::Part { node, .. } => match pruned.get(&document_of(node)) {
            Some(pruned) => Value::OwnedNode(pruned.owned_node(node)),
            None => Value::Node(node),
        },
    };
    for op in ops {
        match op {
            Op::Set(node, fill) => edit.overwrite(node, value(fill))?,
            Op::Entry { mapping, after, key, fill } => {
                edit.insert_entry(mapping, after, key, value(fill))?;
            }
            Op::Item { list, before, fill } => edit.insert_element(list, before, value(fill))?,
            Op::Remove(node) => edit.remove(node, EmptyParents::Keep)?,
            Op::Reorder(list, order) => edit.reorder(list, order)?,
            Op::Note(node, place, text) => edit.set_comment(node, place, text.as_deref())?,
            Op::Replace(comment, document, text) => {
                edit.replace_comment(document, &comment, text.as_deref());
            }
        }
    }
    Ok(())
}

/// Which document a node is of, for as long as its file stays where it is.
fn document_of(node: NodeRef<'_>) -> (usize, usize) {
    let file: *const krm_yaml::File = node.document().file();
    (file as usize, node.document().index())
}

/// What is left out of a document, and what is noted in it.
#[derive(Default)]
struct Cut<'a> {
    document: Option<krm_yaml::DocumentRef<'a>>,
    without: Vec<NodeRef<'a>>,
    notes: Vec<(NodeRef<'a>, String)>,
}

/// One copy of every document from which parts are left out, for all of them.
fn prune(ops: &[Op<'_>]) -> Result<BTreeMap<(usize, usize), DocumentCopy>, EditError> {
    let mut cuts: BTreeMap<(usize, usize), Cut<'_>> = BTreeMap::new();
    for op in ops {
        let (Op::Set(_, fill) | Op::Entry { fill, .. } | Op::Item { fill, .. }) = op else {
            continue;
        };
        let Fill::Part { node, without, note } = fill else { continue };
        if without.is_empty() && note.is_none() {
            continue;
        }
        let cut = cuts.entry(document_of(*node)).or_default();
        cut.document = Some(node.document());
        cut.without.extend(without);
        cut.notes.extend(note.iter().map(|note| (*node, note.clone())));
    }
    let copy = |(key, cut): ((usize, usize), Cut<'_>)| {
        let document = cut.document?;
        Some(DocumentCopy::new(document, &cut.without, &cut.notes).map(|pruned| (key, pruned)))
    };
    cuts.into_iter().filter_map(copy).collect()
}
