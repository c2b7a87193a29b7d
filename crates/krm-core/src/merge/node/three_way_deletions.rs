//! Three-way merge of entries that upstream deleted: what base had is removed, and what only local has is kept, at every depth.

use krm_yaml::{NodeKind, NodeRef};

use super::conflict::ConflictKind;
use super::ops::Op;
use super::options::Side;
use super::state::MergeState;
use super::three_way::{EntryAction, EntryContext, KEEP, Versions};
use super::two_way_lists::{element_segment, find_list_type};
use super::{equal, key_segment, markers};
use crate::Diagnostic;
use crate::compare::sequences::{Elements, ListType, align_duplicates};
use crate::compare::{Field, FieldSchema, Fields};

/// Merges an entry that upstream does not have.
///
/// Spec: an entry that base had is removed, and "if present only in the dest, it keeps its value". Therefore the fields and elements that
/// local added inside the entry survive, and dropping the whole subtree would lose them.
pub(super) fn merge_deleted_upstream<'a>(
    state: &mut MergeState<'a, '_>,
    versions: Versions<'a>,
    local: NodeRef<'a>,
    context: EntryContext<'a, '_>,
) -> Result<EntryAction<'a>, Diagnostic> {
    let Some(base) = versions.base else { return Ok(KEEP) };
    if equal(base, local) {
        return Ok(EntryAction::Remove);
    }
    // A null that clears is not a value: only local has one, or both sides cleared it and it is null already.
    if state.clears(base) || state.clears(local) {
        return Ok(KEEP);
    }
    let kind = ConflictKind::DeletedUpstream;
    if state.record_conflict(kind, versions.nodes(), context.parents) == Side::Local {
        return Ok(KEEP);
    }
    if let Some(id) = state.pending_marker_id() {
        state.add_marker(local, markers::for_deleted_upstream(&id));
        return Ok(KEEP);
    }
    Ok(match has_additions(state, base, local, context.schema, context.merge_keys)? {
        true => KEEP,
        false => EntryAction::Remove,
    })
}

/// Removes from a value what base had. Returns whether something is left, and queues no edit otherwise: then the caller removes the entry.
fn has_additions<'a>(
    state: &mut MergeState<'a, '_>,
    base: NodeRef<'a>,
    local: NodeRef<'a>,
    schema: &FieldSchema<'_>,
    merge_keys: Option<&[String]>,
) -> Result<bool, Diagnostic> {
    if equal(base, local) {
        return Ok(false);
    }
    let checkpoint = state.checkpoint();
    let base = base.resolve();
    let is_left =
        state.with_alias_guard(local, base, |state| match (base.kind(), local.kind()) {
            // Spec: resources that upstream deleted are deleted, also in a list. Elements of a set have no fields.
            _ if merge_keys.is_some_and(<[String]>::is_empty) => Ok(false),
            (NodeKind::Mapping, NodeKind::Mapping) => {
                keep_added_fields(state, base, local, schema, merge_keys.unwrap_or_default())
            }
            (NodeKind::Sequence, NodeKind::Sequence) => {
                keep_added_elements(state, base, local, schema)
            }
            _ => Ok(false),
        })?;
    if !is_left {
        state.rewind(&checkpoint);
    }
    Ok(is_left)
}

/// Removes the fields that base has. What is left of an element keeps its merge keys, without which it would not be an element.
fn keep_added_fields<'a>(
    state: &mut MergeState<'a, '_>,
    base: NodeRef<'a>,
    local: NodeRef<'a>,
    schema: &FieldSchema<'_>,
    merge_keys: &[String],
) -> Result<bool, Diagnostic> {
    let (old, ours) = (Fields::of(base, true), Fields::of(local, false));
    // `<<` itself is a field that base has, besides those that it merges in.
    let own = Fields::of(base, false);
    let schema = schema.or_resource(&state.options.lists, local);
    // A mapping that local emptied is a value of local.
    let mut is_left = ours.is_empty();
    for (name, field) in ours.iter() {
        if merge_keys.iter().any(|key| key == name) {
            continue;
        }
        let is_kept = match old.get(name).or_else(|| own.get(name)) {
            None => true,
            Some(Field { value: before, .. }) => {
                let schema = schema.field(name);
                state.descend(key_segment(name), |state| {
                    has_additions(state, before, field.value, &schema, None)
                })?
            }
        };
        is_left |= is_kept;
        if !is_kept {
            state.warn_about_removed_comments(field.value, &[Some(base)]);
            ours.all(name).into_iter().try_for_each(|it| state.push_op(Op::Remove(it)))?;
        }
    }
    Ok(is_left)
}

/// Removes the elements that base has.
fn keep_added_elements<'a>(
    state: &mut MergeState<'a, '_>,
    base: NodeRef<'a>,
    local: NodeRef<'a>,
    schema: &FieldSchema<'_>,
) -> Result<bool, Diagnostic> {
    let versions = [base, local].map(|list| list.children().collect());
    let list_type = find_list_type(state, schema, &versions);
    if list_type == ListType::Atomic {
        return Ok(local.children().next().is_none());
    }
    let merge_keys = list_type.merge_keys();
    let [mut old, mut ours] =
        [base, local].map(|list| Elements::of(Some(list), &list_type, |_| true));
    align_duplicates(&list_type, [&mut old, &mut ours, &mut Elements::default()]);
    let schema = schema.item();
    let mut is_left = ours.len() == 0;
    for (at, (id, node)) in ours.ids.iter().zip(&ours.nodes).enumerate() {
        let is_kept = match old.get(id) {
            None => true,
            Some(before) => state.descend(element_segment(id, &list_type, at), |state| {
                has_additions(state, before, *node, &schema, Some(&merge_keys))
            })?,
        };
        is_left |= is_kept;
        if !is_kept {
            state.warn_about_removed_comments(*node, &[Some(base)]);
            state.push_op(Op::Remove(*node))?;
        }
    }
    Ok(is_left)
}
