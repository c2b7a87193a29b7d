//! Three-way merge of entries that are null on one side, where null clears a field.

use krm_yaml::{NodeKind, NodeRef};

use super::conflict::ConflictKind;
use super::options::Side;
use super::state::MergeState;
use super::three_way::{EntryAction, EntryContext, KEEP, KEEP_LOCAL, Versions, take_upstream};
use super::two_way_lists::find_list_type;
use super::{equal_option, is_null, markers};
use crate::Diagnostic;
use crate::compare::sequences::ListType;

/// Merges an entry of which local, upstream or both are null.
///
/// Spec: "if present in either dest or updated and `null`, clear the value". Where that discards something that a person wrote, it is a
/// conflict, which is reported. A value that is null already is left as it is written.
pub(super) fn merge_null<'a>(
    state: &mut MergeState<'a, '_>,
    versions: Versions<'a>,
    local: NodeRef<'a>,
    upstream: NodeRef<'a>,
    context: EntryContext<'a, '_>,
) -> Result<EntryAction<'a>, Diagnostic> {
    match (state.clears(local), state.clears(upstream)) {
        (true, true) => Ok(KEEP),
        (true, false) => cleared_locally(state, versions, local, upstream, context),
        _ => Ok(cleared_upstream(state, versions, local, context)),
    }
}

fn cleared_locally<'a>(
    state: &mut MergeState<'a, '_>,
    versions: Versions<'a>,
    local: NodeRef<'a>,
    upstream: NodeRef<'a>,
    context: EntryContext<'a, '_>,
) -> Result<EntryAction<'a>, Diagnostic> {
    if equal_option(versions.base, Some(upstream)) {
        return Ok(KEEP);
    }
    state.record_conflict(conflict_kind(versions), versions.nodes(), context.parents);
    if let Some(id) = state.pending_marker_id() {
        state.add_marker(local, markers::for_value(&id, local));
        return take_upstream(state, versions, local, upstream, context).map(EntryAction::Keep);
    }
    state.set_taken(Side::Local);
    Ok(KEEP_LOCAL)
}

fn cleared_upstream<'a>(
    state: &mut MergeState<'a, '_>,
    versions: Versions<'a>,
    local: NodeRef<'a>,
    context: EntryContext<'a, '_>,
) -> EntryAction<'a> {
    if equal_option(versions.base, Some(local)) {
        return EntryAction::Remove;
    }
    if versions.base.is_some_and(is_null) && is_associative(state, local, context) {
        return KEEP;
    }
    let kind = conflict_kind(versions);
    if state.record_conflict(kind, versions.nodes(), context.parents) == Side::Local {
        return KEEP_LOCAL;
    }
    if let Some(id) = state.pending_marker_id() {
        state.add_marker(local, markers::for_deleted_upstream(&id));
        return KEEP_LOCAL;
    }
    EntryAction::Remove
}

/// Whether local is an associative list. Compat: kyaml clears such a list only where upstream changed it to null; the rules say nothing
/// about nulls instead of associative lists.
fn is_associative<'a>(
    state: &mut MergeState<'a, '_>,
    local: NodeRef<'a>,
    context: EntryContext<'a, '_>,
) -> bool {
    let local = local.resolve();
    local.kind() == NodeKind::Sequence
        && matches!(
            find_list_type(state, context.schema, &[local.children().collect()]),
            ListType::Map(_) | ListType::Resources
        )
}

fn conflict_kind(versions: Versions<'_>) -> ConflictKind {
    match versions.base {
        Some(base) if !is_null(base) => ConflictKind::Changed,
        _ => ConflictKind::Null,
    }
}
