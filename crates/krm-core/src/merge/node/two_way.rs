//! Two-way merge: fields of the source are set in the destination, and fields that the source does not mention are kept.
//!
//! Spec: "2-way merge" of the merge rules. `null` clears a field; directives of strategic merge patches are applied and never written.

use std::cell::Cell;

use krm_yaml::{Edit, File, NodeKind, NodeRef, OwnedNode, ScalarStyle, Value};

use super::ops::{IncomingNode, Op};
use super::state::MergeState;
use super::{
    MergeAction, Merger, Version, anchors, equal, incoming, is_null, two_way_lists,
    two_way_mappings,
};
use crate::Diagnostic;
use crate::compare::{FieldSchema, custom_tag};
use crate::merge::kinds::MergeKind;
use crate::print::{json, source_text};

/// What a merge did to a value of the destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Merged {
    Unchanged,
    /// `replaced` where the value is now the source's text, with its line comment.
    Changed {
        replaced: bool,
    },
    /// The value is to be removed by the caller, who knows its key.
    Removed,
}

/// Directives about a field that the source has beside it: `$deleteFromPrimitiveList/FIELD` and `$setElementOrder/FIELD`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FieldDirectives<'a> {
    pub(super) delete: Option<NodeRef<'a>>,
    pub(super) order: Option<NodeRef<'a>>,
}

pub(super) fn merge_root<'a>(
    state: &mut MergeState<'a, '_>,
    source: NodeRef<'a>,
    destination: NodeRef<'a>,
) -> Result<MergeAction, Diagnostic> {
    let schema = state.schema.clone();
    merge_below(state, source, destination, &schema)
}

/// Merges the root of a source into a node whose schema is known.
pub(super) fn merge_below<'a>(
    state: &mut MergeState<'a, '_>,
    source: NodeRef<'a>,
    destination: NodeRef<'a>,
    schema: &FieldSchema<'_>,
) -> Result<MergeAction, Diagnostic> {
    // An empty document does not delete: only `$patch: delete` does.
    if is_null(source) {
        return Ok(MergeAction::Keep);
    }
    let merged = merge_node(state, source, destination, schema, FieldDirectives::default())?;
    Ok(if merged == Merged::Removed { MergeAction::Remove } else { MergeAction::Keep })
}

/// Merges one value into another.
pub(super) fn merge_node<'a>(
    state: &mut MergeState<'a, '_>,
    source: NodeRef<'a>,
    destination: NodeRef<'a>,
    schema: &FieldSchema<'_>,
    directives: FieldDirectives<'a>,
) -> Result<Merged, Diagnostic> {
    if anchors::is_same_alias(source, destination) {
        return Ok(Merged::Unchanged);
    }
    let source = source.resolve();
    if is_null(source) {
        return Ok(Merged::Removed);
    }
    if destination.kind() == NodeKind::Alias {
        return merge_into_alias(state, source, destination, schema);
    }
    let tag = custom_tag(source);
    let is_retagged = tag.is_some() && tag != custom_tag(destination);
    state.with_alias_guard(destination, source, |state| match (source.kind(), destination.kind()) {
        _ if is_retagged => replace_node(state, source, destination, schema),
        (NodeKind::Mapping, NodeKind::Mapping) => {
            two_way_mappings::merge_mapping(state, source, destination, schema)
        }
        (NodeKind::Sequence, NodeKind::Sequence) => {
            two_way_lists::merge_list(state, source, destination, schema, directives)
        }
        _ => replace_node(state, source, destination, schema),
    })
}

/// Replaces a value as a whole.
pub(super) fn replace_node<'a>(
    state: &mut MergeState<'a, '_>,
    source: NodeRef<'a>,
    destination: NodeRef<'a>,
    schema: &FieldSchema<'_>,
) -> Result<Merged, Diagnostic> {
    if equal(source, destination) {
        return Ok(Merged::Unchanged);
    }
    let Some(new) = incoming::from_source(state, source, schema, destination)? else {
        return Ok(Merged::Removed);
    };
    if is_incoming_equal(&new, destination) {
        return Ok(Merged::Unchanged);
    }
    let (new_type, old_type) = (collection_type(source), collection_type(destination));
    if new_type != old_type && !is_null(destination) {
        state.warn(destination, MergeKind::TypeChanged { old: old_type, new: new_type });
    }
    if destination.is_collection() {
        state.warn_about_replaced_comments(destination, &[Some(source)]);
    }
    set_value(state, destination, source, new, OldTag::Kept)
}

/// What becomes of the custom tag of a scalar that gets the value of a scalar without a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OldTag {
    /// The source may come from a tool that writes no tags.
    Kept,
    /// Base shows that the source has removed the tag, or the whole value is taken from the source.
    Removed,
}

/// Sets a value. A scalar keeps the style of the destination and gets the type of the source; anything else is copied as the source
/// writes it.
pub(super) fn set_value<'a>(
    state: &mut MergeState<'a, '_>,
    destination: NodeRef<'a>,
    source: NodeRef<'a>,
    new: IncomingNode<'a>,
    old_tag: OldTag,
) -> Result<Merged, Diagnostic> {
    let source = source.resolve();
    let is_plain = source.as_scalar().is_some_and(|it| !it.style().is_block());
    let is_block = destination.as_scalar().is_some_and(|it| it.style().is_block());
    let keeps_style = destination.as_scalar().is_some() && source.tag().is_none();
    let new = match anchors::scalar_value(source) {
        Some(_) if keeps_lines(source, destination) => new,
        Some(value) if keeps_style && (is_plain || is_block) => IncomingNode::Value(value),
        _ => new,
    };
    // Where a value replaces a block collection, the line comment of the source is copied with it.
    let replaced = matches!(new, IncomingNode::Part { .. }) || destination.is_block();
    let is_scalar = source.as_scalar().is_some() && destination.as_scalar().is_some();
    let keeps_tag = old_tag == OldTag::Kept && source.tag().is_none() && is_scalar;
    state.push_op(match custom_tag(destination) {
        Some(_) if !keeps_tag => Op::Replace(destination, new),
        _ => Op::Set(destination, new),
    })?;
    Ok(Merged::Changed { replaced })
}

/// Whether both scalars are folded over several lines, which a value cannot express: it would become one long line.
fn keeps_lines(source: NodeRef<'_>, destination: NodeRef<'_>) -> bool {
    let [source, destination] = [source, destination].map(|node| {
        let scalar = node.as_scalar().filter(|it| it.style() != ScalarStyle::Literal)?;
        let lines = node.text().trim_end().lines().count();
        // The first line of a block scalar is its header.
        (lines > if scalar.style().is_block() { 2 } else { 1 }).then(|| scalar.style())
    });
    source.is_some() && source == destination
}

/// Whether the destination already has the value that would be written.
fn is_incoming_equal(new: &IncomingNode<'_>, destination: NodeRef<'_>) -> bool {
    match new {
        IncomingNode::Part { node, excluded, .. } if excluded.is_empty() => {
            equal(*node, destination)
        }
        IncomingNode::Part { node, excluded, .. } => {
            match anchors::expand(*node, excluded, &Cell::default()) {
                Ok(value) => is_value_equal(&value, destination),
                Err(_) => false,
            }
        }
        IncomingNode::Value(value) => is_value_equal(value, destination),
    }
}

fn is_value_equal(value: &Value<'_>, node: NodeRef<'_>) -> bool {
    if let Some(value) = value.node() {
        return equal(value, node);
    }
    let Ok(text) = json::flow(value) else { return false };
    let Ok(file) = File::parse(text) else { return false };
    let root = file.document(0).and_then(|document| document.root());
    root.is_some_and(|root| equal(root, node))
}

/// The type of a node, with all scalars as one: another type of scalar is not worth a warning.
fn collection_type(node: NodeRef<'_>) -> &'static str {
    match node.resolve().kind() {
        NodeKind::Mapping => "a mapping",
        NodeKind::Sequence => "a sequence",
        _ => "a scalar",
    }
}

/// Merges into an alias of the destination. The anchor is shared with other fields, so the change is made on an expanded copy.
fn merge_into_alias<'a>(
    state: &mut MergeState<'a, '_>,
    source: NodeRef<'a>,
    alias: NodeRef<'a>,
    schema: &FieldSchema<'_>,
) -> Result<Merged, Diagnostic> {
    match merge_into_copy(state, source, alias.resolve())? {
        MergedCopy::Unchanged => Ok(Merged::Unchanged),
        MergedCopy::Removed => Ok(Merged::Removed),
        MergedCopy::Changed(graft) => {
            state.push_op(Op::Set(alias, IncomingNode::Value(Value::OwnedNode(graft))))?;
            Ok(Merged::Changed { replaced: true })
        }
        MergedCopy::Incompatible => replace_node(state, source, alias, schema),
    }
}

/// The result of a merge into a copy.
pub(super) enum MergedCopy {
    Unchanged,
    Removed,
    Changed(OwnedNode),
    /// The nodes have different types and cannot be merged.
    Incompatible,
}

/// Merges into a copy of a node that cannot be edited in place.
pub(super) fn merge_into_copy<'a>(
    state: &mut MergeState<'a, '_>,
    source: NodeRef<'a>,
    destination: NodeRef<'a>,
) -> Result<MergedCopy, Diagnostic> {
    if equal(source, destination) {
        return Ok(MergedCopy::Unchanged);
    }
    if source.kind() != destination.kind() || !destination.is_collection() {
        return Ok(MergedCopy::Incompatible);
    }
    let text = source_text::lines(destination);
    let copy = File::parse(text).map_err(|error| Diagnostic::from(&error))?;
    let root = copy.document(0).and_then(|document| document.root());
    let Some(root) = root else { return Ok(MergedCopy::Incompatible) };
    let mut edit = Edit::new(&copy).allow_shared(true);
    let [ours, theirs] = state.files();
    let mut merger = Merger::new(state.options);
    let report =
        merger.two_way(Version::new(source, theirs), Version::new(root, ours), &mut edit)?;
    if report.action == MergeAction::Remove {
        return Ok(MergedCopy::Removed);
    }
    let text = edit.apply().map_err(|error| state.error(destination, error.kind))?;
    let merged = File::parse(text).map_err(|error| Diagnostic::from(&error))?;
    Ok(OwnedNode::root(merged).map_or(MergedCopy::Incompatible, MergedCopy::Changed))
}
