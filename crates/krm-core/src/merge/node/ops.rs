//! The edits of a merge. They are queued, because a later decision may discard those below a node.

use std::collections::BTreeMap;

use krm_yaml::{
    Comment, CommentPosition, DocumentCopy, Edit, EditError, EmptyParents, NodeRef, Value,
};

/// What is written at a position of the destination.
#[derive(Clone, Debug)]
pub(super) enum IncomingNode<'a> {
    /// A value.
    Value(Value<'a>),
    /// A node of another document as it is written there, without some of its entries, with a comment above it.
    Part { node: NodeRef<'a>, excluded: Vec<NodeRef<'a>>, comment: Option<String> },
}

/// One edit.
#[derive(Debug)]
pub(super) enum Op<'a> {
    Set(NodeRef<'a>, IncomingNode<'a>),
    /// Sets the value and the tag, which a copied node may have.
    Replace(NodeRef<'a>, IncomingNode<'a>),
    /// Inserts a key after the entry at `after`, or before the first.
    InsertEntry {
        mapping: NodeRef<'a>,
        after: Option<usize>,
        key: Value<'a>,
        value: IncomingNode<'a>,
    },
    /// Inserts an element before the one at `before`.
    InsertElement {
        list: NodeRef<'a>,
        before: usize,
        value: IncomingNode<'a>,
    },
    Remove(NodeRef<'a>),
    Reorder(NodeRef<'a>, Vec<usize>),
    /// Sets the comment above or beside an entry; `None` removes it.
    Comment(NodeRef<'a>, CommentPosition, Option<String>),
    /// Replaces an existing comment of a document; `None` removes it.
    ReplaceComment(Comment<'a>, usize, Option<String>),
}

/// Adds the queued edits to an edit.
pub(super) fn apply_ops<'a>(ops: Vec<Op<'a>>, edit: &mut Edit<'a>) -> Result<(), EditError> {
    let pruned = prune_documents(&ops)?;
    let to_value = |incoming: IncomingNode<'a>| match incoming {
        IncomingNode::Value(value) => value,
        IncomingNode::Part { node, excluded, comment }
            if excluded.is_empty() && comment.is_none() =>
        {
            Value::Node(node)
        }
        IncomingNode::Part { node, .. } => match pruned.get(&document_id(node)) {
            Some(pruned) => Value::OwnedNode(pruned.owned_node(node)),
            None => Value::Node(node),
        },
    };
    for op in ops {
        match op {
            Op::Set(node, value) => edit.overwrite(node, to_value(value))?,
            Op::Replace(node, value) => edit.replace(node, to_value(value))?,
            Op::InsertEntry { mapping, after, key, value } => {
                edit.insert_entry(mapping, after, key, to_value(value))?;
            }
            Op::InsertElement { list, before, value } => {
                edit.insert_element(list, before, to_value(value))?;
            }
            Op::Remove(node) => edit.remove(node, EmptyParents::Keep)?,
            Op::Reorder(list, order) => edit.reorder(list, order)?,
            Op::Comment(node, place, text) => edit.set_comment(node, place, text.as_deref())?,
            Op::ReplaceComment(comment, document, text) => {
                edit.replace_comment(document, &comment, text.as_deref());
            }
        }
    }
    Ok(())
}

/// Identifies the document of a node by the address of its file, which is not moved during a merge.
fn document_id(node: NodeRef<'_>) -> (usize, usize) {
    let file: *const krm_yaml::File = node.document().file();
    (file as usize, node.document().index())
}

/// What is left out of a document, and the comments that are added.
#[derive(Default)]
struct Pruning<'a> {
    document: Option<krm_yaml::DocumentRef<'a>>,
    excluded: Vec<NodeRef<'a>>,
    comments: Vec<(NodeRef<'a>, String)>,
}

/// One copy of every document from which parts are left out. One for all parts, because copying needs a pass over the document.
fn prune_documents(ops: &[Op<'_>]) -> Result<BTreeMap<(usize, usize), DocumentCopy>, EditError> {
    let mut prunings: BTreeMap<(usize, usize), Pruning<'_>> = BTreeMap::new();
    for op in ops {
        let (Op::Set(_, value)
        | Op::Replace(_, value)
        | Op::InsertEntry { value, .. }
        | Op::InsertElement { value, .. }) = op
        else {
            continue;
        };
        let IncomingNode::Part { node, excluded, comment } = value else { continue };
        if excluded.is_empty() && comment.is_none() {
            continue;
        }
        let pruning = prunings.entry(document_id(*node)).or_default();
        pruning.document = Some(node.document());
        pruning.excluded.extend(excluded);
        pruning.comments.extend(comment.iter().map(|it| (*node, it.clone())));
    }
    let copy = |(key, pruning): ((usize, usize), Pruning<'_>)| {
        let document = pruning.document?;
        Some(
            DocumentCopy::new(document, &pruning.excluded, &pruning.comments)
                .map(|pruned| (key, pruned)),
        )
    };
    prunings.into_iter().filter_map(copy).collect()
}
