//! Three-way merge: changes between base and upstream are applied to local, and what both sides changed is a conflict.
//!
//! Spec: "3-way merge" of the merge rules. For each field: set upstream and changed → taken; unset or null upstream → cleared;
//! only local → kept. A scalar is one value; a mapping merges by field; an associative list merges by element; any other
//! list is one value, or merged by [`super::diff3`].

use krm_yaml::{CommentPosition, NodeKind, NodeRef, Value};

use super::comments::UpstreamUse;
use super::conflict::ConflictKind;
use super::ops::{IncomingNode, Op};
use super::options::{OnConflict, Restore, Side};
use super::state::MergeState;
use super::three_way_deletions::merge_deleted_upstream;
use super::three_way_mappings;
use super::three_way_nulls::merge_null;
use super::two_way::{self, Merged, MergedCopy, OldTag};
use super::{MergeAction, anchors, delta, equal, equal_option, incoming, markers, three_way_lists};
use crate::Diagnostic;
use crate::compare::{FieldSchema, MapStrategy, custom_tag};

/// The three versions of a document, resource or entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Versions<'a> {
    pub(super) base: Option<NodeRef<'a>>,
    pub(super) local: Option<NodeRef<'a>>,
    pub(super) upstream: Option<NodeRef<'a>>,
}

impl<'a> Versions<'a> {
    pub(super) fn nodes(self) -> [Option<NodeRef<'a>>; 3] {
        [self.base, self.local, self.upstream]
    }
}

/// The decision for one entry (mapping field or list element) of the local document.
#[derive(Debug)]
pub(super) enum EntryAction<'a> {
    /// Keep the entry; edits inside it may already be queued.
    Keep(UpstreamUse),
    Remove,
    Insert(IncomingNode<'a>),
}

pub(super) const KEEP: EntryAction<'static> = EntryAction::Keep(UpstreamUse::Merged);

/// Keep the entry as it is, because upstream's version was rejected.
pub(super) const KEEP_LOCAL: EntryAction<'static> = EntryAction::Keep(UpstreamUse::Rejected);

/// Where an entry is, and what is known about it.
#[derive(Clone, Copy, Debug)]
pub(super) struct EntryContext<'a, 's> {
    /// The collections of local and upstream that contain it.
    pub(super) parents: [Option<NodeRef<'a>>; 2],
    pub(super) schema: &'s FieldSchema<'s>,
    /// The merge keys of its list; `None` for a mapping field.
    pub(super) merge_keys: Option<&'s [String]>,
}

pub(super) fn merge_root<'a>(
    state: &mut MergeState<'a, '_>,
    base: Option<NodeRef<'a>>,
    local: Option<NodeRef<'a>>,
    upstream: Option<NodeRef<'a>>,
) -> Result<MergeAction, Diagnostic> {
    let versions = Versions { base, local, upstream };
    match (local, upstream) {
        (Some(local), None) => Ok(merge_deleted_document(state, versions, local)),
        (None, Some(upstream)) => Ok(match base {
            None => MergeAction::Insert,
            Some(base) if equal(base, upstream) => MergeAction::Keep,
            Some(_) => merge_document_deleted_locally(state, versions),
        }),
        (None, None) => Ok(MergeAction::Keep),
        (Some(local), Some(upstream)) => {
            let schema = state.schema.clone();
            let context = EntryContext { parents: [None, None], schema: &schema, merge_keys: None };
            let checkpoint = state.checkpoint();
            let action = merge_entry(state, versions, context)?;
            if matches!(action, EntryAction::Remove) {
                state.rewind(&checkpoint);
                return Ok(MergeAction::Remove);
            }
            state.merge_head_comments(base, local, upstream)?;
            Ok(MergeAction::Keep)
        }
    }
}

/// Merges a document or resource that local deleted and upstream changed: it stays deleted, unless it is to be restored.
///
/// Compat: kpt keeps it deleted, too. A resource that someone deleted on purpose must not come back with an update.
fn merge_document_deleted_locally<'a>(
    state: &mut MergeState<'a, '_>,
    versions: Versions<'a>,
) -> MergeAction {
    state.record_conflict(ConflictKind::DeletedLocally, versions.nodes(), [None, None]);
    let options = state.options;
    let takes_upstream = matches!(options.on_conflict, OnConflict::Upstream | OnConflict::Fail);
    if takes_upstream && options.restore == Restore::Whole {
        return MergeAction::Insert;
    }
    state.set_taken(Side::Local);
    MergeAction::Keep
}

/// Merges a document or resource that upstream does not have.
fn merge_deleted_document<'a>(
    state: &mut MergeState<'a, '_>,
    versions: Versions<'a>,
    local: NodeRef<'a>,
) -> MergeAction {
    match versions.base {
        None => MergeAction::Keep,
        Some(base) if equal(base, local) => {
            state.warn_about_removed_comments(local, &[Some(base)]);
            MergeAction::Remove
        }
        Some(_) => {
            let kind = ConflictKind::DeletedUpstream;
            let side = state.record_conflict(kind, versions.nodes(), [None, None]);
            if side == Side::Local || state.options.on_conflict == OnConflict::Mark {
                state.set_taken(Side::Local);
                return MergeAction::Keep;
            }
            MergeAction::Remove
        }
    }
}

/// Merges one entry.
pub(super) fn merge_entry<'a>(
    state: &mut MergeState<'a, '_>,
    versions: Versions<'a>,
    context: EntryContext<'a, '_>,
) -> Result<EntryAction<'a>, Diagnostic> {
    match (versions.local, versions.upstream) {
        (None, None) => Ok(KEEP),
        (Some(local), None) => merge_deleted_upstream(state, versions, local, context),
        (None, Some(upstream)) => merge_missing_locally(state, versions, upstream, context),
        (Some(local), Some(upstream)) => merge_both(state, versions, local, upstream, context),
    }
}

/// Merges an entry that local does not have.
fn merge_missing_locally<'a>(
    state: &mut MergeState<'a, '_>,
    versions: Versions<'a>,
    upstream: NodeRef<'a>,
    context: EntryContext<'a, '_>,
) -> Result<EntryAction<'a>, Diagnostic> {
    let parent = context.parents[0].unwrap_or(upstream);
    if state.clears(upstream) && context.merge_keys.is_none() {
        return Ok(KEEP);
    }
    // A null that clears is not a value, so local did not delete any.
    let Some(base) = versions.base.filter(|base| !state.clears(*base)) else {
        let added = incoming::from_upstream(state, upstream, Vec::new(), context.schema, parent);
        return Ok(EntryAction::Insert(added?));
    };
    if equal(base, upstream) {
        return Ok(KEEP);
    }
    let side =
        state.record_conflict(ConflictKind::DeletedLocally, versions.nodes(), context.parents);
    if side == Side::Local {
        return Ok(KEEP);
    }
    let marker = state.pending_marker_id();
    let keys = context.merge_keys.unwrap_or_default();
    let excluded = match state.options.restore {
        Restore::Whole => Some(Vec::new()),
        Restore::Delta => delta::unchanged(state, base, upstream, context.schema, keys),
    };
    let Some(excluded) = excluded else {
        // Upstream only removed fields from it, so there is nothing to restore.
        if marker.is_some() {
            state.set_marked();
        }
        return Ok(KEEP);
    };
    let mut restored = incoming::from_upstream(state, upstream, excluded, context.schema, parent)?;
    if let (Some(id), IncomingNode::Part { comment, node, .. }) = (marker, &mut restored)
        && state.can_hold_comment(*node, CommentPosition::Head)
        && state.info(parent).allows_comments
    {
        *comment = Some(markers::for_deleted_locally(&id));
        state.set_marked();
    }
    Ok(EntryAction::Insert(restored))
}

/// Merges an entry that both sides have.
fn merge_both<'a>(
    state: &mut MergeState<'a, '_>,
    versions: Versions<'a>,
    local: NodeRef<'a>,
    upstream: NodeRef<'a>,
    context: EntryContext<'a, '_>,
) -> Result<EntryAction<'a>, Diagnostic> {
    let is_alias = local.kind() == NodeKind::Alias;
    let is_unchanged = versions.base.is_some_and(|base| anchors::is_same_alias(base, upstream));
    if is_alias && is_unchanged || anchors::is_same_alias(local, upstream) {
        return Ok(KEEP);
    }
    // Null clears a field, but as an element it is a value.
    if context.merge_keys.is_none() && (state.clears(local) || state.clears(upstream)) {
        return merge_null(state, versions, local, upstream, context);
    }
    if versions.base.is_some_and(|base| is_written_alike(base, upstream))
        && needs_no_visit(state, local, upstream)
    {
        return Ok(KEEP);
    }
    let theirs = upstream.resolve();
    if is_alias {
        return merge_into_alias(state, versions, local, theirs, context);
    }
    let is_retagged = custom_tag(local) != custom_tag(theirs);
    state.with_alias_guard(local, theirs, |state| match (local.kind(), theirs.kind()) {
        _ if is_retagged => merge_value(state, versions, local, theirs, context),
        (NodeKind::Mapping, NodeKind::Mapping)
            if context.schema.mapping() != MapStrategy::Replace =>
        {
            three_way_mappings::merge_mapping(state, versions, local, theirs, context)
        }
        (NodeKind::Sequence, NodeKind::Sequence) => {
            three_way_lists::merge_list(state, versions, local, theirs, context)
        }
        _ => merge_value(state, versions, local, theirs, context),
    })
}

/// Whether upstream did not change a collection at all. A shortcut: most of a package is as it was.
fn is_written_alike(base: NodeRef<'_>, upstream: NodeRef<'_>) -> bool {
    upstream.is_collection() && base.is_written_as(upstream)
}

/// Whether local can be skipped where upstream changed nothing. A null of upstream clears a field even then, and below an anchor or alias
/// shared values must be checked.
fn needs_no_visit<'a>(
    state: &MergeState<'a, '_>,
    local: NodeRef<'a>,
    upstream: NodeRef<'a>,
) -> bool {
    let is_shared = |node: NodeRef<'a>| node.kind() == NodeKind::Alias || node.anchor().is_some();
    let has_anchors = local.document().anchored().next().is_some();
    let has_shared = has_anchors && local.descendants().any(is_shared);
    !has_shared && !upstream.descendants().any(|node| state.clears(node))
}

/// Merges a value as a whole: a scalar, an atomic list, or values of different types.
pub(super) fn merge_value<'a>(
    state: &mut MergeState<'a, '_>,
    versions: Versions<'a>,
    local: NodeRef<'a>,
    upstream: NodeRef<'a>,
    context: EntryContext<'a, '_>,
) -> Result<EntryAction<'a>, Diagnostic> {
    if equal_option(versions.base, Some(upstream)) || equal(local, upstream) {
        return Ok(KEEP);
    }
    if equal_option(versions.base, Some(local)) {
        return take_upstream(state, versions, local, upstream, context).map(EntryAction::Keep);
    }
    let kind = match versions.base {
        Some(_) => ConflictKind::Changed,
        None => ConflictKind::Added,
    };
    if state.record_conflict(kind, versions.nodes(), context.parents) == Side::Local {
        return Ok(KEEP_LOCAL);
    }
    if let Some(id) = state.pending_marker_id() {
        state.add_marker(local, markers::for_value(&id, local));
    }
    let taken = take_upstream(state, versions, local, upstream, context)?;
    Ok(EntryAction::Keep(UpstreamUse::Overrode { replaced: taken == UpstreamUse::Replaced }))
}

/// Replaces local's value by upstream's.
pub(super) fn take_upstream<'a>(
    state: &mut MergeState<'a, '_>,
    versions: Versions<'a>,
    local: NodeRef<'a>,
    upstream: NodeRef<'a>,
    context: EntryContext<'a, '_>,
) -> Result<UpstreamUse, Diagnostic> {
    let new = incoming::from_upstream(state, upstream, Vec::new(), context.schema, local)?;
    if local.is_collection() {
        state.warn_about_replaced_comments(local, &[versions.base, Some(upstream)]);
    }
    match two_way::set_value(state, local, upstream, new, OldTag::Removed)? {
        Merged::Changed { replaced: true } => Ok(UpstreamUse::Replaced),
        _ => Ok(UpstreamUse::Merged),
    }
}

/// Merges into an alias of local. The anchor is shared with other fields, so the change is made on an expanded copy.
fn merge_into_alias<'a>(
    state: &mut MergeState<'a, '_>,
    versions: Versions<'a>,
    alias: NodeRef<'a>,
    upstream: NodeRef<'a>,
    context: EntryContext<'a, '_>,
) -> Result<EntryAction<'a>, Diagnostic> {
    let local = alias.resolve();
    if equal_option(versions.base, Some(upstream)) || equal(local, upstream) {
        return Ok(KEEP);
    }
    if equal_option(versions.base, Some(local)) || !local.is_collection() {
        return merge_value(state, versions, alias, upstream, context);
    }
    let side = state.record_conflict(ConflictKind::Changed, versions.nodes(), context.parents);
    if side == Side::Local {
        return Ok(KEEP_LOCAL);
    }
    match two_way::merge_into_copy(state, upstream, local)? {
        MergedCopy::Changed(graft) => {
            state.push_op(Op::Set(alias, IncomingNode::Value(Value::OwnedNode(graft))))?;
            Ok(EntryAction::Keep(UpstreamUse::Replaced))
        }
        MergedCopy::Unchanged => Ok(KEEP),
        MergedCopy::Removed => Ok(EntryAction::Remove),
        MergedCopy::Incompatible => {
            let new = incoming::from_upstream(state, upstream, Vec::new(), context.schema, alias)?;
            state.push_op(Op::Set(alias, new))?;
            Ok(EntryAction::Keep(UpstreamUse::Replaced))
        }
    }
}
