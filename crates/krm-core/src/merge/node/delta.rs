//! The delta between base and upstream: what is restored of an entry that local deleted and upstream changed.

use krm_yaml::{NodeKind, NodeRef};

use super::state::MergeState;
use super::two_way_lists::{element_segment, find_list_type};
use super::{equal, key_segment};
use crate::compare::sequences::{Elements, ListType, align_duplicates};
use crate::compare::{FieldSchema, Fields, MapStrategy};

/// The entries of `upstream` that did not change since `base`, except for merge keys; `None` where no entry was changed or added.
pub(super) fn unchanged<'a>(
    state: &mut MergeState<'a, '_>,
    base: NodeRef<'a>,
    upstream: NodeRef<'a>,
    schema: &FieldSchema<'_>,
    keys: &[String],
) -> Option<Vec<NodeRef<'a>>> {
    if equal(base, upstream) {
        return None;
    }
    // The value of an alias may contain the alias itself, so it is restored as a whole.
    if base.kind() == NodeKind::Alias || upstream.kind() == NodeKind::Alias {
        return Some(Vec::new());
    }
    match (base.kind(), upstream.kind()) {
        (NodeKind::Mapping, NodeKind::Mapping) if schema.mapping() != MapStrategy::Replace => {
            unchanged_fields(state, base, upstream, schema, keys)
        }
        (NodeKind::Sequence, NodeKind::Sequence) => {
            unchanged_elements(state, base, upstream, schema)
        }
        _ => Some(Vec::new()),
    }
}

fn unchanged_fields<'a>(
    state: &mut MergeState<'a, '_>,
    base: NodeRef<'a>,
    upstream: NodeRef<'a>,
    schema: &FieldSchema<'_>,
    keys: &[String],
) -> Option<Vec<NodeRef<'a>>> {
    let schema = &schema.or_resource(&state.options.lists, upstream);
    let (old, new) = (Fields::of(base, true), Fields::of(upstream, true));
    let mut excluded = Vec::new();
    let mut changed = false;
    for (name, field) in new.iter() {
        // A restored null would clear the field.
        if state.clears(field.value) {
            excluded.push(field.value);
            continue;
        }
        let is_key = keys.iter().any(|key| key == name);
        let Some(before) = old.get(name) else {
            changed = true;
            continue;
        };
        let schema = schema.field(name);
        let below = state.descend(key_segment(name), |state| {
            unchanged(state, before.value, field.value, &schema, &[])
        });
        match below {
            Some(deeper) => {
                changed = true;
                excluded.extend(deeper);
            }
            None if is_key => {}
            None => excluded.push(field.value),
        }
    }
    changed.then_some(excluded)
}

fn unchanged_elements<'a>(
    state: &mut MergeState<'a, '_>,
    base: NodeRef<'a>,
    upstream: NodeRef<'a>,
    schema: &FieldSchema<'_>,
) -> Option<Vec<NodeRef<'a>>> {
    let versions = [base.children().collect(), upstream.children().collect()];
    let list_type = find_list_type(state, schema, &versions);
    let keys: Vec<String> = match &list_type {
        ListType::Atomic => return Some(Vec::new()),
        ListType::Map(keys) => keys.iter().map(|key| key.name.clone()).collect(),
        ListType::Set => Vec::new(),
        ListType::Resources => ["apiVersion", "kind", "metadata"].map(str::to_owned).to_vec(),
    };
    let [mut old, mut new] =
        [base, upstream].map(|it| Elements::of(Some(it), &list_type, |_| true));
    align_duplicates(&list_type, [&mut old, &mut new]);
    let mut excluded = Vec::new();
    let mut changed = false;
    let schema = schema.item();
    for (at, id) in new.ids.iter().enumerate() {
        let Some(before) = old.get(id) else {
            changed = true;
            continue;
        };
        let below = state.descend(element_segment(id, &list_type, at), |state| {
            unchanged(state, before, new.nodes[at], &schema, &keys)
        });
        match below {
            Some(deeper) => {
                changed = true;
                excluded.extend(deeper);
            }
            None => excluded.push(new.nodes[at]),
        }
    }
    changed.then_some(excluded)
}
